// SPDX-License-Identifier: Apache-2.0
// The folder that `stowplan view DIR` writes: the index, its pages, and the way back. STOWPLAN= names the
// program; without it only the page itself is looked at, with made-up modules.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { indexOf } from '../../sample/bundles.mjs';
import { encodeBundle } from '../../sample/encode.mjs';
import { listenTo, writePage } from './page';

const program = process.env.STOWPLAN ?? '';
const seeds = fileURLToPath(new URL('../../../examples/seeds', import.meta.url));

async function complaintsOfAxe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 120)}`);
}

test('a folder of pages', async ({ page }) => {
  test.skip(!program, 'STOWPLAN is not set');
  const complaints = listenTo(page);
  const dump = mkdtempSync(join(tmpdir(), 'stowplan-dump-'));
  const names = ['seed_000', 'seed_001', 'seed_002', 'seed_003', 'seed_004'];
  for (const name of names) copyFileSync(join(seeds, `${name}.txt`), join(dump, `${name}.txt`));
  const cut = readFileSync(join(seeds, 'seed_003.txt'), 'utf-8');
  writeFileSync(
    join(dump, 'cut-buffer-assignment.txt'),
    cut.slice(0, cut.indexOf('allocation 3') + 14),
  );
  const out = join(mkdtempSync(join(tmpdir(), 'stowplan-index-')), 'pages');
  execFileSync(program, ['view', dump, '-o', `${out}/`, '--budget=1GiB'], { stdio: 'pipe' });

  await page.goto(pathToFileURL(join(out, 'index.html')).href);
  const rows = page.getByTestId('index').getByRole('row');
  await expect(rows).toHaveCount(5);
  await expect(rows.first()).toContainText('seed_004');
  // Bytes as `stowplan report` has them; the one above the budget says so, not by color alone.
  await expect(rows.first()).toContainText('1.26GiB, above the budget');
  await expect(rows.nth(1)).not.toContainText('above');
  await expect(page.getByText('1 takes more main memory than 1.00GiB')).toBeVisible();
  await expect(rows.first().locator('[title]').first()).toHaveAttribute(
    'title',
    '1.26GiB (1348651528)',
  );
  await expect(page.getByTestId('problems').getByRole('row')).toHaveCount(1);
  await expect(page.getByTestId('problems')).toContainText('cut');

  for (let k = 0; k < 5; ++k) {
    const link = rows.nth(k).getByRole('link');
    const name = (await link.textContent()) ?? '';
    await link.click();
    await expect(page.getByTestId('map-0')).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
    await page.getByRole('link', { name: 'all modules' }).click();
    await expect(rows).toHaveCount(5);
  }
  expect(complaints).toEqual([]);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`an index is accessible, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto(writePage(`index-access-${colorScheme}`, indexOf()).url);
    await expect(page.getByTestId('index')).toBeVisible();
    expect(await complaintsOfAxe(page)).toEqual([]);
    const html = page.locator('html');
    await expect(html).toHaveAttribute('data-theme', colorScheme);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await expect(html).toHaveAttribute('data-theme', 'light');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    await expect(html).toHaveAttribute('data-theme', colorScheme);
    await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
    await expect(html).not.toHaveAttribute('data-theme', colorScheme);
  });
}

test('an index of very many modules', async ({ page }) => {
  const index = Array.from({ length: 5000 }, (_, i) => ({
    name: `module_${i}`,
    file: `module_${i}.html`,
    plan: 'p',
    backend: 'CPU',
    bytes: 5000 - i,
    main_bytes: 5000 - i,
    peak: 10,
    values: 1,
    end: 240,
    curve: Array.from({ length: 240 }, (_, t) => [t, t % 11]),
  }));
  const problems = [{ name: '<img src=x onerror=alert(1)>', reason: '</td><script>1</script>' }];
  const head = {
    schema: 'stowplan.view/1',
    version: '0',
    title: 'many',
    budget: null,
    modules: [],
  };
  const bundle = encodeBundle({ ...head, diff: null, sources: [], index, problems });
  await page.goto(writePage('index-many', bundle).url);
  const rows = page.getByTestId('index').getByRole('row');
  await expect(rows).toHaveCount(300);
  await page.getByLabel('Find a module').fill('module_4999');
  await expect(rows).toHaveCount(1);
  await expect(page.getByTestId('problems')).toContainText('<img src=x onerror=alert(1)>');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  expect(
    readFileSync(await download.path(), 'utf-8')
      .trim()
      .split(/\r?\n/),
  ).toHaveLength(2);
  await page.getByLabel('Find a module').fill('');
  await page.getByRole('button', { name: 'Show 4700 more' }).click();
  await expect(rows).toHaveCount(5000);
});

const kRow = {
  plan: 'p',
  backend: 'CPU',
  main_bytes: 10,
  peak: 10,
  values: 1,
  end: 2,
  curve: [[0, 10]],
};
const kHead = {
  schema: 'stowplan.view/1',
  version: '0',
  title: 'some',
  budget: null,
  modules: [],
  diff: null,
  sources: [],
};

test('policy best is more, less or the same', async ({ page }) => {
  const bests = [900, 1000, 1100, 999_999_999, 1_000_000_001];
  const index = bests.map((best_bytes, i) => ({
    ...kRow,
    name: `module_${i}`,
    file: `module_${i}.html`,
    bytes: i < 3 ? 1000 : 1_000_000_000,
    best_bytes,
  }));
  await page.goto(writePage('index-best', encodeBundle({ ...kHead, index })).url);
  const rows = page.getByTestId('index').getByRole('row');
  const words = ['10.00 % less', 'the same', '10.00 % more', '<0.01 % less', '<0.01 % more'];
  for (let k = 0; k < words.length; ++k) await expect(rows.nth(k)).toContainText(words[k]);
});

test('an index of two inputs', async ({ page }) => {
  const index = [
    { ...kRow, name: 'grown', file: 'grown.html', bytes: 3072, base_bytes: 2048 },
    { ...kRow, name: 'gone', file: 'gone.html', bytes: 1024, only: 'A' },
    { ...kRow, name: 'new', file: 'new.html', bytes: 512, only: 'B' },
    { ...kRow, name: 'still', file: 'still.html', bytes: 256, base_bytes: 256 },
  ];
  const compared = ['before/', 'after/'];
  await page.goto(writePage('index-two', encodeBundle({ ...kHead, index, compared })).url);
  const rows = page.getByTestId('index').getByRole('row');
  const facts = page.locator('.facts');
  await expect(facts).toContainText('3.25KiB in total in A, before/');
  await expect(facts).toContainText('3.75KiB in B, after/');
  await expect(page.getByText('4 of 4, largest change first')).toBeVisible();
  for (const [k, words] of [
    ['2.00KiB', '3.00KiB', '+1.00KiB', '50.00 % more'],
    ['1.00KiB', '–', '-1.00KiB', 'only in A'],
    ['–', '512B', '+512B', 'only in B'],
    ['256B', '256B', '0B', 'the same'],
  ].entries()) {
    for (const word of words) await expect(rows.nth(k)).toContainText(word);
  }
  expect(await complaintsOfAxe(page)).toEqual([]);
});
