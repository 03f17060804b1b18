# SPDX-License-Identifier: Apache-2.0
"""Rows with names, and sequences of them that become pandas frames and HTML."""

from __future__ import annotations

import html
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import arguments
from .errors import ArgumentError
from .sizes import format_size

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Value:
    """What an instruction computes, and where it is."""

    row: int  # in `Analysis.values` and in all arrays
    name: str  # "fusion.3{0}"
    instruction: str
    shape: str
    kind: str  # "parameter", "activation", "temporary", ...
    size: int
    padding: int  # bytes of the size
    allocation: int  # XLA's number; -1: none
    offset: int
    space: int  # the memory space's color
    start: int | None  # the live range, both ends inclusive; None: not known
    end: int | None
    op_name: str
    source: str  # "train.py:42"
    parameter: str  # the path of the parameter that it lies in


@dataclass(frozen=True, slots=True)
class Allocation:
    """A piece of memory, and the values in it."""

    row: int  # in `Analysis.allocations`
    number: int  # XLA's
    size: int
    space: int
    kind: str  # "parameters", "outputs", "temporaries", ...
    parameter: int | None  # its number
    path: str  # of the parameter: "params['w']"
    is_constant: bool
    is_thread_local: bool
    is_maybe_live_out: bool
    most_live: int | None  # bytes of it in use at once; None: not known
    values: tuple[int, ...]  # rows


@dataclass(frozen=True, slots=True)
class LiveRange:
    """When a value is alive: from start to end, both inclusive."""

    value: int  # its row
    name: str
    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a moment's bytes."""

    name: str  # "train.py:42", "params", "(no source)"
    parent: int | None  # the row above; None: there is none
    depth: int
    own: int  # bytes of this row alone
    bytes: int  # with all rows below it
    values: int  # how many values own them
    is_other: bool  # a name in parentheses: the rest, which has no answer
    value: int | None  # the row of the value, where it is one

    @property
    def size(self) -> str:
        return format_size(self.bytes)


T = TypeVar("T")


def frame_of(data: Any, columns: list[str] | None = None) -> pandas.DataFrame:
    """A pandas frame; the error says what to install if pandas is missing."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install 'stowplan[pandas]'") from error
    return pandas.DataFrame(data, columns=columns)


def frame(rows: Iterable[Any], columns: Sequence[str]) -> pandas.DataFrame:
    """The attributes `columns` of all rows, as a pandas frame."""
    return frame_of(
        [tuple(getattr(row, column) for column in columns) for row in rows], list(columns)
    )


def html_table(rows: Iterable[Any], columns: Sequence[str]) -> str:
    """The same for a notebook."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html.escape(arguments.written(getattr(row, column)))}</td>" for column in columns
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def more_than(shown: int, count: int) -> str:
    """How many rows a notebook does not show; empty: it shows all."""
    return f"<p>and {count - shown} more</p>" if count > shown else ""


def _count_of(rows: int) -> str:
    return "1 row" if rows == 1 else f"{rows} rows"


class Rows(Sequence[T], Generic[T]):
    """Rows that are made when they are accessed."""

    # How many of them a notebook shows.
    SHOWN = 20

    def __init__(
        self,
        count: int,
        make: Callable[[int], T],
        row_type: type[T],
        find: Callable[[str], int | None] | None = None,
    ) -> None:
        self._count = count
        self._make = make
        self._row_type = row_type
        self._find = find

    @property
    def columns(self) -> list[str]:
        return [field.name for field in fields(self._row_type)]  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, key: int | str) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> list[T]: ...
    def __getitem__(self, key: int | str | slice) -> T | list[T]:
        """A row by number or name, or a slice of rows."""
        if isinstance(key, slice):
            return [self._make(row) for row in range(*key.indices(self._count))]
        if isinstance(key, str):
            if self._find is None:
                raise ArgumentError("these rows have no names: they are found by number")
            found = self._find(key)
            if found is None:
                hint = arguments.nearest(key, (getattr(row, "name", "") for row in self))
                raise KeyError(f"there is no value {key!r}; {hint}".rstrip("; "))
            return self._make(found)
        try:
            key = operator.index(key)
        except TypeError:
            raise ArgumentError(
                f"rows are found by number, by name or as a slice, not by {arguments.shown(key)}"
            ) from None
        row = key + self._count if key < 0 else key
        if not 0 <= row < self._count:
            raise IndexError(f"there is no row {key} of {self._count}")
        return self._make(row)

    def __iter__(self) -> Iterator[T]:
        return (self._make(row) for row in range(self._count))

    def __contains__(self, key: object) -> bool:
        """Whether there is such a row, or one with this name."""
        if not isinstance(key, str) or self._find is None:
            return isinstance(key, self._row_type) and any(row == key for row in self)
        return self._find(key) is not None

    # All rows are made now: another process has no plan to make them from.
    def __reduce__(self) -> tuple[Any, ...]:
        return _kept_rows, (tuple(self), self._row_type, self._find is not None)

    def __repr__(self) -> str:
        return f"<{_count_of(self._count)} of {self._row_type.__name__}>"

    def _repr_html_(self) -> str:
        return html_table(self[: self.SHOWN], self.columns) + more_than(self.SHOWN, self._count)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one line per row."""
        return frame(self, self.columns)


def _kept_rows(rows: tuple[T, ...], row_type: type[T], has_names: bool) -> Rows[T]:
    """Rows that came from another process."""
    names: dict[str, int] = {}
    if has_names:
        for column in ("name", "instruction"):  # a name counts before an instruction
            for number, row in enumerate(rows):
                names.setdefault(getattr(row, column, ""), number)
    return Rows(len(rows), rows.__getitem__, row_type, names.get if has_names else None)


class _KeptPages:
    """The pages of a table that came from another process."""

    def __init__(self, first: str, whole: str) -> None:
        self._first = first
        self._whole = whole

    def __call__(self, limit: int) -> str:
        """Any limit other than the default gives the whole page."""
        return self._first if limit == PAGE_LIMIT else self._whole


PAGE_LIMIT = 30


class _Shown:
    """A row of a table as a notebook shows it."""

    def __init__(self, name: str, row: Row) -> None:
        self.name = name
        self.size = row.size
        self.values = row.values


class Table(Sequence[Row]):
    """What fills a moment, split one way: rows whose own bytes add up to `bytes`.

    Prints as the table of `stowplan explain --by`.
    """

    def __init__(
        self,
        by: str,
        time: int,
        space: int | None,
        bytes: int,
        rows: tuple[Row, ...],
        page: Callable[[int], str],
    ) -> None:
        self.by = by
        self.time = time
        self.space = space
        self.bytes = bytes
        self.rows = rows
        self._page = page

    @overload
    def __getitem__(self, key: int | str) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Row | tuple[Row, ...]:
        """A row by number or name, or a slice of rows."""
        if not isinstance(key, str):
            return self.rows[key]
        for row in self.rows:
            if row.name == key:
                return row
        hint = arguments.nearest(key, (row.name for row in self.rows))
        raise KeyError(f"there is no row {key!r}; {hint}".rstrip("; "))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        rows = _count_of(len(self.rows))
        return f"<{rows} by {self.by} at t={self.time}, {format_size(self.bytes)}>"

    def __str__(self) -> str:
        return self.page().removesuffix("\n")

    def page(self, limit: int = PAGE_LIMIT) -> str:
        """The table as the command line prints it, with at most `limit` rows; 0 shows all."""
        return self._page(arguments.rows(limit))

    # Pages are rendered now: another process has no plan to make them from.
    def __reduce__(self) -> tuple[Any, ...]:
        pages = _KeptPages(self.page(), self.page(0))
        return Table, (self.by, self.time, self.space, self.bytes, self.rows, pages)

    def _repr_html_(self) -> str:
        # Parts of the row above are indented.
        shown = [_Shown("\u2003" * row.depth + row.name, row) for row in self.rows[: Rows.SHOWN]]
        table = html_table(shown, ("name", "size", "values"))
        return table + more_than(Rows.SHOWN, len(self.rows))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one line per row."""
        return frame(self.rows, [field.name for field in fields(Row)])
