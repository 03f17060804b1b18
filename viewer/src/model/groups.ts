// SPDX-License-Identifier: Apache-2.0
// The live set as a tree: by source, op_name, parameter, kind or memory space. Every value is in one
// leaf, so each level adds up to the total.
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import type { Live } from './live';
import { allocationLabel, frameLabel, kindOf, spaceName, stackOf, stringOf } from './words';

export const kGroupings = ['value', 'source', 'op_name', 'parameter', 'kind', 'space'] as const;
export type Grouping = (typeof kGroupings)[number];
export const kGroupingLabels: Record<Grouping, string> = {
  value: 'value',
  source: 'source line',
  op_name: 'op_name path',
  parameter: 'parameter path',
  kind: 'kind',
  space: 'memory space',
};

export interface Group {
  label: string;
  bytes: number;
  padding: number;
  values: number[]; // all below it
  children: Group[]; // by falling bytes
}

// Where a value stands in the tree.
export function pathOf(module: Module, value: number, by: Grouping): string[] {
  const { values, allocations } = module;
  switch (by) {
    case 'value':
      return [stringOf(module, values.name[value])];
    case 'source': {
      const stack = stackOf(module, values.frame[value]);
      return stack.length ? stack.map((frame) => frameText(module, frame)) : ['source not known'];
    }
    case 'op_name': {
      const text = stringOf(module, values.opName[value]);
      return text ? splitPath(text) : ['op_name not known'];
    }
    case 'parameter': {
      const path =
        values.allocation[value] === NONE
          ? ''
          : stringOf(module, allocations.path[values.allocation[value]]);
      return path ? splitParameter(path) : ['not in a parameter'];
    }
    case 'kind':
      return [kindOf(module, value)];
    case 'space': {
      const allocation = values.allocation[value];
      return allocation === NONE
        ? ['no place']
        : [spaceName(module, allocations.space[allocation]), allocationLabel(module, allocation)];
    }
  }
}

function frameText(module: Module, frame: number): string {
  const name = stringOf(module, module.frames.function[frame]);
  return name ? `${frameLabel(module, frame)} ${name}` : frameLabel(module, frame);
}

// Slashes within parentheses do not part: jit(f)/jvp(a/b)/mul.
export function splitPath(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (c === '(') ++depth;
    else if (c === ')') depth = Math.max(0, depth - 1);
    else if (c === '/' && depth === 0) {
      if (i > begin) parts.push(text.slice(begin, i));
      begin = i + 1;
    }
  }
  if (begin < text.length) parts.push(text.slice(begin));
  return parts.length ? parts.slice(0, 64) : [text];
}

// params['layers'][3]['w'] -> params, ['layers'], [3], ['w']
export function splitParameter(text: string): string[] {
  const parts = text.match(/^[^.[]+|\[[^\]]*\]?|\.[^.[]+/g);
  return parts ? parts.slice(0, 64) : [text];
}

interface Draft {
  group: Group;
  children: Map<string, Draft>;
}

export function groupLive(module: Module, live: Live, by: Grouping): Group {
  const root = draft('all');
  live.values.forEach((value, i) => {
    let at = root;
    add(at.group, value, live.owned[i], live.ownedPadding[i]);
    for (const label of pathOf(module, value, by)) {
      let next = at.children.get(label);
      if (!next) {
        next = draft(label);
        at.children.set(label, next);
        at.group.children.push(next.group);
      }
      at = next;
      add(at.group, value, live.owned[i], live.ownedPadding[i]);
    }
  });
  sortTree(root.group);
  return root.group;
}

function draft(label: string): Draft {
  return { group: { label, bytes: 0, padding: 0, values: [], children: [] }, children: new Map() };
}
function add(group: Group, value: number, bytes: number, padding: number): void {
  group.bytes += bytes;
  group.padding += padding;
  group.values.push(value);
}
function sortTree(root: Group): void {
  const open = [root];
  for (let group = open.pop(); group; group = open.pop()) {
    group.children.sort((a, b) => b.bytes - a.bytes || (a.label < b.label ? -1 : 1));
    for (const child of group.children) open.push(child);
  }
}

// Groups of one level for a flat table: the leaves of the tree, or for source the innermost line.
export function flatGroups(module: Module, live: Live, by: Grouping): Group[] {
  const groups = new Map<string, Group>();
  live.values.forEach((value, i) => {
    const path = pathOf(module, value, by);
    const label =
      by === 'source'
        ? path[path.length - 1]
        : by === 'op_name'
          ? path.join('/')
          : by === 'parameter'
            ? path.join('')
            : by === 'space'
              ? path[0]
              : path.join(' ');
    let group = groups.get(label);
    if (!group) {
      group = draft(label).group;
      groups.set(label, group);
    }
    add(group, value, live.owned[i], live.ownedPadding[i]);
  });
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || (a.label < b.label ? -1 : 1));
}
