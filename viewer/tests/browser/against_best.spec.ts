// SPDX-License-Identifier: Apache-2.0
// `stowplan view --against=best --budget`: both plans, the waterfall between them, and the lines across
// the maps. STOWPLAN= names the program.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { listenTo } from './page';

const program = process.env.STOWPLAN ?? '';
const input = fileURLToPath(new URL('../../../examples/mlp_train_step.txt', import.meta.url));
test.skip(!program, 'STOWPLAN is not set');

interface Heap {
  xla_bytes: number;
  bytes: number;
}
function heapOf(): Heap {
  const words = ['assign', '--policy=best', '--target=cpu', '--format=json', input];
  const text = execFileSync(program, words, {
    encoding: 'utf-8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return (JSON.parse(text) as { best: { heaps: Heap[] } }).best.heaps[0];
}
async function svgOf(page: Page): Promise<string> {
  await page.getByText('Save', { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Map as SVG' }).click(),
  ]);
  await page.getByText('Save', { exact: true }).click();
  return readFileSync(await download.path(), 'utf-8');
}

test('both plans of a program', async ({ page }) => {
  const complaints = listenTo(page);
  const file = join(mkdtempSync(join(tmpdir(), 'stowplan-best-')), 'best.html');
  const words = ['view', input, '--target=cpu', '--against=best', '--order=given', '--budget=6MiB'];
  execFileSync(program, [...words, '-o', file], { stdio: 'pipe' });
  await page.goto(pathToFileURL(file).href);
  await expect(page.getByTestId('map-1')).toBeVisible();

  // What changes is the memory that is allocated; the peak is the same.
  const heap = heapOf();
  const change = page.getByTestId('change');
  await expect(change).toHaveAttribute('data-bytes', String(heap.bytes - heap.xla_bytes));
  await expect(page.getByRole('button', { name: 'memory' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
  await expect(page.getByTestId('waterfall')).toBeVisible();
  await expect(page.getByTestId('proofs')).toContainText('optimal');
  await page.getByRole('button', { name: 'peak', exact: true }).click();
  await expect(change).toHaveAttribute('data-bytes', '0');
  await expect(page.getByText("A: Stowplan's plan, by XLA's rules")).toBeVisible();
  await expect(page.getByText("B: Stowplan's plan, policy best")).toBeVisible();

  // The lines, in both maps; hidden parameters take their part of the capacity with them.
  for (const module of ['A', 'B']) {
    const svg = await svgOf(page);
    expect(svg, module).toContain('lower bound 2.00MiB');
    expect(svg, module).toContain('>capacity 6.00MiB<');
    await page.keyboard.press('b');
  }
  await page.getByText('Show', { exact: true }).click();
  await page.getByLabel('donated').uncheck();
  await page.getByText('Show', { exact: true }).click();
  await expect.poll(() => svgOf(page)).toMatch(/capacity 6\.00MiB, less 2\.\d\dMiB that is hidden/);

  // All of it as numbers.
  await page.getByRole('tab', { name: 'tables' }).click();
  await expect(page.getByRole('row', { name: /capacity/ })).toContainText('6.00MiB');
  await expect(page.getByRole('row', { name: /temporaries, at least/ })).toContainText('2.00MiB');
  expect(complaints).toEqual([]);
});

test('a better order', async ({ page }) => {
  const complaints = listenTo(page);
  const file = join(mkdtempSync(join(tmpdir(), 'stowplan-order-')), 'best.html');
  const words = ['view', input, '--target=cpu', '--against=best', '-o', file];
  execFileSync(program, words, { stdio: 'pipe' });
  await page.goto(pathToFileURL(file).href);
  await expect(page.getByTestId('map-1')).toBeVisible();
  await expect(page.getByText("B: Stowplan's plan, policy best, in a better order")).toBeVisible();
  const order = page.getByTestId('order');
  await expect(order).toContainText(/B's order of instructions saves .+, and its packing /);
  await expect(page.getByTestId('proofs')).toContainText('in this order is below');
  expect(complaints).toEqual([]);
});
