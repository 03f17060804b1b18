# SPDX-License-Identifier: Apache-2.0
"""diff: what changed between two plans, in terms that add up."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, arguments
from .analysis import Analysis
from .inputs import plan_of
from .tables import frame, html_table

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("bytes", "term", "name", "values")


@dataclass(frozen=True, slots=True)
class Cause:
    """What a single edit changed."""

    name: str  # "8 -> 16", "model.py:12", "argument params"
    bytes: int
    term: str  # that with the most bytes: "grown", "new", "sharing lost", ...
    values: int
    terms: dict[str, int]  # they add up to `bytes`
    details: dict[str, Any]  # as `stowplan diff --format=json` has them


@dataclass(frozen=True, slots=True)
class SpaceDiff:
    """What changed in a memory space, or in all of them together."""

    space: int | None  # None: all together
    peak_a: int | None  # None: not known
    peak_b: int | None
    bytes_a: int  # allocated
    bytes_b: int
    terms: dict[str, int]
    causes: tuple[Cause, ...]  # those of the peak add up to its change

    @property
    def peak_change(self) -> int | None:
        return None if self.peak_a is None or self.peak_b is None else self.peak_b - self.peak_a

    @property
    def change(self) -> int:
        return self.bytes_b - self.bytes_a


class DiffResult:
    """What changed from a to b. It is true if something did.

    Prints as the page of `stowplan diff`.
    """

    def __init__(
        self, a: Analysis, b: Analysis, document: dict[str, Any], page: str, markdown: str
    ) -> None:
        self.a = a
        self.b = b
        self.differs: bool = document["differs"]
        self.spaces = tuple(_space_of(space) for space in document["spaces"])
        self.markdown = markdown  # for a pull request
        self.json = document
        self._page = page

    @property
    def together(self) -> SpaceDiff:
        """All memory spaces."""
        return self.spaces[0]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes for all memory spaces together, largest first."""
        return self.together.causes

    @property
    def peak_change(self) -> int | None:
        return self.together.peak_change

    @property
    def change(self) -> int:
        """The change in the bytes of all allocations."""
        return self.together.change

    def __bool__(self) -> bool:
        return self.differs

    def __str__(self) -> str:
        return self._page.removesuffix("\n")

    def __repr__(self) -> str:
        return f"<diff of {self.a.name} and {self.b.name}: {self.change:+d} bytes>"

    def _repr_html_(self) -> str:
        return html_table(self.causes, _COLUMNS)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per cause."""
        return frame(self.causes, _COLUMNS)

    def html(self) -> str:
        """The viewer with both plans side by side."""
        return self.a._plan.html(self.b._plan)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the viewer to a file."""
        from .show import write_whole

        write_whole(path, self.html())


def _space_of(space: dict[str, Any]) -> SpaceDiff:
    peaks = [space[key]["bytes"] if key in space else None for key in ("peak_a", "peak_b")]
    return SpaceDiff(
        space=None if space["space"] == "all" else space["space"],
        peak_a=peaks[0],
        peak_b=peaks[1],
        bytes_a=space["footprint_a"]["bytes"],
        bytes_b=space["footprint_b"]["bytes"],
        terms=space.get("terms", {}),
        causes=tuple(
            Cause(
                cause["cause"],
                cause["bytes"],
                cause["main_term"],
                cause["values"],
                cause["terms"],
                cause,
            )
            for cause in space["causes"]
        ),
    )


def diff(
    a: Any,
    b: Any,
    *,
    by: str = "cause",
    limit: int = 8,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
) -> DiffResult:
    """What changed from `a` to `b`; both are anything that `analyze` takes.

    `by` is "cause", "source", "op_name", "kind", "term" or "value". The page shows at most `limit`
    causes; 0 shows all.
    """
    by = arguments.text(by, "by", 'a word such as "cause" or "source"') or "cause"
    shown = arguments.rows(limit)
    # The settings apply only to inputs that are not plans yet.
    first, second = (
        x
        if isinstance(x, Analysis)
        else plan_of(x, target=target, xla_version=xla_version, module=module)
        for x in (a, b)
    )
    document, page, markdown = _core.diff(first._plan, second._plan, by, shown)
    return DiffResult(first, second, json.loads(document), page, markdown)
