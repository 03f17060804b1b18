// SPDX-License-Identifier: Apache-2.0
// @ts-check
// A made-up training step: parameters, a forward pass that keeps activations, a backward pass that
// reads them, loops, two memory spaces. Plausible, and as large as asked for.
import { makeRandom } from './random.mjs';
import { NONE, StringTable, curveOf, holesOf, sharesOf } from './tables.mjs';

const kKinds = [
  'thread-local',
  'donated',
  'parameter',
  'constant',
  'output',
  'activation',
  'loop-state',
  'collective',
  'temporary',
];
const kKindNames = [
  'thread-local',
  'donated parameter',
  'parameter',
  'constant',
  'output',
  'activation kept for later',
  'loop state',
  'collective buffer',
  'temporary',
];
const kHolders = [
  'its last use',
  'it is a part of the result',
  'it belongs to the caller',
  'it is carried until the loop ends',
  'nobody reads it',
];
const kRules = [
  'an element of a tuple',
  'the same bytes in another shape',
  'the state of a loop has one place',
  'the instruction writes into its operand',
];
const kOpcodes = [
  'fusion',
  'dot',
  'copy',
  'all-reduce',
  'convolution',
  'dynamic-update-slice',
  'broadcast',
];
const [DONATED, PARAMETER, CONSTANT, OUTPUT, ACTIVATION, LOOP, COLLECTIVE, TEMPORARY] = [
  1, 2, 3, 4, 5, 6, 7, 8,
];

/** Names that must be shown as text, and nothing else. */
export const kHostileNames = [
  '<script>globalThis.hacked=1</script>',
  '<img src=x onerror="globalThis.hacked=1">',
  '"><svg/onload=globalThis.hacked=1>',
  '</script><script>globalThis.hacked=1</script>',
  '{@html "<b>x</b>"} ${globalThis.hacked=1}',
  'left \u202Eright to left\u202C and \u2066isolated\u2069 \u200Fmark',
  'zero\u0000byte and \u001b[31mred\u001b[0m and a\nnew line',
  'a'.repeat(10000),
  '=cmd|"/c calc"!A1',
];

/** A heap of two-ended lists by size class: quick, and with holes as real ones have. */
class Heap {
  constructor() {
    /** @type {Map<number, number[]>} */
    this.free = new Map();
    this.top = 0;
  }
  /** @param {number} size */
  take(size) {
    const list = this.free.get(size);
    if (list?.length) return /** @type {number} */ (list.pop());
    const at = this.top;
    this.top += size;
    return at;
  }
  /** @param {number} at @param {number} size */
  give(at, size) {
    const list = this.free.get(size);
    if (list) list.push(at);
    else this.free.set(size, [at]);
  }
}

/**
 * @param {{values?: number, seed?: number, name?: string, hostile?: boolean, layers?: number}} options
 */
export function makeProgram({
  values: wanted = 100,
  seed = 1,
  name = 'jit_train_step',
  hostile = false,
  layers = 0,
}) {
  const random = makeRandom(seed);
  const strings = new StringTable();
  /** @type {import('./tables.mjs').Value[]} */
  const values = [];
  /** @type {{name: string, opcode: string, opName: string, text: string, frame: number, time: number}[]} */
  const ops = [];
  /** @type {{number: number, size: number, space: number, kind: number, path: string}[]} */
  const allocations = [];
  const { frames, layerFrames, root } = makeFrames();
  const layerCount = layers || Math.max(3, Math.min(96, Math.floor(Math.sqrt(wanted) / 3)));
  const steps = Math.max(10, wanted - 2 * layerCount);
  const end = steps + 1;
  const allocate = (
    /** @type {number} */ size,
    /** @type {number} */ space,
    /** @type {number} */ kind,
    path = '',
  ) => allocations.push({ number: allocations.length, size, space, kind, path }) - 1;
  const addOp = (
    /** @type {string} */ opName,
    /** @type {string} */ opcode,
    /** @type {number} */ frame,
    /** @type {number} */ time,
  ) => {
    const id = ops.length;
    const opText = `%${opcode}.${id} = f32[128,${1 + random(4096)}]{1,0} ${opcode}(%p.${random(id + 1)}), metadata={op_name="${opName}"}`;
    return ops.push({ name: `${opcode}.${id}`, opcode, opName, text: opText, frame, time }) - 1;
  };
  const addValue = (/** @type {Partial<import('./tables.mjs').Value>} */ row) => {
    const op = ops[row.op ?? 0];
    const size = row.size ?? 0;
    return (
      values.push({
        name: op.name,
        op: 0,
        allocation: NONE,
        offset: 0,
        size,
        padding: random(9) ? 0 : Math.floor(size / 5),
        start: 0,
        end,
        kind: TEMPORARY,
        shape: `f32[${Math.max(1, size / 512)},128]`,
        opName: op.opName,
        frame: op.frame,
        holder: 0,
        heldBy: NONE,
        uses: [],
        aliases: [],
        over: -1,
        ...row,
      }) - 1
    );
  };

  // What the caller owns.
  for (let layer = 0; layer < layerCount; ++layer) {
    for (const part of ['w', 'b']) {
      const size = part === 'w' ? 4 << 20 : 16 << 10;
      const donated = part === 'w' && layer % 2 === 0;
      const path = `params['layers'][${layer}]['${part}']`;
      const op = addOp(path, 'parameter', NONE, -1);
      const allocation = allocate(size, 0, donated ? 3 : 2, path);
      addValue({
        op,
        allocation,
        size,
        kind: donated ? DONATED : PARAMETER,
        holder: 2,
        padding: 0,
      });
    }
  }
  addValue({
    op: addOp('', 'constant', NONE, -1),
    allocation: allocate(65536, 0, 4),
    size: 65536,
    kind: CONSTANT,
    holder: 2,
  });
  addValue({
    op: addOp('', 'add', NONE, -1),
    allocation: allocate(4096, 0, 5),
    size: 1024,
    start: -1,
    end: -1,
    kind: 0,
  });
  const output = allocate(1 << 20, 0, 1);

  // The two passes. Activations go to the heap in order of layers, and are freed backwards.
  const heaps = [new Heap(), new Heap()];
  const heapOf = [allocate(0, 0, 0), allocate(0, 1, 0)];
  /** @type {{value: number, layer: number}[]} */
  const kept = [];
  /** @type {number[][]} */
  const dying = Array.from({ length: end + 2 }, () => []);
  const opAt = new Uint32Array(end + 1).fill(NONE);
  const half = Math.floor(steps / 2);
  for (let t = 1; t <= steps; ++t) {
    for (const v of dying[t - 1])
      heaps[allocations[values[v].allocation].space].give(values[v].offset, values[v].size);
    const forward = t <= half;
    const layer = forward
      ? Math.floor((t * layerCount) / (half + 1))
      : Math.max(0, Math.floor(((steps - t) * layerCount) / (half + 1)));
    const part = ['attn/qkv', 'attn/softmax', 'mlp/up', 'mlp/down', 'norm'][random(5)];
    const opName = `jit(train_step)/${forward ? 'jvp(Model)' : 'transpose(jvp(Model))'}/layer_${layer}/${part}/${kOpcodes[random(7)]}`;
    const op = addOp(
      opName,
      kOpcodes[random(kOpcodes.length)],
      layerFrames[random(layerFrames.length)],
      t,
    );
    opAt[t] = op;
    const space = random(12) === 0 ? 1 : 0;
    const size = Math.max(256, 2 ** (8 + random(space ? 8 : 15)));
    const padded = random(9) ? 0 : Math.floor(size / 5);
    if (forward && random(3) === 0) {
      kept.push({
        value: addValue({
          op,
          allocation: heapOf[0],
          offset: heaps[0].take(size),
          size,
          start: t,
          end: steps,
          kind: ACTIVATION,
          padding: padded,
        }),
        layer,
      });
    } else {
      const last = Math.min(steps, t + 1 + random(random(20) ? 12 : 200));
      const kind = random(25) === 0 ? LOOP : random(30) === 0 ? COLLECTIVE : TEMPORARY;
      const v = addValue({
        op,
        allocation: heapOf[space],
        offset: heaps[space].take(size),
        size,
        start: t,
        end: last,
        kind,
        padding: padded,
      });
      dying[last].push(v);
      values[v].heldBy = op;
      if (kind === LOOP) values[v].holder = 3;
      // Now and then the next op writes into it.
      if (last > t + 2 && random(25) === 0 && values.length < wanted) {
        const over = addValue({
          op,
          name: `${ops[op].name}{1}`,
          allocation: heapOf[space],
          offset: values[v].offset,
          size,
          padding: padded,
          start: t + 1,
          end: last - 1,
          over: v,
          kind,
        });
        values[over].aliases.push({ value: v, where: ops[op].name, rule: 3 });
        values[v].aliases.push({ value: over, where: `${ops[op].name}{1}`, rule: 3 });
      }
    }
    if (!forward) {
      while (kept.length && kept[kept.length - 1].layer >= layer && random(2)) {
        const { value } = /** @type {{value: number}} */ (kept.pop());
        values[value].end = t;
        values[value].heldBy = op;
        values[value].uses.push({ op, operand: random(3) });
        dying[t].push(value);
      }
    }
  }
  addValue({
    op: addOp('jit(train_step)/loss', 'reduce', root, end),
    allocation: output,
    size: 1024,
    start: steps,
    end,
    kind: OUTPUT,
    holder: 1,
  });
  opAt[end] = ops.length - 1;
  heapOf.forEach(
    (allocation, space) =>
      (allocations[allocation].size = heaps[space].top + (space ? 0 : 1 << 20)),
  );
  for (const value of values) {
    if (value.start >= 0 && value.end > value.start) {
      const reader = opAt[Math.min(value.end, end)];
      if (reader !== NONE) value.uses.push({ op: reader, operand: 0 });
    }
  }
  if (hostile) {
    kHostileNames.forEach((text, i) => {
      values[i % values.length].name = text;
      values[i % values.length].shape = text;
      const op = ops[values[i % values.length].op];
      op.name = op.opName = op.text = text;
      values[i % values.length].opName = text;
      allocations[i % allocations.length].path = text;
    });
    frames[0].file = kHostileNames[0];
    frames[1].function = kHostileNames[1];
  }
  const brackets = makeBrackets(half, steps, layerCount, hostile);
  return finish({
    name: hostile ? kHostileNames[0] : name,
    end,
    values,
    ops,
    opAt,
    allocations,
    frames,
    brackets,
    strings,
    heapOf,
  });
}

function makeFrames() {
  const frames = [
    { file: 'train.py', function: 'main', line: 4, parent: NONE },
    { file: 'train.py', function: 'train_step', line: 9, parent: 0 },
    { file: 'model.py', function: 'Model.__call__', line: 12, parent: 1 },
  ];
  const layerFrames = [];
  for (let line = 15; line < 27; ++line) {
    layerFrames.push(
      frames.push({
        file: 'model.py',
        function: line < 21 ? 'Attention' : 'Mlp',
        line,
        parent: 2,
      }) - 1,
    );
  }
  return { frames, layerFrames, root: 1 };
}

/** @param {number} half @param {number} steps @param {number} layers @param {boolean} hostile */
function makeBrackets(half, steps, layers, hostile) {
  const rows = [
    {
      start: 1,
      end: half,
      depth: 0,
      kind: 0,
      label: hostile ? kHostileNames[1] : 'while forward (trip count 12)',
    },
    { start: half + 1, end: steps, depth: 0, kind: 0, label: 'while backward' },
  ];
  for (let layer = 0; layer < Math.min(layers, 24); ++layer) {
    const start = 1 + Math.floor((layer * half) / Math.min(layers, 24));
    const end = Math.floor(((layer + 1) * half) / Math.min(layers, 24));
    rows.push({ start, end, depth: 1, kind: 3, label: `call layer_${layer}` });
    if (end - start > 4)
      rows.push({
        start: start + 1,
        end: start + Math.floor((end - start) / 2),
        depth: 2,
        kind: layer % 2 ? 2 : 4,
        label: layer % 2 ? 'branch 0' : 'all-reduce-start',
      });
  }
  return rows.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** @param {any} program */
function finish({ name, end, values, ops, opAt, allocations, frames, brackets, strings, heapOf }) {
  /** @type {import('./tables.mjs').Value[]} */
  const rows = values;
  const u32 = (/** @type {any[]} */ list, /** @type {(row: any) => number} */ of) =>
    Uint32Array.from(list, of);
  const text = (/** @type {any[]} */ list, /** @type {(row: any) => string} */ of) =>
    Uint32Array.from(list, (row) => strings.add(of(row)));
  const i32 = (/** @type {any[]} */ list, /** @type {(row: any) => number} */ of) =>
    Int32Array.from(list, of);
  const u8 = (/** @type {any[]} */ list, /** @type {(row: any) => number} */ of) =>
    Uint8Array.from(list, of);
  const f64 = (/** @type {any[]} */ list, /** @type {(row: any) => number} */ of) =>
    Float64Array.from(list, of);
  const begins = (/** @type {(row: any) => any[]} */ of) => {
    let sum = 0;
    return Uint32Array.from([0, ...rows.map((row) => (sum += of(row).length))]);
  };
  const shares = sharesOf(rows, (value) => allocations[value.allocation].kind !== 5);
  const spaceOf = (/** @type {number} */ v) => allocations[rows[v].allocation].space;
  const curves = [0, 1].map((space) => curveOf(shares, (v) => spaceOf(v) === space, end));
  curves.push(curveOf(shares, () => true, end));
  const holes = [0, 1].flatMap((space) =>
    holesOf(rows, heapOf[space], allocations[heapOf[space]].size, curves[space].peak.time),
  );
  const spaces = [0, 1].map((space) => {
    const own = allocations.filter(
      (/** @type {any} */ row) => row.space === space && row.kind !== 5,
    );
    const bytes = own.reduce(
      (/** @type {number} */ sum, /** @type {any} */ row) => sum + row.size,
      0,
    );
    const live = curves[space].peak.bytes;
    const alignment = holes
      .filter((hole) => allocations[hole.allocation].space === space && hole.kind === 0)
      .reduce((sum, hole) => sum + hole.end - hole.begin, 0);
    return {
      color: space,
      name: space ? 'VMEM' : 'HBM',
      peak: curves[space].peak,
      bound: space ? null : Math.floor(allocations[heapOf[0]].size * 0.9),
      footprint: {
        bytes,
        live,
        dead: 0,
        fragmentation: bytes - live - alignment,
        alignment,
        untimed: 0,
        thread_local: space ? 0 : 4096,
      },
    };
  });
  let curveEnd = 0;
  const columns = {
    'value.name': text(rows, (row) => row.name),
    'value.op': u32(rows, (row) => row.op),
    'value.allocation': u32(rows, (row) => row.allocation),
    'value.offset': f64(rows, (row) => row.offset),
    'value.size': f64(rows, (row) => row.size),
    'value.padding': f64(rows, (row) => row.padding),
    'value.start': i32(rows, (row) => row.start),
    'value.end': i32(rows, (row) => row.end),
    'value.kind': u8(rows, (row) => row.kind),
    'value.shape': text(rows, (row) => row.shape),
    'value.op_name': text(rows, (row) => row.opName),
    'value.frame': u32(rows, (row) => row.frame),
    'value.holder': u8(rows, (row) => row.holder),
    'value.held_by': u32(rows, (row) => row.heldBy),
    ...shares,
    'use.begins': begins((row) => row.uses),
    'use.op': u32(
      rows.flatMap((row) => row.uses),
      (use) => use.op,
    ),
    'use.operand': Uint16Array.from(
      rows.flatMap((row) => row.uses),
      (use) => use.operand,
    ),
    'alias.begins': begins((row) => row.aliases),
    'alias.value': u32(
      rows.flatMap((row) => row.aliases),
      (alias) => alias.value,
    ),
    'alias.where': text(
      rows.flatMap((row) => row.aliases),
      (alias) => alias.where,
    ),
    'alias.rule': u8(
      rows.flatMap((row) => row.aliases),
      (alias) => alias.rule,
    ),
    'op.name': text(ops, (op) => op.name),
    'op.opcode': text(ops, (op) => op.opcode),
    'op.op_name': text(ops, (op) => op.opName),
    'op.text': text(ops, (op) => op.text),
    'op.frame': u32(ops, (op) => op.frame),
    'op.time': i32(ops, (op) => op.time),
    'time.op': opAt,
    'allocation.number': i32(allocations, (row) => row.number),
    'allocation.size': f64(allocations, (row) => row.size),
    'allocation.space': u32(allocations, (row) => row.space),
    'allocation.kind': u8(allocations, (row) => row.kind),
    'allocation.path': text(allocations, (row) => row.path),
    'frame.file': text(frames, (row) => row.file),
    'frame.function': text(frames, (row) => row.function),
    'frame.line': i32(frames, (row) => row.line),
    'frame.parent': u32(frames, (row) => row.parent),
    'frame.own': u32(frames, (row) => frames.indexOf(row)),
    'bracket.start': i32(brackets, (row) => row.start),
    'bracket.end': i32(brackets, (row) => row.end),
    'bracket.depth': u8(brackets, (row) => row.depth),
    'bracket.kind': u8(brackets, (row) => row.kind),
    'bracket.label': text(brackets, (row) => row.label),
    'curve.begins': Uint32Array.from([
      0,
      ...curves.map((curve) => (curveEnd += curve.times.length)),
    ]),
    'curve.times': Int32Array.from(curves.flatMap((curve) => curve.times)),
    'curve.bytes': Float64Array.from(curves.flatMap((curve) => curve.bytes)),
    'hole.allocation': u32(holes, (hole) => hole.allocation),
    'hole.kind': u8(holes, (hole) => hole.kind),
    'hole.begin': f64(holes, (hole) => hole.begin),
    'hole.end': f64(holes, (hole) => hole.end),
    'hole.below': u32(holes, (hole) => hole.below),
    'hole.above': u32(holes, (hole) => hole.above),
  };
  return {
    name,
    plan: 'made up for tests',
    backend: 'tpu',
    target: 'tpu-v5e',
    end,
    unknown: ['This program is made up: no compiler has seen it.'],
    kinds: kKinds.map((word, i) => ({ word, name: kKindNames[i] })),
    rules: kRules,
    holders: kHolders,
    bracket_kinds: ['while', 'condition', 'branch', 'call', 'async'],
    allocation_kinds: ['temporary', 'output', 'parameter', 'donated', 'constant', 'thread-local'],
    hole_kinds: ['alignment', 'fragmentation', 'dead'],
    spaces,
    all_peak: curves[2].peak,
    columns: { ...strings.columns(), ...columns },
  };
}
