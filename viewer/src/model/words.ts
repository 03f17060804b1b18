// SPDX-License-Identifier: Apache-2.0
// Rows in words.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';

// Text from a dump goes on the screen as it is, but for what would turn around, hide or break the
// text beside it: such characters are shown as their code.
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// At most so many characters; the whole of it is on the value's card.
export function clip(text: string, most = 160): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

// A page in the same folder, and nothing else that an address could be.
export function pageBeside(file: string): string | null {
  return /^\w[\w.-]*\.html$/.test(file) ? file : null;
}

export function stringOf(module: Module, id: number): string {
  return visible(module.strings.get(id));
}
export function nameOf(module: Module, value: number): string {
  return stringOf(module, module.values.name[value]);
}
// As tables list it: a parameter by its path.
export function labelOf(module: Module, value: number): string {
  const allocation = module.values.allocation[value];
  const path = allocation === NONE ? '' : stringOf(module, module.allocations.path[allocation]);
  return path ? `${path} (${nameOf(module, value)})` : nameOf(module, value);
}
export function opLabel(module: Module, op: number): string {
  return op === NONE ? '' : stringOf(module, module.ops.name[op]);
}
export function kindOf(module: Module, value: number): string {
  return visible(module.header.kinds[module.values.kind[value]].name);
}
export function kindWord(module: Module, value: number): string {
  return visible(module.header.kinds[module.values.kind[value]].word);
}
export function spaceName(module: Module, space: number): string {
  const row = module.header.spaces[space];
  return visible(row.name) || `space ${row.color}`;
}
export function allocationLabel(module: Module, allocation: number): string {
  const { number, kind, path } = module.allocations;
  const words = `allocation ${number[allocation]}, ${module.header.allocation_kinds[kind[allocation]]}`;
  const text = stringOf(module, path[allocation]);
  return text ? `${words} ${text}` : words;
}

// "model.py:20"
export function frameLabel(module: Module, frame: number): string {
  if (frame === NONE) return '';
  const { file, line } = module.frames;
  const name = stringOf(module, file[frame]);
  return line[frame] > 0 ? `${name}:${line[frame]}` : name;
}

// Frames from the outermost to this one.
export function stackOf(module: Module, frame: number): number[] {
  const stack: number[] = [];
  for (let at = frame; at !== NONE; at = module.frames.parent[at]) stack.push(at);
  return stack.reverse();
}
// The nearest frame of the user's own code; NONE if no frame is known.
export function ownFrame(module: Module, value: number): number {
  const frame = module.values.frame[value];
  return frame === NONE ? NONE : module.frames.own[frame];
}
export function sourceOf(module: Module, value: number): string {
  return frameLabel(module, ownFrame(module, value));
}
