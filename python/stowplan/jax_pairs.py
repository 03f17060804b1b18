# SPDX-License-Identifier: Apache-2.0
"""Loops and maps that keep values for another one, as the forward pass of a scan over layers does
for the backward pass.

Such a pair can keep other values: the second one computes the rest again, in its own body. No
dependence has to hold that back: it is inside something that runs later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from . import _core
from .jax_maps import Map, map_of
from .jax_program import Atom, Operation, Program, bytes_of, is_value, without_unread
from .jax_repeat import postponed
from .jax_scans import Scan, scan_of
from .jax_work import Model

_LEAST_BYTES = 1024  # that a pair is worth looking at


def holder_of(operation: Operation) -> Scan | Map | None:
    """What has a body that can be changed."""
    return scan_of(operation) or map_of(operation)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two loops; `kept`: numbers of results of the first one's body that only the other reads."""

    first: int  # operations
    second: int
    kept: tuple[int, ...]
    scan: Scan | Map
    other: Scan | Map
    cuts: tuple[tuple[int, ...], ...]  # operations of the body to repeat, for rising prices


def _readers(program: Program) -> dict[int, list[tuple[int, int]]]:
    readers: dict[int, list[tuple[int, int]]] = {}
    for i, operation in enumerate(program.operations):
        for place, atom in enumerate(operation.reads):
            if is_value(atom):
                readers.setdefault(atom, []).append((i, place))
    return readers


def find_pairs(program: Program, model: Model) -> list[Pair]:
    """A loop is in at most one of them."""
    readers = _readers(program)
    returned = {atom for atom in program.results if is_value(atom)}
    scans = {
        i: scan
        for i, operation in enumerate(program.operations)
        if (scan := holder_of(operation)) is not None
    }
    pairs: list[Pair] = []
    taken: set[int] = set()
    for i, scan in scans.items():
        if i in taken:
            continue
        links: dict[int, list[int]] = {}
        for number, value in enumerate(program.operations[i].makes[scan.carries :]):
            places = readers.get(value, [])
            others = {j for j, _ in places}
            if value in returned or len(others) != 1:
                continue
            (j,) = others
            other = scans.get(j)
            if other is None:
                continue
            if all(scan.hands_on(number, other, place) for _, place in places):
                links.setdefault(j, []).append(number)
        for j, numbers in links.items():
            makes = program.operations[i].makes
            size = sum(bytes_of(program.avals[makes[scan.carries + n]]) for n in numbers)
            if size < _LEAST_BYTES or j in taken:
                continue
            cuts = _cuts(program, i, j, scan, numbers, model)
            if cuts:
                pairs.append(Pair(i, j, tuple(numbers), scan, scans[j], cuts))
                taken.update((i, j))
                break
    return pairs


def _cuts(
    program: Program, i: int, j: int, scan: Scan | Map, numbers: Sequence[int], model: Model
) -> tuple[tuple[int, ...], ...]:
    """What the other loop may compute again, for rising prices of a byte."""
    body = scan.body
    inputs = body.inputs
    free = {*inputs[: scan.constants], *body.constants}
    first_slice = scan.constants + scan.carries
    sources = program.operations[i].reads[first_slice:]
    late = {
        atom for operation in program.operations[j:] for atom in operation.reads if is_value(atom)
    }
    given = {*program.inputs, *program.constants}
    for value, source in zip(inputs[first_slice:], sources, strict=True):
        if not is_value(source) or source in given or source in late:
            free.add(value)
    results = body.results[scan.carries :]
    needed = {results[n] for n in numbers if is_value(results[n])}
    # What is kept for others anyway.
    free.update(atom for n, atom in enumerate(results) if n not in numbers and is_value(atom))
    sizes = [0 if v in free else bytes_of(aval) for v, aval in enumerate(body.avals)]
    returned = sorted({atom for atom in body.results[: scan.carries] if is_value(atom)})
    graph = _core.operation_graph(sizes, returned, model.rows(body))
    return tuple(tuple(cut) for cut in graph.cuts(sorted(needed)))


@dataclass(frozen=True, slots=True)
class _Choice:
    """What becomes of a pair: values of the first body."""

    repeated: tuple[int, ...]  # operations
    kept: tuple[int, ...]  # values that are stacked for the other loop
    constants: tuple[int, ...]  # numbers of inputs that the other loop reads, too
    slices: tuple[int, ...]


def _choose(pair: Pair, level: int) -> _Choice:
    scan, body = pair.scan, pair.scan.body
    chosen = set(pair.cuts[level])
    makers = body.makers()
    results = body.results[scan.carries :]
    wanted = [results[n] for n in pair.kept if is_value(results[n])]
    seen: set[int] = set()
    repeated: set[int] = set()
    sources: set[int] = set()
    while wanted:
        value = wanted.pop()
        if value in seen:
            continue
        seen.add(value)
        maker = makers.get(value)
        if maker is None or maker not in chosen:
            sources.add(value)
            continue
        repeated.add(maker)
        wanted.extend(atom for atom in body.operations[maker].reads if is_value(atom))
    first = scan.constants + scan.carries
    constants = tuple(n for n, v in enumerate(body.inputs[: scan.constants]) if v in sources)
    slices = tuple(n for n, v in enumerate(body.inputs[first:]) if v in sources)
    given = {
        *body.constants,
        *body.inputs[: scan.constants],
        *body.inputs[first:],
    }
    return _Choice(tuple(sorted(repeated)), tuple(sorted(sources - given)), constants, slices)


def _first_body(pair: Pair, choice: _Choice) -> Program:
    """Without the results that the other loop computes again, with those it needs for that."""
    body = pair.scan.body.copy()
    carries = pair.scan.carries
    kept = [a for n, a in enumerate(body.results[carries:]) if n not in pair.kept]
    body.results = [*body.results[:carries], *kept, *choice.kept]
    return without_unread(body)


def _join(target: Program, source: Program, numbers: Sequence[int], known: dict[int, int]) -> None:
    """Appends operations of `source`; `known` says which values of `target` theirs are."""

    def new(value: int) -> int:
        if value not in known:
            known[value] = target.new(source.avals[value])
            if value in source.constants:
                target.constants[known[value]] = source.constants[value]
        return known[value]

    for i in numbers:
        operation = source.operations[i]
        reads = tuple(new(a) if is_value(a) else a for a in operation.reads)
        makes = tuple(new(v) for v in operation.makes)
        target.operations.append(replace(operation, reads=reads, makes=makes))


def _second_body(program: Program, pair: Pair, choice: _Choice) -> tuple[Program, list[int]]:
    """The body that computes again what it does not get; and which of its slices it still gets."""
    scan, other = pair.scan, pair.other
    body = Program()
    first = program.operations[pair.first]
    second = program.operations[pair.second]
    own = other.constants + other.carries
    dropped = {first.makes[scan.carries + n]: n for n in pair.kept}
    still = [n for n, atom in enumerate(second.reads[own:]) if atom not in dropped]

    old = other.body
    inputs = old.inputs
    translated: dict[int, int] = {}  # values of the other loop's old body
    known: dict[int, int] = {}  # values of the first loop's body

    def take(value: int) -> int:
        translated[value] = body.new(old.avals[value])
        return translated[value]

    def get(value: int) -> int:
        known[value] = body.new(scan.body.avals[value])
        return known[value]

    start = scan.constants + scan.carries
    body.inputs = [
        *(take(v) for v in inputs[: other.constants]),
        *(get(scan.body.inputs[n]) for n in choice.constants),
        *(take(v) for v in inputs[other.constants : own]),
        *(take(inputs[own + n]) for n in still),
        *(get(v) for v in choice.kept),
        *(get(scan.body.inputs[start + n]) for n in choice.slices),
    ]
    _join(body, scan.body, choice.repeated, known)
    literals: dict[int, Atom] = {}
    for n, atom in enumerate(second.reads[own:]):
        if atom in dropped:
            result = scan.body.results[scan.carries + dropped[atom]]
            if not is_value(result):
                literals[inputs[own + n]] = result
            elif result in known:
                translated[inputs[own + n]] = known[result]
            else:  # a constant of the first body
                known[result] = body.new(scan.body.avals[result])
                body.constants[known[result]] = scan.body.constants[result]
                translated[inputs[own + n]] = known[result]
    begin = len(body.operations)
    _join(body, old, range(len(old.operations)), translated)
    if literals:
        for i in range(begin, len(body.operations)):
            source = old.operations[i - begin]
            reads = tuple(
                literals.get(a, r) if is_value(a) else r
                for a, r in zip(source.reads, body.operations[i].reads, strict=True)
            )
            body.operations[i] = replace(body.operations[i], reads=reads)
    body.results = [
        (literals[a] if a in literals else translated[a]) if is_value(a) else a for a in old.results
    ]
    return body, still


def _latest(program: Program, second: Operation, still: Sequence[int]) -> int | None:
    """The operand, of those it still has, that is made last."""
    makers = program.makers()
    places = [makers.get(second.reads[n], -1) for n in still]
    latest = max(range(len(still)), key=lambda i: places[i], default=None)
    return None if latest is None or places[latest] < 0 else latest


def apply(program: Program, pair: Pair, level: int, model: Model) -> Program:
    """The program with another choice for one pair."""
    choice = _choose(pair, level)
    new = program.copy()
    scan, other = pair.scan, pair.other
    first = program.operations[pair.first]
    second = program.operations[pair.second]
    stacks = [new.new(scan.kept(scan.body.avals[v])) for v in choice.kept]
    kept = [v for n, v in enumerate(first.makes[scan.carries :]) if n not in pair.kept]
    added = [scan.body.avals[v] for v in choice.kept]
    changed = scan.keeping(_first_body(pair, choice), pair.kept, added)
    new.operations[pair.first] = replace(
        first,
        makes=(*first.makes[: scan.carries], *kept, *stacks),
        run=changed,
        cost=model.cost(first),
        inner=model.graph(changed.body).peak(),
    )
    body, still = _second_body(program, pair, choice)
    if isinstance(other, Map):  # the compiler sees both bodies as one
        late = _latest(program, second, still)
        body = postponed(
            body, len(choice.repeated), model.is_tpu, None if late is None else body.inputs[late]
        )
    own = other.constants + other.carries
    start = scan.constants + scan.carries
    extra = sum(model.cost(scan.body.operations[i]) for i in choice.repeated) * scan.length
    new.operations[pair.second] = replace(
        second,
        reads=(
            *second.reads[: other.constants],
            *(first.reads[n] for n in choice.constants),
            *second.reads[other.constants : own],
            *(second.reads[own + n] for n in still),
            *stacks,
            *(first.reads[start + n] for n in choice.slices),
        ),
        run=other.reading(body, still, added, scan, choice.constants, choice.slices),
        cost=model.cost(second) + extra,
        inner=model.graph(body).peak(),
    )
    return new


def apply_all(
    program: Program, pairs: Sequence[Pair], share: float, model: Model
) -> tuple[Program, tuple[int, ...]]:
    """All pairs at about the same share of their levels: 0 is the cheapest, 1 the leanest."""
    levels = tuple(round(share * (len(pair.cuts) - 1)) for pair in pairs)
    for pair, level in zip(pairs, levels, strict=True):
        program = apply(program, pair, level, model)
    return program, levels


def shares(pairs: Sequence[Pair]) -> Iterator[float]:
    """Of the levels, as `apply_all` takes them."""
    most = max((len(pair.cuts) for pair in pairs), default=0)
    for level in range(most):
        yield level / max(most - 1, 1)
