// SPDX-License-Identifier: Apache-2.0
// Tables as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets a ' before it.

export type Cell = string | number;

export function toCsv(columns: string[], rows: Iterable<Cell[]>): string {
  const lines = [columns.map(quote).join(',')];
  for (const row of rows) lines.push(row.map(quote).join(','));
  return lines.join('\r\n') + '\r\n';
}

function quote(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
