# SPDX-License-Identifier: Apache-2.0
"""assign: the plan that XLA would make, or a smaller one with a proof."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _core, arguments
from .analysis import Analysis
from .errors import Error
from .inputs import plan_of
from .show import write_whole
from .sizes import format_size, parse_size


@dataclass(frozen=True, slots=True)
class Heap:
    """The temporaries of a memory space."""

    space: int
    xla_bytes: int  # in XLA's plan
    bytes: int  # in this one; never more
    bound: int  # no plan of what lies in the heap is lower
    floor: int  # no plan at all is lower
    bound_time: int | None  # when that much is needed; None: all lower plans were searched
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
        interrupted: bool,
        memory_limit: int | None,
        fit: tuple[int, int, str] | None,
        notes: tuple[str, ...],
        stats: dict[str, int] | None,
    ) -> None:
        super().__init__(plan, notes=notes, stats=stats)
        self.heaps = heaps  # by memory space; none with policy "xla"
        self.table = table  # as `stowplan assign --policy=best` prints it
        self.interrupted = interrupted  # Ctrl-C ended the search
        self.memory_limit = memory_limit  # that memory space 0 should fit; None: not given
        self._fit = fit

    @property
    def bytes(self) -> int:
        """The size of all allocations."""
        return self.total_bytes

    @property
    def xla_bytes(self) -> int:
        """The same in XLA's plan."""
        return self.total_bytes + self.saved

    @property
    def saved(self) -> int:
        """How many more bytes XLA's plan takes."""
        return sum(heap.xla_bytes - heap.bytes for heap in self.heaps)

    @property
    def bound(self) -> int:
        """Whether no plan for what lies in the heaps is lower."""
        return self.total_bytes - sum(heap.bytes - heap.bound for heap in self.heaps)

    @property
    def is_optimal(self) -> bool:
        return bool(self.heaps) and all(heap.is_optimal for heap in self.heaps)

    @property
    def fits(self) -> bool | None:
        """Whether memory space 0 is within the memory limit; None: there is none."""
        if self._fit is None or self.memory_limit is None:
            return None
        return self._fit[0] <= self.memory_limit

    @property
    def can_fit(self) -> bool | None:
        """Whether any plan can fit: False is proved. None: not decided, or there is no limit."""
        if self._fit is None or self.memory_limit is None:
            return None
        return True if self.fits else False if self._fit[1] > self.memory_limit else None

    @property
    def notes(self) -> list[str]:
        """The notes of the Analysis, and whether the plan fits."""
        return [*super().notes, *filter(None, (self.fit_note,))]

    @property
    def is_sound(self) -> bool:
        """Whether the check found it sound; False only if that was allowed."""
        return self.verdict == "sound"

    @property
    def fit_note(self) -> str:
        """Whether it fits, in a sentence; empty without a limit."""
        return "" if self._fit is None else self._fit[2].strip()

    def __str__(self) -> str:
        parts = [super().__str__(), self.table.rstrip("\n"), self.fit_note]
        return "\n\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        limit = "" if self.memory_limit is None else format_size(self.memory_limit)
        words = f", {'fits' if self.fits else 'does not fit'} {limit}" if limit else ""
        return f"{super().__repr__()[:-1]}{words}>".replace(".Analysis", ".PlanResult", 1)

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the files that XLA would have put beside the module."""
        folder = arguments.path(folder, "folder")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            ways = (Path(folder), *Path(folder).parents)
            file = next((way for way in ways if way.exists() and not way.is_dir()), folder)
            raise Error(f"{file}: this is a file; name a directory") from error
        paths = []
        for name, text in self._plan.files():
            path = Path(folder) / name
            write_whole(path, text)
            paths.append(path)
        return paths


POLICIES = {"xla": "plans as XLA does", "best": "lower"}


def assign(
    x: Any,
    *,
    policy: str = "xla",
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    allow_unsound: bool = False,
    allow_unchecked: bool = False,
    preset: str | os.PathLike[str] | None = None,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
) -> PlanResult:
    """Plans a program: as XLA does ("xla"), or in less memory with a proof ("best").

    `x` is anything that `analyze` takes and that has a program. With a `time_limit`, searches for
    that many seconds; without, the search ends by itself, always with the same plan. Ctrl-C ends it
    too: the best plan so far is returned, with `interrupted` set. `memory_limit` is what memory
    space 0 should fit into; `fits` and `fit_note` say whether it does. `preset` is a report that
    says where XLA put values in a TPU's fast memory.

    Every plan is checked. If it is not sound, or cannot be checked, Error is raised unless
    `allow_unsound` or `allow_unchecked` permits it; `verdict` then has the result.
    """
    policy = arguments.choice(policy, "policy", POLICIES)
    if policy == "xla" and (time_limit is not None or memory_limit is not None):
        raise Error("time_limit and memory_limit require policy='best'")
    seconds = arguments.seconds(time_limit)
    limit = None if memory_limit is None else parse_size(memory_limit)
    given = plan_of(
        x,
        target=target,
        xla_version=xla_version,
        module=module,
        allow_unsound=allow_unsound,
        allow_unchecked=allow_unchecked,
    )
    plan, heaps, table, interrupted, fit = given._plan.assign(
        policy == "best",
        limit,
        bool(allow_unsound),
        bool(allow_unchecked),
        seconds,
        "" if preset is None else arguments.path(preset, "preset"),
    )
    return PlanResult(
        plan,
        heaps=tuple(Heap(*heap) for heap in heaps),
        table=table,
        interrupted=interrupted,
        memory_limit=limit,
        fit=fit,
        notes=given._notes,
        stats=given._stats,
    )
