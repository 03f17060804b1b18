// SPDX-License-Identifier: Apache-2.0
// The load curve: live bytes by time, of all spaces together and of each; with the capacity
// of the main memory.
import type { Module } from '../decode/module';
import { stepAt } from '../model/live';
import { byteStep, shortSize } from '../model/size';
import { spaceName } from '../model/words';
import { Scale } from './areas';
import { kMainColor } from './layout';
import type { Pen } from './pen';
import type { Theme } from './theme';

const kMostHeadroom = 2.5;

// The scale of a curve: from 0 to a bit above the highest thing that is drawn.
export function curveTop(modules: Module[], budget: number | null): number {
  const highest = Math.max(...modules.map((module) => module.header.all_peak.bytes), 1);
  // A capacity far above the curve would press it flat.
  return (
    (budget !== null && budget < highest * kMostHeadroom ? Math.max(highest, budget) : highest) *
    1.06
  );
}

// x, y, x, y, ... At most two corners a pixel: of all steps in one pixel the highest and the last are drawn.
export function staircase(module: Module, curve: number, scale: Scale): number[] {
  const { begins, times, bytes } = module.curves;
  const { area, view } = scale;
  const points: number[] = [];
  const begin = begins[curve];
  const end = begins[curve + 1];
  let at = stepAt(times, begin, end, Math.floor(view.t0));
  let level = at < 0 ? 0 : bytes[at];
  at = at < 0 ? begin : at + 1;
  points.push(area.x, scale.y(level));
  const right = area.x + area.w;
  while (at < end && times[at] <= view.t1) {
    const x = scale.x(times[at]);
    let highest = bytes[at];
    let next = at + 1;
    while (next < end && scale.x(times[next]) < x + 1) highest = Math.max(highest, bytes[next++]);
    points.push(x, scale.y(level), x, scale.y(highest));
    level = bytes[next - 1];
    if (level !== highest) points.push(x, scale.y(level));
    at = next;
  }
  const last = Math.min(right, scale.x(module.end + 1));
  points.push(last, scale.y(level), last, scale.y(0));
  return points;
}

export function drawCurve(
  pen: Pen,
  scale: Scale,
  module: Module,
  budget: number | null,
  theme: Theme,
): void {
  const { area } = scale;
  const spaces = module.header.spaces.length;
  pen.clipped(area.x, area.y - 2, area.w, area.h + 3, () => {
    const all = staircase(module, spaces, scale);
    pen.area(
      [area.x, area.y + area.h, ...all, all[all.length - 2], area.y + area.h],
      theme.curve,
      0.16,
    );
    if (spaces > 1) {
      for (let space = 0; space < spaces; ++space) {
        pen.line(staircase(module, space, scale), {
          stroke: theme.faint,
          dash: [
            [5, 3],
            [2, 2],
            [1, 4],
          ][space % 3],
        });
      }
    }
    pen.line(all, { stroke: theme.curve, width: 1.5 });
    const main = module.header.spaces.findIndex((space) => space.color === kMainColor);
    if (budget !== null && main >= 0) {
      const y = scale.y(budget);
      const of = spaces > 1 ? ` of ${spaceName(module, main)}` : '';
      const words = `capacity${of} ${shortSize(budget)}`;
      if (y < area.y - 1) {
        pen.rect(area.x + 3, area.y - 2, words.length * 6.2 + 70, 16, theme.paper, 0.82);
        pen.text(area.x + 6, area.y + 6, `${words}, far above`, {
          fill: theme.capacity,
        });
      } else {
        pen.line([area.x, y, area.x + area.w, y], {
          stroke: theme.capacity,
          width: 1.5,
          dash: [7, 4],
        });
        const middle = y + (y < area.y + 14 ? 8 : -8);
        pen.rect(area.x + 3, middle - 7, words.length * 6.2 + 8, 14, theme.paper, 0.82);
        pen.text(area.x + 6, middle, words, {
          fill: theme.capacity,
        });
      }
    }
  });
  const step = byteStep(scale.view.y1, 3);
  for (let b = 0; b <= scale.view.y1; b += step) {
    pen.line([area.x - 4, scale.y(b), area.x, scale.y(b)], { stroke: theme.faint });
    pen.text(area.x - 6, scale.y(b), shortSize(b), { fill: theme.faint, align: 'right' });
  }
  pen.text(6, area.y + 6, 'live', { fill: theme.ink, bold: true });
}
