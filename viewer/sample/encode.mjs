// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Writes bundles (docs/view-format.md), for tests and development.
import { gzipSync } from 'node:zlib';

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array} Column */

/** @param {Column} column */
function typeOf(column) {
  if (column instanceof Uint8Array) return 'u8';
  if (column instanceof Uint16Array) return 'u16';
  if (column instanceof Uint32Array) return 'u32';
  return column instanceof Int32Array ? 'i32' : 'f64';
}

/** Puts columns one after the other. */
class Area {
  constructor() {
    /** @type {{at: number, column: Column}[]} */
    this.parts = [];
    this.length = 0;
  }

  /** @param {Record<string, Column>} columns */
  add(columns) {
    /** @type {Record<string, {type: string, at: number, count: number}>} */
    const places = {};
    for (const [name, column] of Object.entries(columns)) {
      places[name] = { type: typeOf(column), at: this.length, count: column.length };
      this.parts.push({ at: this.length, column });
      this.length = Math.ceil((this.length + column.byteLength) / 8) * 8;
    }
    return places;
  }
}

/**
 * @param {any} header of which modules and diff have their columns as arrays
 * @returns {Buffer} the bundle, not compressed
 */
export function encodeBundle(header) {
  const area = new Area();
  const full = {
    ...header,
    modules: header.modules.map((/** @type {any} */ module) => ({
      ...module,
      columns: area.add(module.columns),
    })),
    diff: header.diff && { ...header.diff, columns: area.add(header.diff.columns) },
  };
  const json = Buffer.from(JSON.stringify(full), 'utf-8');
  const areaStart = Math.ceil((12 + json.length) / 8) * 8;
  const bytes = Buffer.alloc(areaStart + area.length);
  bytes.write('STOWVIEW', 0, 'latin1');
  bytes.writeUInt32LE(json.length, 8);
  json.copy(bytes, 12);
  for (const { at, column } of area.parts) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), areaStart + at);
  }
  return bytes;
}

const kPlaceholder = '<script type="application/octet-stream" id="stowplan-data"></script>';

/**
 * @param {string} page the built page
 * @param {Buffer} bundle
 */
export function fillPage(page, bundle) {
  const parts = page.split(kPlaceholder);
  if (parts.length !== 2) throw new Error('the page must have one placeholder for the data');
  const data = gzipSync(bundle, { level: 6 }).toString('base64');
  return parts[0] + kPlaceholder.replace('></', `>${data}</`) + parts[1];
}
