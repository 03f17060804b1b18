# SPDX-License-Identifier: Apache-2.0
"""Why values are alive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, slots=True)
class Use:
    """An instruction that reads a value."""

    instruction: str
    operand: int
    time: int | None


@dataclass(frozen=True, slots=True)
class Alias:
    """Where else a value is seen, or which other value lies in its place."""

    at: str
    is_other_value: bool
    rule: str


@dataclass(frozen=True, slots=True)
class Why:
    """What is known about one value."""

    value: str
    size: int
    start: int | None
    end: int | None
    held_by: str  # "last-use", "live-out", "parameter", "loop", "caller", "successor", "nobody"
    holder: str  # the instruction; may be empty
    is_donated: bool
    uses: tuple[Use, ...]
    aliases: tuple[Alias, ...]
    stack: tuple[str, ...]  # "train.py:42 step", outermost first
    neighbours: dict[str, str]  # "below", "above", "before", "after"


class Whys(Sequence[Why]):
    """One Why per value that a name means. Prints as the page of `stowplan explain --value`."""

    def __init__(self, whys: tuple[Why, ...], page: str) -> None:
        self._whys = whys
        self._page = page

    @overload
    def __getitem__(self, key: int) -> Why: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Why, ...]: ...
    def __getitem__(self, key: int | slice) -> Why | tuple[Why, ...]:
        return self._whys[key]

    def __len__(self) -> int:
        return len(self._whys)

    def __str__(self) -> str:
        return self._page.removesuffix("\n")

    def __repr__(self) -> str:
        return f"<why {', '.join(why.value for why in self._whys)}>"


def _why_of(value: dict[str, Any]) -> Why:
    return Why(
        value=value["value"],
        size=value["size"],
        start=value.get("start"),
        end=value.get("end"),
        held_by=value["held_by"],
        holder=value.get("holder", ""),
        is_donated=value["is_donated"],
        uses=tuple(
            Use(use["instruction"], use["operand"], use.get("time")) for use in value["uses"]
        ),
        aliases=tuple(
            Alias(alias["at"], alias["is_other_value"], alias["rule"]) for alias in value["aliases"]
        ),
        stack=tuple(
            f"{frame['file']}:{frame['line']} {frame.get('function', '')}".rstrip()
            for frame in value.get("stack", ())
        ),
        neighbours={
            key: value[key] for key in ("below", "above", "before", "after") if key in value
        },
    )


def whys_of(page: str, text: str) -> Whys:
    """From the page and the JSON of the command line."""
    return Whys(tuple(_why_of(value) for value in json.loads(text)["values"]), page)
