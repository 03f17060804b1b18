// SPDX-License-Identifier: Apache-2.0
// What takes long: a module of 100 000 values through the command line, and a page of a million.
import { statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { oneModule } from '../../sample/bundles.mjs';
import { makeHlo } from '../../sample/hlo.mjs';
import { measure, opened } from './frames';
import { fileFor, listenTo, openUrl, shownTotal, writePage } from './page';
import { explain, view } from './program';

test.setTimeout(600_000);

test('100 000 values, from HLO text', async ({ page }) => {
  const complaints = listenTo(page);
  const input = fileFor('made_up.txt');
  writeFileSync(input, makeHlo(100_000));
  const url = view(input, '--target=cpu');
  const { size } = statSync(fileURLToPath(url));
  await openUrl(page, url);
  const first = await opened(page);
  console.log(`  ${size} bytes; first picture after ${first.toFixed(0)} ms`);
  expect(size).toBeLessThan(15e6);
  expect(first).toBeLessThan(15_000);
  const time = Number(await page.getByLabel('moment', { exact: true }).inputValue());
  await expect.poll(() => shownTotal(page)).toBe(explain(input, time, '--target=cpu').bytes);
  expect(await measure(page)).toBeLessThan(20);
  expect(complaints).toEqual([]);
});

test('1 000 000 values open', async ({ page }) => {
  const complaints = listenTo(page);
  const { url, bytes } = writePage('million', oneModule({ values: 1_000_000 }));
  await page.goto(url, { timeout: 300_000 });
  await page.waitForFunction(
    () => performance.getEntriesByName('stowplan:drawn').length > 0,
    null,
    { timeout: 300_000 },
  );
  console.log(`  ${bytes} bytes; first picture after ${(await opened(page)).toFixed(0)} ms`);
  await measure(page, 30);
  expect(await page.getByTestId('total').getAttribute('data-curve')).toBe(
    String(await shownTotal(page)),
  );
  expect(complaints).toEqual([]);
});
