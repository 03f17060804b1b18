// SPDX-License-Identifier: Apache-2.0
// A bundle: magic, header, columns. docs/view-format.md says where everything lies.
import { ColumnReader, checkIds } from './columns';
import { NONE, type DiffHeader, type Header } from './header';
import { readModule, type Module } from './module';

const kMagic = 'STOWVIEW';
const kSchema = 'stowplan.view/1';

export interface Diff {
  header: DiffHeader;
  match: Uint32Array; // by value of the first module: value of the second, or none
  matchBack: Uint32Array; // the other way round
}

export interface Bundle {
  header: Header;
  modules: Module[];
  diff: Diff | null;
}

export function readBundle(buffer: ArrayBuffer): Bundle {
  const start = new Uint8Array(buffer, 0, Math.min(12, buffer.byteLength));
  if (start.length < 12 || new TextDecoder().decode(start.subarray(0, 8)) !== kMagic) {
    throw new Error('this is not data from `stowplan view`');
  }
  const headerLength = new DataView(buffer).getUint32(8, true);
  if (12 + headerLength > buffer.byteLength) throw new Error('the data is cut off in its header');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(
    new Uint8Array(buffer, 12, headerLength),
  );
  const header = JSON.parse(text) as Header;
  if (header.schema !== kSchema) {
    throw new Error(`the data has schema ${String(header.schema)}; this page reads ${kSchema}`);
  }
  settle(header);
  const areaStart = Math.ceil((12 + headerLength) / 8) * 8;
  const modules = header.modules.map((module) =>
    readModule(module, new ColumnReader(buffer, areaStart, module.columns)),
  );
  const least = header.index ? 0 : 1;
  if (modules.length < least || modules.length > 2) throw new Error('the data has no module');
  return { header, modules, diff: readDiff(header, modules, buffer, areaStart) };
}

// What is left out is the same as null or nothing.
function settle(header: Header): void {
  header.budget ??= null;
  header.diff ??= null;
  header.sources ??= [];
  header.modules ??= [];
  header.home ??= null;
  header.order ??= null;
  header.index ??= null;
  header.compared ??= null;
  header.problems ??= [];
  for (const row of header.index ?? []) {
    row.plan ??= '';
    row.bytes ??= row.peak;
    row.main_bytes ??= row.bytes;
    row.best_bytes ??= null;
    row.base_bytes ??= null;
    row.only ??= null;
  }
  if (header.diff) header.diff.footprint ??= null;
  for (const module of header.modules) {
    module.unknown ??= [];
    module.target ??= null;
    for (const space of module.spaces) {
      space.bound ??= null;
      space.proof ??= null;
    }
  }
}

function readDiff(
  header: Header,
  modules: Module[],
  buffer: ArrayBuffer,
  areaStart: number,
): Diff | null {
  if (!header.diff || modules.length < 2) return null;
  const match = new ColumnReader(buffer, areaStart, header.diff.columns).u32('match');
  checkIds('match', match, modules[1].values.count, NONE);
  const matchBack = new Uint32Array(modules[1].values.count).fill(NONE);
  for (let a = 0; a < match.length; ++a) {
    if (match[a] !== NONE) matchBack[match[a]] = a;
  }
  return { header: header.diff, match, matchBack };
}
