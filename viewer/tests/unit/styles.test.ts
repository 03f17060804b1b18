// SPDX-License-Identifier: Apache-2.0
// What several components look alike in stands once, in page.css.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const kFolder = join(import.meta.dirname, '../../src/components');

// "h2 { font-size: 16px; margin: 4px 0; }": rules of more than one declaration, outside of @media.
function rulesOf(file: string): string[] {
  const style = readFileSync(join(kFolder, file), 'utf8').split('<style>')[1] ?? '';
  const rules = style.matchAll(/^ {2}([^@\s}][^{]*)\{([^}]*)\}/gm);
  return [...rules]
    .filter(([, , body]) => body.split(';').length > 2)
    .map(([, selector, body]) => `${selector}{${body}}`.replace(/\s+/g, ' '));
}

test('no two components have the same rule', () => {
  const owners = new Map<string, string[]>();
  for (const file of readdirSync(kFolder).sort()) {
    for (const rule of rulesOf(file)) owners.set(rule, [...(owners.get(rule) ?? []), file]);
  }
  expect(owners.size).toBeGreaterThan(20);
  expect([...owners].filter(([, files]) => files.length > 1)).toEqual([]);
});
