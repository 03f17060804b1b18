// SPDX-License-Identifier: Apache-2.0
// The colors of a scene's rows; alpha says whether a row is marked.
import type { Module } from '../decode/module';
import { colorOf, type Coloring, type Match } from './colors';
import type { Scene } from './scene';

export function rowColors(module: Module, scene: Scene, by: Coloring, match: Match | null, isFirst: boolean, marked: Uint8Array | null): Uint8Array {
  const rgba = new Uint8Array(scene.count * 4);
  for (let i = 0; i < scene.count; ++i) {
    const value = scene.values[i];
    rgba.set(colorOf(module, value, by, match, isFirst), i * 4);
    rgba[i * 4 + 3] = !marked || marked[value] ? 255 : 0;
  }
  return rgba;
}
