# SPDX-License-Identifier: Apache-2.0
"""The curve of a step as a chart for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .sizes import format_size

if TYPE_CHECKING:
    from .jax_fitted import StepCurve

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _MARGIN = 640, 320, 70, 40, 15


def chart(curve: StepCurve) -> str:
    """An SVG: memory against extra work. A click on a point shows what to call."""
    sizes = [p.measured.bytes if p.measured else p.bytes for p in curve.points]
    most_cost = max((p.cost for p in curve.points), default=0.0) or 1.0
    most, least = max(sizes, default=1), min(sizes, default=0)
    high = max(most - least, 1)

    def x(cost: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _MARGIN) * cost / most_cost

    def y(size: int) -> float:
        return _MARGIN + (_HEIGHT - _BOTTOM - _MARGIN) * (most - size) / high

    points = []
    for point, size in zip(curve.points, sizes, strict=True):
        said = f"{'' if point.measured else 'about '}{format_size(size)} at {point.cost:+.1%} work"
        call = html.escape(f"{said}: fit(..., budget={size})", quote=True)
        fill = "#1565c0" if point.measured else "#90caf9"
        points.append(
            f'<circle cx="{x(point.cost):.1f}" cy="{y(size):.1f}" r="5" fill="{fill}" '
            f'style="cursor:pointer" data-said="{call}" onclick="this.closest(\'figure\')'
            f".querySelector('figcaption').textContent=this.dataset.said\">"
            f"<title>{call}</title></circle>"
        )
    line = " ".join(f"{x(p.cost):.1f},{y(s):.1f}" for p, s in zip(curve.points, sizes, strict=True))
    bottom = _HEIGHT - _BOTTOM
    return (
        f'<figure style="margin:0"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        'role="img" font-family="sans-serif" font-size="11">'
        f'<path d="M{_LEFT},{_MARGIN}V{bottom}H{_WIDTH - _MARGIN}" fill="none" stroke="#888"/>'
        f'<polyline points="{line}" fill="none" stroke="#90caf9"/>{"".join(points)}'
        f'<text x="{_LEFT - 4}" y="{_MARGIN + 8}" text-anchor="end">{_short(most)}</text>'
        f'<text x="{_LEFT - 4}" y="{bottom}" text-anchor="end">{_short(least)}</text>'
        f'<text x="{_LEFT}" y="{bottom + 16}">as it is</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{bottom + 16}" text-anchor="end">'
        f"{most_cost:+.0%} work</text></svg>"
        "<figcaption>Dark points were compiled; click on one.</figcaption></figure>"
    )


def _short(size: int) -> str:
    return format_size(size).split(" ")[0]
