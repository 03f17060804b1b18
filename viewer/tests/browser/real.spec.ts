// SPDX-License-Identifier: Apache-2.0
// Pages that the command line writes, of real programs: they open, and what they show is what the
// library says.
import { writeFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { makeRandom } from '../../sample/random.mjs';
import { fileFor, hashOf, listenTo, moveTo, openUrl, savedTable, shownTotal } from './page';
import { explain, inCorpus, inRoot, peakChange, view } from './program';

const kMoments = 3;
const inputs = [
  ...[0, 1, 2, 3, 4].map((seed) => inRoot(`examples/seeds/seed_00${seed}.txt`)),
  inRoot('examples/mlp_train_step.txt'), // without a plan
  ...['cpu', 'gpu', 'tpu'].flatMap((backend) => [
    inCorpus(`${backend}/lm_train_scan`),
    inCorpus(`${backend}/cond_in_while`),
  ]),
  inCorpus('tpu/tensor_parallel4'),
  inCorpus('scale/lm_unrolled_24'),
];

// A label is a name, or a parameter's path with the name behind it.
function hasName(label: string, name: string): boolean {
  return label === name || label.endsWith(` (${name})`);
}

inputs.forEach((input, i) => {
  test(input.split('/').slice(-2).join('/'), async ({ page }) => {
    const complaints = listenTo(page);
    await openUrl(page, view(input));
    const end = Number(await page.getByLabel('moment', { exact: true }).getAttribute('max'));
    const random = makeRandom(i + 1);
    for (let k = 0; k < kMoments; ++k) {
      const time = random(end + 1);
      await moveTo(page, time);
      const library = explain(input, time);
      await expect
        .poll(() => shownTotal(page), { message: `total at ${time}` })
        .toBe(library.bytes);
      const shown = (await savedTable(page)).slice(1);
      expect(shown.length, `values at ${time}`).toBe(library.rows.length);
      // Each row of the library has one of the page, with the same bytes.
      const labels = new Map<number, string[]>();
      for (const [label, bytes] of shown)
        labels.set(Number(bytes), [...(labels.get(Number(bytes)) ?? []), label]);
      for (const { value, own } of library.rows) {
        const alike = labels.get(own) ?? [];
        const at = alike.findIndex((label) => hasName(label, value));
        expect(at, `${value} with ${own} bytes at ${time}`).not.toBe(-1);
        alike.splice(at, 1);
      }
    }
    for (const key of ['Enter', 'h', 'w', 'w', 'v', 'v', 'g', 'g', '4', '5', '?', 'Escape', 'c']) {
      await page.keyboard.press(key);
    }
    expect(complaints).toEqual([]);
  });
});

test('two programs: the change is that of `stowplan diff`', async ({ page }) => {
  const complaints = listenTo(page);
  const [a, b] = ['lm_train_scan', 'lm_train_scan_remat'].map((name) =>
    inCorpus(`cpu/${name}/cpu_after_optimizations.hlo.pb`),
  );
  await openUrl(page, view(a, b));
  await expect(page.getByTestId('map-1')).toBeVisible();
  await page.keyboard.press('6');
  const change = peakChange(a, b);
  expect(change).not.toBe(0);
  await expect(page.getByTestId('change')).toHaveAttribute('data-bytes', String(change));
  const terms = (await savedTable(page)).slice(1);
  expect(terms.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(change);
  // A term leads to its value, in its own module.
  await page.getByTestId('table').getByRole('row').nth(1).click();
  await expect.poll(async () => (await hashOf(page)).has('value')).toBe(true);
  expect(complaints).toEqual([]);
});

test('what a program says of itself is text', async ({ page }) => {
  const complaints = listenTo(page);
  const hostile = [
    '</script><script>globalThis.hacked=1</script>',
    '<img src=x onerror=globalThis.hacked=1>',
    'left \u202Eright to left\u202C \u2066isolated\u2069 \u200Fmark',
    'm'.repeat(10_000),
  ];
  const metadata = hostile.map(
    (text) => `metadata={op_name="${text}" source_file="user/evil.py" source_line=1}`,
  );
  const lines = metadata.map(
    (text, i) => `  v${i} = f32[1024]{0} negate(${i ? `v${i - 1}` : 'p'}), ${text}`,
  );
  const name = 'n'.repeat(10_000);
  const input = fileFor('hostile.txt');
  writeFileSync(
    input,
    `HloModule evil, is_scheduled=true\n\nENTRY e {\n  p = f32[1024]{0} parameter(0), metadata={op_name="${hostile[0]}"}\n${lines.join('\n')}\n  ROOT ${name} = f32[1024]{0} negate(v3)\n}\n`,
  );
  const sources = fileFor('sources/user/evil.py');
  writeFileSync(sources, hostile.join('\n'));
  await openUrl(
    page,
    view(input, '--target=cpu', `--source-root=${sources.slice(0, -'/user/evil.py'.length)}`),
  );
  for (const key of ['1', 'v', 'v', 'v', 'g', 'g', 'g', 'c', 'c', 'c', 'c', '3', '4', '5']) {
    await page.keyboard.press(key);
  }
  await page.keyboard.press('4');
  await expect(page.getByTestId('source')).toContainText(hostile[0]);
  await expect(page.getByTestId('source')).toContainText('left \\u202eright to left');
  await page.getByLabel('Search values').fill('n'.repeat(100));
  await expect(page.getByTestId('found')).toHaveAttribute('data-count', '1');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.keyboard.press('2');
  await expect(page.getByTestId('value-card').locator('h2')).toContainText('n'.repeat(200));
  for (let value = 0; value < 6; ++value) {
    await page.keyboard.press(']');
    await expect(page.getByTestId('value-card')).toBeVisible();
  }
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('#app script, #app img').count()).toBe(0);
  // Nothing is so wide that the page has to be moved to be read.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  expect(complaints).toEqual([]);
});
