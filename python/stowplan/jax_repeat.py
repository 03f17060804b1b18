# SPDX-License-Identifier: Apache-2.0
"""A program in which operations run again, late enough.

A compiler would run a repetition early, or merge it with the original: it sees that nothing keeps
it from doing so. So what is repeated reads something that is only there when the repetition is
wanted, the *trigger*: a value that the reader of the repetition waits for, too.

Back ends that keep `optimization_barrier` until they have an order need no more than that. Others
drop it, and need a true dependence on the value of the trigger. It leaves every bit as it is:
the operand is selected where a number that is always 0 is 0, and the compiler cannot know that it
always is.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .jax_program import (
    Atom,
    Operation,
    Program,
    bytes_of,
    elements_of,
    is_value,
    without_unread,
)
from .jax_work import SPREADING

_HOLD = "stowplan_hold"
# So many operations later, a value was made long ago.
_FAR = 100
_MOST_LOOKED_AT = 50


def _is_number(aval: Any) -> bool:
    jax: Any = importlib.import_module("jax")
    dtype = getattr(aval, "dtype", None)
    if dtype is None or not elements_of(aval):
        return False
    return bool(jax.numpy.issubdtype(dtype, jax.numpy.number)) or dtype.name == "bool"


def _is_key(aval: Any) -> bool:
    jax: Any = importlib.import_module("jax")
    dtype = getattr(aval, "dtype", None)
    return dtype is not None and bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def _always(trigger: Any) -> Any:
    """True, though no compiler knows."""
    jax: Any = importlib.import_module("jax")
    lax, jnp = jax.lax, jax.numpy
    element = lax.squeeze(
        lax.slice(trigger, (0,) * trigger.ndim, (1,) * trigger.ndim), tuple(range(trigger.ndim))
    )
    if jnp.issubdtype(element.dtype, jnp.complexfloating):
        element = lax.real(element)
    if jnp.issubdtype(element.dtype, jnp.floating):
        # Wide enough for every format, and the value does not matter.
        element = lax.bitcast_convert_type(element.astype(jnp.float32), jnp.uint32)
    bits = element.astype(jnp.uint32)
    # A number of 32 bits has at most 32 ones, which is less than 64.
    ones = lax.shift_right_logical(lax.population_count(bits), jnp.uint32(6))
    return lax.eq(ones, jnp.uint32(0))


def _select(is_there: Any, operand: Any) -> Any:
    jax: Any = importlib.import_module("jax")
    if _is_key(operand):
        data = jax.random.key_data(operand)
        data = _select(is_there, data)
        return jax.random.wrap_key_data(data, impl=jax.random.key_impl(operand))
    return jax.lax.select_n(is_there, jax.lax.full_like(operand, 0), operand)


def hold_by_value(*values: Any) -> list[Any]:
    """All but the last, once the last is there."""
    *held, trigger = values
    is_there = _always(trigger)
    return [_select(is_there, operand) for operand in held]


def hold_by_barrier(*values: Any) -> list[Any]:
    """All of them, once all are there."""
    jax: Any = importlib.import_module("jax")
    return list(jax.lax.optimization_barrier(tuple(values)))


@dataclass(frozen=True, slots=True)
class Run:
    """Repetitions that follow each other."""

    first: int  # places in the sequence
    end: int


def runs_of(sequence: Sequence[int]) -> list[Run]:
    """In their order."""
    done: set[int] = set()
    runs: list[Run] = []
    first: int | None = None
    for place, operation in enumerate(sequence):
        if operation in done:
            first = place if first is None else first
        elif first is not None:
            runs.append(Run(first, place))
            first = None
        done.add(operation)
    if first is not None:
        runs.append(Run(first, len(sequence)))
    return runs


class Repeater:
    """Writes the program of a sequence."""

    def __init__(
        self, program: Program, sequence: Sequence[int], by_barrier: bool, late: int | None
    ) -> None:
        self._old = program
        self._late = late
        self._sequence = sequence
        self._by_barrier = by_barrier
        self._new = program.copy()
        self._new.operations = []
        self._current: dict[int, int] = {}  # by value of the program: its latest version
        self._made: dict[int, int] = {}  # by version: the place that has made it
        self._last_read: dict[int, int] = {}  # by value: the last place that has read it
        # Smaller values make no difference.
        self._least = max(map(bytes_of, program.avals), default=0) // 16
        self._triggers: dict[int, int] = {}  # by version: what replaces it, as it was a trigger

    def write(self) -> Program:
        runs = {run.first: run for run in runs_of(self._sequence)}
        place = 0
        while place < len(self._sequence):
            run = runs.get(place)
            if run is not None:
                self._repeat(run)
                place = run.end
            else:
                self._append(place, self._hold_spread(place))
                place += 1
        self._new.results = [self._first(atom) for atom in self._old.results]
        return without_unread(self._new)

    def _first(self, atom: Atom) -> Atom:
        """Results are what was made first."""
        return self._triggers.get(atom, atom) if is_value(atom) else atom

    def _version(self, atom: Atom) -> Atom:
        if not is_value(atom):
            return atom
        version = self._latest(atom)
        return self._triggers.get(version, version)

    def _latest(self, value: int) -> int:
        return self._current.get(value, value)

    def _place_of(self, value: int) -> int:
        """Where the latest version of a value was made; -1: it was there from the start."""
        return self._made.get(self._latest(value), -1)

    def _append(self, place: int, held: dict[int, int], is_repeated: bool = False) -> None:
        operation = self._old.operations[self._sequence[place]]
        reads: list[Atom] = []
        for atom in operation.reads:
            version = self._version(atom)
            if is_value(atom):
                self._last_read[atom] = place
                version = held.get(version, version)
            reads.append(version)
        makes = operation.makes
        if is_repeated:
            makes = tuple(self._new.new(self._old.avals[v]) for v in makes)
            self._current.update(zip(operation.makes, makes, strict=True))
        self._made.update((v, place) for v in makes)
        self._new.operations.append(
            Operation(
                operation.equation,
                tuple(reads),
                makes,
                operation.names,
                operation.run,
                operation.cost,
                operation.inner,
                operation.kind,
            )
        )

    def _repeat(self, run: Run) -> None:
        trigger = self._trigger(run)
        inside: set[int] = set()  # values that the run makes
        held: dict[int, int] = {}
        copies: dict[int, int] = {}
        if trigger is not None and self._by_barrier:
            held = self._hold(self._sources(run), trigger)
        for place in range(run.first, run.end):
            operation = self._old.operations[self._sequence[place]]
            if not self._by_barrier:
                # What reads something of the run waits already; other copies are not needed.
                is_root = not inside.intersection(a for a in operation.reads if is_value(a))
                held = self._hold_one(operation, trigger, copies) if is_root else {}
            self._append(place, held, is_repeated=True)
            inside.update(operation.makes)

    def _hold_one(
        self, operation: Operation, trigger: int | None, copies: dict[int, int]
    ) -> dict[int, int]:
        """The smallest operand is enough."""
        versions = {self._version(atom) for atom in operation.reads if is_value(atom)}
        smallest = self._smallest(versions)
        if smallest is None or trigger is None:
            return {}
        if smallest not in copies:
            copies.update(self._hold([smallest], trigger))
        return {smallest: copies[smallest]}

    def _hold_spread(self, place: int) -> dict[int, int]:
        """Small operands that were made long ago and are spread over a large result. A compiler may
        spread them when they are made, and keep that."""
        operation = self._old.operations[self._sequence[place]]
        if self._by_barrier or operation.kind not in SPREADING or not operation.is_pure:
            return {}
        size = sum(bytes_of(self._old.avals[v]) for v in operation.makes)
        if size < self._least:
            return {}
        known = {
            self._version(atom): self._place_of(atom) for atom in operation.reads if is_value(atom)
        }
        latest = max(known, key=lambda v: known[v], default=None)
        if latest is None or not _is_number(self._new.avals[latest]):
            return {}
        held: dict[int, int] = {}
        for version, made in known.items():
            is_small = 8 * bytes_of(self._new.avals[version]) <= size
            if 0 <= made < known[latest] - _FAR and is_small and self._can_hold(version):
                held.update(self._hold([version], latest))
        return held

    def _sources(self, run: Run) -> list[int]:
        """What a run reads and does not make. Arguments stay as they are, unless an operation reads
        nothing else."""
        inside: set[int] = set()
        sources: dict[int, None] = {}
        given = {*self._old.inputs, *self._old.constants}
        for place in range(run.first, run.end):
            operation = self._old.operations[self._sequence[place]]
            reads = [atom for atom in operation.reads if is_value(atom)]
            outside = [self._version(atom) for atom in reads if atom not in inside]
            made = [version for version in outside if version not in given]
            if made:
                sources.update(dict.fromkeys(made))
            elif len(outside) == len(reads):
                smallest = self._smallest(set(outside))
                if smallest is not None:
                    sources[smallest] = None
            inside.update(operation.makes)
        return [v for v in sources if self._can_hold(v)]

    def _can_hold(self, version: int) -> bool:
        aval = self._new.avals[version]
        return _is_number(aval) or _is_key(aval)

    def _smallest(self, versions: set[int]) -> int | None:
        known = [v for v in sorted(versions) if self._can_hold(v)]
        return min(known, key=lambda v: bytes_of(self._new.avals[v]), default=None)

    def _hold(self, versions: list[int], trigger: int) -> dict[int, int]:
        if not versions:
            return {}
        made = [self._new.new(self._new.avals[v]) for v in versions]
        run = hold_by_value
        makes = list(made)
        if self._by_barrier:
            run = hold_by_barrier
            makes.append(self._new.new(self._new.avals[trigger]))
        self._new.operations.append(
            Operation(None, (*versions, trigger), tuple(makes), run=run, kind=_HOLD)
        )
        if self._by_barrier:
            self._triggers[trigger] = makes[-1]
            for old, new in list(self._triggers.items()):
                if new == trigger:
                    self._triggers[old] = makes[-1]
        return dict(zip(versions, made, strict=True))

    def _trigger(self, run: Run) -> int | None:
        """What the first reader waits for besides the run; otherwise, what a later one does."""
        repeated = {self._sequence[place] for place in range(run.first, run.end)}
        values = {v for i in repeated for v in self._old.operations[i].makes}
        # The originals are read up to here.
        after = max((self._last_read.get(v, -1) for v in values), default=-1)
        for place in range(run.end, len(self._sequence)):
            candidates: list[tuple[int, int]] = []
            for atom in self._old.operations[self._sequence[place]].reads:
                version = self._version(atom)
                if not is_value(atom) or atom in values or not _is_number(self._new.avals[version]):
                    continue
                made = self._place_of(atom)
                if made > after:
                    candidates.append((made, version))
            if candidates:
                return max(candidates)[1]
            if place > run.end + _MOST_LOOKED_AT:
                break
        if self._late is not None:
            return self._triggers.get(self._late, self._late)
        for operation in reversed(self._new.operations):
            for version in operation.makes:
                if operation.kind != _HOLD and _is_number(self._new.avals[version]):
                    return self._triggers.get(version, version)
        return None


def repeated(
    program: Program, sequence: Sequence[int], by_barrier: bool, late: int | None = None
) -> Program:
    """The program of a sequence of operations, of which some occur more than once. `late`: a value
    to wait for where nothing else is found."""
    return Repeater(program, sequence, by_barrier, late).write()


def postponed(program: Program, count: int, by_barrier: bool, late: int | None) -> Program:
    """The first `count` operations run right before their first readers, and no earlier."""
    makers = {
        v: i for i, operation in enumerate(program.operations[:count]) for v in operation.makes
    }
    sequence = list(range(count))
    done: set[int] = set()

    def provide(operation: Operation) -> None:
        wanted: set[int] = set()
        stack = [atom for atom in operation.reads if is_value(atom)]
        while stack:
            maker = makers.get(stack.pop())
            if maker is None or maker in done or maker in wanted:
                continue
            wanted.add(maker)
            stack.extend(a for a in program.operations[maker].reads if is_value(a))
        sequence.extend(sorted(wanted))
        done.update(wanted)

    for i in range(count, len(program.operations)):
        provide(program.operations[i])
        sequence.append(i)
    # The first ones are read no more, unless they are results.
    return repeated(program, sequence, by_barrier, late)
