// SPDX-License-Identifier: Apache-2.0
// The same picture on a 2D canvas, for browsers without WebGL2.
import type { Painter } from './gl';
import { kBoxFloats, type Scene } from './scene';

export function makeFlatPainter(canvas: HTMLCanvasElement): Painter {
  let scene: Scene | null = null;
  let colors: Uint8Array = new Uint8Array();
  return {
    setScene(next) {
      scene = next;
    },
    setColors(rgba) {
      colors = rgba;
    },
    draw(view, width, height, dim, ground) {
      const context = canvas.getContext('2d');
      if (!context || !scene) return;
      const tone = ground.map((part) => part * 255);
      context.fillStyle = `rgb(${tone.join(' ')})`;
      context.fillRect(0, 0, width, height);
      const perMoment = width / (view.t1 - view.t0);
      const perByte = height / (view.y1 - view.y0);
      for (let i = 0; i < scene.count; ++i) {
        const at = i * kBoxFloats;
        const x = (scene.boxes[at] - view.t0) * perMoment;
        const w = Math.max(1, (scene.boxes[at + 1] - scene.boxes[at]) * perMoment);
        if (x > width || x + w < 0) continue;
        const y0 = (scene.boxes[at + 2] + scene.boxes[at + 3] - view.y0) * perByte;
        const y1 = (scene.boxes[at + 4] + scene.boxes[at + 5] - view.y0) * perByte;
        if (y0 > height || y1 < 0) continue;
        context.globalAlpha = colors[i * 4 + 3] ? 1 : 1 - dim;
        context.fillStyle = `rgb(${colors[i * 4]} ${colors[i * 4 + 1]} ${colors[i * 4 + 2]})`;
        context.fillRect(x, height - y1, w, Math.max(1, y1 - y0));
      }
      context.globalAlpha = 1;
    },
    dispose() {},
  };
}
