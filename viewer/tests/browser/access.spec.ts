// SPDX-License-Identifier: Apache-2.0
// Rules of WCAG 2.2 A and AA that a machine can check, in both themes and all panes.
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { twoModules } from '../../sample/bundles.mjs';
import { open } from './page';

for (const theme of ['light', 'dark']) {
  test(`accessible, ${theme}`, async ({ page }) => {
    await open(page, `access-${theme}`, twoModules(), `#theme=${theme}&value=5`);
    const states = ['1', '2', '3', '4', '5', '6', 'v', 'v', '?'];
    for (const key of states) {
      await page.keyboard.press(key);
      await page.waitForTimeout(100);
      const axe = new AxeBuilder({ page });
      if (theme === 'light') axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);
      else axe.withRules('color-contrast'); // the rest is the same
      const { violations } = await axe.analyze();
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`,
      );
      expect(found, `after key ${key}`).toEqual([]);
    }
  });
}
