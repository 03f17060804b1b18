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

// Values by falling size, then as in the table.
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

// Time is cut into windows; of each one that the cursor was in, the values that live in it are known,
// in the order above.
const kWindows = 64;
const windows = new WeakMap<Module, Map<number, Uint32Array>>();
function around(module: Module, time: number): Uint32Array {
  const width = Math.ceil((module.end + 1) / kWindows);
  const window = Math.floor(time / width);
  let known = windows.get(module);
  if (!known) windows.set(module, (known = new Map()));
  let values = known.get(window);
  if (!values) {
    const { start, end } = module.values;
    const from = window * width;
    const order = bySize(module);
    const list = new Uint32Array(order.length);
    let count = 0;
    for (let i = 0; i < order.length; ++i) {
      const v = order[i];
      if (start[v] >= 0 && start[v] < from + width && end[v] >= from) list[count++] = v;
    }
    values = list.slice(0, count);
    known.set(window, values);
  }
  return values;
}

// `space`: an index into the header's spaces, or -1 for all.
export function liveAt(module: Module, time: number, space = -1): Live {
  const { begins, times, bytes, padding } = module.shares;
  const { start, end, allocation, size } = module.values;
  const candidates = around(module, time);
  // Most own all of their bytes, and come in order as they are; only the others are sorted.
  const whole = new Uint32Array(candidates.length); // steps
  const part: number[] = [];
  const values = new Uint32Array(candidates.length); // of the steps in `whole`
  const valueOf = new Map<number, number>(); // of those in `part`
  let wholes = 0;
  let shadowed = 0;
  for (let i = 0; i < candidates.length; ++i) {
    const v = candidates[i];
    if (start[v] > time || end[v] < time) continue;
    if (space >= 0 && spaceOf(module, v) !== space) continue;
    const step = stepAt(times, begins[v], begins[v + 1], time);
    if (step >= 0 && bytes[step] > 0) {
      if (bytes[step] === size[v]) {
        values[wholes] = v;
        whole[wholes++] = step;
      } else {
        part.push(step);
        valueOf.set(step, v);
      }
    } else if (allocation[v] !== NONE) {
      ++shadowed;
    }
  }
  part.sort((a, b) => bytes[b] - bytes[a] || a - b); // steps are in order of values
  const count = wholes + part.length;
  const live: Live = {
    time,
    bytes: 0,
    padding: 0,
    values: new Uint32Array(count),
    owned: new Float64Array(count),
    ownedPadding: new Float64Array(count),
    shadowed,
  };
  for (let i = 0, w = 0, p = 0; i < count; ++i) {
    const isWhole =
      p >= part.length ||
      (w < wholes &&
        (bytes[whole[w]] > bytes[part[p]] ||
          (bytes[whole[w]] === bytes[part[p]] && whole[w] < part[p])));
    const step = isWhole ? whole[w] : part[p];
    live.values[i] = isWhole ? values[w++] : (valueOf.get(part[p++]) ?? 0);
    live.owned[i] = bytes[step];
    live.ownedPadding[i] = padding[step];
    live.bytes += bytes[step];
    live.padding += padding[step];
  }
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
