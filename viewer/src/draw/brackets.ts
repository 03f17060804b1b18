// SPDX-License-Identifier: Apache-2.0
// Loops, branches, calls and asynchronous spans, nested as they are in the program.
import type { Module } from '../decode/module';
import { stringOf } from '../model/words';
import { bracketDepth, kBracketRow, type Scale } from './areas';
import type { Pen } from './pen';
import type { Theme } from './theme';

export function drawBrackets(pen: Pen, scale: Scale, module: Module, theme: Theme): void {
  const { brackets } = module;
  const { area, view } = scale;
  if (area.h <= 0) return;
  const rows = Math.round(area.h / kBracketRow);
  const more = bracketDepth(module) - rows;
  if (more > 0)
    pen.text(area.x - 6, area.y + area.h - kBracketRow / 2, `${more} more rows`, {
      fill: theme.faint,
      align: 'right',
      size: 10,
    });
  const drawnTo = new Float64Array(rows).fill(-1); // what lies in one pixel is drawn once
  pen.clipped(area.x, area.y, area.w, area.h, () => {
    for (let i = 0; i < brackets.count; ++i) {
      if (brackets.end[i] < view.t0 || brackets.start[i] > view.t1) continue;
      const row = brackets.depth[i];
      if (row >= rows) continue;
      const x0 = Math.max(area.x - 2, scale.x(brackets.start[i]));
      const x1 = Math.min(area.x + area.w + 2, scale.x(brackets.end[i] + 1));
      if (x1 < drawnTo[row]) continue;
      const w = Math.max(1, x1 - x0);
      drawnTo[row] = x0 + w;
      const y = area.y + row * kBracketRow;
      const fill = theme.brackets[brackets.kind[i] % theme.brackets.length];
      pen.rect(x0, y, w, kBracketRow - 2, fill);
      if (w < 4) continue;
      pen.line(
        [
          x0 + 0.5,
          y + kBracketRow - 2,
          x0 + 0.5,
          y + 0.5,
          x1 - 0.5,
          y + 0.5,
          x1 - 0.5,
          y + kBracketRow - 2,
        ],
        { stroke: theme.faint },
      );
      if (w > 26)
        pen.text(x0 + 5, y + kBracketRow / 2 - 0.5, stringOf(module, brackets.label[i]), {
          fill: theme.ink,
          size: 10,
          width: w - 8,
        });
    }
  });
}

// The innermost bracket at a place in the strip, or -1.
export function bracketAt(module: Module, scale: Scale, x: number, y: number): number {
  const { brackets } = module;
  const row = Math.floor((y - scale.area.y) / kBracketRow);
  const time = scale.time(x);
  for (let i = brackets.count - 1; i >= 0; --i) {
    if (brackets.depth[i] === row && brackets.start[i] <= time && time < brackets.end[i] + 1)
      return i;
  }
  return -1;
}
