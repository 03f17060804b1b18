// SPDX-License-Identifier: Apache-2.0
// From the text in the page to bytes: base64, then gzip, both by the browser.

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as FromBase64).fromBase64;
  if (native) return native.call(Uint8Array, text);
  // Browsers of before 2025. A slice of a multiple of four characters stands for itself.
  const clean = text.replace(/\s+/g, '');
  const padding = clean.endsWith('==') ? 2 : clean.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
  const step = 1 << 20;
  let to = 0;
  for (let from = 0; from < clean.length; from += step) {
    const part = atob(clean.slice(from, from + step));
    for (let i = 0; i < part.length; ++i) bytes[to++] = part.charCodeAt(i);
  }
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}
