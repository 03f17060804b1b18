// SPDX-License-Identifier: Apache-2.0
// The state of the view in the address, so that a view can be shared: #t=12&value=3&...
// Whatever is not understood is left out: an address is input, too.

export interface Shared {
  time: number;
  value: number | null;
  module: number;
  view: [number, number, number, number] | null; // null: all of it
  color: string;
  hidden: string[];
  tab: string;
  as: string;
  by: string;
  space: number;
  query: string;
  compare: string;
  theme: string;
  hole: number; // -1: none
  holes: number; // 0: they are not shown
  brackets: number; // 1: more rows of them
  place: [number, number] | null; // an allocation and a byte of it
  file: number;
  line: number;
  table: string;
}

export function writeHash(state: Shared, plain: Shared): string {
  const parts = new URLSearchParams();
  const put = (key: string, now: string | number | null, usual: string | number | null) => {
    if (now !== usual && now !== null) parts.set(key, String(now));
  };
  put('t', state.time, plain.time);
  put('value', state.value, plain.value);
  put('module', state.module, plain.module);
  if (state.view) parts.set('view', state.view.map((n) => Number(n.toPrecision(15))).join(','));
  put('color', state.color, plain.color);
  put('hide', state.hidden.join(','), plain.hidden.join(','));
  put('tab', state.tab, plain.tab);
  put('as', state.as, plain.as);
  put('by', state.by, plain.by);
  put('space', state.space, plain.space);
  put('q', state.query, plain.query);
  put('compare', state.compare, plain.compare);
  put('theme', state.theme, plain.theme);
  put('hole', state.hole, plain.hole);
  put('holes', state.holes, plain.holes);
  put('brackets', state.brackets, plain.brackets);
  if (state.place) parts.set('place', state.place.join(','));
  put('file', state.file, plain.file);
  put('line', state.line, plain.line);
  put('table', state.table, plain.table);
  return parts.toString();
}

export function readHash(hash: string, plain: Shared): Shared {
  const parts = new URLSearchParams(hash.replace(/^#/, ''));
  const text = (key: string, usual: string) => parts.get(key)?.slice(0, 10000) ?? usual;
  const whole = (key: string, usual: number) => {
    const given = Number(parts.get(key) ?? NaN);
    return Number.isSafeInteger(given) ? given : usual;
  };
  const view = (parts.get('view') ?? '').split(',').map(Number);
  const place = (parts.get('place') ?? '').split(',').map(Number);
  return {
    time: whole('t', plain.time),
    value: parts.has('value') ? whole('value', -1) : plain.value,
    module: whole('module', plain.module),
    view:
      view.length === 4 && view.every(Number.isFinite) && view[0] < view[1] && view[2] < view[3]
        ? (view as Shared['view'])
        : null,
    color: text('color', plain.color),
    hidden: parts.has('hide') ? text('hide', '').split(',').filter(Boolean) : plain.hidden,
    tab: text('tab', plain.tab),
    as: text('as', plain.as),
    by: text('by', plain.by),
    space: whole('space', plain.space),
    query: text('q', plain.query),
    compare: text('compare', plain.compare),
    theme: text('theme', plain.theme),
    hole: whole('hole', plain.hole),
    holes: whole('holes', plain.holes),
    brackets: whole('brackets', plain.brackets),
    place:
      place.length === 2 && place.every((n) => Number.isSafeInteger(n) && n >= 0)
        ? (place as Shared['place'])
        : null,
    file: whole('file', plain.file),
    line: whole('line', plain.line),
    table: text('table', plain.table),
  };
}
