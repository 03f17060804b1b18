// SPDX-License-Identifier: Apache-2.0
// The string table. Strings are decoded when they are asked for, and kept: most are never shown.

export class Strings {
  private readonly kept = new Map<number, string>();
  private readonly decoder = new TextDecoder('utf-8');

  constructor(
    private readonly ends: Uint32Array,
    private readonly bytes: Uint8Array,
  ) {
    let last = 0;
    for (let i = 0; i < ends.length; ++i) {
      if (ends[i] < last) throw new Error(`string ${i} ends before it begins`);
      last = ends[i];
    }
    if (last > bytes.length) throw new Error('the last string ends outside the data');
  }

  get count(): number {
    return this.ends.length;
  }

  get(id: number): string {
    const kept = this.kept.get(id);
    if (kept !== undefined) return kept;
    const text = this.peek(id);
    this.kept.set(id, text);
    return text;
  }

  // The same, not kept: for those who look at all of them once.
  peek(id: number): string {
    if (id >= this.ends.length) return '';
    return this.decoder.decode(this.bytes.subarray(id > 0 ? this.ends[id - 1] : 0, this.ends[id]));
  }
}
