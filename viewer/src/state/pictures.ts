// SPDX-License-Identifier: Apache-2.0
// The maps that are on the screen now, for export.
import type { Areas } from '../draw/areas';
import type { Picture } from '../draw/picture';

export interface Shown {
  picture: Picture;
  areas: Areas;
  rectangles: HTMLCanvasElement;
  overlay: HTMLCanvasElement;
}
const shown = new Map<number, Shown>();

export function keepPicture(
  index: number,
  picture: Picture,
  areas: Areas,
  rectangles: HTMLCanvasElement,
  overlay: HTMLCanvasElement,
): void {
  shown.set(index, { picture, areas, rectangles, overlay });
}
export function shownPicture(index: number): Shown | undefined {
  return shown.get(index);
}
