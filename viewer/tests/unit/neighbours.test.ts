// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { oneModule } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import { gapAt, neighboursOf, tenantsAt } from '../../src/model/neighbours';

const module = readBundle(new Uint8Array(oneModule({ values: 400 })).buffer).modules[0];
const { values, allocations } = module;
const heap = allocations.kind.findIndex((kind) => kind === 0);
const inHeap = Array.from({ length: values.count }, (_, v) => v).filter(
  (v) => values.allocation[v] === heap,
);

test('a gap has nobody in it, and its bounds are live values or the ends', () => {
  let gaps = 0;
  for (let time = 5; time < module.end; time += 13) {
    const live = inHeap.filter((v) => values.start[v] <= time && time <= values.end[v]);
    for (let byte = 0; byte < allocations.size[heap]; byte += 99991) {
      if (live.some((v) => values.offset[v] <= byte && byte < values.offset[v] + values.size[v])) {
        continue;
      }
      const gap = gapAt(module, heap, byte, time);
      expect(gap.begin <= byte && byte < gap.end).toBe(true);
      for (const v of live) {
        const top = values.offset[v] + values.size[v];
        expect(top <= gap.begin || values.offset[v] >= gap.end).toBe(true);
      }
      if (gap.above >= 0) expect(values.offset[gap.above]).toBe(gap.end);
      if (gap.below >= 0) expect(values.offset[gap.below] + values.size[gap.below]).toBe(gap.begin);
      ++gaps;
    }
  }
  expect(gaps).toBeGreaterThan(100);
});

test('those who lie on a byte, before, now and after', () => {
  for (let time = 3; time < module.end; time += 37) {
    for (let byte = 5; byte < allocations.size[heap]; byte += 77777) {
      const { before, now, after } = tenantsAt(module, heap, byte, time);
      const here = inHeap.filter(
        (v) => values.offset[v] <= byte && byte < values.offset[v] + values.size[v],
      );
      const ended = here.filter((v) => values.end[v] < time).map((v) => values.end[v]);
      const coming = here.filter((v) => values.start[v] > time).map((v) => values.start[v]);
      expect(before < 0 ? -Infinity : values.end[before]).toBe(Math.max(...ended));
      expect(after < 0 ? Infinity : values.start[after]).toBe(Math.min(...coming));
      expect(now >= 0).toBe(ended.length + coming.length < here.length);
      if (now >= 0) expect(here).toContain(now);
    }
  }
});

test('neighbours are where they are said to be', () => {
  for (const v of inHeap) {
    const { below, above, before, after } = neighboursOf(module, v);
    const overlaps = (w: number) =>
      values.start[w] <= values.end[v] && values.end[w] >= values.start[v];
    if (below >= 0)
      expect(values.offset[below] + values.size[below]).toBeLessThanOrEqual(values.offset[v]);
    if (above >= 0)
      expect(values.offset[above]).toBeGreaterThanOrEqual(values.offset[v] + values.size[v]);
    for (const w of [below, above]) if (w >= 0) expect(overlaps(w)).toBe(true);
    if (before >= 0) expect(values.end[before]).toBeLessThan(values.start[v]);
    if (after >= 0) expect(values.start[after]).toBeGreaterThan(values.end[v]);
  }
});
