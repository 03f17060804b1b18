// SPDX-License-Identifier: Apache-2.0
// The map's rectangles as rows, oldest first, so that the youngest value on a byte is the one that
// is seen: it is also the one that owns the byte.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import type { Layout } from './layout';

export interface Scene {
  count: number;
  values: Uint32Array; // by row: the value
  t0: Int32Array; // by row; grows
  t1: Int32Array; // exclusive
  y0: Float64Array; // bytes from the bottom of the map, exact
  y1: Float64Array;
  // Of each block of rows the latest t1: blocks that end before the viewport are stepped over.
  blockEnds: Int32Array;
}
export const kBlock = 256;

// The part of time and bytes that is on the screen.
export interface Viewport {
  t0: number;
  t1: number;
  y0: number;
  y1: number;
}

export function makeScene(module: Module, layout: Layout): Scene {
  const { allocation, offset, size, start, end, count } = module.values;
  const rows = new Uint32Array(count);
  let shown = 0;
  let sorted = true;
  for (let v = 0; v < count; ++v) {
    const a = allocation[v];
    if (a === NONE || layout.base[a] < 0 || start[v] < 0 || size[v] <= 0) continue;
    if (shown && start[v] < start[rows[shown - 1]]) sorted = false;
    rows[shown++] = v;
  }
  const values = rows.slice(0, shown);
  if (!sorted) values.sort((a, b) => start[a] - start[b] || a - b);
  const scene: Scene = {
    count: shown,
    values,
    t0: new Int32Array(shown),
    t1: new Int32Array(shown),
    y0: new Float64Array(shown),
    y1: new Float64Array(shown),
    blockEnds: new Int32Array(Math.ceil(shown / kBlock)),
  };
  for (let i = 0; i < shown; ++i) {
    const v = values[i];
    scene.t0[i] = start[v];
    scene.t1[i] = Math.min(end[v], module.end) + 1;
    scene.y0[i] = layout.base[allocation[v]] + offset[v];
    scene.y1[i] = scene.y0[i] + size[v];
    const block = Math.floor(i / kBlock);
    scene.blockEnds[block] = Math.max(scene.blockEnds[block], scene.t1[i]);
  }
  return scene;
}

// The row under a point: the youngest that has it, or the nearest within the given slack (thin
// rectangles are drawn a pixel wide). -1: none.
export function hit(
  scene: Scene,
  time: number,
  height: number,
  slackTime: number,
  slackBytes: number,
): number {
  const { t0, t1, y0, y1, blockEnds } = scene;
  let near = -1;
  let best = Infinity;
  for (let i = scene.count - 1; i >= 0; --i) {
    if (blockEnds[Math.floor(i / kBlock)] + slackTime < time) {
      i -= i % kBlock;
      continue;
    }
    const dt = time < t0[i] ? t0[i] - time : time >= t1[i] ? time - t1[i] : 0;
    if (dt > slackTime) continue;
    const dy = height < y0[i] ? y0[i] - height : height >= y1[i] ? height - y1[i] : 0;
    if (dy > slackBytes) continue;
    if (time >= t0[i] && time < t1[i] && height >= y0[i] && height < y1[i]) return i;
    const distance = dt / (slackTime || 1) + dy / (slackBytes || 1);
    if (distance < best) {
      best = distance;
      near = i;
    }
  }
  return near;
}
