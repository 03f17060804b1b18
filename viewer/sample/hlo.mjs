// SPDX-License-Identifier: Apache-2.0
// @ts-check
// node sample/hlo.mjs VALUES: a made-up module as HLO text, scheduled, of so many values and more.
import { pathToFileURL } from 'node:url';
import { makeRandom } from './random.mjs';

const kSizes = [256, 1024, 4096, 16384, 65536];
const kOpcodes = ['add', 'multiply', 'maximum'];

/** @param {number} values */
export function makeHlo(values) {
  const random = makeRandom(7);
  // By size: the names so far. Each value reads the one before it, and one that is not long ago.
  const names = kSizes.map((size) => [`p${size}`]);
  const lines = kSizes.map(
    (size, i) => `  p${size} = f32[${size}]{0} parameter(${i}), metadata={op_name="w[${i}]"}`,
  );
  for (let i = 0; i < values; ++i) {
    // Small ones are frequent.
    const which = Math.min(random(5), random(5));
    const size = kSizes[which];
    const known = names[which];
    const ago = random(100) < 5 ? random(known.length) : random(60);
    const operands = `${known[known.length - 1]}, ${known[Math.max(0, known.length - 1 - ago)]}`;
    const layer = Math.floor((40 * i) / values);
    const source = `source_file="model/layer${i % 5}.py" source_line=${(i % 400) + 1}`;
    lines.push(
      `  v.${i} = f32[${size}]{0} ${kOpcodes[random(3)]}(${operands}), ` +
        `metadata={op_name="jit(step)/layer_${layer}/block_${i % 7}/op_${i % 13}" ${source}}`,
    );
    known.push(`v.${i}`);
  }
  const shapes = kSizes.map((size) => `f32[${size}]{0}`).join(', ');
  const last = names.map((known) => known[known.length - 1]).join(', ');
  const body = [...lines, `  ROOT r = (${shapes}) tuple(${last})`].join('\n');
  return `HloModule made_up, is_scheduled=true\n\nENTRY e {\n${body}\n}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(makeHlo(Number(process.argv[2] ?? 1000)));
