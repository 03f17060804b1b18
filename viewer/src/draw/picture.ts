// SPDX-License-Identifier: Apache-2.0
// The whole map but its rectangles: those are pixels on the screen, and drawn here only into files.
import type { Module } from '../decode/module';
import { curveAt } from '../model/live';
import { Scale, type Areas } from './areas';
import { drawBandNames, drawBands, drawByteAxis, drawTimeAxis } from './axes';
import { drawBrackets } from './brackets';
import { hexOf } from './colors';
import { unpack, type Paint } from './raster';
import { drawCurve } from './curve';
import { drawLabels } from './labels';
import type { Layout } from './layout';
import { drawLimits } from './limits';
import { drawCursor, drawHoles, drawOutlines, drawPeak, type Outline } from './marks';
import type { Pen } from './pen';
import { type Scene, type Viewport } from './scene';
import type { Theme } from './theme';

export interface Picture {
  module: Module;
  layout: Layout;
  scene: Scene;
  paint: Paint;
  marked: Uint8Array | null; // by value: others are faded
  view: Viewport;
  time: number;
  curveTop: number;
  budget: number | null;
  outlines: Outline[];
  holes: boolean;
  hole: number;
  theme: Theme;
}

export function scalesOf(
  picture: Picture,
  areas: Areas,
): { map: Scale; curve: Scale; brackets: Scale } {
  const { t0, t1 } = picture.view;
  return {
    map: new Scale(areas.map, picture.view),
    curve: new Scale(areas.curve, { t0, t1, y0: 0, y1: picture.curveTop }),
    brackets: new Scale(areas.brackets, { t0, t1, y0: 0, y1: 1 }),
  };
}

export function drawPicture(pen: Pen, picture: Picture, areas: Areas): void {
  const { module, layout, theme } = picture;
  const scales = scalesOf(picture, areas);
  const { map } = areas;
  pen.clipped(map.x, map.y, map.w, map.h, () => {
    drawBands(pen, scales.map, layout, module.end + 1, theme);
    drawLabels(pen, scales.map, module, picture.scene, picture.paint, picture.marked);
    drawBandNames(pen, scales.map, module, layout, theme);
    if (picture.holes) drawHoles(pen, scales.map, module, layout, picture.hole, theme);
    drawLimits(pen, scales.map, module, layout, theme);
  });
  drawOutlines(pen, scales.map, module, layout, picture.outlines, theme);
  drawByteAxis(pen, scales.map, module, layout, theme);
  drawCurve(pen, scales.curve, module, picture.budget, theme);
  drawBrackets(pen, scales.brackets, module, theme);
  drawTimeAxis(pen, scales.map, areas, theme);
  pen.frame(map.x + 0.5, map.y + 0.5, map.w - 1, map.h - 1, { stroke: theme.bandEdge });
  drawPeak(pen, scales.map, areas, module, theme);
  drawCursor(
    pen,
    scales.map,
    areas,
    picture.time,
    curveAt(module, module.header.spaces.length, picture.time),
    theme,
  );
}

// The rectangles that are in sight, for files. Those that fall on the same pixels are drawn once.
export function drawRectangles(pen: Pen, picture: Picture, areas: Areas): void {
  const scale = new Scale(areas.map, picture.view);
  const { scene, paint, theme } = picture;
  const { map } = areas;
  pen.rect(map.x, map.y, map.w, map.h, theme.band);
  const seen = new Set<string>();
  pen.clipped(map.x, map.y, map.w, map.h, () => {
    // The youngest first, to know what they hide; then drawn the other way round.
    const rows: [number, number, number, number, string][] = [];
    for (let i = scene.count - 1; i >= 0; --i) {
      const x = Math.max(map.x - 4, scale.x(scene.t0[i]));
      const w = Math.max(1, Math.min(map.x + map.w + 4, scale.x(scene.t1[i])) - x);
      const y = Math.max(map.y - 4, scale.y(scene.y1[i]));
      const h = Math.max(1, Math.min(map.y + map.h + 4, scale.y(scene.y0[i])) - y);
      if (x > map.x + map.w || y > map.y + map.h || x + w < map.x || y + h < map.y) continue;
      const key = [x, y, w, h].map(Math.round).join();
      if (seen.has(key)) continue;
      seen.add(key);
      rows.push([x, y, w > 5 ? w - 0.6 : w, h > 5 ? h - 0.6 : h, hexOf(unpack(paint.fill[i]))]);
    }
    for (const row of rows.reverse()) pen.rect(...row);
  });
}
