// SPDX-License-Identifier: Apache-2.0
// All that the page shows follows from this.
import type { Bundle } from '../decode/bundle';
import { NONE } from '../decode/header';
import type { Module } from '../decode/module';
import { kColorings, rgbOf, type Coloring, type Match } from '../draw/colors';
import { curveTop } from '../draw/curve';
import { isNear, makeLayout, rectOf } from '../draw/layout';
import { pack } from '../draw/raster';
import { paintRows } from '../draw/rowcolors';
import { makeScene, type Viewport } from '../draw/scene';
import { kDark, kLight } from '../draw/theme';
import { kGroupings, type Grouping } from '../model/groups';
import { liveAt } from '../model/live';
import { neighboursOf } from '../model/neighbours';
import { search } from '../model/search';
import { sourceNames } from '../model/sources';
import { savePng, saveText, svgOf } from './files';
import { readHash, writeHash, type Shared } from './hash';
import { shownPicture } from './pictures';
import { fitAll, fitRect, reveal, tame } from './viewport';

export const kTabs = ['live', 'value', 'search', 'source', 'tables', 'compare'] as const;
export type Tab = (typeof kTabs)[number];
export const kTables = ['spaces', 'allocations', 'load curve', 'brackets', 'holes'] as const;
export const kShapes = ['table', 'treemap', 'flame'] as const;
export type Shape = (typeof kShapes)[number];
export const kCompares = ['side', 'blink'] as const;
export type Compare = (typeof kCompares)[number];
export const kThemes = ['auto', 'light', 'dark'] as const;
export type ThemeChoice = (typeof kThemes)[number];

// A byte of an allocation.
export interface Place {
  allocation: number;
  byte: number;
}

function oneOf<T extends string>(known: readonly T[], given: string, usual: T): T {
  return known.includes(given as T) ? (given as T) : usual;
}

export class App {
  readonly bundle: Bundle;
  readonly modules: Module[];
  readonly budget: number | null;
  private readonly mapBudget: number | null; // when it is near enough for the map
  private readonly plain: Shared;

  time = $state(0);
  moduleIndex = $state(0); // whose live set and values the panes show
  value = $state<number | null>(null);
  hole = $state(-1);
  place = $state.raw<Place | null>(null); // that was free when it was clicked
  hover = $state(-1); // a value that the pointer is on, in a pane or on the map
  color = $state<Coloring>('kind');
  hidden = $state.raw<ReadonlySet<string>>(new Set<string>());
  tab = $state<Tab>('live');
  shape = $state<Shape>('table');
  table = $state<(typeof kTables)[number]>('spaces');
  grouping = $state<Grouping>('value');
  space = $state(-1);
  query = $state('');
  compare = $state<Compare>('side');
  blinkModule = $state(0);
  themeChoice = $state<ThemeChoice>('auto');
  systemDark = $state(false);
  printing = $state(false); // paper is light
  helpOpen = $state(false);
  holesShown = $state(true);
  allBrackets = $state(false);
  message = $state(''); // for screen readers, and at the foot
  sourceFile = $state(0);
  sourceLine = $state(0);
  private ownView = $state.raw<Viewport | null>(null); // null: all of it

  constructor(bundle: Bundle, hash: string) {
    this.bundle = bundle;
    this.modules = bundle.modules;
    this.budget = bundle.header.budget;
    this.mapBudget = this.budget !== null && isNear(this.budget, this.modules) ? this.budget : null;
    this.plain = {
      time: bundle.modules[0].header.all_peak.time,
      value: null,
      module: 0,
      view: null,
      color: 'kind',
      hidden: ['thread-local'],
      tab: bundle.modules.length > 1 ? 'compare' : 'live',
      as: 'table',
      by: 'value',
      space: -1,
      query: '',
      compare: 'side',
      theme: 'auto',
      hole: -1,
      holes: 1,
      brackets: 0,
      place: null,
      file: 0,
      line: 0,
      table: 'spaces',
    };
    this.load(hash);
  }

  load(hash: string): void {
    const given = readHash(hash, this.plain);
    const index = given.module === 1 && this.modules.length > 1 ? 1 : 0;
    const module = this.modules[index];
    this.moduleIndex = this.blinkModule = index;
    this.value =
      given.value !== null && given.value >= 0 && given.value < module.values.count
        ? given.value
        : null;
    this.color = oneOf(kColorings, given.color, 'kind');
    this.hidden = new Set(given.hidden);
    this.tab = oneOf(this.tabs, given.tab, 'live');
    this.shape = oneOf(kShapes, given.as, 'table');
    this.grouping = oneOf(kGroupings, given.by, 'value');
    this.space = given.space >= 0 && given.space < module.header.spaces.length ? given.space : -1;
    this.query = given.query;
    this.compare = oneOf(kCompares, given.compare, 'side');
    this.themeChoice = oneOf(kThemes, given.theme, 'auto');
    this.time = this.clampTime(given.time);
    this.hole = given.hole >= 0 && given.hole < module.holes.count ? given.hole : -1;
    this.holesShown = given.holes !== 0;
    this.allBrackets = given.brackets === 1;
    this.place =
      given.place && given.place[0] < module.allocations.count
        ? { allocation: given.place[0], byte: given.place[1] }
        : null;
    this.sourceFile =
      given.file >= 0 && given.file < this.sourceNames.length ? given.file : this.plain.file;
    this.sourceLine = given.line;
    this.table = oneOf(kTables, given.table, 'spaces');
    if (given.view)
      this.view = { t0: given.view[0], t1: given.view[1], y0: given.view[2], y1: given.view[3] };
    else this.ownView = null;
  }

  hash = $derived.by(() => {
    const view = this.ownView;
    return writeHash(
      {
        time: this.time,
        value: this.value,
        module: this.moduleIndex,
        view: view && [view.t0, view.t1, view.y0, view.y1],
        color: this.color,
        hidden: [...this.hidden].sort(),
        tab: this.tab,
        as: this.shape,
        by: this.grouping,
        space: this.space,
        query: this.query,
        compare: this.compare,
        theme: this.themeChoice,
        hole: this.hole,
        holes: this.holesShown ? 1 : 0,
        brackets: this.allBrackets ? 1 : 0,
        place: this.place && [this.place.allocation, this.place.byte],
        file: this.sourceFile,
        line: this.sourceLine,
        table: this.table,
      },
      this.plain,
    );
  });

  module = $derived.by(() => this.modules[this.moduleIndex]);
  isDark = $derived(
    !this.printing &&
      (this.themeChoice === 'dark' || (this.themeChoice === 'auto' && this.systemDark)),
  );
  theme = $derived(this.isDark ? kDark : kLight);
  layouts = $derived.by(() =>
    this.modules.map((module) => makeLayout(module, this.hidden, this.mapBudget)),
  );
  scenes = $derived.by(() => this.modules.map((module, i) => makeScene(module, this.layouts[i])));
  paints = $derived.by(() =>
    this.modules.map((module, i) =>
      paintRows(
        module,
        this.scenes[i],
        { color: this.color, match: this.match(i), isFirst: i === 0, marked: this.found[i].marked },
        pack(rgbOf(this.theme.band)),
      ),
    ),
  );
  extent = $derived.by(() => ({
    time: Math.max(...this.modules.map((module) => module.end + 1)),
    bytes: Math.max(...this.layouts.map((layout) => layout.height)),
  }));
  curveTop = $derived.by(() => curveTop(this.modules, this.budget));
  live = $derived.by(() => liveAt(this.module, this.time, this.space));
  found = $derived.by(() => this.modules.map((module) => search(module, this.query)));
  neighbours = $derived.by(() =>
    this.value === null ? null : neighboursOf(this.module, this.value),
  );

  private all = $derived.by(() => fitAll(this.extent));
  get view(): Viewport {
    return this.ownView ?? this.all;
  }
  set view(next: Viewport) {
    const { all } = this;
    const view = tame(next, this.extent);
    const isAll =
      view.t0 === all.t0 && view.t1 === all.t1 && view.y0 === all.y0 && view.y1 === all.y1;
    this.ownView = isAll ? null : view;
  }
  fit(): void {
    this.ownView = null;
  }

  clampTime(time: number): number {
    return Math.max(
      0,
      Math.min(Math.max(...this.modules.map((module) => module.end)), Math.round(time)),
    );
  }
  // Moves the cursor, and the map when the cursor would leave it.
  moveTo(time: number): void {
    this.time = this.clampTime(time);
    const { t0, t1, y0, y1 } = this.view;
    if (this.time < t0 || this.time + 1 > t1) {
      const half = (t1 - t0) / 2;
      this.view = { t0: this.time - half, t1: this.time + half, y0, y1 };
    }
  }

  select(value: number | null, moduleIndex = this.moduleIndex, showTab = true): void {
    this.hole = -1;
    this.place = null;
    this.moduleIndex = moduleIndex;
    this.blinkModule = moduleIndex;
    this.value = value;
    if (value !== null && showTab) this.tab = 'value';
  }
  // Selects and brings it onto the screen.
  goTo(value: number, zoom = false): void {
    this.select(value);
    const { start, end } = this.module.values;
    if (start[value] >= 0 && (this.time < start[value] || this.time > end[value]))
      this.time = this.clampTime(start[value]);
    const rect = rectOf(this.module, this.layouts[this.moduleIndex], value);
    if (rect) this.view = zoom ? fitRect(this.extent, rect) : reveal(this.view, this.extent, rect);
  }
  selectHole(hole: number): void {
    this.value = null;
    this.place = null;
    this.hole = hole;
    this.tab = 'value';
  }
  selectPlace(place: Place, moduleIndex: number): void {
    this.select(null, moduleIndex);
    this.place = place;
    this.tab = 'value';
  }

  toggleKind(kind: string): void {
    const next = new Set(this.hidden);
    if (!next.delete(kind)) next.add(kind);
    this.hidden = next;
    this.view = this.view;
  }

  get tabs(): Tab[] {
    return kTabs.filter((tab) => tab !== 'compare' || this.modules.length > 1);
  }
  escape(): void {
    if (this.helpOpen) this.helpOpen = false;
    else if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else {
      this.value = null;
      this.hole = -1;
      this.place = null;
    }
  }
  other(): void {
    if (this.modules.length < 2) return;
    const twin = this.twinIn(1 - this.moduleIndex);
    this.select(twin < 0 ? null : twin, 1 - this.moduleIndex, false);
    this.message = `module ${this.moduleIndex === 0 ? 'A' : 'B'}`;
  }

  // The source pane at a frame's line.
  showFrame(frame: number): void {
    const file = this.module.strings.get(this.module.frames.file[frame]);
    const at = this.sourceNames.indexOf(file);
    if (at >= 0) this.sourceFile = at;
    this.sourceLine = this.module.frames.line[frame];
    this.tab = 'source';
  }
  sourceNames = $derived.by(() => sourceNames(this.bundle.header.sources, this.module));

  exportSvg(): void {
    const shown = shownPicture(this.moduleIndex);
    if (shown)
      saveText(
        `${this.module.header.name.slice(0, 80)}.svg`,
        'image/svg+xml',
        svgOf(shown, this.module.header.name.slice(0, 200)),
      );
  }
  exportPng(): void {
    const shown = shownPicture(this.moduleIndex);
    if (shown) savePng(`${this.module.header.name.slice(0, 80)}.png`, shown);
  }

  match(moduleIndex: number): Match | null {
    const { diff } = this.bundle;
    if (!diff) return null;
    return moduleIndex === 0
      ? { other: this.modules[1], match: diff.match }
      : { other: this.modules[0], match: diff.matchBack };
  }
  // The selected value's twin in the other module, or -1.
  twinIn(moduleIndex: number): number {
    if (this.value === null || moduleIndex === this.moduleIndex) return -1;
    const twin = this.match(this.moduleIndex)?.match[this.value] ?? NONE;
    return twin === NONE ? -1 : twin;
  }
}
