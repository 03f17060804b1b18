// SPDX-License-Identifier: Apache-2.0
// A load curve, small: the path of an area in SVG. Each has its own scale, since a small module beside
// a large one would be a line; how large they are stands beside it.
import type { IndexRow } from '../decode/header';

export function thumbnail(
  row: Pick<IndexRow, 'curve' | 'end' | 'peak'>,
  width: number,
  height: number,
): string {
  const x = (time: number) => ((width * time) / Math.max(1, row.end + 1)).toFixed(1);
  const y = (bytes: number) => (height - (height * bytes) / Math.max(1, row.peak)).toFixed(1);
  let path = `M0 ${height}`;
  let level = 0;
  for (const [time, bytes] of row.curve) {
    path += `L${x(time)} ${y(level)}L${x(time)} ${y(bytes)}`;
    level = bytes;
  }
  return `${path}L${width} ${y(level)}L${width} ${height}Z`;
}
