// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Rows of a made-up module while it grows, and what follows from them: shares, curves, holes.

export const NONE = 0xffffffff;

export class StringTable {
  constructor() {
    /** @type {Map<string, number>} */
    this.ids = new Map([['', 0]]);
  }
  /** @param {string} text */
  add(text) {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.ids.size;
      this.ids.set(text, id);
    }
    return id;
  }
  columns() {
    const parts = [...this.ids.keys()].map((text) => Buffer.from(text, 'utf-8'));
    let end = 0;
    const ends = Uint32Array.from(parts, (part) => (end += part.length));
    return { 'string.ends': ends, 'string.bytes': new Uint8Array(Buffer.concat(parts)) };
  }
}

/**
 * @typedef {{name: string, op: number, allocation: number, offset: number, size: number, padding: number,
 *   start: number, end: number, kind: number, shape: string, opName: string, frame: number, holder: number,
 *   heldBy: number, uses: {op: number, operand: number}[], aliases: {value: number, where: string, rule: number}[],
 *   over: number}} Value `over`: the older value whose place it takes while both live, or -1
 */

/**
 * Steps of what each value owns. A value that lies on another has all of its bytes while it lives.
 * @param {Value[]} values
 * @param {(value: Value) => boolean} isCounted
 */
export function sharesOf(values, isCounted) {
  /** @type {Map<number, Value[]>} */
  const above = new Map();
  for (const value of values) {
    if (value.over >= 0) above.set(value.over, [...(above.get(value.over) ?? []), value]);
  }
  const begins = new Uint32Array(values.length + 1);
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const bytes = [];
  /** @type {number[]} */
  const padding = [];
  const step = (
    /** @type {number} */ time,
    /** @type {number} */ size,
    /** @type {number} */ pad,
  ) => {
    times.push(time);
    bytes.push(size);
    padding.push(pad);
  };
  values.forEach((value, v) => {
    if (value.start >= 0 && isCounted(value)) {
      step(value.start, value.size, value.padding);
      for (const other of above.get(v) ?? []) {
        step(other.start, 0, 0);
        if (other.end < value.end) step(other.end + 1, value.size, value.padding);
      }
      if (times[times.length - 1] <= value.end || bytes[bytes.length - 1] > 0)
        step(value.end + 1, 0, 0);
    }
    begins[v + 1] = times.length;
  });
  return {
    'share.begins': begins,
    'share.times': Int32Array.from(times),
    'share.bytes': Float64Array.from(bytes),
    'share.padding': Float64Array.from(padding),
  };
}

/**
 * @param {ReturnType<typeof sharesOf>} shares
 * @param {(v: number) => boolean} isIn
 * @param {number} end
 */
export function curveOf(shares, isIn, end) {
  const change = new Float64Array(end + 3);
  for (let v = 0; v + 1 < shares['share.begins'].length; ++v) {
    if (!isIn(v)) continue;
    let last = 0;
    for (let s = shares['share.begins'][v]; s < shares['share.begins'][v + 1]; ++s) {
      change[shares['share.times'][s]] += shares['share.bytes'][s] - last;
      last = shares['share.bytes'][s];
    }
  }
  const times = [];
  const bytes = [];
  let level = 0;
  let peak = { bytes: 0, time: 0 };
  for (let t = 0; t <= end; ++t) {
    if (change[t] === 0) continue;
    level += change[t];
    times.push(t);
    bytes.push(level);
    if (level > peak.bytes) peak = { bytes: level, time: t };
  }
  return { times, bytes, peak };
}

/**
 * What is free in an allocation at a moment.
 * @param {Value[]} values
 * @param {number} allocation
 * @param {number} size
 * @param {number} time
 */
export function holesOf(values, allocation, size, time) {
  const live = values
    .map((value, id) => ({ value, id }))
    .filter(
      ({ value }) => value.allocation === allocation && value.start <= time && time <= value.end,
    )
    .sort((a, b) => a.value.offset - b.value.offset);
  const holes = [];
  let top = 0;
  let below = NONE;
  for (const { value, id } of live) {
    if (value.offset > top) {
      const kind = value.offset - top < 256 ? 0 : 1;
      holes.push({ allocation, kind, begin: top, end: value.offset, below, above: id });
    }
    if (value.offset + value.size > top) {
      top = value.offset + value.size;
      below = id;
    }
  }
  if (top < size) holes.push({ allocation, kind: 2, begin: top, end: size, below, above: NONE });
  return holes;
}
