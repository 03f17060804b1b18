// SPDX-License-Identifier: Apache-2.0
// The user's files with bytes at their lines.
import { NONE, type SourceFile } from '../decode/header';
import type { Module } from '../decode/module';
import type { Live } from './live';
import { ownFrame } from './words';

// Embedded files first; then those that frames name, without a text.
export function sourceNames(files: SourceFile[], module: Module): string[] {
  const names = new Set(files.map(({ file }) => file));
  for (const id of new Set(module.frames.file)) names.add(module.strings.get(id));
  names.delete('');
  return [...names];
}

export interface LineBytes {
  own: Map<number, number>; // by line: bytes of values that belong to it
  below: Map<number, number>; // by line: bytes of values with a frame there
  values: Map<number, number[]>; // by line, largest first: values with a frame there
}

export function bytesByLine(module: Module, live: Live, file: string): LineBytes {
  const { frames, values, strings } = module;
  const result: LineBytes = { own: new Map(), below: new Map(), values: new Map() };
  const isHere = Array.from(frames.file, (id) => strings.get(id) === file);
  const add = (map: Map<number, number>, line: number, bytes: number) =>
    map.set(line, (map.get(line) ?? 0) + bytes);
  live.values.forEach((value, i) => {
    const seen = new Set<number>();
    for (let frame = values.frame[value]; frame !== NONE; frame = frames.parent[frame]) {
      if (!isHere[frame]) continue;
      const line = frames.line[frame];
      if (frame === ownFrame(module, value)) add(result.own, line, live.owned[i]);
      if (seen.has(line)) continue;
      seen.add(line);
      add(result.below, line, live.owned[i]);
      const list = result.values.get(line);
      if (list) list.push(value);
      else result.values.set(line, [value]);
    }
  });
  return result;
}
