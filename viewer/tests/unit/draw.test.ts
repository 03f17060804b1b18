// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from 'vitest';
import { oneModule } from '../../sample/bundles.mjs';
import { readBundle } from '../../src/decode/bundle';
import { inkOn, rgbOf } from '../../src/draw/colors';
import { nextBox } from '../../src/draw/boxes';
import { bandAt, makeLayout, rectOf } from '../../src/draw/layout';
import { escapeXml, SvgPen } from '../../src/draw/pen';
import { mix, pack, rasterize } from '../../src/draw/raster';
import { hit, makeScene } from '../../src/draw/scene';
import { kDark, kLight } from '../../src/draw/theme';
import { tile } from '../../src/draw/treemap';

const module = readBundle(new Uint8Array(oneModule({ values: 400 })).buffer).modules[0];
const layout = makeLayout(module, new Set());
const scene = makeScene(module, layout);

describe('the layout', () => {
  test('has all bytes of all allocations, without gaps within a space', () => {
    const sizes = [...module.allocations.size].reduce((sum, size) => sum + size, 0);
    expect(layout.shown).toBe(sizes);
    expect(layout.spaces.reduce((sum, space) => sum + space.end - space.begin, 0)).toBe(sizes);
    layout.bands.forEach((band, i) => expect(bandAt(layout, (band.begin + band.end) / 2)).toBe(i));
  });
  test('leaves out what is hidden', () => {
    const less = makeLayout(module, new Set(['parameter', 'donated']));
    expect(less.shown).toBeLessThan(layout.shown);
    expect(rectOf(module, less, 0)).toBeNull();
  });
});

describe('the picture', () => {
  // One pixel a moment and so many bytes a pixel: each pixel must have the youngest value that covers its middle.
  test('shows the youngest value on every byte', () => {
    const view = { t0: 0, t1: module.end + 1, y0: 0, y1: layout.height };
    const [width, height] = [module.end + 1, 997];
    const pixels = new Uint32Array(width * height);
    const fill = new Uint32Array(scene.count).map((_, i) => i + 1);
    rasterize(pixels, width, height, scene, { fill, ground: 0 }, view);
    let compared = 0;
    for (let x = 0; x < width; x += 3) {
      for (let y = 0; y < height; y += 5) {
        const bytes = ((height - y - 0.5) * layout.height) / height;
        const row = hit(scene, x + 0.5, bytes, 0, 0);
        // Rows that are thinner than a pixel are drawn thicker; edges are mixed.
        if (row < 0 || scene.y1[row] - scene.y0[row] < (2 * layout.height) / height) continue;
        const seen = pixels[y * width + x] - 1;
        if (
          seen < 0 ||
          seen >= scene.count ||
          scene.y1[seen] - scene.y0[seen] < layout.height / height
        )
          continue;
        expect(seen).toBe(row);
        ++compared;
      }
    }
    expect(compared).toBeGreaterThan(2000);
  });

  test('has every value, however small', () => {
    const width = 50;
    const pixels = new Uint32Array(width * 10);
    const one = {
      ...scene,
      count: 1,
      t0: Int32Array.of(7),
      t1: Int32Array.of(8),
      y0: Float64Array.of(2 ** 40),
      y1: Float64Array.of(2 ** 40 + 1),
      blockEnds: Int32Array.of(8),
    };
    rasterize(
      pixels,
      width,
      10,
      one,
      { fill: Uint32Array.of(5), ground: 0 },
      { t0: 0, t1: 1000000, y0: 0, y1: 2 ** 41 },
    );
    expect(pixels.filter((pixel) => pixel === 5)).toHaveLength(1);
  });

  test('is exact among terabytes', () => {
    const pixels = new Uint32Array(16 * 16);
    const high = 2 ** 42;
    const one = {
      ...scene,
      count: 1,
      t0: Int32Array.of(0),
      t1: Int32Array.of(4),
      y0: Float64Array.of(high + 4),
      y1: Float64Array.of(high + 8),
      blockEnds: Int32Array.of(4),
    };
    rasterize(
      pixels,
      16,
      16,
      one,
      { fill: Uint32Array.of(5), ground: 0 },
      { t0: 0, t1: 16, y0: high, y1: high + 16 },
    );
    expect(pixels.filter((pixel) => pixel !== 0)).toHaveLength(16);
    expect(pixels[11 * 16]).toBe(5);
    expect(pixels[12 * 16]).toBe(0);
  });
});

test('colors', () => {
  expect(mix(pack([0, 0, 0]), pack([255, 255, 255]), 1)).toBe(0xffffffff);
  expect(mix(pack([10, 20, 30]), pack([0, 0, 0]), 0)).toBe(pack([10, 20, 30]));
  expect(inkOn([255, 255, 255])).toBe('#000000');
  expect(inkOn([0, 0, 0])).toBe('#ffffff');
});

function contrast(a: string, b: string): number {
  const light = (hex: string) => {
    const [r, g, blue] = rgbOf(hex).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
test.each([
  ['light', kLight],
  ['dark', kDark],
] as const)('texts of the %s theme can be read (WCAG AA)', (_, theme) => {
  for (const text of [
    theme.ink,
    theme.faint,
    theme.peak,
    theme.capacity,
    theme.bound,
    theme.accent,
  ]) {
    for (const ground of [theme.paper, theme.band])
      expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
  }
  for (const ground of theme.brackets)
    expect(contrast(theme.ink, ground)).toBeGreaterThanOrEqual(4.5);
});

test('a treemap fills its area by weight', () => {
  const weights = [50, 20, 10, 10, 5, 3, 1, 1];
  const tiles = tile(weights, (weight) => weight, 0, 0, 100, 60);
  expect(tiles).toHaveLength(weights.length);
  for (const { item, w, h } of tiles) expect(w * h).toBeCloseTo((6000 * item) / 100, 6);
});

test('SVG text is text', () => {
  expect(escapeXml('<a b="c">&\'')).not.toMatch(/[<>"']/);
  const pen = new SvgPen();
  pen.text(0, 0, '</text><script>1</script>', { fill: '#000' });
  expect(pen.finish(1, 1, '</title><script>')).not.toContain('<script');
});

test('arrow keys go to the box that lies there', () => {
  // Two on top, one below both.
  const boxes = [
    { x: 0, y: 0, w: 50, h: 20 },
    { x: 50, y: 0, w: 50, h: 20 },
    { x: 0, y: 20, w: 100, h: 20 },
  ];
  expect(nextBox(boxes, -1, 'ArrowDown')).toBe(0);
  expect(nextBox(boxes, 0, 'ArrowRight')).toBe(1);
  expect(nextBox(boxes, 1, 'ArrowRight')).toBe(1);
  expect(nextBox(boxes, 1, 'ArrowDown')).toBe(2);
  expect(nextBox(boxes, 2, 'ArrowUp')).toBe(0);
  expect(nextBox(boxes, 1, 'ArrowLeft')).toBe(0);
  expect(nextBox([], -1, 'ArrowLeft')).toBe(-1);
});
