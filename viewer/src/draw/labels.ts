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
const kLeast = 28; // pixels of a name that still tell something

interface Label {
  row: number;
  x: number; // of the rectangle, as far as it is in sight
  right: number;
  top: number;
  bottom: number;
  width: number; // room for the text
}

export function drawLabels(
  pen: Pen,
  scale: Scale,
  module: Module,
  scene: Scene,
  paint: Paint,
  marked: Uint8Array | null,
): void {
  for (const { row, x, top, bottom, width } of findLabels(scale, scene, marked)) {
    const value = scene.values[row];
    const fill = inkOn(unpack(paint.fill[row]));
    const high = bottom - top;
    const middle = (top + bottom) / 2;
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
  }
}

function findLabels(scale: Scale, scene: Scene, marked: Uint8Array | null): Label[] {
  const { view } = scale;
  const { t0, t1, y0, y1, blockEnds } = scene;
  const leastTime = 44 / scale.perMoment;
  const leastBytes = 12 / scale.perByte;
  const labels: Label[] = [];
  for (let i = 0; i < scene.count && labels.length < kMost; ++i) {
    if (i % kBlock === 0 && blockEnds[i / kBlock] <= view.t0) {
      i += kBlock - 1;
      continue;
    }
    if (t0[i] >= view.t1) break;
    if (t1[i] - t0[i] < leastTime || y1[i] - y0[i] < leastBytes) continue;
    const from = Math.max(view.t0, t0[i]);
    const to = Math.min(view.t1, t1[i]);
    const low = Math.max(view.y0, y0[i]);
    const high = Math.min(view.y1, y1[i]);
    if (to - from < leastTime || high - low < leastBytes) continue;
    if (marked && !marked[scene.values[i]]) continue;
    const [x, right] = [scale.x(from), scale.x(to)];
    const [top, bottom] = [scale.y(high), scale.y(low)];
    labels.push({ row: i, x, right, top, bottom, width: right - x - 8 });
  }
  // A younger value hides an older one, and its name with it.
  labels.forEach((label, i) => {
    const middle = (label.top + label.bottom) / 2;
    for (let k = i + 1; k < labels.length; ++k) {
      const { x, right, top, bottom } = labels[k];
      if (top < middle + 6 && bottom > middle - 6 && right > label.x + 4)
        label.width = Math.min(label.width, x - label.x - 8);
    }
  });
  return labels.filter((label) => label.width >= kLeast);
}
