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
  bound: number | null; // what the temporaries need at least
  proof: string | null; // how good this plan of them is
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
  // All that is allocated: with these terms, the ones above add up to its change.
  footprint: { a: number; b: number; terms: { term: string; bytes: number }[] } | null;
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
  plan: string;
  backend: string;
  bytes: number; // of all allocations
  best_bytes: number | null; // the same of policy best
  base_bytes: number | null; // the same in A, where two are compared; all else is of B
  only: 'A' | 'B' | null; // where it is the only one
  main_bytes: number; // of those in the main memory
  peak: number; // live bytes, of all spaces together
  values: number;
  end: number;
  curve: [number, number][]; // time and bytes, some hundred steps at most
}

// What has no page, and why.
export interface IndexProblem {
  name: string;
  reason: string;
}

export interface Header {
  schema: string;
  version: string;
  title: string;
  budget: number | null;
  modules: ModuleHeader[];
  diff: DiffHeader | null;
  sources: SourceFile[];
  order: string | null; // two plans of one program: what the order of instructions saves
  home: string | null; // the page of an index beside this one
  index: IndexRow[] | null; // largest first; then there are no modules
  compared: [string, string] | null; // of the index: what A and B are; largest change first
  problems: IndexProblem[]; // of the index
}

// What stands for "no row" in columns of u32.
export const NONE = 0xffffffff;
