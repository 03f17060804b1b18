// SPDX-License-Identifier: Apache-2.0
// The map under the hand: mouse, wheel, fingers.
import { expect, test } from '@playwright/test';
import { oneModule } from '../../sample/bundles.mjs';
import { bracketRows, divide, Scale } from '../../src/draw/areas';
import { makeLayout, rectOf } from '../../src/draw/layout';
import { gapAt, tenantsAt } from '../../src/model/neighbours';
import { search } from '../../src/model/search';
import { exactSize } from '../../src/model/size';
import { nameOf } from '../../src/model/words';
import { hashOf, open, viewOf } from './page';

const kMap = { x: 92, y: 160 }; // somewhere in the margin of the map

test('hover tells, click selects, and the address brings it back', async ({ page }) => {
  const { bundle, complaints, url } = await open(page, 'click', oneModule({ values: 300 }));
  const module = bundle.modules[0];
  const map = page.getByTestId('map-0');
  const box = await map.boundingBox();
  if (!box) throw new Error('no map');
  // The largest value that does not live all the time.
  const layout = makeLayout(module, new Set(['thread-local']));
  const value = search(module, 'kind:activation').values[0];
  const rect = rectOf(module, layout, value);
  if (!rect) throw new Error('not on the map');
  // Find it by hovering up through the map at its middle in time.
  const x = box.x + kMap.x + ((rect.t0 + 2) / (module.end + 1)) * (box.width - kMap.x - 10);
  let seen = false;
  for (let y = box.y + kMap.y; y < box.y + box.height - 30 && !seen; y += 6) {
    await page.mouse.move(x, y);
    seen = (await page.getByTestId('tip').allInnerTexts()).join().startsWith(nameOf(module, value));
    if (!seen) continue;
    await expect(page.getByTestId('tip')).toContainText(exactSize(module.values.size[value]));
    await page.mouse.click(x, y);
  }
  expect(seen).toBe(true);
  const card = page.getByTestId('value-card');
  await expect(card).toHaveAttribute('data-value', String(value));
  await expect(card).toContainText(`(${module.values.size[value]})`);
  await expect(page.getByTestId('why')).toContainText('its last use');
  const hash = await hashOf(page);
  expect(hash.get('value')).toBe(String(value));
  await page.goto('about:blank');
  await page.goto(`${url}#${hash.toString()}`);
  await expect(page.getByTestId('value-card')).toHaveAttribute('data-value', String(value));
  expect(complaints).toEqual([]);
});

test('wheel zooms, drag moves, double click fits, the curve scrubs', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'zoom', oneModule({ values: 300 }));
  const box = await page.getByTestId('map-0').boundingBox();
  if (!box) throw new Error('no map');
  await page.mouse.move(box.x + 400, box.y + 350);
  await page.mouse.wheel(0, -400);
  const zoomed = await viewOf(page);
  expect(zoomed).toHaveLength(4);
  await page.mouse.down();
  await page.mouse.move(box.x + 340, box.y + 330, { steps: 4 });
  await page.mouse.up();
  const moved = await viewOf(page);
  expect(moved[0]).toBeGreaterThan(zoomed[0]);
  expect(moved[1] - moved[0]).toBeCloseTo(zoomed[1] - zoomed[0], 6);
  await page.mouse.dblclick(box.x + 400, box.y + 350);
  await expect.poll(async () => (await hashOf(page)).get('view')).toBeNull();
  // On a bracket it shows what the bracket spans.
  const { start, end, depth, count } = bundle.modules[0].brackets;
  const outer = Array.from({ length: count }, (_, i) => i).find((i) => depth[i] === 0) ?? -1;
  const middle = (start[outer] + end[outer] + 1) / 2 / (bundle.modules[0].end + 1);
  const strip = divide(box.width, box.height, bracketRows(bundle.modules[0])).brackets;
  await page.mouse.dblclick(box.x + strip.x + middle * strip.w, box.y + strip.y + 5);
  await expect
    .poll(async () => (await viewOf(page)).slice(0, 2))
    .toEqual([start[outer], end[outer] + 1]);
  await page.keyboard.press('0');
  await page.keyboard.press('1');
  const before = await page.getByLabel('moment', { exact: true }).inputValue();
  await page.mouse.move(box.x + 200, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 30, { steps: 5 });
  await page.mouse.up();
  await expect(page.getByLabel('moment', { exact: true })).not.toHaveValue(before);
  await expect(page.getByTestId('total')).not.toContainText('damaged');
  expect(complaints).toEqual([]);
});

test('a free place says who is around it, and the address keeps it', async ({ page }) => {
  const { bundle, complaints, url } = await open(page, 'free', oneModule({ values: 300 }));
  const module = bundle.modules[0];
  const box = await page.getByTestId('map-0').boundingBox();
  if (!box) throw new Error('no map');
  const layout = makeLayout(module, new Set(['thread-local']));
  const { map } = divide(box.width, box.height, bracketRows(module));
  const view = { t0: 0, t1: module.end + 1, y0: 0, y1: layout.height };
  const scale = new Scale(map, view);
  // The widest gap of the largest allocation, far from the peak, whose holes have cards of their own.
  const time = Math.floor(module.header.all_peak.time / 3);
  const band = [...layout.bands].sort((a, b) => b.end - b.begin - (a.end - a.begin))[0];
  let gap = { begin: 0, end: 0, below: -1, above: -1 };
  for (let byte = 0; byte < band.end - band.begin; byte += 4096) {
    if (tenantsAt(module, band.allocation, byte, time).now >= 0) continue;
    const here = gapAt(module, band.allocation, byte, time);
    if (here.end - here.begin > gap.end - gap.begin) gap = here;
  }
  const y = scale.y(band.begin + (gap.begin + gap.end) / 2);
  await page.mouse.click(box.x + scale.x(time + 0.5), box.y + y);
  const card = page.getByTestId('gap-card');
  await expect(card).toContainText(`Free at moment ${time}`);
  await expect(card).toContainText(exactSize(gap.end - gap.begin));
  if (gap.below >= 0) await expect(card).toContainText(nameOf(module, gap.below));
  const hash = await hashOf(page);
  await page.goto('about:blank');
  await page.goto(`${url}#${hash.toString()}`);
  await expect(card).toContainText(exactSize(gap.end - gap.begin));
  await page.keyboard.press('p');
  await page.keyboard.press('h');
  await expect(page.getByTestId('hole-card')).toBeVisible();
  await expect.poll(async () => (await hashOf(page)).get('hole')).toBe('0');
  expect(complaints).toEqual([]);
});

test('the small map moves the large one', async ({ page }) => {
  const { bundle, complaints } = await open(page, 'minimap', oneModule({ values: 300 }));
  for (let i = 0; i < 6; ++i) await page.keyboard.press('w');
  const box = await page.getByTestId('minimap').boundingBox();
  if (!box) throw new Error('no minimap');
  const [t0, t1] = await viewOf(page);
  await page.mouse.click(box.x + box.width * 0.25, box.y + box.height / 2);
  const [m0, m1] = await viewOf(page);
  expect(m1 - m0).toBeCloseTo(t1 - t0, 6);
  expect((m0 + m1) / 2 / (bundle.modules[0].end + 1)).toBeCloseTo(0.25, 2);
  expect(complaints).toEqual([]);
});

test('two fingers zoom', async ({ browser }) => {
  const context = await browser.newContext({
    hasTouch: true,
    viewport: { width: 1280, height: 720 },
  });
  const page = await context.newPage();
  const { complaints } = await open(page, 'pinch', oneModule({ values: 300 }));
  const session = await context.newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', far: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints:
        type === 'touchEnd'
          ? []
          : [
              { x: 450 - far, y: 400, id: 1 },
              { x: 450 + far, y: 400, id: 2 },
            ],
    });
  await touch('touchStart', 40);
  for (let far = 50; far <= 160; far += 10) await touch('touchMove', far);
  await touch('touchEnd', 0);
  const view = await viewOf(page);
  expect(view).toHaveLength(4);
  expect(view[1] - view[0]).toBeLessThan(150);
  expect(complaints).toEqual([]);
  await context.close();
});
