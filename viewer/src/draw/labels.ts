// SPDX-License-Identifier: Apache-2.0
// Names within rectangles that are large enough to hold one.
import type { Module } from '../decode/module';
import { shortSize } from '../model/size';
import { nameOf, stringOf } from '../model/words';
import type { Scale } from './areas';
import { inkOn } from './colors';
import type { Pen } from './pen';
import { kBoxFloats, type Scene } from './scene';

const kMost = 260;

export function drawLabels(pen: Pen, scale: Scale, module: Module, scene: Scene, colors: Uint8Array, dimmed: boolean): void {
  const { view } = scale;
  const { boxes } = scene;
  const leastTime = 44 / scale.perMoment;
  const leastBytes = 12 / scale.perByte;
  let drawn = 0;
  for (let i = 0, at = 0; i < scene.count && drawn < kMost; ++i, at += kBoxFloats) {
    if (boxes[at + 1] - boxes[at] < leastTime || boxes[at + 4] - boxes[at + 2] < leastBytes) continue;
    const t0 = Math.max(view.t0, boxes[at]);
    const t1 = Math.min(view.t1, boxes[at + 1]);
    if (t1 - t0 < leastTime) continue;
    const y0 = Math.max(view.y0, boxes[at + 2] + boxes[at + 3]);
    const y1 = Math.min(view.y1, boxes[at + 4] + boxes[at + 5]);
    if (y1 - y0 < leastBytes || (dimmed && colors[i * 4 + 3] === 0)) continue;
    const fill = inkOn([colors[i * 4], colors[i * 4 + 1], colors[i * 4 + 2]]);
    const x = scale.x(t0);
    const width = scale.x(t1) - x - 8;
    const high = (y1 - y0) * scale.perByte;
    const middle = scale.y((y0 + y1) / 2);
    const value = scene.values[i];
    const size = shortSize(module.values.size[value]);
    // A parameter is known by its path.
    const path = module.allocations.path[module.values.allocation[value]];
    const name = path ? stringOf(module, path) : nameOf(module, value);
    if (high > 30) {
      pen.text(x + 4, middle - 7, name, { fill, width });
      pen.text(x + 4, middle + 7, size, { fill, width, size: 10 });
    } else {
      pen.text(x + 4, middle, width > 150 ? `${name}  ${size}` : name, { fill, width, size: high < 14 ? 10 : 11 });
    }
    ++drawn;
  }
}
