// SPDX-License-Identifier: Apache-2.0
// Opens pages from disk, and sees to it that they ask nobody and complain of nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { fillPage } from '../../sample/encode.mjs';
import { readBundle, type Bundle } from '../../src/decode/bundle';

export const kEmptyPage = new URL('../../../src/view/page.html', import.meta.url);

export interface Opened {
  bundle: Bundle;
  complaints: string[];
  url: string;
  bytes: number;
}
export interface Saved {
  name: string;
  bytes: Buffer;
}

// A path for a file of this test.
export function fileFor(name: string): string {
  const path = test.info().outputPath(name);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

export function writePage(name: string, bundle: Buffer): { url: string; bytes: number } {
  const path = fileFor(`${name}.html`);
  const text = fillPage(readFileSync(kEmptyPage, 'utf-8'), bundle);
  writeFileSync(path, text);
  return { url: pathToFileURL(path).href, bytes: Buffer.byteLength(text) };
}

// What a page must not do goes into the list.
export function listenTo(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  return complaints;
}

export async function openUrl(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.getByTestId('map-0')).toBeVisible();
  await page.waitForFunction(() => performance.getEntriesByName('stowplan:drawn').length > 0);
}
export async function open(page: Page, name: string, bundle: Buffer, hash = ''): Promise<Opened> {
  const complaints = listenTo(page);
  const { url, bytes } = writePage(name, bundle);
  await openUrl(page, url + hash);
  return { bundle: readBundle(new Uint8Array(bundle).buffer), complaints, url, bytes };
}

// The total that the live pane shows, as a number.
export async function shownTotal(page: Page): Promise<number> {
  return Number(await page.getByTestId('total').getAttribute('data-bytes'));
}
export async function moveTo(page: Page, time: number): Promise<void> {
  await page.getByLabel('moment', { exact: true }).fill(String(time));
  await page.keyboard.press('Enter');
}
export async function hashOf(page: Page): Promise<URLSearchParams> {
  await page.waitForTimeout(260); // the address follows a moment later
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}
export async function viewOf(page: Page): Promise<number[]> {
  return (await hashOf(page)).get('view')?.split(',').map(Number) ?? [];
}

// What comes down when something is done.
export async function saved(page: Page, act: () => Promise<void>): Promise<Saved> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}
// The table in sight, whole, as its CSV file has it.
export async function savedTable(page: Page): Promise<string[][]> {
  const { bytes } = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click());
  return readCsv(bytes.toString());
}
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of text.matchAll(/(?:"(?:[^"]|"")*"|[^"\r\n])+(?=\r\n|$)/g)) {
    const cells = line[0].match(/(?<=^|,)(?:"(?:[^"]|"")*"|[^",]*)(?=,|$)/g) ?? [];
    rows.push(
      cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)),
    );
  }
  return rows;
}
