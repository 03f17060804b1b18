// SPDX-License-Identifier: Apache-2.0
// The colors of a scene's rows. When some values are marked, all others fade.
import type { Module } from '../decode/module';
import { colorOf, type Coloring, type Match } from './colors';
import { mix, pack, type Paint } from './raster';
import type { Scene } from './scene';

export interface Marking {
  color: Coloring;
  match: Match | null;
  isFirst: boolean;
  marked: Uint8Array | null; // by value
}
const kFade = 0.86;

export function paintRows(module: Module, scene: Scene, marking: Marking, ground: number): Paint {
  const fill = new Uint32Array(scene.count);
  const { color, match, isFirst, marked } = marking;
  for (let i = 0; i < scene.count; ++i) {
    const value = scene.values[i];
    const own = pack(colorOf(module, value, color, match, isFirst));
    fill[i] = !marked || marked[value] ? own : mix(own, ground, kFade);
  }
  return { fill, ground };
}
