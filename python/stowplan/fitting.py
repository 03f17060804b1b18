# SPDX-License-Identifier: Apache-2.0
"""A program that needs less memory, for a little more work."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, arguments
from .errors import ArgumentError, Error
from .sizes import format_size
from .tables import frame, html_table

if TYPE_CHECKING:
    import pandas

    from .analysis import Analysis

_MOST_COST = 10.0  # of the program's own work
_COLUMNS = ("source", "operations", "parts", "instructions", "freed", "cost")


@dataclass(frozen=True, slots=True)
class FitLine:
    """What is computed again for one line of the source."""

    source: str | None  # "train.py:17"
    function: str | None  # that the line is in
    operations: str  # "exp, dot_general"
    parts: str | None  # "layers 3 to 12", as the program names them
    instructions: int
    times: int  # that they run, besides the first
    bytes: int  # of their results
    freed: int  # of these: no longer kept where memory was fullest
    cost: float  # 0.018: 1.8 % of the program's work
    in_loop: bool  # they are inside a loop, whose stacks they fill no more


@dataclass(frozen=True, slots=True)
class FitPoint:
    """A way to run the program, as the model expects it."""

    cost: float  # extra work; 0.1: 10 %
    bytes: int  # of main memory
    lines: tuple[FitLine, ...] | None  # None: not looked at, as for most points of a long curve


@dataclass(frozen=True, slots=True)
class FitRepeat:
    """An instruction that runs more than once."""

    instruction: str
    source: str | None
    op_name: str | None
    times: int  # besides the first
    bytes: int
    freed: int
    cost: float


@dataclass(frozen=True, slots=True)
class FitObstacle:
    """What fills the memory at its fullest, by what keeps it there."""

    kind: str  # "result"
    words: str
    bytes: int
    values: int
    largest: str | None  # the instruction that made the largest of them
    source: str | None


class Fit:
    """How a program fits into less memory. Prints as the page of `stowplan fit`."""

    def __init__(self, fit: _core.Fit) -> None:
        document: dict[str, Any] = json.loads(fit.json())
        self._fit = fit
        self._document = document
        self.budget: int | None = document.get("budget")
        self.fits: bool = document["fits"]
        self.given_bytes: int = document["given_bytes"]  # main memory, in the program's own order
        self.ordered_bytes: int = document["ordered_bytes"]  # in the best order
        self.bytes: int = document["bytes"]  # of the chosen point, planned and checked
        self.cost: float = document["cost"]  # of the chosen point; 0.1: 10 % more work
        self.machine: str | None = document.get("machine")  # whose figures were used
        self.bound: int = document["bound"]  # nothing needs less; 0: not known
        self.witness: str | None = document.get("witness")  # what runs when the bound is needed
        self.curve = tuple(
            FitPoint(row["cost"], row["bytes"], _lines_of(row.get("lines")))
            for row in document["curve"]
        )
        self.lines = _lines_of(document["lines"]) or ()
        self.repeats = tuple(
            FitRepeat(
                row["instruction"],
                row.get("source"),
                row.get("op_name"),
                row["times"],
                row["bytes"],
                row["freed"],
                row["cost"],
            )
            for row in document["repeats"]
        )
        self.fullest: str | None = document.get("fullest")  # what runs when memory is fullest
        self.obstacles = tuple(
            FitObstacle(
                row["kind"],
                row["words"],
                row["bytes"],
                row["values"],
                row.get("largest"),
                row.get("source"),
            )
            for row in document["obstacles"]
        )
        # Arguments by name, or "parameter 3" if the program does not name it.
        self.donated = tuple(
            row.get("argument") or f"parameter {row['parameters'][0]}"
            for row in document["donated"]
        )
        self.donation: str | None = document.get("donation")  # how to write it in JAX
        self.interrupted: bool = fit.interrupted  # Ctrl-C ended the search

    @property
    def saved(self) -> int:
        """The bytes of main memory that the chosen point saves."""
        return self.given_bytes - self.bytes

    @property
    def analysis(self) -> Analysis:
        """The changed program with its plan."""
        from .analysis import Analysis

        return Analysis(self._fit.plan())

    def module(self) -> bytes:
        """The changed program, in the format it came in; as text if arguments are donated."""
        return self._fit.module()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the changed program; if the name ends in .html, the chart."""
        from .show import write_bytes, write_whole

        name = arguments.path(path, "path")
        if name.endswith(".html"):
            write_whole(path, self.html())
            return
        if name.endswith(".pb") and self.donated:
            raise Error(
                "a program with donated arguments is written as HLO text, not as a proto\n"
                "  choose a name that ends in .txt"
            )
        write_bytes(path, self.module())

    def html(self) -> str:
        """The curve as one self-contained page, whose budget can be dragged."""
        return self._fit.html()

    def show(self) -> None:
        """Shows the curve: below the cell in a notebook, otherwise in the browser."""
        from .show import show_page

        show_page(self.html(), self._document["module"])

    def to_json(self) -> dict[str, Any]:
        """The output of `stowplan fit --format=json`."""
        document: dict[str, Any] = json.loads(self._fit.json())
        return document

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per source line that is computed again."""
        return frame(self.lines, _COLUMNS)

    def __str__(self) -> str:
        return self._fit.page().removesuffix("\n")

    def __repr__(self) -> str:
        return (
            f"<stowplan.Fit {self._document['module']}: {format_size(self.bytes)} instead of "
            f"{format_size(self.given_bytes)} at {self.cost:+.1%} work>"
        )

    def _repr_html_(self) -> str:
        return html_table(self.lines, _COLUMNS)


def _lines_of(rows: list[dict[str, Any]] | None) -> tuple[FitLine, ...] | None:
    if rows is None:
        return None
    return tuple(
        FitLine(
            row.get("source"),
            row.get("function"),
            row["operations"],
            row.get("parts"),
            row["instructions"],
            row["times"],
            row["bytes"],
            row["freed"],
            row["cost"],
            row.get("in_loop", False),
        )
        for row in rows
    )


def cost_of(value: Any) -> float:
    """0.1 and "10%" mean the same."""
    wanted = "expected extra work such as 0.1 or '10%', from 0 to 10 (1000%)"
    number: float | None = None
    if isinstance(value, str) and value.strip().endswith("%"):
        try:
            number = float(value.strip()[:-1]) / 100
        except ValueError:
            number = None
    elif not isinstance(value, bool | str | bytes):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = None
    if number is None:
        raise ArgumentError(f"max_cost={arguments.shown(value)}: {wanted}")
    if not 0 <= number <= _MOST_COST:
        raise Error(f"max_cost={arguments.shown(value)}: {wanted}")
    return number


def uses_of(value: Any) -> str:
    """A list of words, or one text with commas."""
    if isinstance(value, str):
        return arguments.encodable(value)
    wanted = "expected words such as ('pack', 'order', 'recompute')"
    if not isinstance(value, Iterable):
        raise ArgumentError(f"use={arguments.shown(value)}: {wanted}")
    words = list(value)
    if not all(isinstance(word, str) for word in words):
        raise ArgumentError(f"use={arguments.shown(value)}: {wanted}")
    return arguments.encodable(",".join(words))


def rate_of(value: Any, name: str) -> float:
    """A number for each second; 0 for None."""
    if value is None:
        return 0.0
    wanted = "expected a number for each second, above 0, such as 2.7e12"
    if isinstance(value, bool | str | bytes):
        raise ArgumentError(f"{name}={arguments.shown(value)}: {wanted}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={arguments.shown(value)}: {wanted}") from None
    if not (number > 0 and math.isfinite(number)):
        raise Error(f"{name}={arguments.shown(value)}: {wanted}")
    return number
