// SPDX-License-Identifier: Apache-2.0
// The chart of `stowplan fit --chart`: what it shows is what the command line says, and the budget
// can be moved with a pointer and with keys.
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { fileFor, listenTo } from './page';
import { inCorpus, kProgram } from './program';

interface Line {
  source?: string;
  operations: string;
  freed: number;
}
interface Facts {
  given_bytes: number;
  bytes: number;
  bound: number;
  curve: { cost: number; bytes: number; lines?: Line[] }[];
}

// Writes the chart of a training step; gives its address and the facts that it shows.
function chart(...options: string[]): { url: string; facts: Facts } {
  const file = fileFor('fit.html');
  const input = inCorpus('cpu11/lm_train_unrolled_small/cpu_after_optimizations.hlo.pb');
  const args = ['fit', input, '--target=cpu', `--chart=${file}`, '--format=json', ...options];
  const facts = JSON.parse(execFileSync(kProgram, args, { encoding: 'utf-8' })) as Facts;
  return { url: pathToFileURL(file).href, facts };
}

const slider = (page: Page) => page.getByRole('slider', { name: 'Budget' });
const budgetOf = async (page: Page) => Number(await slider(page).getAttribute('aria-valuenow'));
// The cheapest point within the budget.
const pointAt = (facts: Facts, budget: number) =>
  facts.curve.find((point) => point.lines && point.bytes <= budget);

test('the budget can be dragged, and the list follows', async ({ page }) => {
  const complaints = listenTo(page);
  const { url, facts } = chart();
  await page.goto(url);
  const box = (await page.locator('#chart').boundingBox())!;
  const seen = new Set<number>();
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await page.mouse.down();
  for (let part = 0.05; part < 0.85; part += 0.1) {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * part);
    const point = pointAt(facts, await budgetOf(page));
    const rows = page.locator('#lines tr');
    const lines = point?.lines ?? [];
    expect(await rows.count()).toBe(lines.length ? lines.length + 1 : 0);
    for (const line of lines.slice(0, 3)) {
      const first = rows.filter({ hasText: line.source ?? line.operations }).first();
      await expect(first).toContainText(line.operations);
    }
    await expect(page.locator('#verdict')).toContainText(
      point ? 'is met' : /cannot be met|was not met/,
    );
    seen.add(lines.length);
  }
  await page.mouse.up();
  expect(seen.size).toBeGreaterThan(2);
  expect(complaints).toEqual([]);
});

test('keys move the budget', async ({ page }) => {
  const { url, facts } = chart();
  await page.goto(url);
  await slider(page).focus();
  await page.keyboard.press('End');
  expect(await budgetOf(page)).toBeGreaterThanOrEqual(facts.given_bytes);
  await expect(page.locator('#verdict')).toContainText('without extra work');
  const top = await budgetOf(page);
  await page.keyboard.press('ArrowDown');
  expect(await budgetOf(page)).toBeLessThan(top);
  await page.keyboard.press('Home');
  expect(await budgetOf(page)).toBeLessThan(facts.bound);
  await expect(page.locator('#verdict')).toContainText('cannot be met');
  await expect(page.locator('#same')).toHaveText('Nothing.');
});

test('the budget that was asked for is shown first', async ({ page }) => {
  const { facts } = chart();
  const wanted = Math.round((facts.given_bytes + facts.bytes) / 2);
  const { url } = chart(`--budget=${wanted}`);
  await page.goto(url);
  expect(await budgetOf(page)).toBe(wanted);
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [name, width, height] of [
    ['wide', 1280, 900],
    ['phone', 390, 844],
  ] as const) {
    test(`readable, ${colorScheme}, ${name}`, async ({ page }) => {
      const complaints = listenTo(page);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      await page.goto(chart('--max-cost=20%').url);
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
        .analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`)).toEqual(
        [],
      );
      const across = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(across).toBeLessThanOrEqual(width);
      await page.screenshot({ path: fileFor(`fit-${colorScheme}-${name}.png`), fullPage: true });
      expect(complaints).toEqual([]);
    });
  }
}
