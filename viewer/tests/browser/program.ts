// SPDX-License-Identifier: Apache-2.0
// The command line: it writes the pages, and says what they have to show.
// STOWPLAN= names it, STOWPLAN_CORPUS_DIR= the unpacked corpus.
import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileFor } from './page';

const root = fileURLToPath(new URL('../../../', import.meta.url));
export const kProgram = process.env.STOWPLAN ?? `${root}build/stowplan`;
const corpus = process.env.STOWPLAN_CORPUS_DIR ?? `${root}build/corpus`;

export function inRoot(path: string): string {
  return root + path;
}
export function inCorpus(path: string): string {
  return `${corpus}/${path}`;
}

function run(args: string[]): string {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  return execFileSync(kProgram, args, { encoding: 'utf-8', maxBuffer: 1 << 28, stdio: [...stdio] });
}

// Writes a page; gives its address.
export function view(...args: string[]): string {
  const file = fileFor('view.html');
  run(['view', ...args, '-o', file]);
  return pathToFileURL(file).href;
}

export interface LiveRow {
  value: string;
  own: number;
}
export interface Explained {
  bytes: number;
  rows: LiveRow[];
}
interface ExplainJson {
  moment: { bytes: number };
  partitions: { value: { rows: { value?: string; own: number }[] } };
}
// What lives at a moment, as the library has it: value by value.
export function explain(input: string, time: number, ...more: string[]): Explained {
  const options = [
    `--at=${time}`,
    '--space=all',
    '--by=value',
    '--top=0',
    '--format=json',
    ...more,
  ];
  const { moment, partitions } = JSON.parse(run(['explain', input, ...options])) as ExplainJson;
  const rows = partitions.value.rows.flatMap(({ value, own }) =>
    value !== undefined && own > 0 ? [{ value, own }] : [],
  );
  return { bytes: moment.bytes, rows };
}
interface DiffJson {
  modules: { spaces: { peak_change: number }[] }[];
}
// How the peak of all spaces together changes from one program to another.
export function peakChange(a: string, b: string): number {
  const args = ['diff', a, b, '--top=0', '--format=json'];
  let json: string;
  try {
    json = run(args);
  } catch (error) {
    json = (error as { stdout: string }).stdout; // exit code 1: they differ
  }
  return (JSON.parse(json) as DiffJson).modules[0].spaces[0].peak_change;
}
