// SPDX-License-Identifier: Apache-2.0
// What stands out on the map: cursor, peak, selection, neighbours, holes.
import type { Module } from '../decode/module';
import { shortSize } from '../model/size';
import type { Areas, Scale } from './areas';
import { rectOf, type Layout } from './layout';
import type { Pen } from './pen';
import type { Theme } from './theme';

export function drawPeak(pen: Pen, scale: Scale, areas: Areas, module: Module, theme: Theme): void {
  const { time, bytes } = module.header.all_peak;
  const x = scale.x(time + 0.5);
  if (x < areas.map.x || x > areas.map.x + areas.map.w) return;
  pen.line([x, areas.curve.y, x, areas.map.y + areas.map.h], {
    stroke: theme.peak,
    width: 1.25,
    dash: [3, 3],
  });
  const onLeft = x > areas.map.x + areas.map.w - 130;
  const label = `peak ${shortSize(bytes)}`;
  const width = label.length * 7 + 4;
  const y = areas.curve.y + areas.curve.h - 10;
  pen.rect(onLeft ? x - 3 - width : x + 3, y - 8, width, 16, theme.paper, 0.82);
  pen.text(x + (onLeft ? -5 : 5), y, label, {
    fill: theme.peak,
    bold: true,
    align: onLeft ? 'right' : 'left',
  });
}

export function drawCursor(
  pen: Pen,
  scale: Scale,
  areas: Areas,
  time: number,
  bytes: number,
  theme: Theme,
): void {
  const x = scale.x(time + 0.5);
  if (x < areas.map.x || x > areas.map.x + areas.map.w) return;
  pen.line([x, areas.curve.y, x, areas.map.y + areas.map.h], { stroke: theme.paper, width: 3 });
  pen.line([x, areas.curve.y, x, areas.map.y + areas.map.h + 4], {
    stroke: theme.accent,
    width: 1.5,
  });
  const label = `t ${time}: ${shortSize(bytes)}`;
  const width = label.length * 6.4 + 10;
  const left = Math.min(Math.max(x - width / 2, areas.map.x), areas.map.x + areas.map.w - width);
  pen.rect(left, areas.axis.y + 3, width, 16, theme.accent);
  pen.text(left + width / 2, areas.axis.y + 11, label, { fill: theme.paper, align: 'center' });
}

export interface Outline {
  value: number;
  role: 'selected' | 'hover' | 'neighbour' | 'alias';
}
export function drawOutlines(
  pen: Pen,
  scale: Scale,
  module: Module,
  layout: Layout,
  outlines: Outline[],
  theme: Theme,
): void {
  const { area } = scale;
  pen.clipped(area.x, area.y, area.w, area.h, () => {
    for (const { value, role } of outlines) {
      const rect = rectOf(module, layout, value);
      if (!rect) continue;
      const x = Math.max(area.x - 4, scale.x(rect.t0));
      const w = Math.max(2, Math.min(area.x + area.w + 4, scale.x(rect.t1)) - x);
      const y = Math.max(area.y - 4, scale.y(rect.y1));
      const h = Math.max(2, Math.min(area.y + area.h + 4, scale.y(rect.y0)) - y);
      const dash = { selected: [], hover: [], neighbour: [4, 3], alias: [1, 2] }[role];
      if (role === 'selected') pen.frame(x, y, w, h, { stroke: theme.paper, width: 4.5 });
      pen.frame(x, y, w, h, {
        stroke: theme.accent,
        width: role === 'selected' ? 2.25 : 1.25,
        dash,
      });
    }
  });
}

// Free bytes at the peak of their space, hatched at that moment.
export function drawHoles(
  pen: Pen,
  scale: Scale,
  module: Module,
  layout: Layout,
  selected: number,
  theme: Theme,
): void {
  const { holes, allocations, header } = module;
  const { area } = scale;
  for (let i = 0; i < holes.count; ++i) {
    const base = layout.base[holes.allocation[i]];
    if (base < 0) continue;
    const x = scale.x(header.spaces[allocations.space[holes.allocation[i]]].peak.time);
    const w = Math.max(4, scale.perMoment);
    if (x + w < area.x || x > area.x + area.w) continue;
    const top = Math.max(area.y, scale.y(base + holes.end[i]));
    const bottom = Math.min(area.y + area.h, scale.y(base + holes.begin[i]));
    if (bottom - top < 3) continue;
    const stroke = i === selected ? theme.accent : theme.peak;
    pen.frame(x, top + 0.5, w, bottom - top - 1, { stroke, width: i === selected ? 2.5 : 1 });
    for (let y = top + 4; y < bottom - 1; y += 6)
      pen.line([x, y, x + w, y - 3], { stroke, width: 1 });
  }
}

// The hole at a place, or -1.
export function holeAt(
  module: Module,
  layout: Layout,
  time: number,
  height: number,
  slackTime: number,
): number {
  const { holes, allocations, header } = module;
  for (let i = 0; i < holes.count; ++i) {
    const base = layout.base[holes.allocation[i]];
    const peak = header.spaces[allocations.space[holes.allocation[i]]].peak.time;
    if (base < 0 || time < peak - slackTime || time > peak + 1 + slackTime) continue;
    if (height >= base + holes.begin[i] && height < base + holes.end[i]) return i;
  }
  return -1;
}
