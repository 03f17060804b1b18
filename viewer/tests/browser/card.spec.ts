// SPDX-License-Identifier: Apache-2.0
// Cards that the Python package shows in notebooks: what a person reads there is what the analysis
// says, in light and dark, and the page asks nobody.
// STOWPLAN_PYTHON= names a Python that can import the package.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { fileFor, listenTo } from './page';
import { inCorpus, inRoot } from './program';

interface Facts {
  name: string;
  size: number;
  peak: [number, number, string];
  total: number;
  allocations: number;
  values: number;
  source: [string, string][];
  kind: [string, string][];
  spaces: [number, number][];
  notes: string[];
}

interface Card {
  facts: Facts;
  url: string;
  frame: string;
}

const python = process.env.STOWPLAN_PYTHON ?? inRoot('build/python-venv/bin/python');

// Writes the cards of inputs; gives what they have to show, and their addresses.
function cards(inputs: string[], ...options: string[]): Card[] {
  const folder = fileFor('cards');
  const args = ['-B', inRoot('tests/python/card_pages.py'), ...options, folder, ...inputs];
  const rows = JSON.parse(
    execFileSync(python, args, { encoding: 'utf-8', maxBuffer: 1 << 28 }),
  ) as Facts[];
  return rows.map((facts, i) => ({
    facts,
    url: pathToFileURL(`${folder}/${i}.html`).href,
    frame: pathToFileURL(`${folder}/${i}.frame.html`).href,
  }));
}

const inputs = [
  inRoot('examples/mlp_train_step.txt'),
  inRoot('examples/seeds/seed_004.txt'),
  inCorpus('cpu/donated_update'),
  inCorpus('gpu/lm_train_scan'),
  inCorpus('tpu/lm_train_scan'),
  inCorpus('scale/lm_unrolled_96'),
];

// Names and sizes of a table's rows, as they are read.
async function rowsOf(page: Page, caption: string): Promise<[string, string][]> {
  const rows = page.getByRole('table', { name: caption }).locator('tbody tr');
  const texts = await rows.evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll<HTMLElement>('th, .st-number')].map((cell) => cell.innerText),
    ),
  );
  return texts.map(([name, size]) => [name, size]);
}

// A long path is shown by its end.
function isName(shown: string, name: string): boolean {
  return shown === name || (shown.startsWith('…/') && name.endsWith(shown.slice(1)));
}

test('cards show what the analysis says', async ({ page }) => {
  const complaints = listenTo(page);
  for (const { facts, url } of cards(inputs)) {
    expect(facts.size).toBeLessThan(300_000);
    await page.goto(url);
    const card = page.locator('.stowplan-card');
    await expect(card).toContainText(facts.name);
    const [bytes, time, instruction] = facts.peak;
    await expect(card).toContainText(`${bytes} bytes at t=${time} ${instruction}`);
    await expect(card).toContainText(
      `${facts.total} bytes in ${facts.allocations} allocations of ${facts.values} values`,
    );
    for (const by of ['source', 'kind'] as const) {
      const shown = await rowsOf(page, `At the peak, by ${by}`);
      const rest = shown.length < facts[by].length ? 1 : 0; // the last row holds what is left
      expect(shown.length - rest).toBeGreaterThan(0);
      shown.slice(0, shown.length - rest).forEach(([name, size], i) => {
        expect(isName(name, facts[by][i][0]), `${name}, ${facts[by][i][0]}`).toBe(true);
        expect(size).toBe(facts[by][i][1]);
      });
      if (!rest) expect(shown.length).toBe(facts[by].length);
    }
    if (facts.spaces.length > 1) {
      const spaces = await rowsOf(page, 'Memory spaces');
      expect(spaces.length).toBe(facts.spaces.length);
      spaces.forEach(([, size], i) => expect(size).toContain(String(facts.spaces[i][0])));
    }
    for (const note of facts.notes) await expect(card).toContainText(note);
    // The picture has a name, the peak, and something in it.
    const map = page.getByRole('img', { name: `Memory of ${facts.name}` });
    await expect(map).toBeVisible();
    await expect(map).toContainText('peak');
    expect(await map.locator('.st-values rect, path').count()).toBeGreaterThan(2);
    expect(await page.locator('script').count()).toBe(0);
    // It can be read on a narrow screen.
    await page.setViewportSize({ width: 420, height: 700 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      420,
    );
    await page.setViewportSize({ width: 1280, height: 720 });
  }
  expect(complaints).toEqual([]);
});

// The color behind the card, as a browser computes it.
async function ground(page: Page): Promise<string> {
  return page.locator('.stowplan-card').evaluate((card) => getComputedStyle(card).backgroundColor);
}
const kLight = 'rgb(255, 255, 255)';
const kDark = 'rgb(20, 23, 27)';

test('light and dark, as the notebook or the system is', async ({ page }) => {
  const complaints = listenTo(page);
  const [{ url }] = cards([inputs[1]]);
  for (const system of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: system });
    await page.goto(url);
    expect(await ground(page)).toBe(system === 'dark' ? kDark : kLight);
    for (const notebook of ['light', 'dark'] as const) {
      await page.evaluate(
        (isLight) => document.body.setAttribute('data-jp-theme-light', String(isLight)),
        notebook === 'light',
      );
      expect(await ground(page), `${notebook} on ${system}`).toBe(
        notebook === 'dark' ? kDark : kLight,
      );
      await page.evaluate(
        (isDark) => (document.body.style.background = isDark ? '#111111' : '#ffffff'),
        notebook === 'dark',
      );
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
        .analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`)).toEqual(
        [],
      );
      await page.screenshot({ path: fileFor(`${notebook}-on-${system}.png`), fullPage: true });
    }
  }
  expect(complaints).toEqual([]);
});

test('names of a program are text', async ({ page }) => {
  const complaints = listenTo(page);
  const evil =
    '<img src=x onerror=globalThis.hacked=1></title><script>globalThis.hacked=1</script>';
  const input = fileFor('evil.txt');
  writeFileSync(
    input,
    `HloModule evil, is_scheduled=true\n\nENTRY e {\n  p = f32[1024]{0} parameter(0), metadata={op_name="${evil}"}\n` +
      `  ROOT v = f32[1024]{0} negate(p), metadata={op_name="${evil}" source_file="${evil}" source_line=1}\n}\n`,
  );
  const [{ url }] = cards([input], '--target=cpu');
  await page.goto(url);
  await expect(page.locator('.stowplan-card')).toContainText('<img src=x');
  expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('script, img:not([role])').count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('show() puts the viewer into a frame', async ({ page }) => {
  const complaints = listenTo(page);
  const [{ frame, facts }] = cards([inputs[0]]);
  await page.goto(frame);
  const viewer = page.frameLocator('iframe');
  await expect(viewer.getByTestId('map-0')).toBeVisible();
  await expect(viewer.getByTestId('total')).toHaveAttribute('data-bytes', String(facts.peak[0]));
  expect(complaints).toEqual([]);
});
