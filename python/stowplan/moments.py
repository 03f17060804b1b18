# SPDX-License-Identifier: Apache-2.0
"""What is live at a moment, and over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import Error
from .sizes import format_size
from .tables import Rows, Table, frame_of

if TYPE_CHECKING:
    import numpy
    import pandas
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Share:
    """What one value owns at a moment."""

    value: int  # its row
    name: str
    bytes: int  # padding among them
    padding: int
    kind: str
    shape: str
    source: str


class _KeptTables:
    """The tables of a moment that came from another process."""

    def __init__(self, tables: dict[str, Table]) -> None:
        self._tables = tables

    def __call__(self, by: str) -> Table:
        if by not in self._tables:
            raise Error(f"memory cannot be split by `{by}`\n  use {', '.join(self._tables)}")
        return self._tables[by]


_QUESTIONS = ("value", "source", "stack", "op_name", "parameter", "kind", "footprint")


class Moment:
    """What is live at one moment: every byte belongs to one value."""

    def __init__(
        self,
        time: int,
        instruction: str,
        space: int | None,
        bytes: int,
        shares: Rows[Share],
        table: Callable[[str], Table],
    ) -> None:
        self.time = time
        self.instruction = instruction
        self.space = space
        self.bytes = bytes
        self.shares = shares  # by falling bytes
        self._table = table

    def by(self, what: str = "source") -> Table:
        """The same bytes by source line, op_name, parameter, kind, ..."""
        return self._table(what)

    # All tables are made now: another process has no plan to make them from.
    def __reduce__(self) -> tuple[Any, ...]:
        tables = _KeptTables({by: self.by(by) for by in _QUESTIONS})
        facts = (self.time, self.instruction, self.space, self.bytes, self.shares, tables)
        return Moment, facts

    def __repr__(self) -> str:
        values = "1 value" if len(self.shares) == 1 else f"{len(self.shares)} values"
        return f"<t={self.time} {self.instruction}: {format_size(self.bytes)} of {values}>"

    def __str__(self) -> str:
        return str(self.by("value"))

    def _repr_html_(self) -> str:
        return self.shares._repr_html_()

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per value."""
        return self.shares.to_pandas()


class Curve:
    """Live bytes over time: a step at each moment where they change."""

    def __init__(self, space: int | None, steps: NDArray[numpy.int64]) -> None:
        self.space = space
        self.steps = steps  # a view of pairs (time, bytes)

    @property
    def times(self) -> NDArray[numpy.int64]:
        return self.steps[:, 0]

    @property
    def bytes(self) -> NDArray[numpy.int64]:
        """From each time to the next."""
        return self.steps[:, 1]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        where = "all memory spaces" if self.space is None else f"memory space {self.space}"
        most = format_size(int(self.bytes.max(initial=0)))
        return f"<{len(self)} steps of {where}, at most {most}>"

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per step."""
        return frame_of({"time": self.times, "bytes": self.bytes})
