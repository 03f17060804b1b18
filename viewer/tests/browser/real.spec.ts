// SPDX-License-Identifier: Apache-2.0
// Pages that the command line writes, of real programs: they open, and what they show at some moments
// is what the library says. STOWPLAN= names the program, VIEW_INPUTS= inputs, parted by colons.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { makeRandom } from '../../sample/random.mjs';
import { listenTo, shownTotal } from './page';

const program = process.env.STOWPLAN ?? '';
const inputs = (process.env.VIEW_INPUTS ?? '').split(':').filter(Boolean);
const kMoments = 4;

interface Explained {
  moment: { bytes: number };
  partitions: { value: { rows: { value?: string; own: number }[] } };
}
function run(...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf-8', maxBuffer: 1 << 28 });
}
function explain(input: string, time: number): Explained {
  const options = [`--at=${time}`, '--space=all', '--by=value', '--top=0', '--format=json'];
  return JSON.parse(run('explain', input, ...options)) as Explained;
}

test.skip(!program || inputs.length === 0, 'STOWPLAN and VIEW_INPUTS are not set');
const folder = program ? mkdtempSync(join(tmpdir(), 'stowplan-real-')) : '';

inputs.forEach((input, i) => {
  test(`${i}: ${input.split('/').slice(-2).join('/')}`, async ({ page }) => {
    const complaints: string[] = [];
    listenTo(page, complaints);
    const file = join(folder, `${i}-${basename(input)}.html`);
    run('view', input, '-o', file);
    await page.goto(pathToFileURL(file).href);
    await expect(page.getByTestId('map-0')).toBeVisible();
    const moment = page.getByLabel('moment', { exact: true });
    const end = Number(await moment.getAttribute('max'));
    const random = makeRandom(i + 1);
    for (let k = 0; k < kMoments; ++k) {
      const time = random(end + 1);
      await moment.fill(String(time));
      await page.keyboard.press('Enter');
      const library = explain(input, time);
      expect(await shownTotal(page), `total at ${time}`).toBe(library.moment.bytes);
      // The rows in sight, value by value; both are in order of bytes.
      const shown = await page
        .getByTestId('table')
        .getByRole('row')
        .evaluateAll((rows) =>
          rows.slice(1).map((row) => Number(row.children[1].getAttribute('title'))),
        );
      const owned = library.partitions.value.rows
        .filter((row) => row.value !== undefined && row.own > 0)
        .map((row) => row.own);
      expect(shown, `values at ${time}`).toEqual(owned.slice(0, shown.length));
      const count = await page.getByTestId('table').getAttribute('aria-rowcount');
      expect(Number(count) - 1).toBe(owned.length);
    }
    for (const key of ['Enter', 'h', 'w', 'w', 'v', 'v', 'g', 'g', '4', '5', '?', 'Escape']) {
      await page.keyboard.press(key);
    }
    expect(complaints).toEqual([]);
  });
});
