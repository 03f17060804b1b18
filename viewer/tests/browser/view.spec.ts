// SPDX-License-Identifier: Apache-2.0
// What a page shows, made-up programs in it.
import { expect, test } from '@playwright/test';
import { indexOf, oneModule, twoModules } from '../../sample/bundles.mjs';
import { kHostileNames } from '../../sample/program.mjs';
import { kGroupings } from '../../src/model/groups';
import { curveAt, liveAt } from '../../src/model/live';
import { search } from '../../src/model/search';
import { labelOf, nameOf } from '../../src/model/words';
import {
  hashOf,
  kEmptyPage,
  listenTo,
  moveTo,
  open,
  saved,
  savedTable,
  shownTotal,
  writePage,
} from './page';

test('an empty page says what to do', async ({ page }) => {
  const complaints = listenTo(page);
  await page.goto(kEmptyPage.href);
  await expect(page.getByText('There is no program in this page yet')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('a damaged file says so', async ({ page }) => {
  const bundle = oneModule({ values: 50 });
  const complaints = listenTo(page);
  await page.goto(writePage('damaged', bundle.subarray(0, bundle.length / 2)).url);
  await expect(page.getByText('This file cannot be shown')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('totals at random moments are the library’s, in all spaces and in each', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'totals', oneModule({ values: 1500, seed: 3 }));
  const module = bundle.modules[0];
  await expect.poll(() => shownTotal(page)).toBe(module.header.all_peak.bytes);
  const peaks = page.getByRole('group', { name: 'jump to peak' });
  for (const [i, { peak }] of module.header.spaces.entries()) {
    await peaks
      .getByRole('button')
      .nth(i + 1)
      .click();
    await expect.poll(() => shownTotal(page)).toBe(peak.bytes);
    await expect(page.getByLabel('moment', { exact: true })).toHaveValue(String(peak.time));
  }
  await peaks.getByRole('button', { name: 'all' }).click();
  await expect.poll(() => shownTotal(page)).toBe(module.header.all_peak.bytes);
  for (const time of [0, 17, 333, 801, 1200, module.end]) {
    await moveTo(page, time);
    for (const space of [-1, 0, 1]) {
      await page.getByLabel('Memory space').selectOption(String(space));
      await expect.poll(() => shownTotal(page)).toBe(curveAt(module, space < 0 ? 2 : space, time));
    }
    await page.getByLabel('Memory space').selectOption('-1');
    const live = liveAt(module, time);
    await expect(page.getByTestId('table')).toHaveAttribute(
      'aria-rowcount',
      String(live.values.length + 1),
    );
    await expect(page.getByTestId('table').getByRole('row').nth(1)).toContainText(
      labelOf(module, live.values[0]),
    );
  }
  expect(complaints).toEqual([]);
});

test('charts by keyboard, in every grouping', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'charts', oneModule({ values: 300 }));
  const module = bundle.modules[0];
  const total = module.header.all_peak.bytes;
  for (const by of kGroupings) {
    await page.getByLabel('Group by').selectOption(by);
    await page.getByLabel('Show as').selectOption('table');
    const rows = (await savedTable(page)).slice(1);
    expect(rows.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(total);
    for (const shape of ['treemap', 'flame']) {
      await page.getByLabel('Show as').selectOption(shape);
      const chart = page.getByTestId(shape);
      await expect(chart).toHaveAttribute('aria-label', new RegExp(`\\(${total}\\)`));
      await chart.focus();
      await page.keyboard.press('ArrowDown');
      await expect(page.getByTestId('active')).toBeVisible();
      await expect(page.getByTestId('tip')).toContainText('of what is live');
    }
  }
  // Down to a leaf: one that is a group is marked on the map.
  await page.getByLabel('Group by').selectOption('kind');
  await page.getByTestId('flame').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  const query = (await hashOf(page)).get('q') ?? '';
  expect(query).toMatch(/^kind:/);
  expect(search(module, query).values.length).toBeGreaterThan(1);
  await page.getByLabel('Show as').selectOption('treemap');
  await page.getByLabel('Group by').selectOption('op_name');
  await page.getByTestId('treemap').focus();
  for (const key of ['ArrowDown', 'Enter', 'Backspace']) await page.keyboard.press(key);
  expect(complaints).toEqual([]);
});

test('search marks and lists, and mistakes are said', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'search', oneModule({ values: 800 }));
  const module = bundle.modules[0];
  for (const query of [
    'dot',
    '>64KiB',
    'kind:activation >1k',
    'name:/^fusion\\.\\d+$/',
    'space:vmem -kind:temporary',
    'source:model.py:16',
  ]) {
    await page.getByLabel('Search values').fill(query);
    await expect(page.getByTestId('found')).toHaveAttribute(
      'data-count',
      String(search(module, query).values.length),
    );
  }
  await page.getByLabel('Search values').fill('>12parsecs');
  await expect(page.getByRole('alert')).toContainText('is not a size');
  expect(complaints).toEqual([]);
});

test('everything by keyboard', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'keys', oneModule({ values: 300 }));
  const module = bundle.modules[0];
  await page.keyboard.press('End');
  await expect.poll(() => shownTotal(page)).toBe(curveAt(module, 2, module.end));
  await page.keyboard.press('p');
  await expect.poll(() => shownTotal(page)).toBe(module.header.all_peak.bytes);
  await page.keyboard.press('ArrowRight');
  await expect
    .poll(async () => (await hashOf(page)).get('t'))
    .toBe(String(module.header.all_peak.time + 1));
  await page.keyboard.press('Enter');
  const largest = liveAt(module, module.header.all_peak.time + 1).values[0];
  await expect(page.getByTestId('value-card')).toHaveAttribute('data-value', String(largest));
  await page.keyboard.press('w');
  await expect.poll(async () => (await hashOf(page)).has('view')).toBe(true);
  await page.keyboard.press('0');
  await expect.poll(async () => (await hashOf(page)).has('view')).toBe(false);
  await page.keyboard.press('h');
  await expect(page.getByTestId('hole-card')).toContainText('hole at the peak');
  await page.keyboard.press('/');
  await expect(page.getByLabel('Search values')).toBeFocused();
  await page.keyboard.type('kind:activation');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('found')).toBeVisible();
  await page.keyboard.press('n');
  await expect
    .poll(async () => (await hashOf(page)).get('value'))
    .toBe(String(search(module, 'kind:activation').values[0]));
  await page.keyboard.press('v');
  await expect(page.getByTestId('treemap')).toBeVisible();
  await page.keyboard.press('v');
  await expect(page.getByTestId('flame')).toBeVisible();
  await page.keyboard.press('4');
  await expect(page.getByTestId('source')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByTestId('help')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('help')).toBeHidden();
  await page.keyboard.press('t');
  await page.keyboard.press('t');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  expect(complaints).toEqual([]);
});

test('map and tables can be saved', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'save', oneModule({ values: 200 }));
  const svg = await saved(page, () => page.keyboard.press('e'));
  expect(svg.name).toBe('jit_train_step.svg');
  const parsed = await page.evaluate((text) => {
    const document = new DOMParser().parseFromString(text, 'image/svg+xml');
    return {
      rects: document.querySelectorAll('rect').length,
      errors: document.querySelectorAll('parsererror').length,
    };
  }, svg.bytes.toString());
  expect(parsed.errors).toBe(0);
  expect(parsed.rects).toBeGreaterThan(50);
  const png = await saved(page, () => page.keyboard.press('Shift+E'));
  expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
  const rows = await savedTable(page);
  const live = liveAt(bundle.modules[0], bundle.modules[0].header.all_peak.time);
  expect(rows).toHaveLength(live.values.length + 1);
  expect(rows.slice(1).reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBe(live.bytes);
  expect(complaints).toEqual([]);
});

test('lines of source and rectangles, both ways', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'source', oneModule({ values: 300 }));
  await page.keyboard.press('4');
  await page.getByLabel('file').selectOption({ label: 'model.py' });
  await page.locator('[data-line="16"]').click();
  const hash = await hashOf(page);
  expect(hash.get('q')).toBe('source:"model.py:16 "');
  const first = search(bundle.modules[0], 'source:"model.py:16 "').values[0];
  await page.keyboard.press('n');
  await page.keyboard.press('2');
  await expect(page.getByTestId('value-card')).toHaveAttribute('data-value', String(first));
  await page.getByRole('button', { name: 'model.py:16' }).click();
  await expect(page.locator('[data-line="16"]')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('two modules: side by side, blink, waterfall', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'two', twoModules());
  await expect(page.getByTestId('map-1')).toBeVisible();
  await page.keyboard.press('6');
  await expect(page.getByTestId('waterfall')).toBeVisible();
  const [a, b] = bundle.modules.map((module) => module.header.all_peak.bytes);
  await expect(page.getByTestId('change')).toHaveAttribute('data-bytes', String(b - a));
  await page.getByRole('button', { name: 'color by change' }).click();
  await page.getByRole('button', { name: 'blink' }).click();
  await expect(page.locator('[data-testid^=map-]')).toHaveCount(1);
  await expect(page.getByTestId('map-1')).toBeVisible();
  await expect(page.getByTestId('map-0')).toBeVisible();
  await page.keyboard.press('1');
  await page.keyboard.press('b');
  await expect.poll(async () => (await hashOf(page)).get('module')).toBe('1');
  await expect(page.getByTestId('total')).toHaveAttribute(
    'data-bytes',
    String(curveAt(bundle.modules[1], 2, bundle.modules[0].header.all_peak.time)),
  );
  expect(complaints).toEqual([]);
});

test('hostile names are text', async ({ page }) => {
  const { bundle, complaints } = await open(
    page,
    'hostile',
    oneModule({ values: 100, hostile: true }),
  );
  const module = bundle.modules[0];
  for (let value = 0; value < kHostileNames.length; ++value) {
    await page.goto(`${page.url().split('#')[0]}#value=${value}&tab=value`);
    await expect(page.getByTestId('value-card')).toHaveAttribute('data-value', String(value));
    await expect(page.getByTestId('value-card').locator('h2')).toContainText(
      nameOf(module, value).slice(0, 100),
    );
  }
  for (const key of [
    '1',
    'v',
    'v',
    'v',
    'g',
    'g',
    'g',
    'c',
    'c',
    'c',
    'c',
    '3',
    '4',
    '?',
    'Escape',
    'e',
  ])
    await page.keyboard.press(key);
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('#app script, #app img, #app iframe, #app svg').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('the numbers behind the map are tables', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'tables', oneModule({ values: 200 }));
  const { header, allocations, brackets, holes, curves } = bundle.modules[0];
  await page.keyboard.press('5');
  const rows = {
    spaces: 10,
    allocations: allocations.count,
    'load curve': curves.begins[3] - curves.begins[2],
    brackets: brackets.count,
    holes: holes.count,
  };
  for (const [table, count] of Object.entries(rows)) {
    await page.getByLabel('table', { exact: true }).selectOption(table);
    await expect(page.getByTestId('table')).toHaveAttribute('aria-rowcount', String(count + 1));
  }
  await page.getByLabel('table', { exact: true }).selectOption('spaces');
  const footprint = page.getByRole('row', { name: /^footprint/ });
  await expect(footprint.getByRole('gridcell').nth(1)).toHaveAttribute(
    'title',
    String(header.spaces[0].footprint.bytes),
  );
  expect(complaints).toEqual([]);
});

test('an index leads to pages beside it, and nowhere else', async ({ page }) => {
  const complaints = listenTo(page);
  await page.goto(writePage('index', indexOf()).url);
  const rows = page.getByTestId('index').getByRole('row');
  await expect(rows).toHaveCount(40);
  await page.getByLabel('module').fill('step_1');
  await expect(rows).toHaveCount(11);
  await expect(rows.first().getByRole('link')).toHaveAttribute('href', /^module_\d+\.html$/);
  await page.goto(writePage('index-hostile', indexOf({ hostile: true })).url);
  await expect(page.getByTestId('index').getByRole('link')).toHaveCount(20);
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  expect(complaints).toEqual([]);
});
