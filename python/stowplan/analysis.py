# SPDX-License-Identifier: Apache-2.0
"""Analysis: one plan, and every question about it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import _core, arguments
from .advice import AdviceList, advice_of
from .errors import ArgumentError, Error
from .fitting import Fit, cost_of, rate_of, uses_of
from .moments import Curve, Moment, Share
from .order import Order, order_of, tried_flags
from .ranges import LiveRanges, need_numpy
from .reconcile import Reconciliation, reconcile
from .sizes import format_size, parse_size
from .tables import Allocation, Row, Rows, Table, Value
from .why import Whys, whys_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy
    from numpy.typing import NDArray

    from .jax_inputs import Recompile


@dataclass(frozen=True, slots=True)
class Space:
    """A memory space: what is allocated in it, and the most that is ever live."""

    color: int
    name: str  # "HBM"; empty: it has none
    allocations: int
    bytes: int
    peak: int | None  # bytes; None: not known
    time: int | None
    instruction: str

    def is_named(self, word: str) -> bool:
        """Whether this is "HBM", "hbm", "S(0)" or "0"."""
        words = (self.name.lower(), f"s({self.color})", str(self.color))
        return word.strip().lower() in words and bool(word.strip())

    def __str__(self) -> str:
        return self.name or f"memory space {self.color}"


@dataclass(frozen=True, slots=True)
class Peak:
    """The most bytes that are ever live at once in the largest memory space."""

    bytes: int
    time: int
    instruction: str  # what runs then
    space: Space
    together: int  # the most that is live at once in all memory spaces
    spaces: tuple[Space, ...] = field(repr=False)  # all of them

    def __str__(self) -> str:
        where = f" of {self.space}" if len(self.spaces) > 1 else ""
        return f"{format_size(self.bytes)}{where} at t={self.time} {self.instruction}".rstrip()


@dataclass(frozen=True, slots=True)
class Arrays:
    """Facts about all values as NumPy arrays, one element per row. Views: nothing is copied."""

    allocations: NDArray[numpy.int64]  # rows of `Analysis.allocations`; -1: none
    offsets: NDArray[numpy.int64]
    sizes: NDArray[numpy.int64]
    colors: NDArray[numpy.int64]
    starts: NDArray[numpy.int64]  # -1: no live range
    ends: NDArray[numpy.int64]  # inclusive


def _color_of(space: object) -> int:
    return arguments.whole(space, "space", "the name or number of a memory space")


def _time_of(time: object) -> int | None:
    wanted = "a moment of the program, such as 13"
    return None if time is None else arguments.whole(time, "time", wanted)


class Analysis:
    """The plan of one program, and what follows from it. `stowplan.analyze` makes it."""

    def __init__(
        self,
        plan: _core.Plan,
        *,
        notes: tuple[str, ...] = (),
        stats: dict[str, int] | None = None,
        recompile: Recompile | None = None,
    ) -> None:
        self._plan = plan
        self._notes = notes
        self._stats = stats
        self._recompile = recompile

    # A plan never changes, so a copy can be the same object. It exists in this process only.
    def __copy__(self) -> Analysis:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Analysis:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            "an Analysis cannot be pickled or sent to another process\n"
            "  send what it was made from, or its results: rows, tables, to_json(), to_pandas()"
        )

    # What it is.

    @property
    def name(self) -> str:
        return self._plan.name

    @property
    def backend(self) -> str:
        """ "CPU", "GPU", "TPU"; empty: not known."""
        return self._plan.backend

    @property
    def target(self) -> str | None:
        """ "cpu", "gpu", "tpu-v5e", ...; None: not known."""
        return self._plan.target

    @property
    def plan(self) -> str:
        """Who made the plan."""
        return self._plan.whose

    @property
    def verdict(self) -> str:
        """ "sound", "unsound" or "unchecked": a given plan is unchecked until `check` is called."""
        return self._plan.verdict

    @property
    def notes(self) -> list[str]:
        """Warnings, what was chosen, and what could not be known."""
        try:
            unknown = self._plan.unknown
        except Error as error:  # a report that contradicts itself has a page, but no picture
            unknown = [str(error)]
        return [*self._notes, *self._plan.notes, *unknown]

    # How much.

    @property
    def total_bytes(self) -> int:
        """The size of all allocations."""
        return self._plan.bytes

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The memory spaces, by color."""
        return tuple(
            Space(
                color,
                name,
                allocations,
                size,
                peak if peak >= 0 else None,
                time if time >= 0 else None,
                self._plan.instruction_at(time),
            )
            for color, name, allocations, size, peak, time in self._plan.spaces
        )

    @property
    def has_peak(self) -> bool:
        """Whether live ranges are known."""
        return self._plan.has_peak

    @property
    def peak(self) -> Peak:
        """The most that is ever live at once in the largest memory space.

        Raises Error if the live ranges are not known.
        """
        together = self._plan.peak
        if together is None:
            raise Error(
                "the live ranges are not known, so the peak is not known\n"
                "  also give the module or its -live-range.txt"
            )
        spaces = self.spaces
        main = self.main_space
        if main is None:  # a program without memory
            main = Space(0, "", 0, 0, *together, self._plan.instruction_at(together[1]))
        return Peak(main.peak or 0, main.time or 0, main.instruction, main, together[0], spaces)

    @property
    def main_space(self) -> Space | None:
        """The largest memory space, which is the default for all questions.

        None: nothing is allocated.
        """
        return max(self.spaces, key=lambda space: space.bytes, default=None)

    def _color(self, space: int | str | None) -> int | None:
        """The memory space that `space` means, as the core numbers it; None: all together."""
        if space is None:
            main = self.main_space
            return None if main is None else main.color
        wanted: int | str = space if isinstance(space, str) else _color_of(space)
        if isinstance(wanted, str) and wanted.lower() == "all":
            return None
        for known in self.spaces:
            if wanted == known.color or (isinstance(wanted, str) and known.is_named(wanted)):
                return known.color
        listed = ", ".join(
            f"{known.color} ({known.name!r})" if known.name else str(known.color)
            for known in self.spaces
        )
        raise Error(
            f"there is no memory space {space!r}\n"
            f"  there are {listed + ', ' if listed else ''}and 'all' for all together"
        )

    # What is where, and when.

    @property
    def values(self) -> Rows[Value]:
        """All values. `values["fusion.3"]` is the value of that name."""
        return Rows(self._plan.value_count, self._value, Value, self._row_of)

    def _value(self, row: int) -> Value:
        return Value(row, *self._plan.value(row))

    def _row_of(self, name: str) -> int | None:
        rows = self._plan.find_values(arguments.encodable(name))
        return rows[0] if rows else None

    @property
    def allocations(self) -> Rows[Allocation]:
        """All allocations, as XLA numbers them."""
        return Rows(self._plan.allocation_count, self._allocation, Allocation)

    def _allocation(self, row: int) -> Allocation:
        facts = self._plan.allocation(row)
        return Allocation(row, *facts[:-1], tuple(facts[-1]))

    @property
    def arrays(self) -> Arrays:
        """Facts about all values as NumPy arrays that share the plan's memory."""
        need_numpy()
        plan = self._plan
        return Arrays(
            plan.allocations, plan.offsets, plan.sizes, plan.colors, plan.starts, plan.ends
        )

    @property
    def live_ranges(self) -> LiveRanges:
        """When values are alive, for those that have a live range."""
        return LiveRanges(self._plan)

    # What fills it, and why.

    def peak_by(self, by: str = "source", space: int | str | None = None) -> Table:
        """What fills the peak of a memory space, by default the largest.

        `by` is "source", "op_name", "parameter", "kind", "value", "stack" or "footprint". `space`
        is a name or a number, or "all" for all memory spaces together.
        """
        return self._table(by, None, self._color(space))

    def _table(self, by: str, time: int | None, space: int | None) -> Table:
        by = arguments.text(by, "by", 'a word such as "source" or "kind"') or "source"
        at, bytes_, rows = self._plan.partition(by, time, space)
        return Table(
            by,
            at,
            space,
            bytes_,
            tuple(
                Row(
                    name,
                    parent if parent >= 0 else None,
                    depth,
                    own,
                    total,
                    values,
                    is_other,
                    value if value >= 0 else None,
                )
                for name, parent, depth, own, total, values, is_other, value in rows
            ),
            lambda limit: self._plan.partition_page(by, at, space, limit),
        )

    def at(self, time: int | None = None, space: int | str | None = None) -> Moment:
        """What is live at a moment, by default the peak, in a memory space, by default the
        largest; "all" means all memory spaces together.
        """
        color = self._color(space)
        at, bytes_, shares = self._plan.moment(_time_of(time), color)
        return Moment(
            at,
            self._plan.instruction_at(at),
            color,
            bytes_,
            Rows(len(shares), lambda row: self._share(*shares[row]), Share),
            lambda by: self._table(by, at, color),
        )

    def _share(self, row: int, bytes_: int, padding: int) -> Share:
        value = self._value(row)
        return Share(row, value.name, bytes_, padding, value.kind, value.shape, value.source)

    def curve(self, space: int | str | None = None) -> Curve:
        """Live bytes over time in a memory space, by default the largest, or in "all"."""
        need_numpy()
        color = self._color(space)
        return Curve(color, self._plan.curve(color))

    def why(self, name: str | Value) -> Whys:
        """Why a value is alive: what made it, what reads it, and what keeps it alive."""
        if isinstance(name, Value):
            name = name.name
        if name is None:
            raise ArgumentError("name=None: expected the name of a value, as a str")
        page, text = self._plan.why(arguments.text(name, "name", "the name of a value"))
        return whys_of(page, text)

    def advice(
        self,
        *,
        time_limit: float | None = None,
        space: int | str | None = None,
        limit: int = 8,
    ) -> AdviceList:
        """What would save memory in a memory space, by default 0: each change is applied, planned
        again and checked.

        Ctrl-C or the `time_limit` in seconds ends the search; what was found so far is returned.
        The text shows at most `limit` pieces of advice; 0 shows all.
        """
        color = None if space is None else self._color(space)
        if color is None and space is not None:
            raise Error("advice is about one memory space, not 'all'\n  name one, such as 0")
        shown, seconds = arguments.rows(limit), arguments.seconds(time_limit)
        return advice_of(*self._plan.advise(color, shown, seconds))

    def order(
        self,
        *,
        overlap_loss: int = 0,
        time_limit: float | None = None,
        try_flags: bool = False,
    ) -> Order:
        """The order of instructions that needs the least memory, and what the program's own costs.

        `overlap_loss` is how much of the work between the starts and dones of asynchronous
        operations may go elsewhere, in percent. Ctrl-C or the `time_limit` in seconds ends the
        search; the best order so far is returned.

        XLA takes no order from outside. With `try_flags`, the program is really compiled again with
        the options of XLA that change the order, and `tried` has JAX's memory_analysis() before and
        after. This needs a Lowered: `analyze(jax.jit(f).lower(...))`.
        """
        if try_flags and self._recompile is None:
            raise ArgumentError(
                "try_flags compiles the program again, but this Analysis has only the outcome\n"
                "  use analyze(jax.jit(f).lower(...)).order(try_flags=True)"
            )
        if not 0 <= overlap_loss <= 100:
            raise ArgumentError(f"overlap_loss={overlap_loss!r}: expected a number from 0 to 100")
        found = order_of(*self._plan.order(overlap_loss, arguments.seconds(time_limit)))
        if not try_flags or self._recompile is None:
            return found
        return replace(found, tried=tried_flags(self._recompile, self.target, self._stats))

    def fit(
        self,
        budget: int | float | str | None = None,
        *,
        max_cost: float | str = 1.0,
        use: str | Iterable[str] = ("pack", "order", "recompute"),
        cost_model: str = "machine",
        machine: str | None = None,
        bandwidth: float | None = None,
        flops: float | None = None,
        time_limit: float | None = None,
    ) -> Fit:
        """The cheapest way to run the program in `budget` bytes of main memory: another order, a
        tighter packing, and values that are computed again instead of being kept.

        `budget` is a number or a text such as "16GiB"; without one, the result has the least memory
        that at most `max_cost` more work allows: 0.1 or "10%". `use` lists what may change; with
        "donate" among it, arguments are donated first where that saves memory. The caller may then
        not use them after the call.

        Work is counted in the seconds of a `machine`, by default a common one of the target's kind;
        `bandwidth` and `flops` (bytes and operations a second, as reached) replace its figures.
        With `cost_model="plain"`, bytes and flops alone count.

        Ctrl-C or the `time_limit` in seconds ends the search; the best so far is returned.
        """
        models = {"machine": "", "plain": ""}
        is_plain = arguments.choice(cost_model, "cost_model", models) == "plain"
        if is_plain and (machine is not None or bandwidth is not None or flops is not None):
            raise ArgumentError("machine, bandwidth and flops have no use with cost_model='plain'")
        return Fit(
            self._plan.fit(
                None if budget is None else parse_size(budget),
                cost_of(max_cost),
                uses_of(use),
                is_plain,
                arguments.text(machine, "machine", 'the name of a machine, such as "h100"'),
                rate_of(bandwidth, "bandwidth"),
                rate_of(flops, "flops"),
                arguments.seconds(time_limit),
            )
        )

    def reconcile(self) -> Reconciliation:
        """The figures that XLA and JAX print, and how they follow from the plan."""
        return reconcile(self._plan, self._stats)

    # As text.

    def page(self, limit: int = 10) -> str:
        """The page of `stowplan report`, with at most `limit` rows per table; 0 shows all."""
        return self._plan.page(arguments.rows(limit))

    def explain(self, time: int | None = None, space: int | str | None = None) -> str:
        """The page of `stowplan explain`: what fills the peak, or the given moment, of a memory
        space, by default the largest.
        """
        color = self._color(space)
        if color is None and space is not None:
            raise Error("the page shows one memory space; peak_by(..., space='all') covers all")
        return self._plan.explain_page(_time_of(time), color)

    def __str__(self) -> str:
        return self.page().removesuffix("\n")

    def __repr__(self) -> str:
        most = ""
        if self.has_peak:
            peak = self.peak
            where = f" in {peak.space}" if len(peak.spaces) > 1 else ""
            most = f", at most {format_size(peak.bytes)} live{where}"
        return f"<stowplan.Analysis {self.name}: {format_size(self.total_bytes)}{most}>"

    def to_json(self) -> dict[str, Any]:
        """The output of `stowplan report --format=json`."""
        document: dict[str, Any] = json.loads(self._plan.json())
        return document

    def to_xla(self) -> str:
        """The plan as XLA's report."""
        return self._plan.xla_text()

    # As a picture.

    def html(self, *, budget: int | str | None = None) -> str:
        """The viewer as one self-contained HTML page."""
        return self._plan.html(None, None if budget is None else parse_size(budget))

    def save(self, path: str | os.PathLike[str], *, budget: int | str | None = None) -> None:
        """Writes the viewer to a file."""
        from .show import write_whole

        write_whole(path, self.html(budget=budget))

    def show(self, *, budget: int | str | None = None) -> None:
        """Shows the viewer: below the cell in a notebook, otherwise in the browser."""
        from .show import show_page

        show_page(self.html(budget=budget), self.name)

    def _repr_html_(self) -> str:
        from .card import card

        return card(self)
