# SPDX-License-Identifier: Apache-2.0
"""What a changed program computes again, in lines of the user's source."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from .jax_maps import Map
from .jax_program import Operation, Program, bytes_of, is_value
from .jax_scans import Scan
from .jax_work import Model
from .sizes import format_size

_MOST_SHOWN = 6  # kinds of operations on a line


@dataclass(frozen=True, slots=True)
class StepLine:
    """What is computed again for one line."""

    source: str  # "train.py:17"
    function: str
    operations: str  # "dot_general, tanh"
    times: int  # operations that run again
    bytes: int  # of their results
    share: float  # of the step's work; 0.01: 1 %

    def __str__(self) -> str:
        place = f"{self.source} ({self.function})" if self.function else self.source
        return (
            f"{place}: {self.operations}, {self.times} times, {format_size(self.bytes)}, "
            f"{self.share:.1%} of the work"
        )


def place_of(equation: Any) -> tuple[str, str]:
    """The user's file and line, and the function."""
    util: Any = importlib.import_module("jax._src.source_info_util")
    frame = util.user_frame(_traced(equation.source_info, util))
    if frame is None:
        return "?", ""
    name = frame.file_name.replace("\\\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{frame.start_line}", frame.function_name


def _traced(info: Any, util: Any) -> Any:
    """Newer versions want the traceback, older ones the whole."""
    import inspect

    first = next(iter(inspect.signature(util.user_frame).parameters.values()))
    return info.traceback if "traceback" in first.name or first.name == "tb" else info


def _repeated(program: Program, trips: int, seen: set[int]) -> list[tuple[Operation, Program, int]]:
    """Operations whose equation was there before, with how often they run."""
    found: list[tuple[Operation, Program, int]] = []
    for operation in program.operations:
        if isinstance(operation.run, Scan):
            found += _repeated(operation.run.body, trips * operation.run.length, seen)
        elif isinstance(operation.run, Map):
            found += _repeated(operation.run.body, trips, seen)
        elif operation.equation is not None:
            if id(operation.equation) in seen:
                found.append((operation, program, trips))
            seen.add(id(operation.equation))
    return found


def lines_of(program: Program | None, original: Program) -> tuple[StepLine, ...]:
    """Those with most work first."""
    if program is None:
        return ()
    model = Model()
    whole = max(sum(map(model.cost, original.operations)), 1.0)
    rows: dict[tuple[str, str], list[Any]] = {}
    for operation, holder, trips in _repeated(program, 1, set()):
        row = rows.setdefault(place_of(operation.equation), [{}, 0, 0, 0.0])
        row[0][operation.kind] = None
        row[1] += trips
        row[2] += trips * sum(bytes_of(holder.avals[v]) for v in operation.makes)
        row[3] += trips * model.cost(operation)
    lines = [
        StepLine(
            source,
            function,
            ", ".join(list(kinds)[:_MOST_SHOWN]) + (", ..." if len(kinds) > _MOST_SHOWN else ""),
            times,
            size,
            cost / whole,
        )
        for (source, function), (kinds, times, size, cost) in rows.items()
    ]
    return tuple(sorted(lines, key=lambda line: -line.share))


def _kept(program: Program) -> list[tuple[str, str, int]]:
    """Lines whose values are kept for what is computed again."""
    seen: set[int] = set()
    makers: dict[int, Operation] = {}
    rows: dict[tuple[str, str], int] = {}
    repeated = {id(operation) for operation, _, _ in _repeated(program, 1, set())}
    for operation in program.operations:
        if operation.kind == "stowplan_hold":
            for made, read in zip(operation.makes, operation.reads, strict=False):
                if is_value(read) and read in makers:
                    makers[made] = makers[read]
            continue
        if id(operation) in repeated:
            for atom in operation.reads:
                maker = makers.get(atom) if is_value(atom) else None
                if maker is None or id(maker) in repeated or maker.equation is None or atom in seen:
                    continue
                seen.add(atom)
                place = place_of(maker.equation)
                rows[place] = rows.get(place, 0) + bytes_of(program.avals[atom])
        makers.update((v, operation) for v in operation.makes)
    return sorted(((s, f, b) for (s, f), b in rows.items()), key=lambda row: -row[2])


def advice(
    step: Any, program: Program | None, options: dict[str, Any], donated: tuple[int, ...]
) -> str:
    """A step that does nearly the same, as one would write it."""
    rows: list[str] = []
    jit = [f"donate_argnums={donated}"] if donated else []
    if options:
        jit.append(f"compiler_options={options!r}")
    kept = _kept(program) if program is not None else []
    scans = [
        operation
        for operation in (program.operations if program is not None else ())
        if isinstance(operation.run, Scan)
    ]
    if kept or scans:
        rows.append("from jax.ad_checkpoint import checkpoint_name")
        rows.append("")
        names = []
        for source, function, size in kept:
            name = source.replace(".py", "").replace(":", "_").replace(".", "_")
            names.append(name)
            where = f"{source}, in {function}" if function else source
            rows.append(f"# {where}: keep its result, {format_size(size)}")
            rows.append(f'#   x = checkpoint_name(x, "{name}")')
        quoted = ", ".join(f'"{name}"' for name in names)
        rows.append("# around the loss, or around each block:")
        rows.append(
            f"policy = jax.checkpoint_policies.save_only_these_names({quoted})"
            if names
            else "policy = jax.checkpoint_policies.nothing_saveable"
        )
        rows.append("loss = jax.checkpoint(loss, policy=policy)")
        if scans:
            rows.append("# and around the body of each lax.scan: jax.checkpoint(body)")
    rows.append(f"{step.name} = jax.jit({', '.join([step.name, *jit])})")
    return "\n".join(rows)
