// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';
import { indexOf, oneModule } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import { Scale } from '../../src/draw/areas';
import { drawCurve } from '../../src/draw/curve';
import { isNear, makeLayout } from '../../src/draw/layout';
import { drawLimits, limitAt, limitsOf } from '../../src/draw/limits';
import { SvgPen } from '../../src/draw/pen';
import { kLight } from '../../src/draw/theme';
import { thumbnail } from '../../src/draw/thumbnail';
import { shortSize } from '../../src/model/size';
import { pageBeside } from '../../src/model/words';

const read = () => readBundle(new Uint8Array(oneModule({ values: 400 })).buffer).modules[0];
const module = read();
const nothing = new Set<string>();
const plain = makeLayout(module, nothing);
const main = plain.spaces[0];
const taken = main.end - main.begin;
const area = { x: 0, y: 0, w: 800, h: 600 };
const scaleOf = (height: number) =>
  new Scale(area, { t0: 0, t1: module.end + 1, y0: 0, y1: height });

describe('the capacity', () => {
  test('is a height in the main memory', () => {
    expect(plain.capacity).toBeNull();
    const layout = makeLayout(module, nothing, Math.floor(taken / 2));
    expect(layout.capacity?.at).toBe(main.begin + Math.floor(taken / 2));
    expect(layout.height).toBe(plain.height);
  });
  test('has room below the next space', () => {
    const budget = Math.floor(taken * 1.3);
    const layout = makeLayout(module, nothing, budget);
    expect(layout.capacity?.at).toBe(main.begin + budget);
    expect(layout.spaces[0]).toEqual(main);
    expect(layout.spaces[1].begin).toBeGreaterThan(main.begin + budget);
    expect(layout.height - plain.height).toBe(budget - taken);
  });
  test('presses nothing flat when it is far above', () => {
    const header = module.header.spaces[0].footprint.bytes;
    expect(isNear(header, [module])).toBe(true);
    expect(isNear(header * 20, [module])).toBe(false);
    const larger = read();
    larger.header.spaces[0].footprint.bytes *= 20;
    expect(isNear(header * 20, [module, larger])).toBe(true);
  });
  test('loses what is hidden', () => {
    const hidden = new Set(['parameter', 'donated']);
    const layout = makeLayout(module, hidden, taken);
    const gone = taken - (layout.spaces[0].end - layout.spaces[0].begin);
    expect(gone).toBeGreaterThan(0);
    // What is shown still ends where the capacity does.
    expect(layout.capacity).toEqual({
      at: layout.spaces[0].end,
      budget: taken,
      hidden: gone,
      free: 0,
    });
    const [limit] = limitsOf(module, layout, area.h / layout.height).slice(-1);
    expect(limit.label).toMatch(/^capacity .*, less .* that is hidden$/);
  });
  test('belongs to color 0, wherever it stands', () => {
    const other = read();
    other.header.spaces[0].color = 7;
    expect(makeLayout(other, nothing, taken).capacity).toBeNull();
    other.header.spaces[1].color = 0;
    const second = plain.spaces[1];
    const layout = makeLayout(other, nothing, second.end - second.begin);
    expect(layout.capacity?.at).toBe(second.end);
    const pen = new SvgPen();
    drawCurve(pen, scaleOf(taken * 2), other, taken, kLight);
    drawLimits(pen, scaleOf(layout.height), other, layout, kLight);
    const picture = pen.finish(800, 600, '');
    expect(picture).toContain(`capacity of ${other.header.spaces[1].name} ${shortSize(taken)}`);
    expect(picture).toContain(`>capacity ${shortSize(second.end - second.begin)}<`);
  });
});

describe('the lower bound', () => {
  test('stands on the bottom of the temporaries, in each space', () => {
    const other = read();
    other.header.spaces.forEach((space, i) => (space.bound = 1000 * (i + 1)));
    const limits = limitsOf(other, plain, 1);
    expect(limits.map((limit) => limit.kind)).toEqual(['bound', 'bound']);
    limits.forEach((limit, i) => {
      const heap = plain.bands.find(
        ({ allocation }) =>
          other.allocations.space[allocation] === i &&
          other.header.allocation_kinds[other.allocations.kind[allocation]] === 'temporary',
      );
      expect(limit.at).toBe((heap?.begin ?? NaN) + 1000 * (i + 1));
    });
    expect(limits[0].title).toBe('lower bound: 1000B');
    expect(limits[1].title).toBe('lower bound: 1.95KiB (2000)');
  });
  test('is left out where nobody could see it', () => {
    const other = read();
    other.header.spaces.forEach((space) => (space.bound = 1));
    expect(limitsOf(other, plain, 1e-12)).toEqual([]);
    other.header.spaces.forEach((space) => (space.bound = 0));
    expect(limitsOf(other, plain, 1)).toEqual([]);
    other.header.spaces.forEach((space) => (space.bound = 1));
    expect(limitsOf(other, makeLayout(other, new Set(['temporary'])), 1)).toEqual([]);
  });
  test('is found under the pointer', () => {
    const scale = scaleOf(plain.height);
    const limits = limitsOf(module, plain, scale.perByte);
    expect(limits).toHaveLength(1);
    const y = scale.y(limits[0].at);
    expect(limitAt(limits, scale, y + 2)).toBe(limits[0]);
    expect(limitAt(limits, scale, y + 20)).toBeUndefined();
  });
});

describe('an index', () => {
  const header = readBundle(new Uint8Array(indexOf()).buffer).header;
  test('has curves that reach the top', () => {
    for (const row of header.index ?? []) {
      const path = thumbnail(row, 200, 36);
      const heights = [...path.matchAll(/[ML](\S+) ([\d.-]+)/g)].map((match) => Number(match[2]));
      expect(Math.min(...heights)).toBe(0);
      expect(Math.max(...heights)).toBe(36);
      const across = [...path.matchAll(/[ML]([\d.-]+) /g)].map((match) => Number(match[1]));
      expect(across).toEqual([...across].sort((a, b) => a - b));
      expect(across.at(-1)).toBe(200);
    }
  });
  test('leads to pages in its folder only', () => {
    expect(pageBeside('module_0003.jit_step.html')).toBe('module_0003.jit_step.html');
    for (const bad of ['', '../x.html', 'javascript:1', 'http://x/y.html', '.html', 'a/b.html'])
      expect(pageBeside(bad)).toBeNull();
  });
});
