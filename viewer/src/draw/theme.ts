// SPDX-License-Identifier: Apache-2.0
// Colors of everything but values, for both themes. Texts have a contrast of 4.5 or more on the
// grounds that they stand on.

export interface Theme {
  ground: string; // of the map
  band: string; // an allocation
  bandEdge: string;
  paper: string; // around the map
  ink: string;
  faint: string; // axes, second texts
  grid: string;
  accent: string; // cursor and selection
  peak: string;
  capacity: string;
  bound: string;
  curve: string;
  mark: string; // search results
  brackets: string[];
}

export const kLight: Theme = {
  ground: '#ffffff',
  band: '#f1f3f6',
  bandEdge: '#c9ced6',
  paper: '#ffffff',
  ink: '#16191d',
  faint: '#545c66',
  grid: '#e3e6ea',
  accent: '#111111',
  peak: '#b3261e',
  capacity: '#7a1fa2',
  bound: '#00695c',
  curve: '#33475b',
  mark: '#b3006b',
  brackets: ['#dfe9f7', '#f9ead2', '#e2f1e8', '#f3e3ee', '#ece8f8'],
};

export const kDark: Theme = {
  ground: '#14171b',
  band: '#1c2026',
  bandEdge: '#3a414b',
  paper: '#14171b',
  ink: '#e9edf1',
  faint: '#a3adb8',
  grid: '#2a3037',
  accent: '#ffffff',
  peak: '#ff8a80',
  capacity: '#d7a6f5',
  bound: '#5fd3c0',
  curve: '#b8c7d6',
  mark: '#ff7ac2',
  brackets: ['#22344c', '#453620', '#21402f', '#432c3d', '#332e50'],
};
