// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Whole bundles: one program, or two with the difference between them.
import { encodeBundle } from './encode.mjs';
import { kHostileNames, makeProgram } from './program.mjs';
import { kSources } from './sources.mjs';
import { NONE } from './tables.mjs';

/** @param {{values?: number, seed?: number, hostile?: boolean, budget?: number | null}} options */
export function oneModule({ values = 100, seed = 1, hostile = false, budget = null } = {}) {
  const module = makeProgram({ values, seed, hostile });
  const title = hostile ? kHostileNames[3] : module.name;
  return encodeBundle({
    schema: 'stowplan.view/1',
    version: '0.1.0',
    title,
    budget,
    modules: [module],
    diff: null,
    sources: kSources,
  });
}

/** @param {{hostile?: boolean}} options */
export function indexOf({ hostile = false } = {}) {
  const index = Array.from({ length: 40 }, (_, i) => {
    const { name, end, all_peak, columns } = makeProgram({ values: 50 + 20 * i, seed: i + 1 });
    const begin = columns['curve.begins'][2];
    const curve = Array.from(columns['curve.times'].subarray(begin), (time, step) => [
      time,
      columns['curve.bytes'][begin + step],
    ]);
    return {
      name: hostile ? kHostileNames[i % kHostileNames.length] : `${name}_${i}`,
      file: hostile && i % 2 ? 'javascript:globalThis.hacked=1' : `module_${i}.html`,
      backend: 'tpu',
      peak: all_peak.bytes,
      values: columns['value.name'].length,
      end,
      curve,
    };
  });
  return encodeBundle({
    schema: 'stowplan.view/1',
    version: '0.1.0',
    title: 'dump',
    budget: null,
    modules: [],
    diff: null,
    sources: [],
    index,
  });
}

/** @param {{values?: number}} options */
export function twoModules({ values = 200 } = {}) {
  const a = makeProgram({ values, seed: 1 });
  const b = makeProgram({ values: Math.floor(values * 1.1), seed: 1, name: 'jit_train_step' });
  const [count, other] = [a, b].map((module) => module.columns['value.name'].length);
  const match = Uint32Array.from({ length: count }, (_, v) =>
    v % 7 === 3 || v >= other ? NONE : v,
  );
  const change = b.all_peak.bytes - a.all_peak.bytes;
  const terms = [
    {
      term: 'new',
      bytes: change + 3000000,
      label: 'activations of layer_2',
      a: [],
      b: [other - 2, other - 3],
    },
    { term: 'gone', bytes: -2000000, label: 'fusion.31', a: [count - 2], b: [] },
    { term: 'shorter', bytes: -1000000, label: 'copy.12 dies earlier', a: [40], b: [40] },
  ];
  return encodeBundle({
    schema: 'stowplan.view/1',
    version: '0.1.0',
    title: 'jit_train_step: before and after',
    budget: null,
    modules: [a, b],
    diff: { terms, change: { peak: change }, columns: { match } },
    sources: kSources,
  });
}
