// SPDX-License-Identifier: Apache-2.0
// From box to box with the arrow keys.
import type { Area } from './areas';

const kSteps: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
export function isArrow(key: string): boolean {
  return key in kSteps;
}

// The nearest box in the direction of the key that lies at least partly abreast of the one at `from`;
// without any, the same. From nowhere (-1) it is the first.
export function nextBox(boxes: readonly Area[], from: number, key: string): number {
  if (from < 0 || from >= boxes.length) return boxes.length ? 0 : -1;
  const [dx, dy] = kSteps[key];
  const a = boxes[from];
  let found = from;
  let best = Infinity;
  boxes.forEach((b, i) => {
    const ahead = dx * (b.x + b.w / 2 - a.x - a.w / 2) + dy * (b.y + b.h / 2 - a.y - a.h / 2);
    const isAbreast = dx
      ? b.y < a.y + a.h - 0.5 && b.y + b.h > a.y + 0.5
      : b.x < a.x + a.w - 0.5 && b.x + b.w > a.x + 0.5;
    if (i === from || ahead <= 0.5 || !isAbreast) return;
    const aside = dx ? Math.abs(b.y - a.y) : Math.abs(b.x - a.x);
    const distance = ahead + aside / 1000;
    if (distance < best) {
      best = distance;
      found = i;
    }
  });
  return found;
}
