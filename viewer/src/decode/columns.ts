// SPDX-License-Identifier: Apache-2.0
// Typed arrays over the column area of a bundle, without a copy. A column that does not fit is an
// error that names it: a cut or damaged file must not show wrong numbers.
import type { ColumnPlaces, ColumnType } from './header';

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const kBytes: Record<ColumnType, number> = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 };

export class ColumnReader {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly areaStart: number,
    private readonly places: ColumnPlaces,
  ) {}

  u8(name: string): Uint8Array {
    const [at, count] = this.place(name, 'u8');
    return new Uint8Array(this.buffer, at, count);
  }
  u16(name: string): Uint16Array {
    const [at, count] = this.place(name, 'u16');
    return new Uint16Array(this.buffer, at, count);
  }
  u32(name: string): Uint32Array {
    const [at, count] = this.place(name, 'u32');
    return new Uint32Array(this.buffer, at, count);
  }
  i32(name: string): Int32Array {
    const [at, count] = this.place(name, 'i32');
    return new Int32Array(this.buffer, at, count);
  }
  f64(name: string): Float64Array {
    const [at, count] = this.place(name, 'f64');
    return new Float64Array(this.buffer, at, count);
  }

  private place(name: string, type: ColumnType): [number, number] {
    const place = this.places[name];
    if (!place) throw new Error(`the data has no column ${name}`);
    if (place.type !== type) {
      throw new Error(`column ${name} has type ${place.type}, not ${type}`);
    }
    const at = this.areaStart + place.at;
    const fits =
      Number.isSafeInteger(place.at) &&
      Number.isSafeInteger(place.count) &&
      place.at >= 0 &&
      place.count >= 0 &&
      at % 8 === 0 &&
      at + place.count * kBytes[type] <= this.buffer.byteLength;
    if (!fits) throw new Error(`column ${name} does not lie within the data`);
    return [at, place.count];
  }
}

// Columns of one table must be as long as each other.
export function sameLength(table: string, columns: ArrayLike<number>[]): number {
  const length = columns[0].length;
  if (columns.some((column) => column.length !== length)) {
    throw new Error(`the columns of table ${table} differ in length`);
  }
  return length;
}

// `begins` has a row more than its table, grows, and ends within `limit`.
export function checkBegins(name: string, begins: Uint32Array, rows: number, limit: number): void {
  if (begins.length !== rows + 1)
    throw new Error(`${name} has ${begins.length} rows, not ${rows + 1}`);
  for (let i = 0; i < rows; ++i) {
    if (begins[i] > begins[i + 1]) throw new Error(`${name} decreases at row ${i}`);
  }
  if (begins[rows] > limit) throw new Error(`${name} ends outside its table`);
}

// Every row is below `limit`, or none where that is allowed.
export function checkIds(name: string, ids: ArrayLike<number>, limit: number, none = -1): void {
  for (let i = 0; i < ids.length; ++i) {
    const id = ids[i];
    if (id >= limit && id !== none) throw new Error(`${name} has ${id} at row ${i}, of ${limit}`);
  }
}
