// SPDX-License-Identifier: Apache-2.0
// How fast the page is, without a GPU. Frames a second depend on what else the machine does; the time
// that the page's own thread works for a frame does not, so that is what tests can insist on.
import type { Page } from '@playwright/test';

const kActs = ['in', 'pan', 'out', 'scrub', 'hover'] as const;
interface Frames {
  rate: number; // frames a second
  median: number; // ms from one to the next
}

// When the first picture stood, in ms after the page was asked for.
export function opened(page: Page): Promise<number> {
  return page.evaluate(() => performance.getEntriesByName('stowplan:drawn')[0].startTime);
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
      hover: (i) => send('pointermove', 200 + 4 * i, 300 + i),
    };
    const downs: Record<string, [number, number]> = { pan: [500, 400], scrub: [200, 30] };
    const measure = async (name: string, count: number) => {
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

// Does each thing for so many frames, says what it saw, and gives the most work to zoom and pan.
export async function measure(page: Page, count = 60): Promise<number> {
  await prepare(page);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
  };
  let most = 0;
  for (const act of kActs) {
    const before = await worked();
    const call = `measure(${JSON.stringify(act)}, ${count})`;
    const { rate, median } = (await page.evaluate(call)) as Frames;
    const work = ((await worked()) - before) / count;
    console.log(
      `  ${act}: ${rate.toFixed(1)} frames a second, median ${median.toFixed(1)} ms, ${work.toFixed(1)} ms of work each`,
    );
    if (act !== 'scrub' && act !== 'hover') most = Math.max(most, work);
  }
  return most;
}
