// SPDX-License-Identifier: Apache-2.0
// Lines across the map: what the main memory has, and what the temporaries of each space need at least.
import type { Module } from '../decode/module';
import { exactSize, shortSize } from '../model/size';
import { spaceName } from '../model/words';
import type { Scale } from './areas';
import type { Layout } from './layout';
import type { Pen } from './pen';
import type { Theme } from './theme';

export interface Limit {
  kind: 'capacity' | 'bound';
  at: number; // height on the map
  free: number; // below it: room for the label
  label: string;
  title: string; // with the exact size
  words: string;
}

// Spaces that are lower on the screen have no room for lines.
const kLeastBand = 14;

// Those that can be seen at this scale.
export function limitsOf(module: Module, layout: Layout, perByte: number): Limit[] {
  const limits: Limit[] = [];
  for (const space of layout.spaces) {
    const { bound } = module.header.spaces[space.space];
    if (!bound || (space.end - space.begin) * perByte < kLeastBand) continue;
    // Temporaries are the top of their space; the bound counts from their bottom.
    const heap = layout.bands.find(
      ({ allocation }) =>
        module.allocations.space[allocation] === space.space &&
        module.header.allocation_kinds[module.allocations.kind[allocation]] === 'temporary',
    );
    if (!heap) continue;
    limits.push({
      kind: 'bound',
      at: heap.begin + bound,
      free: 0,
      label: `lower bound ${shortSize(bound)}`,
      title: `lower bound: ${exactSize(bound)}`,
      words: `no plan for the temporaries in ${spaceName(module, space.space)} takes less`,
    });
  }
  if (layout.capacity) {
    const { at, budget, hidden, free } = layout.capacity;
    const isMoved = hidden * perByte >= 1;
    limits.push({
      kind: 'capacity',
      at,
      free,
      label: `capacity ${shortSize(budget)}${isMoved ? `, less ${shortSize(hidden)} that is hidden` : ''}`,
      title: `capacity: ${exactSize(budget)}`,
      words: hidden
        ? `less ${exactSize(hidden)} of allocations that are not shown`
        : 'the size of the main memory',
    });
  }
  return limits;
}

// The line at a height of the screen, or undefined.
export function limitAt(limits: Limit[], scale: Scale, y: number): Limit | undefined {
  return limits.find((limit) => Math.abs(scale.y(limit.at) - y) <= 3);
}

export function drawLimits(
  pen: Pen,
  scale: Scale,
  module: Module,
  layout: Layout,
  theme: Theme,
): void {
  const { area } = scale;
  for (const { kind, at, free, label } of limitsOf(module, layout, scale.perByte)) {
    const y = scale.y(at);
    if (y < area.y - 1 || y > area.y + area.h + 1) continue;
    const stroke = kind === 'bound' ? theme.bound : theme.capacity;
    const dash = kind === 'bound' ? [2, 3] : [7, 4];
    pen.line([area.x, y, area.x + area.w, y], { stroke, width: 1.5, dash });
    const width = label.length * 6.2 + 8;
    const isBelow = free * scale.perByte > 17 || y - 15 < area.y;
    const top = isBelow ? y + 2 : y - 15;
    pen.rect(area.x + area.w - width - 2, top, width, 14, theme.paper, 0.82);
    pen.text(area.x + area.w - 6, top + 7, label, { fill: stroke, align: 'right' });
  }
}
