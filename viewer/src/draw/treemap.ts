// SPDX-License-Identifier: Apache-2.0
// A squarified treemap: areas are bytes, and rectangles as square as they can be.

export interface Tile<Item> {
  item: Item;
  x: number;
  y: number;
  w: number;
  h: number;
}

// Items by falling weight. Those that would be smaller than half a pixel are still given their area.
export function tile<Item>(
  items: Item[],
  weight: (item: Item) => number,
  x: number,
  y: number,
  w: number,
  h: number,
): Tile<Item>[] {
  const tiles: Tile<Item>[] = [];
  let rest = items.reduce((sum, item) => sum + weight(item), 0);
  let next = 0;
  while (next < items.length && w > 0 && h > 0 && rest > 0) {
    const side = Math.min(w, h);
    const perByte = (w * h) / rest;
    let sum = 0;
    let worst = Infinity;
    let end = next;
    while (end < items.length) {
      const grown = sum + weight(items[end]);
      const thick = (grown * perByte) / side;
      const large = (weight(items[next]) * perByte) / thick;
      const small = (weight(items[end]) * perByte) / thick;
      const ratio = Math.max(thick / small, large / thick, small > 0 ? thick / large : Infinity);
      if (end > next && ratio > worst) break;
      worst = ratio;
      sum = grown;
      ++end;
    }
    const thick = (sum * perByte) / side;
    let along = 0;
    for (let i = next; i < end; ++i) {
      const long = (weight(items[i]) * perByte) / thick;
      tiles.push(
        w >= h
          ? { item: items[i], x, y: y + along, w: thick, h: long }
          : { item: items[i], x: x + along, y, w: long, h: thick },
      );
      along += long;
    }
    if (w >= h) {
      x += thick;
      w -= thick;
    } else {
      y += thick;
      h -= thick;
    }
    rest -= sum;
    next = end;
  }
  return tiles;
}
