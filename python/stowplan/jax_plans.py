# SPDX-License-Identifier: Apache-2.0
"""Other ways to run a traced function, cheap ones first, for the compiler to try."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import jax_pairs, jax_repeat
from .jax_maps import Map
from .jax_program import Program
from .jax_scans import Scan
from .jax_work import Model, is_heavy

# A body with a gradient of its own is worth planning if it has at least this share of the memory.
_WORTH = 0.1
# So many plans of a body are offered.
_BODY_PLANS = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to run a program, as the model expects it."""

    cost: float  # extra work; 0.1: 10 %
    peak: int  # bytes, by the model
    words: str
    make: Callable[[], Program] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the back end needs."""

    model: Model
    by_barrier: bool
    most_cost: float = 2.0
    with_light: bool = True  # also repeats what only passes over memory
    time_limit: float | None = 60.0


def find_candidates(program: Program, settings: Settings) -> list[Candidate]:
    """By rising cost; the first is the program itself."""
    model = settings.model
    peak = model.graph(program).peak()
    whole = max(sum(map(model.cost, program.operations)), 1.0)
    found = [Candidate(0.0, peak, "as it is", lambda: program)]

    def add(changed: Program, words: str) -> None:
        """The changed program, and what can be repeated in it."""
        extra = sum(map(model.cost, changed.operations)) / whole - 1
        found.extend(
            Candidate(
                extra + candidate.cost, candidate.peak, candidate.words or words, candidate.make
            )
            for candidate in _repetitions(changed, settings, words, whole)
        )

    add(program, "")
    pairs = jax_pairs.find_pairs(program, model)
    for share in jax_pairs.shares(pairs):
        changed, levels = jax_pairs.apply_all(program, pairs, share, model)
        add(changed, f"loops keep less (level {max(levels) + 1})")
    paired = {i for pair in pairs for i in (pair.first, pair.second)}
    for changed, words in _planned_bodies(program, settings, paired, peak):
        add(changed, words)
    found.sort(key=lambda candidate: (candidate.cost, candidate.peak))
    return found


def _repetitions(program: Program, settings: Settings, words: str, whole: float) -> list[Candidate]:
    graph = settings.model.graph(program)
    plans = graph.plans(settings.most_cost, settings.time_limit)
    own = sum(map(settings.model.cost, program.operations))
    candidates = []
    for index, (cost, peak, kept, price, _is_mixed, is_on_front) in enumerate(plans.rows()):
        if index and not is_on_front:
            continue
        if index == 0:
            if words:
                candidates.append(Candidate(0.0, peak, words, lambda: program))
            continue
        said = f"{words}, " if words else ""
        candidates.append(
            Candidate(
                cost * own / whole,
                peak,
                f"{said}values computed again (set {kept}, price {price:.3g})",
                functools.partial(_repeated, program, plans, index, settings),
            )
        )
    return candidates


def _repeated(program: Program, plans: Any, index: int, settings: Settings) -> Program:
    sequence = plans.sequence(index)
    if not settings.with_light:
        sequence = without_light(program, sequence)
    return jax_repeat.repeated(program, sequence, settings.by_barrier)


def without_light(program: Program, sequence: Sequence[int]) -> list[int]:
    """Without the runs of repetitions in which nothing is more than a pass over memory: the
    compiler computes such things inside of their readers anyway."""
    dropped: set[int] = set()
    for run in jax_repeat.runs_of(sequence):
        if not any(is_heavy(program.operations[i]) for i in sequence[run.first : run.end]):
            dropped.update(range(run.first, run.end))
    return [i for place, i in enumerate(sequence) if place not in dropped]


def _planned_bodies(
    program: Program, settings: Settings, taken: set[int], peak: int
) -> list[tuple[Program, str]]:
    """Loops and maps over devices whose bodies have a gradient of their own."""
    changed: list[tuple[Program, str]] = []
    for i, operation in enumerate(program.operations):
        holder: Scan | Map | None = None
        if i not in taken:
            holder = jax_pairs.holder_of(operation)
        if holder is None or settings.model.graph(holder.body).peak() < _WORTH * peak:
            continue
        inside = [c for c in front_of(find_candidates(holder.body, settings)) if c.cost > 0]
        for k in range(0, len(inside), max(1, len(inside) // _BODY_PLANS)):
            changed.append(_with_body(program, i, holder, inside[k], settings.model))
    return changed


def _with_body(
    program: Program, i: int, holder: Scan | Map, candidate: Candidate, model: Model
) -> tuple[Program, str]:
    new = program.copy()
    operation = program.operations[i]
    body = candidate.make()
    trips = holder.length if isinstance(holder, Scan) else 1
    new.operations[i] = replace(
        operation,
        run=replace(holder, body=body),
        cost=trips * sum(map(model.cost, body.operations)),
        inner=candidate.peak,
    )
    return new, f"{operation.kind}: {candidate.words}"


def front_of(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that need less than all cheaper ones."""
    front: list[Candidate] = []
    for candidate in candidates:
        if not front or candidate.peak < front[-1].peak:
            front.append(candidate)
    return front
