// SPDX-License-Identifier: Apache-2.0
// One module of a bundle as plain columns. Everything is checked here, once: whatever indexes
// another table does so within it, so that nobody after this has to ask.
import { checkBegins, checkIds, sameLength, type ColumnReader } from './columns';
import { NONE, type ModuleHeader } from './header';
import { Strings } from './strings';

export interface Module {
  header: ModuleHeader;
  strings: Strings;
  end: number; // the last moment
  values: ValueTable;
  shares: { begins: Uint32Array; times: Int32Array; bytes: Float64Array; padding: Float64Array };
  uses: { begins: Uint32Array; op: Uint32Array; operand: Uint16Array };
  aliases: { begins: Uint32Array; value: Uint32Array; where: Uint32Array; rule: Uint8Array };
  ops: OpTable;
  opAt: Uint32Array; // by moment
  allocations: AllocationTable;
  frames: FrameTable;
  brackets: BracketTable;
  curves: { begins: Uint32Array; times: Int32Array; bytes: Float64Array };
  holes: HoleTable;
}

export interface ValueTable {
  count: number;
  name: Uint32Array;
  op: Uint32Array;
  allocation: Uint32Array;
  offset: Float64Array;
  size: Float64Array;
  padding: Float64Array;
  start: Int32Array;
  end: Int32Array;
  kind: Uint8Array;
  shape: Uint32Array;
  opName: Uint32Array;
  frame: Uint32Array;
  holder: Uint8Array;
  heldBy: Uint32Array;
}

export interface OpTable {
  count: number;
  name: Uint32Array;
  opcode: Uint32Array;
  opName: Uint32Array;
  text: Uint32Array;
  frame: Uint32Array;
  time: Int32Array;
}

export interface AllocationTable {
  count: number;
  number: Int32Array;
  size: Float64Array;
  space: Uint32Array;
  kind: Uint8Array;
  path: Uint32Array;
}

export interface FrameTable {
  count: number;
  file: Uint32Array;
  function: Uint32Array;
  line: Int32Array;
  parent: Uint32Array;
  own: Uint32Array; // the nearest frame of its stack in the user's own code
}

export interface BracketTable {
  count: number;
  start: Int32Array;
  end: Int32Array;
  depth: Uint8Array;
  kind: Uint8Array;
  label: Uint32Array;
}

export interface HoleTable {
  count: number;
  allocation: Uint32Array;
  kind: Uint8Array;
  begin: Float64Array;
  end: Float64Array;
  below: Uint32Array;
  above: Uint32Array;
}

export function readModule(header: ModuleHeader, columns: ColumnReader): Module {
  const strings = new Strings(columns.u32('string.ends'), columns.u8('string.bytes'));
  const module: Module = {
    header,
    strings,
    end: header.end,
    values: readValues(columns),
    shares: {
      begins: columns.u32('share.begins'),
      times: columns.i32('share.times'),
      bytes: columns.f64('share.bytes'),
      padding: columns.f64('share.padding'),
    },
    uses: {
      begins: columns.u32('use.begins'),
      op: columns.u32('use.op'),
      operand: columns.u16('use.operand'),
    },
    aliases: {
      begins: columns.u32('alias.begins'),
      value: columns.u32('alias.value'),
      where: columns.u32('alias.where'),
      rule: columns.u8('alias.rule'),
    },
    ops: readOps(columns),
    opAt: columns.u32('time.op'),
    allocations: readAllocations(columns),
    frames: readFrames(columns),
    brackets: readBrackets(columns),
    curves: {
      begins: columns.u32('curve.begins'),
      times: columns.i32('curve.times'),
      bytes: columns.f64('curve.bytes'),
    },
    holes: readHoles(columns),
  };
  check(module);
  return module;
}

function readValues(columns: ColumnReader): ValueTable {
  const table = {
    name: columns.u32('value.name'),
    op: columns.u32('value.op'),
    allocation: columns.u32('value.allocation'),
    offset: columns.f64('value.offset'),
    size: columns.f64('value.size'),
    padding: columns.f64('value.padding'),
    start: columns.i32('value.start'),
    end: columns.i32('value.end'),
    kind: columns.u8('value.kind'),
    shape: columns.u32('value.shape'),
    opName: columns.u32('value.op_name'),
    frame: columns.u32('value.frame'),
    holder: columns.u8('value.holder'),
    heldBy: columns.u32('value.held_by'),
  };
  return { ...table, count: sameLength('value', Object.values(table)) };
}

function readOps(columns: ColumnReader): OpTable {
  const table = {
    name: columns.u32('op.name'),
    opcode: columns.u32('op.opcode'),
    opName: columns.u32('op.op_name'),
    text: columns.u32('op.text'),
    frame: columns.u32('op.frame'),
    time: columns.i32('op.time'),
  };
  return { ...table, count: sameLength('op', Object.values(table)) };
}

function readAllocations(columns: ColumnReader): AllocationTable {
  const table = {
    number: columns.i32('allocation.number'),
    size: columns.f64('allocation.size'),
    space: columns.u32('allocation.space'),
    kind: columns.u8('allocation.kind'),
    path: columns.u32('allocation.path'),
  };
  return { ...table, count: sameLength('allocation', Object.values(table)) };
}

function readFrames(columns: ColumnReader): FrameTable {
  const table = {
    file: columns.u32('frame.file'),
    function: columns.u32('frame.function'),
    line: columns.i32('frame.line'),
    parent: columns.u32('frame.parent'),
    own: columns.u32('frame.own'),
  };
  return { ...table, count: sameLength('frame', Object.values(table)) };
}

function readBrackets(columns: ColumnReader): BracketTable {
  const table = {
    start: columns.i32('bracket.start'),
    end: columns.i32('bracket.end'),
    depth: columns.u8('bracket.depth'),
    kind: columns.u8('bracket.kind'),
    label: columns.u32('bracket.label'),
  };
  return { ...table, count: sameLength('bracket', Object.values(table)) };
}

function readHoles(columns: ColumnReader): HoleTable {
  const table = {
    allocation: columns.u32('hole.allocation'),
    kind: columns.u8('hole.kind'),
    begin: columns.f64('hole.begin'),
    end: columns.f64('hole.end'),
    below: columns.u32('hole.below'),
    above: columns.u32('hole.above'),
  };
  return { ...table, count: sameLength('hole', Object.values(table)) };
}

function check(module: Module): void {
  const { header, values, ops, allocations, frames, shares, uses, aliases, curves, holes } = module;
  if (!Number.isSafeInteger(module.end) || module.end < 0)
    throw new Error('the last moment is not known');
  checkIds('value.op', values.op, ops.count, NONE);
  checkIds('value.allocation', values.allocation, allocations.count, NONE);
  checkIds('value.kind', values.kind, header.kinds.length);
  checkIds('value.frame', values.frame, frames.count, NONE);
  checkIds('value.holder', values.holder, header.holders.length);
  checkIds('value.held_by', values.heldBy, ops.count, NONE);
  checkBegins(
    'share.begins',
    shares.begins,
    values.count,
    sameLength('share', [shares.times, shares.bytes, shares.padding]),
  );
  checkBegins('use.begins', uses.begins, values.count, sameLength('use', [uses.op, uses.operand]));
  checkIds('use.op', uses.op, ops.count, NONE);
  const aliasCount = sameLength('alias', [aliases.value, aliases.where, aliases.rule]);
  checkBegins('alias.begins', aliases.begins, values.count, aliasCount);
  checkIds('alias.value', aliases.value, values.count, NONE);
  checkIds('alias.rule', aliases.rule, header.rules.length);
  checkIds('op.frame', ops.frame, frames.count, NONE);
  checkIds('time.op', module.opAt, ops.count, NONE);
  checkIds('allocation.space', allocations.space, header.spaces.length);
  checkIds('allocation.kind', allocations.kind, header.allocation_kinds.length);
  checkIds('frame.own', frames.own, frames.count);
  for (let i = 0; i < frames.count; ++i) {
    if (frames.parent[i] !== NONE && frames.parent[i] >= i)
      throw new Error(`frame ${i} comes before its parent`);
  }
  checkIds('bracket.kind', module.brackets.kind, header.bracket_kinds.length);
  checkBegins(
    'curve.begins',
    curves.begins,
    header.spaces.length + 1,
    sameLength('curve', [curves.times, curves.bytes]),
  );
  checkIds('hole.allocation', holes.allocation, allocations.count);
  checkIds('hole.kind', holes.kind, header.hole_kinds.length);
  checkIds('hole.below', holes.below, values.count, NONE);
  checkIds('hole.above', holes.above, values.count, NONE);
}
