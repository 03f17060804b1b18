// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';
import { oneModule } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import { NONE } from '../../src/decode/header';
import { queryFor, search, splitWords } from '../../src/model/search';
import { changeText, parseSize, shortSize, exactSize } from '../../src/model/size';
import { nameOf } from '../../src/model/words';

const module = readBundle(new Uint8Array(oneModule({ values: 500 })).buffer).modules[0];
const { values } = module;
const all = Array.from({ length: values.count }, (_, v) => v);
function found(query: string): number[] {
  return [...search(module, query).values].sort((a, b) => a - b);
}

describe('search', () => {
  test('by text in any case', () => {
    expect(found('FUSION')).toEqual(
      all.filter(
        (v) =>
          nameOf(module, v).includes('fusion') ||
          module.strings.get(values.opName[v]).includes('fusion'),
      ),
    );
  });
  test('by size', () => {
    expect(found('>64KiB')).toEqual(all.filter((v) => values.size[v] > 65536));
    expect(found('>=4MiB <5M')).toEqual(all.filter((v) => values.size[v] === 4 << 20));
    expect(found('=256').length).toBe(all.filter((v) => values.size[v] === 256).length);
  });
  test('by kind, space and moment', () => {
    expect(found('kind:activation')).toEqual(
      all.filter((v) => module.header.kinds[values.kind[v]].word === 'activation'),
    );
    expect(found('space:vmem')).toEqual(
      all.filter((v) => module.allocations.space[values.allocation[v]] === 1),
    );
    expect(found('at:100')).toEqual(
      all.filter((v) => values.start[v] >= 0 && values.start[v] <= 100 && values.end[v] >= 100),
    );
  });
  test('by regular expression and field', () => {
    expect(found('name:/^dot\\.\\d+$/')).toEqual(
      all.filter((v) => /^dot\.\d+$/.test(nameOf(module, v))),
    );
    expect(found("path:['w']")).toEqual(
      all.filter((v) =>
        module.strings.get(module.allocations.path[values.allocation[v]]).includes("['w']"),
      ),
    );
    expect(found('source:model.py:16').length).toBeGreaterThan(0);
  });
  test('by any line of the stack', () => {
    const { frames } = module;
    const outer = all.filter((v) => {
      for (let f = values.frame[v]; f !== NONE; f = frames.parent[f])
        if (module.strings.get(frames.file[f]) === 'train.py') return true;
      return false;
    });
    expect(outer.length).toBeGreaterThan(0);
    expect(found('source:train.py:')).toEqual(outer);
  });
  test('for all that are grouped with a value', () => {
    const { allocations, strings, header } = module;
    const v = found('kind:activation')[3];
    const p = found("path:['w']")[0];
    const path = strings.get(allocations.path[values.allocation[p]]);
    expect(queryFor(module, v, 'value')).toBe('');
    expect(found(queryFor(module, p, 'kind'))).toEqual(
      all.filter((w) => header.kinds[values.kind[w]].word === header.kinds[values.kind[p]].word),
    );
    expect(found(queryFor(module, p, 'parameter'))).toEqual(
      all.filter((w) => strings.get(allocations.path[values.allocation[w]]).includes(path)),
    );
    for (const by of ['source', 'op_name', 'space'] as const)
      expect(found(queryFor(module, v, by))).toContain(v);
  });
  test('words are all required, and - turns one around', () => {
    expect(found('dot -kind:activation')).toEqual(
      found('dot').filter((v) => !found('kind:activation').includes(v)),
    );
  });
  test('mistakes are said', () => {
    expect(search(module, '>64XB').error).toContain('64XB is not a size');
    expect(search(module, '/(/').error).toContain('regular expression');
    expect(search(module, 'at:x').error).toContain('at:');
    expect(search(module, '  ').marked).toBeNull();
  });
  test('words', () => {
    expect(splitWords('a "b c" kind:x source:"m.py:3 " /a b/ >1k')).toEqual([
      'a',
      '"b c"',
      'kind:x',
      'source:"m.py:3 "',
      '/a b/',
      '>1k',
    ]);
  });
});

test('sizes', () => {
  expect(parseSize('16GiB')).toBe(2 ** 34);
  expect(parseSize('16G')).toBe(2 ** 34);
  expect(parseSize('1.5k')).toBe(1536);
  expect(parseSize('12x')).toBeNull();
  expect(shortSize(1610612736)).toBe('1.50GiB');
  expect(exactSize(1610612736)).toBe('1.50GiB (1610612736)');
  expect(exactSize(100)).toBe('100B');
});

test('a change in words', () => {
  expect(changeText(200, 100)).toBe('50.00 % less');
  expect(changeText(100, 200)).toBe('100.00 % more');
  expect(changeText(1e9, 1e9 - 1)).toBe('<0.01 % less');
  expect(changeText(1e9, 1e9 + 1)).toBe('<0.01 % more');
  expect(changeText(7, 7)).toBe('the same');
  expect(changeText(0, 0)).toBe('the same');
  expect(changeText(0, 5)).toBe('');
});
