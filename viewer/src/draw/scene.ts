// SPDX-License-Identifier: Apache-2.0
// The map's rectangles as rows for the GPU, oldest first, so that the youngest value on a byte is
// the one that is seen: it is also the one that owns the byte.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import type { Layout } from './layout';

export interface Scene {
  count: number;
  values: Uint32Array; // by row: the value
  // By row: begin and end in time; in bytes each as two floats, whose sum is the exact number.
  boxes: Float32Array;
  maxTime: number;
}
export const kBoxFloats = 6;

export function makeScene(module: Module, layout: Layout): Scene {
  const { allocation, offset, size, start, end, count } = module.values;
  const rows: number[] = [];
  let sorted = true;
  for (let v = 0; v < count; ++v) {
    const a = allocation[v];
    if (a === NONE || layout.base[a] < 0 || start[v] < 0 || size[v] <= 0) continue;
    if (rows.length && start[v] < start[rows[rows.length - 1]]) sorted = false;
    rows.push(v);
  }
  const values = Uint32Array.from(rows);
  if (!sorted) values.sort((a, b) => start[a] - start[b] || a - b);
  const boxes = new Float32Array(values.length * kBoxFloats);
  for (let i = 0; i < values.length; ++i) {
    const v = values[i];
    const begin = layout.base[allocation[v]] + offset[v];
    const top = begin + size[v];
    const at = i * kBoxFloats;
    boxes[at] = start[v];
    boxes[at + 1] = Math.min(end[v], module.end) + 1;
    boxes[at + 2] = begin;
    boxes[at + 3] = begin - boxes[at + 2];
    boxes[at + 4] = top;
    boxes[at + 5] = top - boxes[at + 4];
  }
  return { count: values.length, values, boxes, maxTime: module.end + 1 };
}

// The part of time and bytes that is on the screen.
export interface Viewport {
  t0: number;
  t1: number;
  y0: number;
  y1: number;
}

// The row under a point: the youngest that has it, or the nearest within the given slack (thin
// rectangles are drawn a pixel wide). -1: none.
export function hit(scene: Scene, time: number, height: number, slackTime: number, slackBytes: number): number {
  const { boxes, count } = scene;
  let near = -1;
  let best = Infinity;
  for (let i = count - 1, at = i * kBoxFloats; i >= 0; --i, at -= kBoxFloats) {
    const dt = time < boxes[at] ? boxes[at] - time : time >= boxes[at + 1] ? time - boxes[at + 1] : 0;
    if (dt > slackTime) continue;
    const y0 = boxes[at + 2] + boxes[at + 3];
    const y1 = boxes[at + 4] + boxes[at + 5];
    const dy = height < y0 ? y0 - height : height >= y1 ? height - y1 : 0;
    if (dy > slackBytes) continue;
    if (dt === 0 && dy === 0 && (time < boxes[at + 1] && height < y1)) return i;
    const distance = dt / (slackTime || 1) + dy / (slackBytes || 1);
    if (distance < best) {
      best = distance;
      near = i;
    }
  }
  return near;
}
