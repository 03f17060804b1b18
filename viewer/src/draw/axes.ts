// SPDX-License-Identifier: Apache-2.0
// The axes, the bands of allocations, and the names of memory spaces.
import type { Module } from '../decode/module';
import { byteStep, shortSize, timeStep } from '../model/size';
import { allocationLabel, spaceName } from '../model/words';
import { Scale, type Areas } from './areas';
import type { Layout } from './layout';
import type { Pen } from './pen';
import type { Theme } from './theme';

export function drawTimeAxis(pen: Pen, scale: Scale, areas: Areas, theme: Theme): void {
  const { t0, t1 } = scale.view;
  const step = timeStep(t1 - t0, Math.max(2, areas.axis.w / 90));
  const middle = areas.axis.y + areas.axis.h / 2 + 1;
  for (let t = Math.ceil(t0 / step) * step; t <= t1; t += step) {
    const x = scale.x(t);
    pen.line([x, areas.axis.y, x, areas.axis.y + 4], { stroke: theme.faint });
    if (x < areas.axis.x + areas.axis.w - 30)
      pen.text(x + 3, middle, String(Math.round(t)), { fill: theme.faint });
  }
  pen.text(areas.axis.x - 8, middle, 'moment', { fill: theme.faint, align: 'right' });
}

// Lines between allocations; what is no memory at all, between spaces and beyond them, is blank.
export function drawBands(
  pen: Pen,
  scale: Scale,
  layout: Layout,
  timeEnd: number,
  theme: Theme,
): void {
  const { area, view } = scale;
  const blank = (from: number, to: number) => {
    const top = Math.max(area.y, scale.y(to));
    const bottom = Math.min(area.y + area.h, scale.y(from));
    if (bottom > top) pen.rect(area.x, top, area.w, bottom - top, theme.paper);
  };
  let end = -Infinity;
  for (const space of layout.spaces) {
    blank(Math.max(end, view.y0), Math.min(space.begin, view.y1));
    end = space.end;
  }
  blank(Math.max(end, view.y0), view.y1);
  // Time that only the other of two programs has.
  const over = Math.max(area.x, scale.x(timeEnd));
  if (over < area.x + area.w) pen.rect(over, area.y, area.x + area.w - over, area.h, theme.paper);
  let last = Infinity;
  for (const band of layout.bands) {
    if (band.end < view.y0 || band.begin > view.y1) continue;
    const y = scale.y(band.end);
    if (last - y < 3 && band.end !== layout.height) continue;
    last = y;
    pen.line([area.x, y, area.x + area.w, y], { stroke: theme.bandEdge });
  }
}

// In the left margin: the space's own bytes, from its bottom up, and its allocations where they fit.
export function drawByteAxis(
  pen: Pen,
  scale: Scale,
  module: Module,
  layout: Layout,
  theme: Theme,
): void {
  const { area, view } = scale;
  const right = area.x - 6;
  let last = Infinity;
  for (const space of layout.spaces) {
    const low = Math.max(space.begin, view.y0);
    const high = Math.min(space.end, view.y1);
    if (low >= high) continue;
    const top = scale.y(high);
    const bottom = scale.y(low);
    pen.line([area.x - 2, top, area.x - 2, bottom], { stroke: theme.faint, width: 2 });
    const step = byteStep(view.y1 - view.y0, Math.max(2, area.h / 44));
    for (let b = Math.ceil((low - space.begin) / step) * step; b <= high - space.begin; b += step) {
      const y = scale.y(space.begin + b);
      if (y < top + 20 && bottom - top > 40) continue;
      pen.line([area.x - 5, y, area.x, y], { stroke: theme.faint });
      if ((y < bottom - 4 || b === 0) && bottom - top > 20)
        pen.text(right, Math.min(y, bottom - 6), shortSize(b), {
          fill: theme.faint,
          align: 'right',
        });
    }
    // Even a thin space has its name, if it does not run into the one below.
    const nameAt = bottom - top > 13 ? top + 8 : (top + bottom) / 2;
    if (nameAt < last - 11) {
      last = nameAt;
      pen.text(6, nameAt, spaceName(module, space.space), {
        fill: theme.ink,
        bold: true,
        width: area.x - 14,
      });
    }
  }
}

// Names of the allocations but parameters, whose values bear them, at the left edge of the map, where a band is high enough.
export function drawBandNames(
  pen: Pen,
  scale: Scale,
  module: Module,
  layout: Layout,
  theme: Theme,
): void {
  const { area, view } = scale;
  for (const band of layout.bands) {
    if (band.end <= view.y0 || band.begin >= view.y1) continue;
    const top = Math.max(area.y, scale.y(band.end));
    const bottom = Math.min(area.y + area.h, scale.y(band.begin));
    if (bottom - top < 34 || module.allocations.path[band.allocation]) continue;
    const text = allocationLabel(module, band.allocation);
    const width = Math.min(area.w - 8, Math.min(60, text.length) * 6.3 + 8);
    pen.rect(area.x + 2, top + 3, width, 15, theme.paper, 0.82);
    pen.text(area.x + 6, top + 11, text, { fill: theme.ink, size: 10.5, width: width - 8 });
  }
}
