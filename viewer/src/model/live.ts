// SPDX-License-Identifier: Apache-2.0
// What is live at a moment. The library has said what each value owns, and from when on: here the
// steps are only looked up and added.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';

// The last step that is not after `time`, or -1.
export function stepAt(times: Int32Array, begin: number, end: number, time: number): number {
  let low = begin;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low > begin ? low - 1 : -1;
}

export function bytesOf(module: Module, value: number, time: number): number {
  const { begins, times, bytes } = module.shares;
  const step = stepAt(times, begins[value], begins[value + 1], time);
  return step < 0 ? 0 : bytes[step];
}

export interface Live {
  time: number;
  bytes: number; // the sum below
  padding: number;
  // Those that own bytes, by falling bytes, then as in the table.
  values: Uint32Array;
  owned: Float64Array;
  ownedPadding: Float64Array;
  // Those that are alive, but all of their bytes belong to younger values.
  shadowed: number;
}

// Values by falling size, then as in the table. Most own all of their bytes, so that a live set taken
// in this order is nearly sorted: what is left to sort costs little, and scrubbing is smooth.
const orders = new WeakMap<Module, Uint32Array>();
function bySize(module: Module): Uint32Array {
  let order = orders.get(module);
  if (!order) {
    const { size, count } = module.values;
    order = new Uint32Array(count).map((_, v) => v).sort((a, b) => size[b] - size[a] || a - b);
    orders.set(module, order);
  }
  return order;
}

// `space`: an index into the header's spaces, or -1 for all.
export function liveAt(module: Module, time: number, space = -1): Live {
  const { begins, times, bytes, padding } = module.shares;
  const { start, end, allocation } = module.values;
  const found: number[] = [];
  const steps: number[] = [];
  let shadowed = 0;
  for (const v of bySize(module)) {
    if (start[v] > time || end[v] < time || start[v] < 0) continue;
    if (space >= 0 && spaceOf(module, v) !== space) continue;
    const step = stepAt(times, begins[v], begins[v + 1], time);
    if (step >= 0 && bytes[step] > 0) {
      found.push(v);
      steps.push(step);
    } else if (allocation[v] !== NONE) {
      ++shadowed;
    }
  }
  const order = Uint32Array.from(found.keys()).sort(
    (a, b) => bytes[steps[b]] - bytes[steps[a]] || found[a] - found[b],
  );
  const live: Live = {
    time,
    bytes: 0,
    padding: 0,
    values: order.map((i) => found[i]),
    owned: Float64Array.from(order, (i) => bytes[steps[i]]),
    ownedPadding: Float64Array.from(order, (i) => padding[steps[i]]),
    shadowed,
  };
  for (const owned of live.owned) live.bytes += owned;
  for (const owned of live.ownedPadding) live.padding += owned;
  return live;
}

export function spaceOf(module: Module, value: number): number {
  const allocation = module.values.allocation[value];
  return allocation === NONE ? -1 : module.allocations.space[allocation];
}

// A curve's steps: of a space, or with index spaces.length of all together.
export function curveAt(module: Module, curve: number, time: number): number {
  const { begins, times, bytes } = module.curves;
  const step = stepAt(times, begins[curve], begins[curve + 1], time);
  return step < 0 ? 0 : bytes[step];
}
