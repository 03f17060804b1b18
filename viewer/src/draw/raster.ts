// SPDX-License-Identifier: Apache-2.0
// Rectangles into pixels, by hand. Most values of a large program are smaller than a pixel, and
// writing one is nothing; a graphics library asks microseconds for each. So a frame of 100 000 values
// takes some milliseconds on one core, needs no GPU, and is the same on every machine.
import { kBlock, type Scene, type Viewport } from './scene';

// Rows have a color each, as 0xAABBGGRR: the order of an image's bytes.
export interface Paint {
  fill: Uint32Array;
  ground: number;
}

// What is larger than this many pixels in both directions gets a hairline.
const kEdgeFrom = 5;

export function rasterize(
  pixels: Uint32Array,
  width: number,
  height: number,
  scene: Scene,
  paint: Paint,
  view: Viewport,
): void {
  const { t0, t1, y0, y1, blockEnds, count } = scene;
  const perMoment = width / (view.t1 - view.t0);
  const perByte = height / (view.y1 - view.y0);
  pixels.fill(paint.ground, 0, width * height);
  for (let i = 0; i < count; ++i) {
    if (i % kBlock === 0 && blockEnds[i / kBlock] <= view.t0) {
      i += kBlock - 1;
      continue;
    }
    // Rows are in order of time: from here on all are to the right of the screen.
    if (t0[i] >= view.t1) break;
    if (t1[i] <= view.t0 || y0[i] >= view.y1 || y1[i] <= view.y0) continue;
    let left = Math.round((t0[i] - view.t0) * perMoment);
    let right = Math.round((t1[i] - view.t0) * perMoment);
    let top = height - Math.round((y1[i] - view.y0) * perByte);
    let bottom = height - Math.round((y0[i] - view.y0) * perByte);
    // Nothing is too thin to be seen.
    if (right <= left) right = left + 1;
    if (bottom <= top) top = bottom - 1;
    const edged = right - left > kEdgeFrom && bottom - top > kEdgeFrom;
    const edgeRight = right <= width ? right - 1 : -1;
    const edgeTop = top >= 0 ? top : -1;
    if (left < 0) left = 0;
    if (right > width) right = width;
    if (top < 0) top = 0;
    if (bottom > height) bottom = height;
    const color = paint.fill[i];
    const wide = right - left;
    for (let y = top; y < bottom; ++y) {
      const from = y * width + left;
      if (wide < 16) for (let at = from; at < from + wide; ++at) pixels[at] = color;
      else pixels.fill(color, from, from + wide);
    }
    if (edged)
      drawEdges(
        pixels,
        width,
        left,
        right,
        top,
        bottom,
        edgeRight,
        edgeTop,
        mix(color, paint.ground, 0.45),
      );
  }
}

function drawEdges(
  pixels: Uint32Array,
  width: number,
  left: number,
  right: number,
  top: number,
  bottom: number,
  edgeRight: number,
  edgeTop: number,
  color: number,
): void {
  if (edgeTop >= 0) pixels.fill(color, edgeTop * width + left, edgeTop * width + right);
  if (edgeRight >= 0) for (let y = top; y < bottom; ++y) pixels[y * width + edgeRight] = color;
}

// So much of b in a.
export function mix(a: number, b: number, share: number): number {
  let mixed = 0xff000000;
  for (let shift = 0; shift < 24; shift += 8) {
    const from = (a >>> shift) & 255;
    mixed |= Math.round(from + (((b >>> shift) & 255) - from) * share) << shift;
  }
  return mixed >>> 0;
}

export function pack([r, g, b]: readonly [number, number, number]): number {
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}
export function unpack(color: number): [number, number, number] {
  return [color & 255, (color >>> 8) & 255, (color >>> 16) & 255];
}
