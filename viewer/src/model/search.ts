// SPDX-License-Identifier: Apache-2.0
// Search. Words are all required; each is one of
//   text            in the name, op_name, source, shape or parameter path, in any case
//   /expression/    the same, as a regular expression
//   >64MiB <1k =0   the size
//   kind:act  space:hbm  shape:f32[8  op:fusion  name:x  source:train.py  path:w  pad:>1k  at:120
// with - before it: not that; "..." keeps blanks.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import { parseSize } from './size';
import type { Grouping } from './groups';
import { ownFrame, spaceName } from './words';

export type Test = (value: number) => boolean;
export interface Query {
  test: Test | null; // null: nothing is asked
  error: string;
}

const kFields = [
  'name',
  'op',
  'opcode',
  'op_name',
  'source',
  'shape',
  'path',
  'kind',
  'space',
  'size',
  'pad',
  'at',
  'alloc',
];

export function splitWords(text: string): string[] {
  return text.match(/-?(?:[a-z_]+:)?(?:"[^"]*"?|\/(?:\\.|[^/\\])+\/i?(?=\s|$)|\S+)/gi) ?? [];
}

export function compileQuery(module: Module, text: string): Query {
  const tests: Test[] = [];
  for (const word of splitWords(text)) {
    try {
      tests.push(compileWord(module, word));
    } catch (error) {
      return { test: null, error: error instanceof Error ? error.message : String(error) };
    }
  }
  return { test: tests.length ? (value) => tests.every((test) => test(value)) : null, error: '' };
}

function compileWord(module: Module, word: string): Test {
  if (word.length > 1 && word.startsWith('-') && !/^-\d/.test(word)) {
    const test = compileWord(module, word.slice(1));
    return (value) => !test(value);
  }
  const { values } = module;
  const size = compileSize(word);
  if (size) return (value) => size(values.size[value]);
  const colon = word.indexOf(':');
  const field = word.slice(0, Math.max(0, colon)).toLowerCase();
  if (kFields.includes(field)) return compileField(module, field, word.slice(colon + 1));
  const matches = compileText(word);
  const fields = [
    column(module, values.name, matches),
    column(module, values.opName, matches),
    column(module, values.shape, matches),
    sourceTest(module, matches),
    pathTest(module, matches),
  ];
  return (value) => fields.some((test) => test(value));
}

function compileField(module: Module, field: string, rest: string): Test {
  const { values, ops, allocations } = module;
  const matches = compileText(rest);
  switch (field) {
    case 'name':
      return column(module, values.name, matches);
    case 'op_name':
      return column(module, values.opName, matches);
    case 'shape':
      return column(module, values.shape, matches);
    case 'op':
    case 'opcode': {
      const test = column(module, ops.opcode, matches);
      return (value) => values.op[value] !== NONE && test(values.op[value]);
    }
    case 'source':
      return sourceTest(module, matches);
    case 'path':
      return pathTest(module, matches);
    case 'kind': {
      const fits = module.header.kinds.map(({ word, name }) => matches(word) || matches(name));
      return (value) => fits[values.kind[value]];
    }
    case 'space': {
      const fits = module.header.spaces.map(
        ({ color }, i) => matches(spaceName(module, i)) || rest === String(color),
      );
      return (value) =>
        values.allocation[value] !== NONE && fits[allocations.space[values.allocation[value]]];
    }
    case 'alloc': {
      const number = Number(rest);
      return (value) =>
        values.allocation[value] !== NONE &&
        allocations.number[values.allocation[value]] === number;
    }
    case 'at': {
      const time = Number(rest);
      if (!Number.isInteger(time)) throw new Error(`at: needs a moment, as in at:120`);
      return (value) =>
        values.start[value] >= 0 && values.start[value] <= time && time <= values.end[value];
    }
    default: {
      const size = compileSize(rest) ?? compileSize(`>=${rest}`);
      if (!size) throw new Error(`${field}: needs a size, as in ${field}:>64MiB`);
      const sizes = field === 'pad' ? values.padding : values.size;
      return (value) => size(sizes[value]);
    }
  }
}

function compileSize(word: string): ((bytes: number) => boolean) | null {
  const match = /^(>=|<=|>|<|=)(.+)$/.exec(word);
  if (!match) return null;
  const bytes = parseSize(match[2]);
  if (bytes === null) throw new Error(`${match[2]} is not a size; write 64MiB, 1.5G or 4096`);
  switch (match[1]) {
    case '>':
      return (size) => size > bytes;
    case '<':
      return (size) => size < bytes;
    case '>=':
      return (size) => size >= bytes;
    case '<=':
      return (size) => size <= bytes;
    default:
      return (size) => size === bytes;
  }
}

function compileText(word: string): (text: string) => boolean {
  const expression = /^\/((?:\\.|[^/\\])+)\/(i?)$/.exec(word);
  if (expression) {
    let regexp: RegExp;
    try {
      regexp = new RegExp(expression[1], expression[2]);
    } catch {
      throw new Error(`${word} is not a regular expression`);
    }
    // Long names could keep an expression busy for ever.
    return (text) => regexp.test(text.length > 2000 ? text.slice(0, 2000) : text);
  }
  const plain = word.replace(/^"|"$/g, '').toLowerCase();
  return (text) => text.toLowerCase().includes(plain);
}

// A test on a column of strings; each string is looked at once.
function column(module: Module, ids: Uint32Array, matches: (text: string) => boolean): Test {
  const known = new Int8Array(module.strings.count);
  return (row) => {
    const id = ids[row];
    if (known[id] === 0) known[id] = matches(module.strings.peek(id)) ? 1 : -1;
    return known[id] > 0;
  };
}

function sourceTest(module: Module, matches: (text: string) => boolean): Test {
  const { frames, strings, values } = module;
  const fits = Array.from({ length: frames.count }, (_, frame) =>
    matches(
      `${strings.get(frames.file[frame])}:${frames.line[frame]} ${strings.get(frames.function[frame])}`,
    ),
  );
  // Any frame of the stack will do.
  return (value) => {
    for (let frame = values.frame[value]; frame !== NONE; frame = frames.parent[frame])
      if (fits[frame]) return true;
    return false;
  };
}

// Finds what is in the same group as a value; empty where no query can say it.
export function queryFor(module: Module, value: number, by: Grouping): string {
  const { values, allocations, frames, strings, header } = module;
  const allocation = values.allocation[value];
  const quoted = (field: string, text: string) =>
    text && !text.includes('"') ? `${field}:"${text}"` : '';
  switch (by) {
    case 'value':
      return '';
    case 'source': {
      const frame = ownFrame(module, value);
      if (frame === NONE) return '';
      return quoted('source', `${strings.get(frames.file[frame])}:${frames.line[frame]} `);
    }
    case 'op_name':
      return quoted('op_name', strings.get(values.opName[value]));
    case 'parameter':
      return allocation === NONE ? '' : quoted('path', strings.get(allocations.path[allocation]));
    case 'kind':
      return `kind:/^${header.kinds[values.kind[value]].word}$/`;
    case 'space':
      return allocation === NONE
        ? ''
        : quoted('space', spaceName(module, allocations.space[allocation]));
  }
}

function pathTest(module: Module, matches: (text: string) => boolean): Test {
  const { allocations, values } = module;
  const test = column(module, allocations.path, matches);
  return (value) =>
    values.allocation[value] !== NONE &&
    allocations.path[values.allocation[value]] !== 0 &&
    test(values.allocation[value]);
}

export interface Found {
  values: Uint32Array; // largest first
  marked: Uint8Array | null; // by value; null: nothing was asked
  bytes: number; // of all of them
  error: string;
}

export function search(module: Module, text: string): Found {
  const { test, error } = compileQuery(module, text);
  if (!test) return { values: new Uint32Array(), marked: null, bytes: 0, error };
  const { size, count } = module.values;
  const marked = new Uint8Array(count);
  const rows: number[] = [];
  let bytes = 0;
  for (let v = 0; v < count; ++v) {
    if (!test(v)) continue;
    marked[v] = 1;
    bytes += size[v];
    rows.push(v);
  }
  return {
    values: Uint32Array.from(rows).sort((a, b) => size[b] - size[a] || a - b),
    marked,
    bytes,
    error: '',
  };
}
