// SPDX-License-Identifier: Apache-2.0
// Where everything is on the map. Across: moments. Up: bytes, on one scale: the memory spaces one
// above the other, with a gap between them, and in each its allocations without gaps. So a height
// is always a number of bytes.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';

export interface Band {
  allocation: number;
  begin: number; // bytes from the bottom of the map
  end: number;
}
export interface SpaceBand {
  space: number;
  begin: number;
  end: number;
}
// What the main memory has, as a height: less what is hidden, since that takes of it too.
export interface Capacity {
  at: number;
  budget: number;
  hidden: number;
  free: number; // up to the line
}
export interface Layout {
  capacity: Capacity | null; // null: none is known
  bands: Band[]; // from the bottom up
  spaces: SpaceBand[];
  base: Float64Array; // by allocation: its begin, or -1: not shown
  height: number;
  shown: number; // bytes of the allocations that are shown
}

// What the program is given stands below what it makes: the heap is the top of its space.
const kOrder = ['parameter', 'donated', 'constant', 'output', 'temporary', 'thread-local'];
const kGapShare = 0.025;
// The memory space that a budget is for.
export const kMainColor = 0;

// Whether a capacity can be drawn: more than so many times what is taken would press all else flat. Of
// two programs both have it, or neither.
const kMostHeadroom = 1.5;
export function isNear(budget: number, modules: Module[]): boolean {
  const taken = modules.flatMap(({ header }) =>
    header.spaces.filter(({ color }) => color === kMainColor).map((space) => space.footprint.bytes),
  );
  return budget <= Math.max(0, ...taken) * kMostHeadroom;
}

export function makeLayout(
  module: Module,
  hiddenKinds: ReadonlySet<string>,
  budget: number | null = null,
): Layout {
  const { allocations, header } = module;
  const rankOf = header.allocation_kinds.map(
    (kind) => (kOrder.indexOf(kind) + kOrder.length + 1) % (kOrder.length + 1),
  );
  const shown: number[] = [];
  let total = 0;
  let hidden = 0;
  const isMain = (space: number) => header.spaces[space].color === kMainColor;
  for (let a = 0; a < allocations.count; ++a) {
    if (hiddenKinds.has(header.allocation_kinds[allocations.kind[a]]) || allocations.size[a] <= 0) {
      if (isMain(allocations.space[a])) hidden += allocations.size[a];
      continue;
    }
    shown.push(a);
    total += allocations.size[a];
  }
  shown.sort(
    (a, b) =>
      allocations.space[a] - allocations.space[b] ||
      rankOf[allocations.kind[a]] - rankOf[allocations.kind[b]] ||
      a - b,
  );
  const layout: Layout = {
    capacity: null,
    bands: [],
    spaces: [],
    base: new Float64Array(allocations.count).fill(-1),
    height: 0,
    shown: total,
  };
  const gap = Math.ceil(total * kGapShare);
  // The next space begins above the capacity of the main one, so that its line stands alone.
  const addCapacity = (space: SpaceBand) => {
    if (budget === null || !isMain(space.space)) return;
    const at = space.begin + Math.max(0, budget - hidden);
    layout.capacity = { at, budget, hidden, free: Math.max(0, at - space.end) };
    layout.height = Math.max(layout.height, layout.capacity.at);
  };
  for (const a of shown) {
    const space = allocations.space[a];
    let current = layout.spaces.at(-1);
    if (current?.space !== space) {
      if (current) {
        addCapacity(current);
        layout.height += gap;
      }
      current = { space, begin: layout.height, end: layout.height };
      layout.spaces.push(current);
    }
    layout.base[a] = layout.height;
    const end = layout.height + allocations.size[a];
    layout.bands.push({ allocation: a, begin: layout.height, end });
    layout.height = current.end = end;
  }
  const last = layout.spaces.at(-1);
  if (last) addCapacity(last);
  layout.height = Math.max(1, layout.height);
  return layout;
}

// Index of the band at a height, or -1.
export function bandAt(layout: Layout, height: number): number {
  let low = 0;
  let high = layout.bands.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (layout.bands[middle].end <= height) low = middle + 1;
    else high = middle;
  }
  return low < layout.bands.length && layout.bands[low].begin <= height ? low : -1;
}

// The rectangle of a value; null when it is not on the map.
export interface Rect {
  t0: number;
  t1: number; // exclusive
  y0: number;
  y1: number;
}
export function rectOf(module: Module, layout: Layout, value: number): Rect | null {
  const { allocation, offset, size, start, end } = module.values;
  const a = allocation[value];
  if (a === NONE || layout.base[a] < 0 || start[value] < 0 || size[value] <= 0) return null;
  const y0 = layout.base[a] + offset[value];
  return { t0: start[value], t1: end[value] + 1, y0, y1: y0 + size[value] };
}
