// SPDX-License-Identifier: Apache-2.0
// Colors that mean something, and the same thing in every file. The hues are those of Okabe and Ito
// and of Tol, which people of all color visions can tell apart.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import { splitParameter, splitPath } from '../model/groups';
import { liveAt } from '../model/live';
import { clip, stringOf, visible } from '../model/words';

export type Rgb = [number, number, number];
export const kColorings = ['kind', 'path', 'age', 'padding', 'change'] as const;
export type Coloring = (typeof kColorings)[number];
export const kColoringLabels: Record<Coloring, string> = {
  kind: 'kind',
  path: 'module path',
  age: 'lifetime',
  padding: 'padding',
  change: 'change',
};

const kByWord: Record<string, string> = {
  temporary: '#56b4e9',
  parameter: '#0072b2',
  donated: '#8f7ee0',
  constant: '#a3a3a3',
  'thread-local': '#777777',
  output: '#009e73',
  activation: '#e69f00',
  'loop-state': '#cc79a7',
  collective: '#d55e00',
};
const kWheel = [
  '#56b4e9',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#0072b2',
  '#d55e00',
  '#f0e442',
  '#8f7ee0',
  '#999933',
  '#88ccee',
  '#aa4499',
  '#44aa99',
  '#ddcc77',
  '#cc6677',
];
// Light enough at its dark end to stand out on a dark ground.
const kRamp = ['#42619a', '#5f7590', '#7f8784', '#a59f78', '#cfbd63', '#fee838'];
export const kChanges = ['in both, same size', 'grew', 'shrank', 'only here'] as const;
const kChangeColors = ['#8a94a3', '#d55e00', '#0072b2', '#f0e442'];

export function rgbOf(hex: string): Rgb {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}
export function hexOf([r, g, b]: Rgb): string {
  return `#${((r << 16) | (g << 8) | b).toString(16).padStart(6, '0')}`;
}

// FNV-1a: the same text has the same color everywhere.
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
export function colorOfText(text: string): string {
  return kWheel[hashText(text) % kWheel.length];
}
export function colorOfKind(word: string): string {
  return kByWord[word] ?? colorOfText(word);
}

// 0 to 1 on a ramp from dark to bright.
export function rampColor(share: number): Rgb {
  const at = Math.min(1, Math.max(0, share)) * (kRamp.length - 1);
  const low = rgbOf(kRamp[Math.floor(at)]);
  const high = rgbOf(kRamp[Math.min(kRamp.length - 1, Math.floor(at) + 1)]);
  return low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1))) as Rgb;
}

// The layer that a value belongs to: its path without transformations, three steps deep.
export function modulePath(module: Module, value: number): string {
  const { allocation, opName } = module.values;
  const a = allocation[value];
  const parameter = a === NONE ? '' : stringOf(module, module.allocations.path[a]);
  if (parameter) return splitParameter(parameter).slice(0, 3).join('');
  const text = stringOf(module, opName[value]);
  if (!text) return 'not known';
  const parts = splitPath(text)
    .map((part) =>
      part.replace(/^(?:(?:jvp|transpose|vmap|remat|checkpoint)\()+([^()]*)\)+$/, '$1'),
    )
    .filter(Boolean);
  if (!parts.length) return 'not known';
  return (
    parts
      .slice(/^(p?jit|xmap)\(/.test(parts[0]) && parts.length > 2 ? 1 : 0, -1)
      .slice(0, 3)
      .join('/') || parts[0]
  );
}

// How a value of this module stands to its match in the other.
export interface Match {
  other: Module;
  match: Uint32Array;
}
function changeOf(module: Module, match: Match | null, value: number): number {
  const other = match ? match.match[value] : NONE;
  if (!match || other === NONE) return match ? 3 : 0;
  const change = module.values.size[value] - match.other.values.size[other];
  // In the first module, what is larger here has shrunk; the caller says which side we are on.
  return change === 0 ? 0 : change > 0 ? 1 : 2;
}

export function colorOf(
  module: Module,
  value: number,
  by: Coloring,
  match: Match | null,
  isFirst: boolean,
): Rgb {
  const { kind, start, end, size, padding } = module.values;
  switch (by) {
    case 'kind':
      return rgbOf(colorOfKind(module.header.kinds[kind[value]].word));
    case 'path':
      return rgbOf(colorOfText(modulePath(module, value)));
    case 'age': {
      // By powers of ten: most values are short.
      const length = Math.max(1, Math.min(end[value], module.end) - start[value] + 1);
      return rampColor(Math.log(length) / Math.log(module.end + 2));
    }
    case 'padding':
      return rampColor(size[value] > 0 ? padding[value] / size[value] : 0);
    case 'change': {
      const change = changeOf(module, match, value);
      return rgbOf(kChangeColors[isFirst && (change === 1 || change === 2) ? 3 - change : change]);
    }
  }
}

export interface LegendRow {
  color: string;
  label: string;
}
export function legendOf(module: Module, by: Coloring): LegendRow[] {
  switch (by) {
    case 'kind': {
      const used = new Set(module.values.kind);
      return module.header.kinds
        .map(({ word, name }, i) => ({
          color: colorOfKind(word),
          label: visible(name),
          used: used.has(i),
        }))
        .filter((row) => row.used);
    }
    case 'path':
      return [];
    case 'age':
      return [0, 0.5, 1].map((share) => ({
        color: hexOf(rampColor(share)),
        label: `${Math.max(1, Math.round((module.end + 2) ** share))} moments`,
      }));
    case 'padding':
      return [0, 0.25, 0.5, 1].map((share) => ({
        color: hexOf(rampColor(share)),
        label: `${share * 100}%`,
      }));
    case 'change':
      return kChanges.map((label, i) => ({ color: kChangeColors[i], label }));
  }
}

// The largest module paths at the peak. Far more paths than colors: some share one.
const kMostPaths = 9;
export function pathLegend(module: Module): LegendRow[] {
  const bytes = new Map<string, number>();
  const live = liveAt(module, module.header.all_peak.time);
  live.values.forEach((value, i) => {
    const path = modulePath(module, value);
    bytes.set(path, (bytes.get(path) ?? 0) + live.owned[i]);
  });
  return [...bytes]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, kMostPaths)
    .map(([path]) => ({ color: colorOfText(path), label: clip(path, 40) }));
}

// Black or white, whichever can be read on it.
export function inkOn([r, g, b]: Rgb): string {
  const linear = [r, g, b].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return light > 0.179 ? '#000000' : '#ffffff';
}
