// SPDX-License-Identifier: Apache-2.0
// How fast the page is, without a GPU. What was seen is printed; only gross slowness fails, because
// the machine may be busy with other things.
import { expect, test, type Page } from '@playwright/test';
import { oneModule } from '../../sample/bundles.mjs';
import { open } from './page';

interface Frames {
  rate: number;
  median: number;
}

async function prepare(page: Page): Promise<void> {
  await page.evaluate(() => {
    const map = document.querySelector<HTMLElement>('[data-testid=map-0]');
    if (!map) throw new Error('no map');
    map.setPointerCapture = () => {};
    const { left, top } = map.getBoundingClientRect();
    const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
    const send = (type: string, x: number, y: number) =>
      map.dispatchEvent(
        new PointerEvent(type, {
          clientX: left + x,
          clientY: top + y,
          pointerId: 1,
          button: 0,
          buttons: 1,
        }),
      );
    const wheel = (deltaY: number) =>
      map.dispatchEvent(
        new WheelEvent('wheel', {
          deltaY,
          clientX: left + 500,
          clientY: top + 400,
          cancelable: true,
        }),
      );
    const acts: Record<string, (i: number) => void> = {
      in: () => wheel(-30),
      out: () => wheel(30),
      pan: (i) => send('pointermove', 500 + 60 * Math.sin(i / 10), 360 + 40 * Math.cos(i / 9)),
      scrub: (i) => send('pointermove', 200 + 4 * i, 30),
    };
    const downs: Record<string, [number, number]> = { pan: [500, 400], scrub: [200, 30] };
    const measure = async (name: string, count: number): Promise<Frames> => {
      if (downs[name]) send('pointerdown', ...downs[name]);
      const times = [await frame()];
      for (let i = 0; i < count; ++i) {
        acts[name](i);
        times.push(await frame());
      }
      if (downs[name]) send('pointerup', 520, 380);
      const gaps = times.slice(1).map((time, i) => time - times[i]);
      gaps.sort((a, b) => a - b);
      return {
        rate: (1000 * count) / (times[count] - times[0]),
        median: gaps[Math.floor(count / 2)],
      };
    };
    Object.assign(globalThis, { measure });
  });
}
async function measure(page: Page, name: string, count: number): Promise<Frames> {
  const call = `measure(${JSON.stringify(name)}, ${count})`;
  const frames = (await page.evaluate(call)) as Frames;
  const { rate, median } = frames;
  console.log(`  ${name}: ${rate.toFixed(1)} frames a second, median ${median.toFixed(1)} ms`);
  return frames;
}

test('100 000 values', async ({ page }) => {
  const start = Date.now();
  const bundle = oneModule({ values: 100_000 });
  console.log(`  (made in ${Date.now() - start} ms)`);
  const { bytes, bundle: read, complaints } = await open(page, 'large', bundle);
  expect(read.modules[0].values.count).toBeGreaterThan(100_000);
  const opened = await page.evaluate(
    () => performance.getEntriesByName('stowplan:drawn')[0].startTime,
  );
  console.log(`  ${bytes} bytes; first picture after ${opened.toFixed(0)} ms`);
  expect(bytes).toBeLessThan(15e6);
  expect(opened).toBeLessThan(10_000);
  await prepare(page);
  for (const name of ['in', 'pan', 'out', 'pan', 'scrub']) {
    const { median } = await measure(page, name, 40);
    expect(median).toBeLessThan(200);
  }
  expect(complaints).toEqual([]);
});
