// SPDX-License-Identifier: Apache-2.0
// Names within rectangles that are large enough to hold one.
import type { Module } from '../decode/module';
import { shortSize } from '../model/size';
import { nameOf, stringOf } from '../model/words';
import type { Scale } from './areas';
import { inkOn } from './colors';
import type { Pen } from './pen';
import { unpack, type Paint } from './raster';
import { kBlock, type Scene } from './scene';

const kMost = 260;

export function drawLabels(
  pen: Pen,
  scale: Scale,
  module: Module,
  scene: Scene,
  paint: Paint,
  marked: Uint8Array | null,
): void {
  const { view } = scale;
  const { t0, t1, y0, y1, blockEnds } = scene;
  const leastTime = 44 / scale.perMoment;
  const leastBytes = 12 / scale.perByte;
  let drawn = 0;
  for (let i = 0; i < scene.count && drawn < kMost; ++i) {
    if (i % kBlock === 0 && blockEnds[i / kBlock] <= view.t0) {
      i += kBlock - 1;
      continue;
    }
    if (t0[i] >= view.t1) break;
    if (t1[i] - t0[i] < leastTime || y1[i] - y0[i] < leastBytes) continue;
    const from = Math.max(view.t0, t0[i]);
    const to = Math.min(view.t1, t1[i]);
    const low = Math.max(view.y0, y0[i]);
    const top = Math.min(view.y1, y1[i]);
    const value = scene.values[i];
    if (to - from < leastTime || top - low < leastBytes || (marked && !marked[value])) continue;
    const fill = inkOn(unpack(paint.fill[i]));
    const x = scale.x(from);
    const width = scale.x(to) - x - 8;
    const high = (top - low) * scale.perByte;
    const middle = scale.y((low + top) / 2);
    const size = shortSize(module.values.size[value]);
    // A parameter is known by its path.
    const path = module.allocations.path[module.values.allocation[value]];
    const name = path ? stringOf(module, path) : nameOf(module, value);
    if (high > 30) {
      pen.text(x + 4, middle - 7, name, { fill, width });
      pen.text(x + 4, middle + 7, size, { fill, width, size: 10 });
    } else {
      pen.text(x + 4, middle, width > 150 ? `${name}  ${size}` : name, {
        fill,
        width,
        size: high < 14 ? 10 : 11,
      });
    }
    ++drawn;
  }
}
