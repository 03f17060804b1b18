// SPDX-License-Identifier: Apache-2.0
// The header of a bundle, as docs/view-format.md has it.

export type ColumnType = 'u8' | 'u16' | 'u32' | 'i32' | 'f64';
export interface ColumnPlace {
  type: ColumnType;
  at: number; // from the start of the column area
  count: number;
}
export type ColumnPlaces = Record<string, ColumnPlace>;

export interface Peak {
  bytes: number;
  time: number;
}

export interface Footprint {
  bytes: number;
  live: number;
  dead: number;
  fragmentation: number;
  alignment: number;
  untimed: number;
  thread_local: number;
}

export interface SpaceHeader {
  color: number;
  name: string;
  peak: Peak;
  footprint: Footprint;
  bound: number | null;
}

export interface ModuleHeader {
  name: string;
  plan: string;
  backend: string;
  target: string | null;
  end: number;
  unknown: string[];
  kinds: { word: string; name: string }[];
  rules: string[];
  holders: string[];
  bracket_kinds: string[];
  allocation_kinds: string[];
  hole_kinds: string[];
  spaces: SpaceHeader[];
  all_peak: Peak;
  columns: ColumnPlaces;
}

export interface DiffTerm {
  term: string;
  bytes: number;
  label: string;
  a: number[];
  b: number[];
}
export interface DiffHeader {
  terms: DiffTerm[];
  change: { peak: number };
  columns: ColumnPlaces;
}

export interface SourceFile {
  file: string;
  text: string;
}

// A module that has a page of its own, beside this one.
export interface IndexRow {
  name: string;
  file: string;
  backend: string;
  peak: number; // bytes, of all spaces together
  values: number;
  end: number;
  curve: [number, number][]; // time and bytes, some hundred steps at most
}

export interface Header {
  schema: string;
  version: string;
  title: string;
  budget: number | null;
  modules: ModuleHeader[];
  diff: DiffHeader | null;
  sources: SourceFile[];
  index?: IndexRow[] | null; // then there are no modules
}

// What stands for "no row" in columns of u32.
export const NONE = 0xffffffff;
