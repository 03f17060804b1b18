// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';
import { oneModule } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import {
  flatGroups,
  groupLive,
  kGroupings,
  splitParameter,
  splitPath,
  type Group,
} from '../../src/model/groups';
import { bytesOf, curveAt, liveAt, stepAt } from '../../src/model/live';
import { bytesByLine } from '../../src/model/sources';

const module = readBundle(new Uint8Array(oneModule({ values: 2000 })).buffer).modules[0];
const spaces = module.header.spaces.length;

function sumOf(groups: Group[]): number {
  return groups.reduce((sum, group) => sum + group.bytes, 0);
}

describe('the live set', () => {
  test('adds up to the curve at every moment, in all spaces and in each', () => {
    for (let t = 0; t <= module.end; t += 7) {
      expect(liveAt(module, t).bytes).toBe(curveAt(module, spaces, t));
      for (let space = 0; space < spaces; ++space)
        expect(liveAt(module, t, space).bytes).toBe(curveAt(module, space, t));
    }
  });

  test('has everyone who owns bytes then', () => {
    for (const t of [0, 100, 777, 1500, module.end]) {
      const live = liveAt(module, t);
      const owners = Array.from({ length: module.values.count }, (_, v) => v).filter(
        (v) => bytesOf(module, v, t) > 0 && module.values.start[v] >= 0,
      );
      expect([...live.values].sort((a, b) => a - b)).toEqual(owners);
    }
  });

  test('is the peak at the peak', () => {
    expect(liveAt(module, module.header.all_peak.time).bytes).toBe(module.header.all_peak.bytes);
  });

  test('is in order of bytes, then of the table', () => {
    const { values, owned } = liveAt(module, module.header.all_peak.time);
    for (let i = 1; i < values.length; ++i) {
      expect(
        owned[i - 1] > owned[i] || (owned[i - 1] === owned[i] && values[i - 1] < values[i]),
      ).toBe(true);
    }
  });

  test.each(kGroupings)('is partitioned by %s', (by) => {
    const live = liveAt(module, module.header.all_peak.time);
    expect(sumOf(flatGroups(module, live, by))).toBe(live.bytes);
    const tree = groupLive(module, live, by);
    expect(tree.bytes).toBe(live.bytes);
    const open = [tree];
    for (let group = open.pop(); group; group = open.pop()) {
      if (group.children.length === 0) continue;
      const below = sumOf(group.children);
      // A path may end where others go on.
      expect(below).toBeLessThanOrEqual(group.bytes);
      open.push(...group.children);
    }
    expect(sumOf(tree.children)).toBe(live.bytes);
  });

  test('by line: the own bytes of all lines are those of values with a frame', () => {
    const live = liveAt(module, module.header.all_peak.time);
    let own = 0;
    for (const file of ['train.py', 'model.py'])
      for (const bytes of bytesByLine(module, live, file).own.values()) own += bytes;
    let framed = 0;
    live.values.forEach(
      (value, i) => (framed += module.values.frame[value] === 0xffffffff ? 0 : live.owned[i]),
    );
    expect(own).toBe(framed);
  });
});

test('steps are found', () => {
  const times = Int32Array.from([2, 5, 9]);
  expect([1, 2, 4, 5, 8, 9, 100].map((t) => stepAt(times, 0, 3, t))).toEqual([
    -1, 0, 0, 1, 1, 2, 2,
  ]);
});

test('paths are split', () => {
  expect(splitPath('jit(f)/jvp(a/b)/mul')).toEqual(['jit(f)', 'jvp(a/b)', 'mul']);
  expect(splitPath('/')).toEqual(['/']);
  expect(splitParameter("params['layers'][3]['w']")).toEqual([
    'params',
    "['layers']",
    '[3]',
    "['w']",
  ]);
  expect(splitParameter('state.params[0]')).toEqual(['state', '.params', '[0]']);
});
