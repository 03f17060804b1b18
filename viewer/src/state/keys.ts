// SPDX-License-Identifier: Apache-2.0
// The keyboard: one table, which is also the help card.
import { kColorings } from '../draw/colors';
import { kGroupings } from '../model/groups';
import { kShapes, kTabs, kThemes, type App } from './app.svelte';
import { panBy, zoomAt } from './viewport';

export interface Binding {
  keys: string[]; // event.key, with "Shift+" or "Alt+" before it
  show: string;
  does: string;
  run: (app: App) => void;
}
export interface Section {
  title: string;
  bindings: Binding[];
}

function zoom(app: App, byTime: number, byBytes: number): void {
  const { t0, t1, y0, y1 } = app.view;
  // Around the cursor if it is in sight, else around the middle.
  const time = app.time >= t0 && app.time <= t1 ? app.time + 0.5 : (t0 + t1) / 2;
  app.view = zoomAt(app.view, app.extent, time, (y0 + y1) / 2, byTime, byBytes);
}
function pan(app: App, time: number, bytes: number): void {
  const { t0, t1, y0, y1 } = app.view;
  app.view = panBy(app.view, app.extent, time * (t1 - t0), bytes * (y1 - y0));
}
function next<T>(all: readonly T[], now: T): T {
  return all[(all.indexOf(now) + 1) % all.length];
}
function step(app: App, by: number): void {
  const found = app.found[app.moduleIndex].values;
  if (!found.length) return;
  const at = app.value === null ? -1 : found.indexOf(app.value);
  app.goTo(found[(at + by + found.length + (at < 0 && by < 0 ? 1 : 0)) % found.length]);
  app.tab = 'search';
}
function neighbour(app: App, side: 'above' | 'below' | 'before' | 'after'): void {
  const other = app.neighbours?.[side] ?? -1;
  if (other >= 0) app.goTo(other);
}
function peak(app: App): void {
  const { spaces, all_peak } = app.module.header;
  const peaks = [
    { space: -1, time: all_peak.time },
    ...spaces.map((row, space) => ({ space, time: row.peak.time })),
  ];
  const at = peaks.findIndex((row) => row.space === app.space && row.time === app.time);
  const to = peaks[(at + 1) % peaks.length];
  app.space = to.space;
  app.moveTo(to.time);
}
function largest(app: App, by: number): void {
  const { values } = app.live;
  if (!values.length) return;
  const at = app.value === null ? -1 : values.indexOf(app.value);
  app.goTo(values[at < 0 ? 0 : (at + by + values.length) % values.length]);
}

export const kSections: Section[] = [
  {
    title: 'The moment',
    bindings: [
      {
        keys: ['ArrowLeft'],
        show: '←',
        does: 'one moment back',
        run: (app) => app.moveTo(app.time - 1),
      },
      {
        keys: ['ArrowRight'],
        show: '→',
        does: 'one moment forward',
        run: (app) => app.moveTo(app.time + 1),
      },
      {
        keys: ['Shift+ArrowLeft'],
        show: 'Shift ←',
        does: 'a twentieth of the view back',
        run: (app) => app.moveTo(app.time - Math.ceil((app.view.t1 - app.view.t0) / 20)),
      },
      {
        keys: ['Shift+ArrowRight'],
        show: 'Shift →',
        does: 'a twentieth of the view forward',
        run: (app) => app.moveTo(app.time + Math.ceil((app.view.t1 - app.view.t0) / 20)),
      },
      { keys: ['Home'], show: 'Home', does: 'the first moment', run: (app) => app.moveTo(0) },
      {
        keys: ['End'],
        show: 'End',
        does: 'the last moment',
        run: (app) => app.moveTo(app.module.end),
      },
      { keys: ['p'], show: 'p', does: 'the peak; again: that of each memory space', run: peak },
    ],
  },
  {
    title: 'The map',
    bindings: [
      {
        keys: ['w', '+', '=', 'Shift++'],
        show: 'w  +',
        does: 'zoom in',
        run: (app) => zoom(app, 0.7, 0.7),
      },
      {
        keys: ['s', '-'],
        show: 's  −',
        does: 'zoom out',
        run: (app) => zoom(app, 1 / 0.7, 1 / 0.7),
      },
      { keys: ['Shift+W'], show: 'W', does: 'zoom in, time only', run: (app) => zoom(app, 0.7, 1) },
      {
        keys: ['Shift+S'],
        show: 'S',
        does: 'zoom out, time only',
        run: (app) => zoom(app, 1 / 0.7, 1),
      },
      { keys: ['a'], show: 'a', does: 'move left', run: (app) => pan(app, -0.15, 0) },
      { keys: ['d'], show: 'd', does: 'move right', run: (app) => pan(app, 0.15, 0) },
      { keys: ['ArrowUp', 'r'], show: '↑  r', does: 'move up', run: (app) => pan(app, 0, 0.15) },
      {
        keys: ['ArrowDown', 'f'],
        show: '↓  f',
        does: 'move down',
        run: (app) => pan(app, 0, -0.15),
      },
      {
        keys: ['0'],
        show: '0',
        does: 'show everything (or double-click)',
        run: (app) => app.fit(),
      },
      {
        keys: ['z'],
        show: 'z',
        does: 'zoom to the selected value',
        run: (app) => app.value !== null && app.goTo(app.value, true),
      },
      {
        keys: ['o'],
        show: 'o',
        does: 'holes at the peak on or off',
        run: (app) => (app.holesShown = !app.holesShown),
      },
      {
        keys: ['c'],
        show: 'c',
        does: 'next coloring',
        run: (app) =>
          (app.color = next(app.bundle.diff ? kColorings : kColorings.slice(0, -1), app.color)),
      },
    ],
  },
  {
    title: 'Values',
    bindings: [
      {
        keys: ['Enter', ']'],
        show: 'Enter  ]',
        does: 'the largest live value, then the next',
        run: (app) => largest(app, 1),
      },
      { keys: ['['], show: '[', does: 'the previous one', run: (app) => largest(app, -1) },
      {
        keys: ['Alt+ArrowUp'],
        show: 'Alt ↑',
        does: 'the value above in memory',
        run: (app) => neighbour(app, 'above'),
      },
      {
        keys: ['Alt+ArrowDown'],
        show: 'Alt ↓',
        does: 'the value below',
        run: (app) => neighbour(app, 'below'),
      },
      {
        keys: ['Alt+ArrowLeft'],
        show: 'Alt ←',
        does: 'the value before it in its place',
        run: (app) => neighbour(app, 'before'),
      },
      {
        keys: ['Alt+ArrowRight'],
        show: 'Alt →',
        does: 'the value after it in its place',
        run: (app) => neighbour(app, 'after'),
      },
      {
        keys: ['h'],
        show: 'h',
        does: 'the next hole at the peak',
        run: (app) =>
          app.module.holes.count && app.selectHole((app.hole + 1) % app.module.holes.count),
      },
      {
        keys: ['Escape'],
        show: 'Esc',
        does: 'close; clear the selection',
        run: (app) => app.escape(),
      },
    ],
  },
  {
    title: 'Search and panes',
    bindings: [
      {
        keys: ['/'],
        show: '/',
        does: 'search',
        run: () => document.getElementById('search')?.focus(),
      },
      { keys: ['n'], show: 'n', does: 'next result', run: (app) => step(app, 1) },
      { keys: ['Shift+N'], show: 'N', does: 'previous result', run: (app) => step(app, -1) },
      ...kTabs.map((tab, i) => ({
        keys: [String(i + 1)],
        show: String(i + 1),
        does: `pane: ${tab}`,
        run: (app: App) => void (app.tabs.includes(tab) && (app.tab = tab)),
      })),
      {
        keys: ['v'],
        show: 'v',
        does: 'table, treemap, flame graph',
        run: (app) => ((app.shape = next(kShapes, app.shape)), (app.tab = 'live')),
      },
      {
        keys: ['g'],
        show: 'g',
        does: 'next grouping',
        run: (app) => ((app.grouping = next(kGroupings, app.grouping)), (app.tab = 'live')),
      },
    ],
  },
  {
    title: 'Page',
    bindings: [
      { keys: ['b'], show: 'b', does: 'compare: the other module', run: (app) => app.other() },
      {
        keys: ['Shift+B'],
        show: 'B',
        does: 'compare: side by side, or blink',
        run: (app) => (app.compare = app.compare === 'side' ? 'blink' : 'side'),
      },
      {
        keys: ['t'],
        show: 't',
        does: 'light, dark, or like the system',
        run: (app) => (app.themeChoice = next(kThemes, app.themeChoice)),
      },
      { keys: ['e'], show: 'e', does: 'save the map as SVG', run: (app) => app.exportSvg() },
      { keys: ['Shift+E'], show: 'E', does: 'save the map as PNG', run: (app) => app.exportPng() },
      {
        keys: ['?', 'Shift+?'],
        show: '?',
        does: 'this card',
        run: (app) => (app.helpOpen = !app.helpOpen),
      },
    ],
  },
];

const bindings = new Map(
  kSections.flatMap((section) =>
    section.bindings.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)),
  ),
);

// True when the key did something.
export function press(app: App, event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  const target = event.target as HTMLElement | null;
  const typing = target?.closest('input, select, textarea');
  if (typing && event.key !== 'Escape') return false;
  // Buttons and links keep their own Enter and arrows.
  if (target?.closest('button') && (event.key === 'Enter' || event.key === ' ')) return false;
  const prefix = event.altKey ? 'Alt+' : event.shiftKey ? 'Shift+' : '';
  const binding =
    bindings.get(prefix + event.key) ?? (prefix === 'Shift+' ? bindings.get(event.key) : undefined);
  if (!binding) return false;
  binding.run(app);
  return true;
}
