// SPDX-License-Identifier: Apache-2.0
// Moving and zooming, as functions from viewport to viewport.
import type { Viewport } from '../draw/scene';

export interface Extent {
  time: number; // moments
  bytes: number;
}

const kLeastMoments = 2;
const kLeastBytes = 16;
// Room around what is shown, as a share of it.
const kMargin = 0.02;

export function fitAll(extent: Extent): Viewport {
  return { t0: 0, t1: extent.time, y0: 0, y1: extent.bytes * (1 + kMargin) };
}

// Keeps a viewport from leaving the program, and from shrinking to nothing.
export function tame(view: Viewport, extent: Extent): Viewport {
  const [t0, t1] = tameSpan(view.t0, view.t1, kLeastMoments, extent.time);
  const [y0, y1] = tameSpan(view.y0, view.y1, kLeastBytes, extent.bytes * (1 + kMargin));
  return { t0, t1, y0, y1 };
}

function tameSpan(from: number, to: number, least: number, most: number): [number, number] {
  const length = Math.min(Math.max(to - from, Math.min(least, most)), most);
  const middle = (from + to) / 2;
  const begin = to - from === length ? from : middle - length / 2;
  const low = Math.min(Math.max(begin, 0), most - length);
  return [low, low + length];
}

// A factor below 1 zooms in. (time, bytes) stays where it is on the screen.
export function zoomAt(
  view: Viewport,
  extent: Extent,
  time: number,
  bytes: number,
  byTime: number,
  byBytes: number,
): Viewport {
  const zoomed = { ...view };
  // What cannot shrink further stays as it is, or the map would slide.
  const t =
    Math.min(Math.max(byTime * (view.t1 - view.t0), kLeastMoments), extent.time) /
    (view.t1 - view.t0);
  const y =
    Math.min(Math.max(byBytes * (view.y1 - view.y0), kLeastBytes), extent.bytes * (1 + kMargin)) /
    (view.y1 - view.y0);
  zoomed.t0 = time - (time - view.t0) * t;
  zoomed.t1 = time + (view.t1 - time) * t;
  zoomed.y0 = bytes - (bytes - view.y0) * y;
  zoomed.y1 = bytes + (view.y1 - bytes) * y;
  return tame(zoomed, extent);
}

export function panBy(view: Viewport, extent: Extent, time: number, bytes: number): Viewport {
  return tame(
    { t0: view.t0 + time, t1: view.t1 + time, y0: view.y0 + bytes, y1: view.y1 + bytes },
    extent,
  );
}

// Around a rectangle, with room on all sides.
export function fitRect(
  extent: Extent,
  rect: { t0: number; t1: number; y0: number; y1: number },
): Viewport {
  const t = Math.max(rect.t1 - rect.t0, 4);
  const y = Math.max(rect.y1 - rect.y0, 64);
  return tame(
    { t0: rect.t0 - t * 0.6, t1: rect.t1 + t * 0.6, y0: rect.y0 - y * 2, y1: rect.y1 + y * 2 },
    extent,
  );
}

// Moved, with the same zoom, so far that the rectangle is seen.
export function reveal(
  view: Viewport,
  extent: Extent,
  rect: { t0: number; t1: number; y0: number; y1: number },
): Viewport {
  const shift = (from: number, to: number, low: number, high: number) =>
    high <= from || low >= to ? (low + high) / 2 - (from + to) / 2 : 0;
  return panBy(
    view,
    extent,
    shift(view.t0, view.t1, rect.t0, rect.t1),
    shift(view.y0, view.y1, rect.y0, rect.y1),
  );
}
