# SPDX-License-Identifier: Apache-2.0
"""What a program takes in the main memory of its device: the figure that budgets limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import arguments
from .errors import Error
from .sizes import format_size

if TYPE_CHECKING:
    from .analysis import Analysis

FIGURES = {"footprint": "is all that is allocated", "peak": "the most that is live at once"}
MAIN = 0  # HBM, or the host's memory on CPUs


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes in the main memory. Each allocation counts once: a donated one, which is both parameter
    and result, counts as an argument only. Thread-local allocations, which are on stacks, do not
    count, and neither does what is not part of the plan: the program's code, and the data of the
    allocator itself.
    """

    module: str
    arguments: int
    outputs: int  # but those in arguments' memory
    temporaries: int
    constants: int
    peak: int | None  # the most that is live at once; None: not known
    of: str = "footprint"

    @property
    def total(self) -> int:
        """All that is allocated."""
        return self.arguments + self.outputs + self.temporaries + self.constants

    @property
    def bytes(self) -> int:
        """The figure that `of` names."""
        if self.of == "footprint":
            return self.total
        if self.peak is None:
            raise Error(f"{self.module}: the live ranges are not known, so the peak is not known")
        return self.peak

    def __str__(self) -> str:
        if self.of == "peak":
            return f"the most that is live at once, of {format_size(self.total)} in all"
        parts = [
            f"{name} {format_size(size)}"
            for name, size in (
                ("arguments", self.arguments),
                ("outputs", self.outputs),
                ("temporaries", self.temporaries),
                ("constants", self.constants),
            )
            if size
        ]
        return ", ".join(parts) or "nothing is allocated"


def check_figure(of: str) -> str:
    """The same; raises Error if there is no such figure."""
    return arguments.choice(of, "figure", FIGURES)


def footprint_of(analysis: Analysis, of: str = "footprint") -> Footprint:
    """The footprint of a plan."""
    sums = dict.fromkeys(("arguments", "outputs", "temporaries", "constants"), 0)
    for allocation in analysis.allocations:
        if allocation.space != MAIN or allocation.is_thread_local:
            continue
        if allocation.parameter is not None:
            part = "arguments"
        elif allocation.is_maybe_live_out:
            part = "outputs"
        elif allocation.is_constant:
            part = "constants"
        else:
            part = "temporaries"
        sums[part] += allocation.size
    peak = next((space.peak for space in analysis.spaces if space.color == MAIN), 0)
    return Footprint(
        analysis.name, **sums, peak=peak if analysis.has_peak else None, of=check_figure(of)
    )
