# SPDX-License-Identifier: Apache-2.0
"""The figures that XLA and JAX print, and how they follow from the plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, overload

from . import _core, arguments
from .tables import Allocation, frame, html_table

if TYPE_CHECKING:
    import pandas

_JAX = "compiled.memory_analysis() of JAX"
# What the plan has nothing to do with.
_CODE = ("generated_code_size_in_bytes", "host_generated_code_size_in_bytes")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that XLA or JAX prints."""

    where: str  # it is printed
    name: str
    computed: int | None  # from the plan; None: the plan does not have it
    said: int | None  # as XLA has it; None: not known
    how: str

    @property
    def verdict(self) -> str:
        """ "equal", "differs"; empty: there are not two numbers to compare."""
        if self.computed is None or self.said is None:
            return ""
        return "equal" if self.computed == self.said else "differs"


class Reconciliation(Sequence[Figure]):
    """All figures. Prints as the page of `stowplan report --reconcile`."""

    def __init__(self, figures: tuple[Figure, ...], page: str) -> None:
        self.figures = figures
        self._page = page

    @property
    def memory_analysis(self) -> dict[str, int]:
        """The fields of `compiled.memory_analysis()` that follow from the plan."""
        return {
            figure.name: figure.computed
            for figure in self.figures
            if figure.where == _JAX and figure.computed is not None and " " not in figure.name
        }

    @property
    def differing(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.verdict == "differs"]

    @property
    def equal(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.verdict == "equal"]

    @overload
    def __getitem__(self, key: int | str) -> Figure: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Figure, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Figure | tuple[Figure, ...]:
        """A figure by its number or name."""
        if isinstance(key, str):
            for figure in self.figures:
                if figure.name == key:
                    return figure
            hint = arguments.nearest(key, (figure.name for figure in self.figures))
            raise KeyError(f"there is no figure {key!r}; {hint}".rstrip("; "))
        return self.figures[key]

    def __len__(self) -> int:
        return len(self.figures)

    def __repr__(self) -> str:
        words = f"{len(self)} figures, {len(self.equal)} equal, {len(self.differing)} differ"
        return f"<stowplan.Reconciliation: {words}>"

    def __str__(self) -> str:
        lines = [self._page.removesuffix("\n")]
        compared = len(self.equal) + len(self.differing)
        if compared:
            lines.append(f"\n{len(self.equal)} of {compared} figures that XLA says are equal")
            lines += [
                f"  {figure.name}: XLA says {figure.said}, from the plan {figure.computed}"
                for figure in self.differing
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(self.figures, ("where", "name", "computed", "said", "verdict", "how"))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per figure."""
        return frame(self.figures, [*(field.name for field in fields(Figure)), "verdict"])


def _has_thread_locals(xla_version: str) -> bool:
    """Whether sums of all allocations include thread-local ones: up to jaxlib 0.11."""
    numbers = re.findall(r"\d+", xla_version)
    return [int(number) for number in numbers[:2]] < [0, 12]


def _sums(plan: _core.Plan) -> tuple[int, int, str]:
    """Bytes of main memory: of all allocations, of all but temporaries, and which these are."""
    total = lasting = 0
    has_thread_locals = _has_thread_locals(plan.xla_version)
    for row in range(plan.allocation_count):
        facts = plan.allocation(row)
        allocation = Allocation(row, *facts[:-1], tuple(facts[-1]))
        if allocation.space != 0 or (allocation.is_thread_local and not has_thread_locals):
            continue
        total += allocation.size
        is_lasting = (
            allocation.parameter is not None
            or allocation.is_constant
            or allocation.is_maybe_live_out
            or allocation.is_thread_local
        )
        lasting += allocation.size * is_lasting
    return total, lasting, "all" if has_thread_locals else "all but thread-local"


def reconcile(plan: _core.Plan, stats: dict[str, int] | None) -> Reconciliation:
    """`stats` are the fields of memory_analysis(), where there is a Compiled to ask."""
    rows, page = plan.reconcile()
    figures: list[Figure] = []
    rest = dict(stats or {})
    for where, label, computed, said, how in rows:
        # "peak_memory_in_bytes (CPU)": the rule is of one back end, the field is not.
        name = label.split(" (")[0] if where == _JAX else label
        if where == _JAX and name in rest:
            said = rest.pop(name)
        figures.append(Figure(where, name, computed, said, how))
    if plan.backend in ("CPU", "GPU") and "total_allocation_bytes" in rest:  # jaxlib 0.11 and later
        total, lasting, which = _sums(plan)
        peak = next(figure for figure in figures if figure.name == "peak_memory_in_bytes")
        sums = {
            "total_allocation_bytes": (total, which),
            "indefinite_allocations": (lasting, f"{which}, less temporaries"),
            "peak_unpadded_heap_bytes": (peak.computed, "the same as peak_memory_in_bytes"),
        }
        for name, (sum_, how) in sums.items():
            if name in rest:
                figures.append(Figure(_JAX, name, sum_, rest.pop(name), how))
    for name, said in rest.items():
        # Nothing lies in the host's memory, so the plan has no such rows.
        is_host = name.startswith("host_") and name not in _CODE
        how = "nothing lies in S(5)" if is_host else "the plan does not have it"
        figures.append(Figure(_JAX, name, 0 if is_host else None, said, how))
    return Reconciliation(tuple(figures), page)
