// SPDX-License-Identifier: Apache-2.0
// Opens pages from disk, and sees to it that they ask nobody and complain of nothing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import { fillPage } from '../../sample/encode.mjs';
import { readBundle, type Bundle } from '../../src/decode/bundle';

const folder = join(tmpdir(), `stowplan-viewer-${process.pid}`);
export const kEmptyPage = new URL('../../../src/view/page.html', import.meta.url);

export interface Opened {
  bundle: Bundle;
  complaints: string[];
  url: string;
  bytes: number;
}

export function writePage(name: string, bundle: Buffer): { url: string; bytes: number } {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.html`);
  const text = fillPage(readFileSync(kEmptyPage, 'utf-8'), bundle);
  writeFileSync(path, text);
  return { url: pathToFileURL(path).href, bytes: Buffer.byteLength(text) };
}

export function listenTo(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
}

export async function open(page: Page, name: string, bundle: Buffer, hash = ''): Promise<Opened> {
  const complaints: string[] = [];
  listenTo(page, complaints);
  const { url, bytes } = writePage(name, bundle);
  await page.goto(url + hash);
  await expect(page.getByTestId('map-0')).toBeVisible();
  await page.waitForFunction(() => performance.getEntriesByName('stowplan:drawn').length > 0);
  return { bundle: readBundle(new Uint8Array(bundle).buffer), complaints, url, bytes };
}

// The total that the live pane shows, as a number.
export async function shownTotal(page: Page): Promise<number> {
  return Number(await page.getByTestId('total').getAttribute('data-bytes'));
}
export async function hashOf(page: Page): Promise<URLSearchParams> {
  await page.waitForTimeout(260); // the address follows a moment later
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}
