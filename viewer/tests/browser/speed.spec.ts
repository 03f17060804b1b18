// SPDX-License-Identifier: Apache-2.0
import { expect, test } from '@playwright/test';
import { oneModule } from '../../sample/bundles.mjs';
import { measure, opened } from './frames';
import { open } from './page';

// 50 frames a second leave 20 ms for each.
test('100 000 values', async ({ page }) => {
  const made = oneModule({ values: 100_000 });
  const { bytes, bundle, complaints } = await open(page, 'large', made);
  expect(bundle.modules[0].values.count).toBeGreaterThan(100_000);
  const first = await opened(page);
  console.log(`  ${bytes} bytes; first picture after ${first.toFixed(0)} ms`);
  expect(bytes).toBeLessThan(15e6);
  expect(first).toBeLessThan(15_000); // 3 s where nothing else runs
  expect(await measure(page)).toBeLessThan(20);
  expect(complaints).toEqual([]);
});
