// SPDX-License-Identifier: Apache-2.0
import { expect, test } from 'vitest';
import { toCsv } from '../../src/model/csv';
import { visible } from '../../src/model/words';
import { readHash, writeHash, type Shared } from '../../src/state/hash';
import { fitAll, panBy, zoomAt } from '../../src/state/viewport';

const plain: Shared = {
  time: 5,
  value: null,
  module: 0,
  view: null,
  color: 'kind',
  hidden: [],
  tab: 'live',
  as: 'table',
  by: 'value',
  space: -1,
  query: '',
  compare: 'side',
  theme: 'auto',
  hole: -1,
  holes: 1,
  brackets: 0,
  place: null,
  file: 0,
  line: 0,
  table: 'spaces',
};

test('the address keeps the state', () => {
  expect(writeHash(plain, plain)).toBe('');
  const state: Shared = {
    ...plain,
    time: 9,
    value: 3,
    view: [1.5, 20, 0, 2 ** 40],
    hidden: ['constant', 'parameter'],
    query: 'a&b=c #/x/ >1k',
    tab: 'search',
    module: 1,
    theme: 'dark',
    hole: 2,
    holes: 0,
    brackets: 1,
    place: [4, 2 ** 41],
    file: 1,
    line: 16,
    table: 'holes',
  };
  expect(readHash(`#${writeHash(state, plain)}`, plain)).toEqual(state);
});
test('a broken address does no harm', () => {
  expect(
    readHash('#t=NaN&view=1,2&value=x&module=1e99&space=0.5&place=1,-2&hole=x', plain),
  ).toEqual({
    ...plain,
    value: -1,
  });
  expect(readHash('#view=5,1,0,1', plain).view).toBeNull();
});

const extent = { time: 1000, bytes: 2 ** 30 };
test('zoom keeps the point under the pointer, and stays within the program', () => {
  const all = fitAll(extent);
  const near = zoomAt(all, extent, 250, 2 ** 28, 0.5, 0.5);
  expect((250 - near.t0) / (near.t1 - near.t0)).toBeCloseTo((250 - all.t0) / (all.t1 - all.t0));
  let view = all;
  for (let i = 0; i < 200; ++i) view = zoomAt(view, extent, 999, 0, 0.5, 0.5);
  expect(view.t1 - view.t0).toBeCloseTo(2);
  expect(view.t1).toBeLessThanOrEqual(1000);
  for (let i = 0; i < 200; ++i) view = zoomAt(view, extent, 999, 0, 2, 2);
  expect(view).toEqual(all);
  expect(panBy(near, extent, 1e9, 1e18).t1).toBe(1000);
});

test('CSV is quoted, and no formula', () => {
  expect(
    toCsv(
      ['a', 'b'],
      [
        ['x,"y"', 3],
        ['=1+1', -4],
      ],
    ),
  ).toBe('a,b\r\n"x,""y""",3\r\n\'=1+1,-4\r\n');
});
test('marks that turn text around are shown as their code', () => {
  expect(visible('a\u202Eb\u0000\n')).toBe('a\\u202eb\\u0000\\u000a');
  expect(visible('שלום é')).toBe('שלום é');
});
