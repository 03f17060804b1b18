# SPDX-License-Identifier: Apache-2.0
"""What would save memory: each change is applied to the program, planned again and checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from .tables import frame, html_table

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("saved", "saved_peak", "what", "how")


@dataclass(frozen=True, slots=True)
class Advice:
    """A change, and what it saves: the difference between two whole plans."""

    saved: int  # bytes of the allocations in the memory space
    saved_peak: int  # of its true peak; can be negative
    what: str  # "donate the argument params (4 parameters)"
    how: str  # what to write, or which command to run
    notes: tuple[str, ...]
    edits: tuple[dict[str, Any], ...]
    after: dict[str, Any]  # figures


@dataclass(frozen=True, slots=True)
class Donation:
    """An argument that was tried for donation."""

    argument: str
    is_donated: bool  # it is already
    saved: int | None  # None: nothing takes it, or it could not be planned
    refused: tuple[str, ...]  # why, parameter by parameter


class AdviceList(Sequence[Advice]):
    """Advice, largest savings first. Prints as the page of `stowplan explain --advice`."""

    def __init__(self, document: dict[str, Any], page: str, interrupted: bool) -> None:
        self.space: int = document["space"]
        self.advice = tuple(_advice_of(row) for row in document["advice"])
        # The best combination of changes that was found.
        self.together = _advice_of(document["together"]) if "together" in document else None
        self.donations = tuple(
            Donation(
                row["argument"],
                row["donated"],
                row.get("saved_bytes"),
                tuple(refusal["reason"] for refusal in row["refused"]),
            )
            for row in document["donations"]
        )
        self.before: dict[str, Any] = document["before"]
        self.tried: int = document["tried"]
        self.untried: int = document["untried"]  # time ran out
        self.unsound: int = document["unsound"]  # left out because values would be lost
        self.notes: list[str] = document["not_known"]
        self.interrupted = interrupted  # Ctrl-C ended the search
        self._page = page

    @overload
    def __getitem__(self, key: int) -> Advice: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Advice, ...]: ...
    def __getitem__(self, key: int | slice) -> Advice | tuple[Advice, ...]:
        return self.advice[key]

    def __len__(self) -> int:
        return len(self.advice)

    def __str__(self) -> str:
        return self._page.removesuffix("\n")

    def __repr__(self) -> str:
        pieces = "1 piece" if len(self.advice) == 1 else f"{len(self.advice)} pieces"
        return f"<{pieces} of advice, {self.tried} tried>"

    def _repr_html_(self) -> str:
        return html_table(self.advice, _COLUMNS)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per piece of advice."""
        return frame(self.advice, _COLUMNS)


def _advice_of(row: dict[str, Any]) -> Advice:
    return Advice(
        row["saved_bytes"],
        row["saved_peak"],
        row["what"],
        row["how"],
        tuple(row["notes"]),
        tuple(row["edits"]),
        row["after"],
    )


def advice_of(text: str, page: str, interrupted: bool) -> AdviceList:
    """From the JSON and the page of the command line."""
    return AdviceList(json.loads(text), page, interrupted)
