// SPDX-License-Identifier: Apache-2.0
// Files for the user: made here, saved by the browser. Nothing leaves the machine.
import { drawPicture, drawRectangles } from '../draw/picture';
import { SvgPen } from '../draw/pen';
import { kLight } from '../draw/theme';
import type { Shown } from './pictures';

export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[^\w.-]+/g, '_').slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export function saveText(name: string, type: string, text: string): void {
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

// Files are light, whatever the screen is: they go into documents.
export function svgOf({ picture, areas }: Shown, title: string): string {
  const pen = new SvgPen();
  const light = { ...picture, theme: kLight };
  pen.rect(0, 0, areas.width, areas.height, kLight.paper);
  drawRectangles(pen, light, areas);
  drawPicture(pen, light, areas);
  return pen.finish(areas.width, areas.height, title);
}

// As it is on the screen.
export function savePng(name: string, { picture, areas, rectangles, overlay }: Shown): void {
  const canvas = document.createElement('canvas');
  canvas.width = overlay.width;
  canvas.height = overlay.height;
  const context = canvas.getContext('2d');
  if (!context) return;
  const ratio = overlay.width / areas.width;
  context.fillStyle = picture.theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const { x, y, w, h } = areas.map;
  context.drawImage(rectangles, x * ratio, y * ratio, w * ratio, h * ratio);
  context.drawImage(overlay, 0, 0);
  canvas.toBlob((blob) => blob && save(name, blob), 'image/png');
}
