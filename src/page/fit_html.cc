// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <fmt/format.h>

#include "page/fit_page.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1f2328; --quiet: #59636e; --rule: #d1d9e0;
  --curve: #0969da; --area: #0969da1f; --line: #bc4c00; --wall: #59636e26; --bar: #0969da40; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --ink: #e6edf3; --quiet: #9198a1; --rule: #30363d; --curve: #58a6ff;
    --area: #58a6ff26; --line: #f0883e; --wall: #9198a133; --bar: #58a6ff40; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 20px 16px 48px; max-width: 1080px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 24px 0 6px; }
p { margin: 4px 0 12px; }
.quiet, caption, th { color: var(--quiet); }
#verdict { font-size: 17px; min-height: 2.9em; }
#verdict b { color: var(--line); }
svg { display: block; width: 100%; touch-action: none; user-select: none; }
svg text { fill: var(--quiet); font-size: 12px; }
.rule { stroke: var(--rule); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; }
.area { fill: var(--area); }
.dot { fill: var(--curve); }
.wall { fill: var(--wall); }
.budget { cursor: ns-resize; }
.budget line { stroke: var(--line); stroke-width: 2; }
.budget .grip { stroke: transparent; stroke-width: 44; }
.budget text { fill: var(--line); font-weight: 600; paint-order: stroke; stroke: var(--page);
  stroke-width: 4px; }
.budget:focus-visible { outline: none; }
.budget:focus-visible line:last-of-type { stroke-width: 4; }
.chosen { fill: var(--line); stroke: var(--page); stroke-width: 2; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 500; }
td, th { padding: 4px 0 4px 16px; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
td:first-child, th:first-child { text-align: left; padding-left: 0; white-space: normal;
  overflow-wrap: anywhere; min-width: 150px; }
td:first-child { background: linear-gradient(var(--bar), var(--bar)) no-repeat left bottom;
  background-size: var(--share, 0%) 3px; }
code { font: 13px ui-monospace, monospace; }
.given { stroke: var(--quiet); stroke-dasharray: 4 4; }
@media (max-width: 560px) {
  td, th { padding-left: 10px; }
  #lines td:nth-child(2), #lines th:nth-child(2) { display: none; }
  td:first-child, th:first-child { min-width: 0; }
}
)css";

constexpr std::string_view kBody = R"html(
<p id="verdict" role="status"></p>
<svg id="chart" role="group" aria-label="Memory against extra work"></svg>
<p class="quiet">Drag the line, or move it with the arrow keys. The curve is what the model expects; the
point that was asked for was planned and checked: <span id="planned"></span>.</p>
<h2>Computed again</h2>
<table id="lines"></table>
<p class="quiet" id="same"></p>
<div id="more"></div>
)html";

constexpr std::string_view kDraw = R"js(
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const points = data.curve.filter((point) => point.lines || point.cost === 0);
const top_bytes = Math.max(data.given_bytes, ...data.curve.map((point) => point.bytes));
const low_bytes = Math.min(data.bound, ...data.curve.map((point) => point.bytes));
const most_cost = Math.max(0.01, ...data.curve.map((point) => point.cost));
let budget = data.budget ?? points.at(-1).bytes;

const size = (bytes) => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; Math.abs(bytes) >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return bytes.toFixed(unit === 0 ? 0 : unit === 1 ? 1 : 2) + ' ' + units[unit];
};
const percent = (cost) => (cost === 0 ? '0 %' : '+' + (100 * cost).toFixed(1) + ' %');
const made = (parent, tag, attributes, text) => {
  const svg = parent.namespaceURI.endsWith('svg');
  const node = svg ? document.createElementNS(parent.namespaceURI, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes ?? {})) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
};
const chosen = () => points.find((point) => point.bytes <= budget);

// A round step that gives at most `count` marks.
const step_of = (range, count, base) => {
  let step = base ** Math.floor(Math.log(range / count) / Math.log(base));
  const factors = base === 2 ? [1, 2, 4] : [1, 2, 5, 10];
  return step * (factors.find((factor) => range / (step * factor) <= count) ?? base);
};

const chart = document.getElementById('chart');
let scale = {};
const layout = () => {
  const width = Math.max(280, chart.clientWidth);
  const height = Math.min(420, Math.max(260, width * 0.45));
  const box = { left: 72, right: width - 12, top: 12, bottom: height - 40 };
  const span = Math.max(1, top_bytes - low_bytes);
  const low = Math.max(0, low_bytes - span * 0.08);
  const high = top_bytes + span * 0.04;
  scale = {
    width, height, box, low, high,
    x: (cost) => box.left + (box.right - box.left) * (cost / most_cost),
    y: (bytes) => box.bottom - (box.bottom - box.top) * ((bytes - low) / (high - low)),
    bytes: (y) => low + ((box.bottom - y) / (box.bottom - box.top)) * (high - low),
  };
};
const draw_axes = () => {
  const { box, x, y, low, high, height } = scale;
  const step = step_of(high - low, 6, 2);
  for (let bytes = Math.ceil(low / step) * step; bytes <= high; bytes += step) {
    made(chart, 'line', { class: 'rule', x1: box.left, x2: box.right, y1: y(bytes), y2: y(bytes) });
    made(chart, 'text', { x: box.left - 8, y: y(bytes) + 4, 'text-anchor': 'end' }, size(bytes));
  }
  const across = step_of(most_cost * 100, scale.width < 500 ? 4 : 8, 10) / 100;
  for (let cost = 0; cost <= most_cost * 1.0001; cost += across) {
    const label = '+' + +(100 * cost).toFixed(1) + ' %';
    made(chart, 'text', { x: x(cost), y: box.bottom + 18, 'text-anchor': 'middle' }, label);
  }
  made(chart, 'text', { x: box.right, y: height - 4, 'text-anchor': 'end' }, 'extra work');
};
const draw_curve = () => {
  const { box, x, y } = scale;
  let path = '';
  for (const point of data.curve)
    path += path ? ` H${x(point.cost)} V${y(point.bytes)}` : `M${x(point.cost)} ${y(point.bytes)}`;
  path += ` H${box.right}`;
  made(chart, 'path', { class: 'area', d: `${path} V${box.bottom} H${box.left} Z` });
  if (data.witness) {
    made(chart, 'rect', { class: 'wall', x: box.left, width: box.right - box.left, y: y(data.bound),
      height: Math.max(0, box.bottom - y(data.bound)) });
    made(chart, 'text', { x: box.right - 6, y: Math.min(box.bottom - 4, y(data.bound) + 15),
      'text-anchor': 'end' }, 'proved: no less than ' + size(data.bound));
  }
  const given = y(data.given_bytes);
  made(chart, 'line', { class: 'given', x1: box.left, x2: box.right, y1: given, y2: given });
  made(chart, 'text', { x: box.right - 6, y: given + 15, 'text-anchor': 'end' },
    'as compiled: ' + size(data.given_bytes));
  made(chart, 'path', { class: 'curve', d: path });
  for (const point of points)
    made(chart, 'circle', { class: 'dot', r: 2.5, cx: x(point.cost), cy: y(point.bytes) });
};
)js";

constexpr std::string_view kMove = R"js(
let line, mark;
const draw = () => {
  const focused = document.activeElement === line;
  layout();
  chart.replaceChildren();
  chart.setAttribute('viewBox', `0 0 ${scale.width} ${scale.height}`);
  chart.style.height = scale.height + 'px';
  draw_axes();
  draw_curve();
  mark = made(chart, 'circle', { class: 'chosen', r: 6 });
  line = made(chart, 'g', { class: 'budget', tabindex: 0, role: 'slider', 'aria-label': 'Budget',
    'aria-orientation': 'vertical', 'aria-valuemin': Math.round(scale.low),
    'aria-valuemax': Math.round(scale.high) });
  made(line, 'line', { class: 'grip', x1: scale.box.left, x2: scale.box.right });
  made(line, 'line', { x1: scale.box.left, x2: scale.box.right });
  made(line, 'text');
  line.addEventListener('keydown', on_key);
  if (focused) line.focus();
  show();
};
const show = () => {
  const y = scale.y(budget);
  line.setAttribute('transform', `translate(0 ${y})`);
  line.setAttribute('aria-valuenow', Math.round(budget));
  line.setAttribute('aria-valuetext', size(budget));
  const text = line.querySelector('text');
  text.textContent = 'budget ' + size(budget);
  // Placed where it does not cover the curve.
  const is_high = budget * 2 > points[0].bytes + points.at(-1).bytes;
  text.setAttribute('x', is_high ? scale.box.right - 6 : scale.box.left + 6);
  text.setAttribute('text-anchor', is_high ? 'end' : 'start');
  text.setAttribute('y', y < scale.box.top + 24 ? 18 : -7);
  const point = chosen();
  mark.style.display = point ? '' : 'none';
  if (point) {
    mark.setAttribute('cx', scale.x(point.cost));
    mark.setAttribute('cy', scale.y(point.bytes));
  }
  show_verdict(point);
  show_lines(point);
};
const show_verdict = (point) => {
  const verdict = document.getElementById('verdict');
  verdict.replaceChildren();
  const say = (text) => verdict.append(text);
  say('A budget of ');
  made(verdict, 'b', {}, size(budget));
  if (point) {
    const saved = data.given_bytes ? Math.round(100 * (1 - point.bytes / data.given_bytes)) : 0;
    say(point.cost === 0 ? ' is met without extra work: ' : ` is met at ${percent(point.cost)} work: `);
    say(`${size(point.bytes)} instead of ${size(data.given_bytes)}` + (saved > 0 ? `, ${saved} % less.` : '.'));
  } else if (data.witness && budget < data.bound) {
    say(` cannot be met: whatever is reordered or computed again, it needs ${size(data.bound)} (when `);
    made(verdict, 'code', {}, data.witness);
    say(' runs).');
  } else {
    say(` was not met: the least that was found is ${size(points.at(-1).bytes)}.`);
  }
};
const show_lines = (point) => {
  const table = document.getElementById('lines');
  table.replaceChildren();
  const lines = point?.lines ?? [];
  const same = document.getElementById('same');
  same.textContent = lines.length
    ? 'The same instructions run again, so the results are the same to the last bit.' : 'Nothing.';
  if (!lines.length) return;
  const row = (tag, cells) => {
    const tr = made(table, 'tr');
    return cells.map((cell) => made(tr, tag, {}, cell));
  };
  row('th', ['source line', 'instructions', 'frees', 'work']);
  const most = Math.max(1, ...lines.map((item) => item.freed));
  for (const item of lines) {
    const [what] = row('td', ['', item.instructions, size(item.freed), percent(item.cost)]);
    made(what, 'code', {}, item.operations);
    what.append((item.source ? ' of ' + item.source : '') + (item.parts ? ' in ' + item.parts : ''));
    what.style.setProperty('--share', (100 * item.freed) / most + '%');
  }
};
const move_to = (bytes) => {
  budget = Math.round(Math.min(scale.high, Math.max(scale.low, bytes)));
  show();
};
const on_key = (event) => {
  const page = (scale.high - scale.low) / 100;
  const steps = { ArrowUp: page, ArrowRight: page, ArrowDown: -page, ArrowLeft: -page,
    PageUp: 10 * page, PageDown: -10 * page };
  if (event.key in steps) move_to(budget + steps[event.key]);
  else if (event.key === 'Home') move_to(scale.low);
  else if (event.key === 'End') move_to(scale.high);
  else return;
  event.preventDefault();
};
let dragging = false;
const follow = (event) => {
  const box = chart.getBoundingClientRect();
  move_to(scale.bytes(((event.clientY - box.top) / box.height) * scale.height));
};
chart.addEventListener('pointerdown', (event) => {
  dragging = true;
  chart.setPointerCapture(event.pointerId);
  follow(event);
  line.focus({ preventScroll: true });
  event.preventDefault();
});
chart.addEventListener('pointermove', (event) => dragging && follow(event));
for (const end of ['pointerup', 'pointercancel'])
  chart.addEventListener(end, () => (dragging = false));
addEventListener('resize', draw);

const show_rest = () => {
  document.getElementById('planned').textContent = `${size(data.bytes)} at ${percent(data.cost)} work`;
  const more = document.getElementById('more');
  if (data.donated.length) {
    made(more, 'h2', {}, 'Donated');
    const names = data.donated.map((item) => item.argument ?? 'parameter ' + item.parameters[0]);
    const p = made(more, 'p', {}, names.join(', ') + ': the caller may not use these arrays after the call. ');
    made(p, 'code', {}, data.donation);
  }
  if (!data.obstacles.length) return;
  made(more, 'h2', {}, 'What stands in the way of less, at the point that was planned');
  const p = made(more, 'p', { class: 'quiet' }, 'Memory is fullest when ');
  made(p, 'code', {}, data.fullest);
  p.append(' runs.');
  const table = made(more, 'table');
  const most = Math.max(1, ...data.obstacles.map((item) => item.bytes));
  for (const item of data.obstacles) {
    const tr = made(table, 'tr');
    const what = made(tr, 'td', {}, item.words);
    what.style.setProperty('--share', (100 * item.bytes) / most + '%');
    made(tr, 'td', {}, size(item.bytes));
  }
};
show_rest();
draw();
)js";

std::string HtmlText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Inside a script element, nothing may look like its end tag.
std::string InScript(std::string json) {
  for (size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string FitHtml(const Fitted& fitted, const FitOptions& options) {
  const std::string name = HtmlText(Printable(fitted.planned.name));
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}: memory against work</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>",
      name, kStyle);
  out += kBody;
  out += "<script type=\"application/json\" id=\"data\">";
  out += InScript(FitJson(fitted, options));
  out += "</script>\n<script>";
  out += kDraw;
  out += kMove;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace stowplan::page
