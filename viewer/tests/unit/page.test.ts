// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { build } from 'vite';

const committed = readFileSync(new URL('../../../src/view/page.html', import.meta.url), 'utf-8');

test('the committed page is what viewer/ builds', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stowplan-page-'));
  // Vitest runs in a mode of its own, in which Svelte would add what helps to debug.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await build({
      root: new URL('../..', import.meta.url).pathname,
      mode: 'production',
      logLevel: 'error',
      build: { outDir: folder, emptyOutDir: true },
    });
    expect(readFileSync(join(folder, 'index.html'), 'utf-8') === committed).toBe(true);
  } finally {
    process.env.NODE_ENV = before;
    await rm(folder, { recursive: true });
  }
});

test('the page has one place for the data, asks nobody, and allows nothing from outside', () => {
  expect(
    committed.split('<script type="application/octet-stream" id="stowplan-data"></script>'),
  ).toHaveLength(2);
  expect(committed).toContain("default-src 'none'");
  expect(committed).toMatch(/script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
  expect(committed).not.toMatch(/<(script|link|img)[^>]+(src|href)="(?!data:)/);
});
