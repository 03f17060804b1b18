# SPDX-License-Identifier: Apache-2.0
"""The picture of a notebook's card: live bytes over time, and below it where values lie.

    bytes  |      ___          the curve
           |  ___/   |__
           +-----------------> program order
    place  | ####  ######      the map: allocations on top of each other, heaps highest,
           | ##########        one rectangle per value
           +----------------->

Only what can be seen is drawn: the largest values get a rectangle, small ones are merged into a
coarse grid, so the picture of any program stays small. Figures come from the core.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .card_text import COLORS, DARK_KINDS, clean, short_size
from .sizes import format_size

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from .analysis import Analysis, Space

_LEFT, _WIDTH = 72, 800  # of the pictures inside of the drawing
_CURVE_TOP, _CURVE_HEIGHT = 20, 92
_MAP_TOP, _MAP_HEIGHT = 136, 232
_CELL_WIDTH, _CELL_HEIGHT = 4, 4  # of the grid for what is small
_RECTANGLES = 600
_MANY = 150_000  # characters of rectangles; names are left out first
_LABELS, _LABEL_HEIGHT, _LETTER = 40, 12, 6.2  # names inside of rectangles

# Allocations of these kinds are stacked in this order.
_ORDER = ("parameters", "aliased", "outputs", "constants", "thread-local", "temporaries")


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Values in units of the drawing, one row each; y grows upwards."""

    rows: NDArray[numpy.int64]
    left: NDArray[numpy.float64]
    right: NDArray[numpy.float64]
    bottom: NDArray[numpy.float64]
    top: NDArray[numpy.float64]


def _boxes(r: Analysis, space: Space, moments: int) -> _Boxes:
    import numpy

    allocations = [a for a in r.allocations if a.space == space.color]
    allocations.sort(key=lambda a: (_ORDER.index(a.kind), -a.size, a.row))
    base = numpy.zeros(len(r.allocations), numpy.float64)
    height = 0
    for allocation in allocations:
        base[allocation.row] = height
        height += allocation.size
    a = r.arrays
    rows = (
        (a.colors == space.color) & (a.starts >= 0) & (a.allocations >= 0) & (a.sizes > 0)
    ).nonzero()[0]
    per_byte, per_moment = _MAP_HEIGHT / max(1, height), _WIDTH / moments
    bottom = base[a.allocations[rows]] + a.offsets[rows]
    return _Boxes(
        rows,
        a.starts[rows] * per_moment,
        (a.ends[rows] + 1) * per_moment,
        bottom * per_byte,
        (bottom + a.sizes[rows]) * per_byte,
    )


def _merged(r: Analysis, boxes: _Boxes, small: NDArray[numpy.bool_]) -> Iterator[str]:
    """Small values: cells of a grid, each in the color of the value that covers its middle."""
    import numpy

    columns, lines = _WIDTH // _CELL_WIDTH, _MAP_HEIGHT // _CELL_HEIGHT

    def cells(edge: NDArray[numpy.float64], size: int, count: int) -> NDArray[numpy.int64]:
        return numpy.ceil(edge / size - 0.5).astype(numpy.int64).clip(0, count)

    x0, x1 = (cells(edge, _CELL_WIDTH, columns) for edge in (boxes.left, boxes.right))
    y0, y1 = (cells(edge, _CELL_HEIGHT, lines) for edge in (boxes.bottom, boxes.top))
    # Most small values cover no middle: about as many do as there are cells.
    covering = (small & (x0 < x1) & (y0 < y1)).nonzero()[0]
    owners = numpy.full((lines, columns), -1, numpy.int64)
    for at in covering.tolist():
        owners[y0[at] : y1[at], x0[at] : x1[at]] = at
    kinds = list(COLORS)
    kind_of = numpy.full(len(boxes.rows) + 1, -1, numpy.int64)  # the last: no value
    for at in numpy.unique(owners[owners >= 0]).tolist():
        kind_of[at] = kinds.index(r.values[int(boxes.rows[at])].kind)
    grid = kind_of[owners]
    for number, kind in enumerate(kinds):
        path = "".join(_runs(grid == number, lines))
        if path:
            yield (
                f'<path transform="translate({_LEFT} {_MAP_TOP}) scale({_CELL_WIDTH} '
                f'{_CELL_HEIGHT})" stroke="{COLORS[kind]}" stroke-opacity=".75" d="{path}"/>'
            )


def _runs(covered: NDArray[numpy.bool_], lines: int) -> Iterator[str]:
    import numpy

    edges = numpy.diff(covered.astype(int), axis=1, prepend=0, append=0)
    for line in range(lines):
        begins, ends = (edges[line] == 1).nonzero()[0], (edges[line] == -1).nonzero()[0]
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            yield f"M{begin} {lines - line - 0.5}h{end - begin}"


_AXIS = 'class="st-axis" fill="#545c66"'


def _text(x: float, y: float, words: str, anchor: str = "start", extra: str = _AXIS) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{words}</text>'


def _rectangles(r: Analysis, boxes: _Boxes, large: NDArray[numpy.int64]) -> Iterator[str]:
    """Large values by kind, each with a tooltip."""
    by_kind: dict[str, list[str]] = {}
    labels: list[str] = []
    room = _MANY
    for at in large.tolist():
        value = r.values[int(boxes.rows[at])]
        left, right = float(boxes.left[at]), float(boxes.right[at])
        bottom, top = float(boxes.bottom[at]), float(boxes.top[at])
        title = (
            f"{clean(value.name, 80)}\n{format_size(value.size)}, t={value.start} to {value.end}"
            f"\n{clean(value.shape, 60)}\n{clean(value.parameter or value.source, 100)}"
        ).rstrip("\n")
        words = (
            f'<rect x="{_LEFT + left:.1f}" y="{_MAP_TOP + _MAP_HEIGHT - top:.1f}" '
            f'width="{right - left:.1f}" height="{top - bottom:.1f}">'
        )
        room -= len(title) + len(words)
        words += f"<title>{title}</title></rect>" if room > 0 else "</rect>"
        by_kind.setdefault(value.kind, []).append(words)
        name = value.parameter or value.name
        fitting = min(int((right - left - 8) / _LETTER), 60)
        is_room = fitting >= min(len(name), 16) and top - bottom >= _LABEL_HEIGHT
        if is_room and len(labels) < _LABELS:
            x, y = _LEFT + left + 5, _MAP_TOP + _MAP_HEIGHT - (top + bottom) / 2 + 3.5
            color = "#fff" if value.kind in DARK_KINDS else "#111"
            labels.append(_text(x, y, clean(name, fitting), extra=f'class="st-in" fill="{color}"'))
    for kind in COLORS:
        if kind in by_kind:
            yield f'<g fill="{COLORS[kind]}">{"".join(by_kind[kind])}</g>'
    yield from labels


def _curve(r: Analysis, space: Space, moments: int) -> str:
    """The maximum of live bytes in each column, as an area."""
    import numpy

    steps = r.curve(space.color).steps
    if not len(steps):
        return ""
    column = (steps[:, 0] * _WIDTH // moments).clip(0, _WIDTH - 1)
    highest = numpy.zeros(_WIDTH, numpy.int64)
    # A column begins with what was live before.
    before = numpy.searchsorted(steps[:, 0] * _WIDTH, numpy.arange(_WIDTH) * moments, "right") - 1
    highest[before >= 0] = steps[before[before >= 0], 1]
    numpy.maximum.at(highest, column, steps[:, 1])
    bottom = _CURVE_TOP + _CURVE_HEIGHT
    heights = highest * (_CURVE_HEIGHT / max(1, space.bytes))
    words = [f"M{_LEFT} {bottom}"]
    last = None
    for x, height in enumerate(heights.tolist()):
        y = f"{bottom - height:.1f}"
        if y != last:
            words.append(f"H{_LEFT + x}V{y}")
            last = y
    words.append(f"H{_LEFT + _WIDTH}V{bottom}Z")
    return f'<path class="st-curve" fill="#5b7a99" d="{"".join(words)}"/>'


def _axes(space: Space, moments: int) -> Iterator[str]:
    full = short_size(space.bytes)
    for top, height in ((_CURVE_TOP, _CURVE_HEIGHT), (_MAP_TOP, _MAP_HEIGHT)):
        yield (
            f'<rect class="st-ground" fill="#f4f6f8" x="{_LEFT}" y="{top}" width="{_WIDTH}" '
            f'height="{height}"/>'
        )
        yield _text(_LEFT - 6, top + 9, full, "end")
        yield _text(_LEFT - 6, top + height, "0", "end")
    yield _text(_LEFT - 6, _CURVE_TOP + _CURVE_HEIGHT / 2 + 4, "live", "end")
    yield _text(_LEFT - 6, _MAP_TOP + _MAP_HEIGHT / 2 + 4, "placed", "end")
    below = _MAP_TOP + _MAP_HEIGHT + 15
    yield _text(_LEFT, below, "t=0")
    yield _text(_LEFT + _WIDTH / 2, below, "program order", "middle")
    yield _text(_LEFT + _WIDTH, below, f"t={moments - 1}", "end")


def _peak(space: Space, moments: int) -> Iterator[str]:
    if space.peak is None or space.time is None:
        return
    x = _LEFT + (space.time + 0.5) * _WIDTH / moments
    y = _CURVE_TOP + _CURVE_HEIGHT * (1 - space.peak / max(1, space.bytes))
    yield (
        f'<path class="st-peak" stroke="#b3261e" stroke-dasharray="4 3" fill="none" '
        f'd="M{x:.1f} {_CURVE_TOP}V{_MAP_TOP + _MAP_HEIGHT}"/>'
        f'<circle class="st-dot" fill="#b3261e" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    )
    is_left = x > _LEFT + _WIDTH / 2
    yield _text(
        x - 5 if is_left else x + 5,
        _CURVE_TOP - 7,
        f"peak {short_size(space.peak)} at t={space.time} {clean(space.instruction, 50)}".rstrip(),
        "end" if is_left else "start",
        'class="st-label" fill="#b3261e"',
    )


def draw(r: Analysis, space: Space) -> str:
    """The map and the curve of a memory space, as SVG. Needs NumPy and live ranges."""
    import numpy

    ends = r.arrays.ends
    curve = r.curve(space.color)
    moments = 1 + max(
        int(ends.max(initial=0)), int(curve.times[-1]) if len(curve) else 0, space.time or 0
    )
    boxes = _boxes(r, space, moments)
    width, height = boxes.right - boxes.left, boxes.top - boxes.bottom
    # Largest first, so that what lies in others is above them.
    order = numpy.lexsort((boxes.rows, -width * height))
    order = order[(width[order] >= 1) & (height[order] >= 0.8)][:_RECTANGLES]
    is_small = numpy.ones(len(boxes.rows), bool)
    is_small[order] = False
    name = clean(r.name, 80)
    parts = [
        f'<svg class="st-map" role="img" viewBox="0 0 {_LEFT + _WIDTH + 8} '
        f'{_MAP_TOP + _MAP_HEIGHT + 22}" width="100%" font-size="11" '
        'xmlns="http://www.w3.org/2000/svg">',
        f"<title>Memory of {name}</title>",
        f"<desc>Above: live bytes in program order, of {format_size(space.bytes)} that are "
        f"allocated. Below: where {len(boxes.rows)} values lie, {len(order)} of them drawn one by "
        "one. The tables below say the same in numbers.</desc>",
        *_axes(space, moments),
        _curve(r, space, moments),
        '<g fill="none" stroke-width="1">',
        *_merged(r, boxes, is_small),
        '</g><g class="st-values">',
        *_rectangles(r, boxes, order),
        "</g>",
        *_peak(space, moments),
        "</svg>",
    ]
    return "".join(parts)
