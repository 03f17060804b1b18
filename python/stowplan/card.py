# SPDX-License-Identifier: Apache-2.0
"""The card that a notebook shows for an Analysis: the peak, the map, and what fills the peak.

Self-contained HTML and SVG: no script, no font, no network. Follows the notebook's light or dark
theme. All figures come from the core; names from the program are always shown as plain text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .card_text import STYLE, clean, color_of, short_path, short_size
from .sizes import format_size

if TYPE_CHECKING:
    from .analysis import Analysis
    from .tables import Table

_ROWS = 8  # of a table
_NOTES = 6


def _figure(title: str, size: str, rest: str) -> str:
    return (
        f'<div><div class="st-faint">{title}</div><div class="st-big">{size}</div>'
        f'<div class="st-faint">{rest}</div></div>'
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _figures(r: Analysis) -> str:
    parts = []
    if r.has_peak:
        peak = r.peak
        when = f"at t={peak.time} {clean(peak.instruction, 60)}".rstrip()
        title = f"Peak of {clean(str(peak.space), 40)}" if len(peak.spaces) > 1 else "Peak"
        parts.append(_figure(title, short_size(peak.bytes), f"{peak.bytes} bytes {when}"))
    parts.append(
        _figure(
            "Allocated",
            short_size(r.total_bytes),
            f"{r.total_bytes} bytes in {_count(len(r.allocations), 'allocation')} of "
            f"{_count(len(r.values), 'value')}",
        )
    )
    return f'<div class="st-figures">{"".join(parts)}</div>'


def _share(part: int, whole: int) -> str:
    return f'<i style="width:{100 * part / whole if whole > 0 else 0:.1f}%"></i>'


def _table(caption: str, head: Iterable[str], rows: Iterable[str]) -> str:
    return (
        f'<div><table class="st-table"><caption>{caption}</caption><thead><tr>{"".join(head)}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _column(name: str, is_number: bool = False) -> str:
    return f'<th scope="col"{" class=st-number" if is_number else ""}>{name}</th>'


def _owners(table: Table, caption: str, column: str, has_colors: bool) -> str:
    """The largest rows of the peak; the last row has the rest."""
    tops = [row for row in table if row.depth == 0]
    shown = tops if len(tops) <= _ROWS + 1 else tops[:_ROWS]

    def line(name: str, size: int, color: str | None, full: str = "") -> str:
        swatch = f'<span class="st-swatch" style="background:{color}"></span>' if color else ""
        return (
            f'<tr><th scope="row"{" class=st-kind" if color else ""}>{swatch}'
            f"<bdi{full}>{name}</bdi></th>"
            f'<td class="st-number">{format_size(size)}</td>'
            f'<td class="st-share" aria-hidden="true">{_share(size, table.bytes)}</td></tr>'
        )

    lines = [
        line(
            clean(short_path(row.name), 80),
            row.bytes,
            color_of(row.name) if has_colors else None,
            f' title="{clean(row.name)}"' if short_path(row.name) != row.name else "",
        )
        for row in shown
    ]
    if len(shown) < len(tops):
        rest = table.bytes - sum(row.bytes for row in shown)
        lines.append(line(f"and {len(tops) - len(shown)} more", rest, None))
    # The bars repeat the numbers.
    head = [_column(column), _column("bytes", True), '<td aria-hidden="true"></td>']
    return _table(caption, head, lines)


def _spaces(r: Analysis) -> str:
    lines = []
    for space in r.spaces:
        name = f"S({space.color}) {clean(space.name, 40)}".rstrip()
        most = "not known" if space.peak is None else format_size(space.peak)
        lines.append(
            f'<tr><th scope="row">{name}</th><td class="st-number">{format_size(space.bytes)}</td>'
            f'<td class="st-number">{most}</td></tr>'
        )
    head = [_column("memory space"), _column("allocated", True), _column("most live", True)]
    return _table("Memory spaces", head, lines)


def _notes(notes: list[str]) -> str:
    if not notes:
        return ""
    lines = [f"<li>{clean(note, 400)}</li>" for note in notes[:_NOTES]]
    if len(notes) > _NOTES:
        lines.append(f"<li>and {len(notes) - _NOTES} more in .notes</li>")
    return f'<ul class="st-notes">{"".join(lines)}</ul>'


def _map(r: Analysis, notes: list[str]) -> str:
    space = r.main_space
    if space is None or not r.has_peak or not space.bytes:
        return ""
    try:
        import numpy  # noqa: F401
    except ImportError:
        notes.append("The map needs NumPy: pip install 'stowplan[notebook]'")
        return ""
    from .card_map import draw

    picture = draw(r, space)
    if len(r.spaces) > 1:
        name = clean(space.name or f"S({space.color})", 40)
        return f'<div class="st-faint">{name}</div>{picture}'
    return picture


def card(r: Analysis) -> str:
    """The card as HTML, less than 300 kB however large the program is."""
    notes = r.notes
    target = "" if r.target == r.backend.lower() else r.target
    where = " · ".join(filter(None, (r.backend, target, f"plan: {r.plan}")))
    picture = _map(r, notes)
    tables = []
    if r.has_peak:
        tables.append(_owners(r.peak_by("source"), "At the peak, by source", "source", False))
        tables.append(_owners(r.peak_by("kind"), "At the peak, by kind", "kind", True))
    if len(r.spaces) > 1 or not r.has_peak:
        tables.append(_spaces(r))
    return (
        # Names may hold dollars, which a notebook would take for formulas.
        '<div class="stowplan-card tex2jax_ignore mathjax_ignore">'
        f"<style>{STYLE}</style>"
        f'<div class="st-head"><span class="st-name"><bdi>{clean(r.name, 200)}</bdi></span>'
        f'<span class="st-faint">{clean(where, 300)}</span></div>'
        f"{_figures(r)}{picture}"
        f'<div class="st-tables">{"".join(tables)}</div>{_notes(notes)}</div>'
    )
