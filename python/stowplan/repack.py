# SPDX-License-Identifier: Apache-2.0
"""A compiled JAX program with a lower plan: the same kernels, in other places and another order,
some of them twice."""

from __future__ import annotations

import dataclasses
import importlib
import io
import json
from typing import Any

from . import _core
from .errors import ArgumentError, ParseError
from .sizes import format_size, parse_size

_MOST_LINES = 12
_MOST_COST = 10


@dataclasses.dataclass(frozen=True)
class Recomputed:
    """An instruction that runs more than once."""

    instruction: str
    times: int
    """Besides the first."""
    bytes: int
    """Of its results."""
    cost: float
    """Extra work, as a part of the program's."""
    source: str = ""
    """The line in your program: "train.py:17"; empty if it is not known."""
    op_name: str = ""


@dataclasses.dataclass(frozen=True)
class RepackReport:
    """What became of a program's temporaries, and why no more."""

    module: str
    is_rewritten: bool
    temporaries_before: int
    temporaries_after: int
    bound: int
    """In the order that was chosen, no places need less. 0 if the program was not rewritten."""
    moved_values: int
    moved_thunks: int
    refusals: tuple[str, ...]
    """Why other plans were not used."""
    copied_thunks: int = 0
    """Launches that happen a second time."""
    cost: float = 0.0
    """Extra work, as a part of the program's, by a model of the machine."""
    repeats: tuple[Recomputed, ...] = ()
    other_bytes: int = 0
    """Of allocations that are no temporaries: arguments, results, constants."""
    budget: int | None = None
    fits: bool = True
    """Whether all allocations together fit into the budget."""
    is_verified: bool = False
    """Whether both programs were run on random inputs, with the same results to the bit."""

    def __str__(self) -> str:
        if not self.is_rewritten:
            why = "".join(f"\n  refused: {refusal}" for refusal in self.refusals)
            size = format_size(self.temporaries_before)
            return f"{self.module}: {size} of temporaries, as compiled{why}{self._verdict()}"
        lines = [
            f"{self.module}: {format_size(self.temporaries_after)} of temporaries instead of "
            f"{format_size(self.temporaries_before)}; {self.moved_values} values lie elsewhere, "
            f"{self.moved_thunks} thunks run at another time"
        ]
        if self.copied_thunks:
            lines.append(
                f"  {self.copied_thunks} thunks run once more, about {100 * self.cost:+.1f} % work:"
            )
            by_line: dict[str, list[float]] = {}
            for repeat in self.repeats:
                row = by_line.setdefault(repeat.source or repeat.instruction, [0, 0.0, 0])
                row[0] += repeat.times
                row[1] += repeat.cost
                row[2] += repeat.bytes
            rows = sorted(by_line.items(), key=lambda item: -item[1][2])
            for where, (times, cost, held) in rows[:_MOST_LINES]:
                lines.append(
                    f"    {where}: {times:.0f} times, {100 * cost:+.1f} % work, for "
                    f"{format_size(int(held))}"
                )
            if len(rows) > _MOST_LINES:
                lines.append(f"    and {len(rows) - _MOST_LINES} more lines")
        return "\n".join(lines) + self._verdict()

    def _verdict(self) -> str:
        if self.budget is None:
            return ""
        whole = format_size(self.other_bytes + self.temporaries_after)
        fits = "fits" if self.fits else "does not fit"
        return f"\n  {whole} in all, which {fits} into {format_size(self.budget)}"


class Repacked:
    """A compiled program that is called like the one it was made of. `report` says what changed;
    everything else is that of the `jax.stages.Compiled` in `compiled`."""

    def __init__(self, compiled: Any, report: RepackReport) -> None:
        self.compiled = compiled
        self.report = report

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __repr__(self) -> str:
        return f"<Repacked {self.report}>"


class _Serialized:
    """Stands for an executable inside a pickle."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts


def _with_executables(payload: bytes, backend: Any, devices: Any, rewrite: Any) -> bytes:
    """The payload of jax.experimental.serialize_executable with other executables. JAX's own
    pickler hands them out as bytes and takes them back as bytes; they are not loaded here."""
    serialize_executable: Any = importlib.import_module("jax.experimental.serialize_executable")

    class Unpickler(serialize_executable._JaxPjrtUnpickler):  # type: ignore[misc]
        def persistent_load(self, pid: Any) -> Any:
            return _Serialized(pid) if pid[0] == "exec" else super().persistent_load(pid)

    class Pickler(serialize_executable._JaxPjrtPickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            if isinstance(obj, _Serialized):
                return (obj.parts[0], rewrite(obj.parts[1]), *obj.parts[2:])
            return super().persistent_id(obj)

    try:
        unpickler = Unpickler(io.BytesIO(payload), backend)
    except TypeError:
        unpickler = Unpickler(io.BytesIO(payload), backend, devices)
    out = io.BytesIO()
    Pickler(out).dump(unpickler.load())
    return out.getvalue()


def _load(payload: bytes, in_tree: Any, out_tree: Any, devices: Any) -> Any:
    serialize_executable: Any = importlib.import_module("jax.experimental.serialize_executable")

    try:
        return serialize_executable.deserialize_and_load(
            payload, in_tree, out_tree, execution_devices=devices
        )
    except TypeError:  # up to JAX 0.6 it has no such argument
        return serialize_executable.deserialize_and_load(payload, in_tree, out_tree)


def _random_arguments(compiled: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    jax: Any = importlib.import_module("jax")
    import numpy as np

    random = np.random.default_rng(0)

    def make(info: Any, sharding: Any) -> Any:
        if jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key):
            words = jax.eval_shape(jax.random.key_data, info)
            data = random.integers(0, 1 << 32, words.shape).astype(words.dtype)
            keys = jax.random.wrap_key_data(data, impl=info.dtype._impl.name)
            return jax.device_put(keys, sharding)
        dtype = np.dtype(info.dtype)
        if dtype.kind in "iub":
            data = random.integers(0, 2, info.shape).astype(dtype)
        elif dtype.kind == "c":
            data = (
                random.standard_normal(info.shape) + 1j * random.standard_normal(info.shape)
            ).astype(dtype)
        else:
            data = (0.1 * random.standard_normal(info.shape)).astype(np.float32).astype(dtype)
        return jax.device_put(data, sharding)

    args_info, kwargs_info = compiled.args_info
    args_shardings, kwargs_shardings = compiled.input_shardings
    is_leaf = lambda x: hasattr(x, "shape") and hasattr(x, "dtype")  # noqa: E731
    args = jax.tree.map(make, args_info, args_shardings, is_leaf=is_leaf)
    kwargs = jax.tree.map(make, kwargs_info, kwargs_shardings, is_leaf=is_leaf)
    return tuple(args), dict(kwargs)


def _bits(compiled: Any) -> list[bytes]:
    jax: Any = importlib.import_module("jax")
    import numpy as np

    def bits(leaf: Any) -> bytes:
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf).tobytes()

    args, kwargs = _random_arguments(compiled)
    return [bits(leaf) for leaf in jax.tree.leaves(compiled(*args, **kwargs))]


def _refused(compiled: Any, why: str) -> Repacked:
    analysis = getattr(compiled, "memory_analysis", lambda: None)()
    size = getattr(analysis, "temp_size_in_bytes", 0) or 0
    return Repacked(
        compiled,
        RepackReport(
            module="the program",
            is_rewritten=False,
            temporaries_before=size,
            temporaries_after=size,
            bound=0,
            moved_values=0,
            moved_thunks=0,
            refusals=(why,),
        ),
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _report_of(text: str) -> RepackReport:
    fields = json.loads(text)
    fields["refusals"] = tuple(fields["refusals"])
    fields["repeats"] = tuple(Recomputed(**repeat) for repeat in fields["repeats"])
    return RepackReport(**fields)


def _without_change(report: RepackReport, why: str) -> RepackReport:
    return dataclasses.replace(
        report,
        is_rewritten=False,
        temporaries_after=report.temporaries_before,
        moved_values=0,
        moved_thunks=0,
        copied_thunks=0,
        cost=0.0,
        repeats=(),
        fits=report.budget is None
        or report.other_bytes + report.temporaries_before <= report.budget,
        refusals=(*report.refusals, why),
    )


def repack(
    compiled: Any,
    *,
    budget: int | float | str | None = None,
    max_cost: float | None = None,
    reorder: bool = True,
    verify: bool = False,
    release: str = "",
) -> Repacked:
    """The same program with a lower plan.

    The kernels stay as they were compiled and run on the same inputs, so results are the same to
    the bit. The new plan is used only if it was read back from the new executable, checked, and
    its thunks compute what the original's do; in doubt the program stays as it is, and
    `report.refusals` says why.

    compiled:  a `jax.stages.Compiled` for CPU or GPU
    budget:    compute values again, as few as possible, until all allocations together fit into
               this: a number of bytes, or "16GiB"
    max_cost:  the extra work that is allowed, as a part of the program's (0.1 is 10 %); without a
               budget, as much memory is saved as that allows
    reorder:   also look for a better order of execution
    verify:    run both on random inputs and compare the results bit by bit
    release:   of XLA, if it is not recognized: "jaxlib-0.11.2"

    Without budget and max_cost, nothing is computed twice.
    """
    serialize_executable: Any = importlib.import_module("jax.experimental.serialize_executable")

    if not hasattr(compiled, "runtime_executable"):
        raise ArgumentError("repack needs a jax.stages.Compiled: jax.jit(f).lower(...).compile()")
    limit = None if budget is None else parse_size(budget)
    if max_cost is not None and not 0 <= max_cost <= _MOST_COST:
        raise ArgumentError(f"max_cost is a number from 0 to {_MOST_COST}, not {max_cost}")
    try:
        payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    except Exception as error:  # each client says in its own way that it cannot
        return _refused(compiled, f"it cannot be serialized: {_first_line(error)}")
    devices = compiled.runtime_executable().local_devices()
    reports: list[RepackReport] = []

    def rewrite(data: bytes) -> bytes:
        text, lower = _core.repack("executable", data, not reorder, release, limit, max_cost)
        reports.append(_report_of(text))
        return lower or data

    try:
        new_payload = _with_executables(payload, devices[0].client, devices, rewrite)
    except ParseError as error:  # a container of a release that is not known
        return _refused(compiled, _first_line(error))
    if len(reports) != 1:
        return _refused(
            compiled,
            f"it has {len(reports)} executables; only programs with one can be rewritten",
        )
    report = reports[0]
    if not report.is_rewritten:
        return Repacked(compiled, report)
    try:
        lower = _load(new_payload, in_tree, out_tree, devices)
    except Exception as error:
        why = f"the runtime does not load it: {_first_line(error)}"
        return Repacked(compiled, _without_change(report, why))
    if verify:
        if _bits(compiled) != _bits(lower):
            why = "run on random inputs, the results differ"
            return Repacked(compiled, _without_change(report, why))
        report = dataclasses.replace(report, is_verified=True)
    return Repacked(lower, report)
