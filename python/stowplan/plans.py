# SPDX-License-Identifier: Apache-2.0
"""assign: the plan that XLA would make, or a lower one with a proof."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _core
from .analysis import Analysis
from .errors import Error
from .inputs import plan_of
from .show import write_whole
from .sizes import parse_size


@dataclass(frozen=True, slots=True)
class Heap:
    """The temporaries of a memory space."""

    space: int
    xla_bytes: int  # in XLA's plan
    bytes: int  # in this one; never more
    bound: int  # no plan of what lies in the heap is lower
    floor: int  # no plan at all is lower
    bound_time: int | None  # when so much is needed; None: all lower plans were searched
    proof: str

    @property
    def is_optimal(self) -> bool:
        return self.bytes == self.bound


class PlanResult(Analysis):
    """A plan that Stowplan made: an Analysis of it, and what is proved."""

    def __init__(
        self,
        plan: _core.Plan,
        *,
        heaps: tuple[Heap, ...],
        table: str,
        is_sound: bool,
        interrupted: bool,
        notes: tuple[str, ...],
        stats: dict[str, int] | None,
    ) -> None:
        super().__init__(plan, notes=notes, stats=stats)
        self.heaps = heaps  # by memory space; none with policy "xla"
        self.table = table  # as `stowplan assign --policy=best` prints it
        self.is_sound = is_sound  # False only where it was allowed
        self.interrupted = interrupted  # Ctrl-C ended the search

    @property
    def bytes(self) -> int:
        """Of all allocations."""
        return self.total_bytes

    @property
    def xla_bytes(self) -> int:
        """The same in XLA's plan."""
        return self.total_bytes + self.saved

    @property
    def saved(self) -> int:
        """Bytes that XLA's plan takes more."""
        return sum(heap.xla_bytes - heap.bytes for heap in self.heaps)

    @property
    def bound(self) -> int:
        """No plan of what lies in the heaps is lower."""
        return self.total_bytes - sum(heap.bytes - heap.bound for heap in self.heaps)

    @property
    def is_optimal(self) -> bool:
        return bool(self.heaps) and all(heap.is_optimal for heap in self.heaps)

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the files that XLA would have put beside the module."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        paths = []
        for name, text in self._plan.files():
            # An input that has no file has a name in brackets.
            path = Path(folder) / name.replace("<", "").replace(">", "")
            write_whole(path, text)
            paths.append(path)
        return paths


def assign(
    x: Any,
    *,
    policy: str = "xla",
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    allow_unsound: bool = False,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
) -> PlanResult:
    """Plans a program: as XLA does ("xla"), or in less memory with a proof ("best").

    `x` is anything that `analyze` takes and that has a program. With a `time_limit` in seconds the
    search goes on for so long; without, it ends by itself, always with the same plan. Ctrl-C ends
    it too: the best so far is returned, with `interrupted`. `memory_limit` is what memory space 0
    should fit.
    """
    if policy not in ("xla", "best"):
        raise Error(f"there is no policy {policy!r}\n  'xla' plans as XLA does, 'best' lower")
    if policy == "xla" and (time_limit is not None or memory_limit is not None):
        raise Error("time_limit and memory_limit are for policy='best'")
    given = plan_of(x, target=target, xla_version=xla_version, module=module)
    plan, heaps, table, is_sound, interrupted = given._plan.assign(
        policy == "best",
        None if memory_limit is None else parse_size(memory_limit),
        allow_unsound,
        time_limit,
    )
    return PlanResult(
        plan,
        heaps=tuple(Heap(*heap) for heap in heaps),
        table=table,
        is_sound=is_sound,
        interrupted=interrupted,
        notes=given._notes,
        stats=given._stats,
    )
