// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';
import { oneModule, twoModules } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import { fromBase64, inflate } from '../../src/decode/inflate';
import { gzipSync } from 'node:zlib';

function bufferOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

describe('a bundle', () => {
  test('is read back', () => {
    const { header, modules, diff } = readBundle(bufferOf(oneModule({ values: 200 })));
    expect(header.title).toBe('jit_train_step');
    expect(modules).toHaveLength(1);
    expect(modules[0].values.count).toBeGreaterThan(190);
    expect(modules[0].strings.get(0)).toBe('');
    expect(modules[0].strings.get(modules[0].values.name[0])).toBe('parameter.0');
    expect(diff).toBeNull();
  });

  test('of two modules has matches both ways', () => {
    const { diff } = readBundle(bufferOf(twoModules({ values: 100 })));
    expect(diff?.match[0]).toBe(0);
    expect(diff?.matchBack[0]).toBe(0);
    expect(diff?.match[3]).toBe(0xffffffff);
  });

  test('comes through gzip and base64', async () => {
    const bundle = oneModule({ values: 50 });
    const text = gzipSync(bundle).toString('base64');
    expect(Buffer.from(await inflate(fromBase64(text))).equals(bundle)).toBe(true);
  });

  test('that is cut off anywhere is an error, not a picture', () => {
    const whole = oneModule({ values: 20 });
    for (const length of [0, 5, 11, 12, 100, Math.floor(whole.length / 2), whole.length - 64]) {
      expect(() => readBundle(bufferOf(whole.subarray(0, length)))).toThrow();
    }
  });

  test('with a broken byte in its header or columns never gives an index out of its table', () => {
    const whole = oneModule({ values: 20 });
    const length = whole.readUInt32LE(8);
    let read = 0;
    for (let i = 0; i < 400; ++i) {
      const broken = Buffer.from(whole);
      const at = 12 + length + Math.floor(((whole.length - 12 - length) * i) / 400);
      broken[at] ^= 0xff;
      try {
        const { modules } = readBundle(bufferOf(broken));
        const { values, ops, allocations } = modules[0];
        for (let v = 0; v < values.count; ++v) {
          expect(values.op[v] < ops.count || values.op[v] === 0xffffffff).toBe(true);
          expect(
            values.allocation[v] < allocations.count || values.allocation[v] === 0xffffffff,
          ).toBe(true);
        }
        ++read;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
    expect(read).toBeGreaterThan(0);
  });

  test('may leave out what is null', () => {
    const text = (bundle: Buffer) => bundle.subarray(12, 12 + bundle.readUInt32LE(8)).toString();
    const whole = oneModule({ values: 20 });
    // Blanks keep the header as long as it was.
    for (const part of ['"budget":null,', '"diff":null,', '"bound":null,']) {
      expect(text(whole)).toContain(part);
      whole.write(' '.repeat(part.length), whole.indexOf(part), 'latin1');
    }
    const { header, modules, diff } = readBundle(bufferOf(whole));
    expect([header.budget, diff, modules[0].header.spaces[1].bound]).toEqual([null, null, null]);
  });

  test('of another schema is refused by name', () => {
    const whole = oneModule({ values: 20 });
    whole.write('stowplan.view/9', whole.indexOf('stowplan.view/1'), 'latin1');
    expect(() => readBundle(bufferOf(whole))).toThrow('stowplan.view/9');
  });
});
