// SPDX-License-Identifier: Apache-2.0
// Rules of WCAG 2.2 A and AA that a machine can check, in both themes and all panes.
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { oneModule, twoModules } from '../../sample/bundles.mjs';
import { open } from './page';

for (const theme of ['light', 'dark']) {
  test(`accessible, ${theme}`, async ({ page }) => {
    await open(page, `access-${theme}`, twoModules(), `#theme=${theme}&value=5`);
    const states = ['1', '2', '3', '4', '5', '6', 'v', 'v', '?'];
    for (const key of states) {
      await page.keyboard.press(key);
      await page.waitForTimeout(100);
      const axe = new AxeBuilder({ page });
      // The rest of the page stays as it was.
      if (key !== '1' && key !== '?') axe.include('#pane');
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

// Light of a color as WCAG 2 defines it, and the contrast of two.
const lightOf = (color: string) => {
  const [r, g, b] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a: string, b: string) => {
  const [low, high] = [lightOf(a), lightOf(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

for (const theme of ['light', 'dark']) {
  test(`the focus goes everywhere and is seen, ${theme}`, async ({ page }) => {
    const { complaints } = await open(
      page,
      `focus-${theme}`,
      oneModule({ values: 200 }),
      `#theme=${theme}`,
    );
    const reached = new Set<string>();
    for (let i = 0; i < 40; ++i) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return null;
        const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
        const ground = getComputedStyle(document.body).backgroundColor;
        const name =
          element.getAttribute('data-testid') ?? element.id ?? element.getAttribute('aria-label');
        return {
          name: name || element.tagName.toLowerCase(),
          outline: { style: outlineStyle, width: outlineWidth, color: outlineColor },
          ground,
        };
      });
      if (!at) break;
      reached.add(at.name);
      expect(at.outline.style, `focus of ${at.name}`).not.toBe('none');
      expect(parseFloat(at.outline.width)).toBeGreaterThanOrEqual(2);
      // What is no text needs a contrast of 3.
      expect(contrast(at.outline.color, at.ground)).toBeGreaterThanOrEqual(3);
    }
    for (const name of ['search', 'summary', 'map-0', 'tab-live', 'moment', 'table', 'select'])
      expect([...reached]).toContain(name);
    expect(complaints).toEqual([]);
  });
}

test('printed in light, whole, whatever the screen is', async ({ page }) => {
  const { complaints } = await open(page, 'print', oneModule({ values: 300 }), '#theme=dark');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  const rows = page.getByTestId('table').getByRole('row');
  const before = await rows.count();
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await expect(page.getByLabel('Search values')).toBeHidden();
  // Rows that one has to scroll to are on paper too.
  await expect.poll(() => rows.count()).toBeGreaterThan(before);
  const last = await rows.last().evaluate((row) => {
    const { bottom } = row.getBoundingClientRect();
    return { bottom, page: document.documentElement.scrollHeight };
  });
  expect(last.bottom).toBeLessThanOrEqual(last.page);
  const { violations } = await new AxeBuilder({ page }).withRules('color-contrast').analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([]);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: null });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  const pdf = (await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString(
    'latin1',
  );
  expect(pdf.match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1);
  expect(complaints).toEqual([]);
});
