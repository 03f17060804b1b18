// SPDX-License-Identifier: Apache-2.0
// Who lies around a value on the map. -1: nobody.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';

export interface Neighbours {
  below: number; // nearest in space, alive at the same time
  above: number;
  before: number; // last on some of its bytes before it
  after: number; // first on some of them after it
}

export function neighboursOf(module: Module, value: number): Neighbours {
  const { allocation, offset, size, start, end, count } = module.values;
  const found: Neighbours = { below: -1, above: -1, before: -1, after: -1 };
  const home = allocation[value];
  if (home === NONE || start[value] < 0) return found;
  const low = offset[value];
  const high = low + size[value];
  for (let v = 0; v < count; ++v) {
    if (allocation[v] !== home || v === value || start[v] < 0 || size[v] <= 0) continue;
    const top = offset[v] + size[v];
    if (start[v] <= end[value] && end[v] >= start[value]) {
      if (top <= low && (found.below < 0 || top > offset[found.below] + size[found.below]))
        found.below = v;
      if (offset[v] >= high && (found.above < 0 || offset[v] < offset[found.above]))
        found.above = v;
    } else if (offset[v] < high && top > low) {
      if (end[v] < start[value] && (found.before < 0 || end[v] > end[found.before]))
        found.before = v;
      if (start[v] > end[value] && (found.after < 0 || start[v] < start[found.after]))
        found.after = v;
    }
  }
  return found;
}

// The free bytes around a place in an allocation at a moment: to the nearest live values.
export interface Gap {
  begin: number; // within the allocation
  end: number;
  below: number; // -1: the bottom of the allocation
  above: number; // -1: its top
}
export function gapAt(module: Module, allocation: number, byte: number, time: number): Gap {
  const { allocation: homes, offset, size, start, end, count } = module.values;
  const gap: Gap = { begin: 0, end: module.allocations.size[allocation], below: -1, above: -1 };
  for (let v = 0; v < count; ++v) {
    if (homes[v] !== allocation || start[v] < 0 || start[v] > time || end[v] < time) continue;
    const top = offset[v] + size[v];
    if (top <= byte && top > gap.begin) {
      gap.begin = top;
      gap.below = v;
    }
    if (offset[v] > byte && offset[v] < gap.end) {
      gap.end = offset[v];
      gap.above = v;
    }
  }
  return gap;
}

// Who lies on a byte of an allocation: now, last before, first after. -1: nobody.
export interface Tenants {
  before: number;
  now: number;
  after: number;
}
export function tenantsAt(module: Module, allocation: number, byte: number, time: number): Tenants {
  const { allocation: homes, offset, size, start, end, count } = module.values;
  const found: Tenants = { before: -1, now: -1, after: -1 };
  for (let v = 0; v < count; ++v) {
    if (homes[v] !== allocation || start[v] < 0) continue;
    if (offset[v] > byte || offset[v] + size[v] <= byte) continue;
    if (end[v] < time) {
      if (found.before < 0 || end[v] > end[found.before]) found.before = v;
    } else if (start[v] > time) {
      if (found.after < 0 || start[v] < start[found.after]) found.after = v;
    } else if (found.now < 0 || start[v] > start[found.now]) {
      found.now = v; // the youngest owns the byte
    }
  }
  return found;
}
