// SPDX-License-Identifier: Apache-2.0
// How the map's drawing is divided: load curve, brackets, map, axes.
import type { Module } from '../decode/module';
import type { Viewport } from './scene';

export interface Area {
  x: number;
  y: number;
  w: number;
  h: number;
}
export interface Areas {
  width: number;
  height: number;
  curve: Area;
  brackets: Area;
  map: Area;
  axis: Area;
}

export const kGutter = 92;
export const kBracketRow = 15;
const kMostBracketRows = 6;

export function bracketDepth(module: Module): number {
  let deepest = -1;
  for (const depth of module.brackets.depth) deepest = Math.max(deepest, depth);
  return deepest + 1;
}
// How many rows of brackets are drawn: a few, or all that leave the map half of the height.
export function bracketRows(module: Module, all = false, height = 0): number {
  const most = all ? Math.floor((height * 0.35) / kBracketRow) : 0;
  return Math.min(bracketDepth(module), Math.max(kMostBracketRows, most));
}

export function divide(width: number, height: number, rows: number): Areas {
  const right = 10;
  const w = Math.max(10, width - kGutter - right);
  const curveHeight = Math.max(40, Math.min(96, height * 0.17));
  const curve = { x: kGutter, y: 8, w, h: curveHeight };
  const brackets = { x: kGutter, y: curve.y + curve.h + 4, w, h: rows * kBracketRow };
  const top = brackets.y + brackets.h + (rows ? 4 : 2);
  const map = { x: kGutter, y: top, w, h: Math.max(10, height - top - 22) };
  return { width, height, curve, brackets, map, axis: { x: kGutter, y: map.y + map.h, w, h: 22 } };
}

export function contains(area: Area, x: number, y: number): boolean {
  return x >= area.x && x < area.x + area.w && y >= area.y && y < area.y + area.h;
}

// From moments and bytes to pixels, and back.
export class Scale {
  constructor(
    readonly area: Area,
    readonly view: Viewport,
  ) {}
  get perMoment(): number {
    return this.area.w / (this.view.t1 - this.view.t0);
  }
  get perByte(): number {
    return this.area.h / (this.view.y1 - this.view.y0);
  }
  x(time: number): number {
    return this.area.x + (time - this.view.t0) * this.perMoment;
  }
  y(bytes: number): number {
    return this.area.y + this.area.h - (bytes - this.view.y0) * this.perByte;
  }
  time(x: number): number {
    return this.view.t0 + (x - this.area.x) / this.perMoment;
  }
  bytes(y: number): number {
    return this.view.y0 + (this.area.y + this.area.h - y) / this.perByte;
  }
}
