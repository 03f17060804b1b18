// SPDX-License-Identifier: Apache-2.0
// Sizes as the command line writes them: `1.50GiB (1610612736)`, and as people type them.

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

// "1.50GiB"; whole bytes below a KiB.
export function shortSize(bytes: number): string {
  const magnitude = Math.abs(bytes);
  if (magnitude < 1024) return `${bytes}B`;
  const unit = Math.min(kUnits.length - 1, Math.floor(Math.log2(magnitude) / 10));
  return `${(bytes / 1024 ** unit).toFixed(2)}${kUnits[unit]}`;
}

// "1.50GiB (1610612736)"
export function exactSize(bytes: number): string {
  return Math.abs(bytes) < 1024 ? `${bytes}B` : `${shortSize(bytes)} (${bytes})`;
}

// "+1.50GiB (+1610612736)"
export function signedSize(bytes: number): string {
  const sign = bytes > 0 ? '+' : '';
  return Math.abs(bytes) < 1024
    ? `${sign}${bytes}B`
    : `${sign}${shortSize(bytes)} (${sign}${bytes})`;
}

// "1.50 % less", "<0.01 % more", "the same"; nothing when there is nothing to compare with.
export function changeText(from: number, to: number): string {
  if (from === to) return 'the same';
  if (from <= 0) return '';
  const percent = (100 * Math.abs(to - from)) / from;
  return `${percent < 0.005 ? '<0.01' : percent.toFixed(2)} % ${to < from ? 'less' : 'more'}`;
}

// 16GiB, 16G, 512MiB, 1.5k, 4096; null when it is no size.
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?$/i.exec(text.trim());
  if (!match) return null;
  const power = match[2] ? 'kmgtp'.indexOf(match[2].toLowerCase()) + 1 : 0;
  const bytes = Number(match[1]) * 1024 ** power;
  return Number.isFinite(bytes) ? bytes : null;
}

// Steps of a byte axis: powers of two, at most `most` of them in the stretch.
export function byteStep(stretch: number, most: number): number {
  let step = 1;
  while (stretch / step > most) step *= 2;
  return step;
}

// Steps of a time axis: 1, 2, 5, 10, ...
export function timeStep(stretch: number, most: number): number {
  let step = 1;
  for (let i = 0; stretch / step > most; ++i) step *= i % 3 === 1 ? 2.5 : 2;
  return step;
}
