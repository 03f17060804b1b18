# SPDX-License-Identifier: Apache-2.0
"""A traced function of JAX as a flat list of operations on numbered values, and its execution.

Calls (jit, custom_jvp, custom_vjp, closed_call) are inlined. Loops, branches and maps over devices
stay single operations.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# What holds the jaxpr of a call, by the name of the primitive.
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}

Atom = Any  # the number of a value, or a literal of JAX


def is_value(atom: Atom) -> bool:
    """Not a literal."""
    return isinstance(atom, int)


@dataclass(slots=True)
class Operation:
    """An equation of a jaxpr, or a function that replaces one."""

    equation: Any  # of JAX; its place in the user's source is that of the operation
    reads: tuple[Atom, ...]
    makes: tuple[int, ...]
    names: Any = None  # the stack of names around it
    run: Callable[..., Sequence[Any]] | None = None  # instead of the equation
    cost: float = 0.0  # of a replaced equation; others are looked up
    inner: int = 0
    kind: str = ""

    def __post_init__(self) -> None:
        if not self.kind:
            self.kind = self.equation.primitive.name

    @property
    def is_pure(self) -> bool:
        return self.equation is None or not self.equation.effects


@dataclass(slots=True)
class Program:
    """Values are numbered; `avals` says what each is."""

    avals: list[Any] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    results: list[Atom] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)

    def new(self, aval: Any) -> int:
        self.avals.append(aval)
        return len(self.avals) - 1

    def copy(self) -> Program:
        return Program(
            list(self.avals),
            list(self.inputs),
            list(self.results),
            dict(self.constants),
            list(self.operations),
        )

    def makers(self) -> dict[int, int]:
        """By value: the operation that makes it."""
        return {v: i for i, operation in enumerate(self.operations) for v in operation.makes}


def bytes_of(aval: Any) -> int:
    """0 for what is no array."""
    shape = getattr(aval, "shape", None)
    dtype = getattr(aval, "dtype", None)
    if shape is None or dtype is None:
        return 0
    try:
        return int(math.prod(shape)) * int(dtype.itemsize or 1)
    except TypeError:  # a dimension that is not a number
        return 0


def elements_of(aval: Any) -> int:
    """1 for a scalar."""
    try:
        return int(math.prod(getattr(aval, "shape", ())))
    except TypeError:
        return 0


def closed(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """The jaxpr and its constants."""
    return (jaxpr.jaxpr, jaxpr.consts) if hasattr(jaxpr, "consts") else (jaxpr, ())


def _is_shard_bound(equation: Any) -> bool:
    """Whether a call says how its values are spread over devices, which inlining would lose."""
    params = equation.params
    for name in ("in_shardings", "out_shardings", "in_layouts", "out_layouts"):
        for item in params.get(name) or ():
            if item is not None and type(item).__name__ != "UnspecifiedValue":
                return True
    return False


def _body_of_call(equation: Any) -> Any | None:
    key = _CALLS.get(equation.primitive.name)
    if key is None or key not in equation.params:
        return None
    return None if _is_shard_bound(equation) else equation.params[key]


def flatten(jaxpr: Any) -> Program:
    """Of a closed jaxpr. What nobody reads is left out."""
    program = Program()
    inner, constants = closed(jaxpr)
    values = [program.new(v.aval) for v in inner.constvars]
    program.constants.update(zip(values, constants, strict=False))
    program.inputs = [program.new(v.aval) for v in inner.invars]
    program.results = _inline(program, inner, [*values, *program.inputs], None)
    return without_unread(program)


def _inline(program: Program, jaxpr: Any, arguments: Sequence[Atom], names: Any) -> list[Atom]:
    """Appends the equations. `arguments`: for the constants and inputs of the jaxpr."""
    known: dict[Any, Atom] = dict(zip([*jaxpr.constvars, *jaxpr.invars], arguments, strict=True))

    def read(atom: Any) -> Atom:
        return atom if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        reads = tuple(read(atom) for atom in equation.invars)
        own = equation.source_info.name_stack
        stack = own if names is None else names + own
        body = _body_of_call(equation)
        if body is not None:
            inner, constants = closed(body)
            values = [program.new(v.aval) for v in inner.constvars]
            program.constants.update(zip(values, constants, strict=True))
            made = _inline(program, inner, [*values, *reads], stack)
        else:
            made = [program.new(v.aval) for v in equation.outvars]
            program.operations.append(Operation(equation, reads, tuple(made), stack))
        known.update(zip(equation.outvars, made, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def without_unread(program: Program) -> Program:
    """Drops operations without effect whose results nobody reads."""
    wanted = {atom for atom in program.results if is_value(atom)}
    kept = []
    for operation in reversed(program.operations):
        if operation.is_pure and not any(v in wanted for v in operation.makes):
            continue
        kept.append(operation)
        wanted.update(atom for atom in operation.reads if is_value(atom))
    return replace(program, operations=kept[::-1])


def bodies_of(equation: Any) -> Iterator[Any]:
    """The jaxprs that an equation calls."""
    for value in equation.params.values():
        for item in value if isinstance(value, tuple | list) else (value,):
            if hasattr(item, "eqns") or hasattr(getattr(item, "jaxpr", None), "eqns"):
                yield item


def closed_body(body: Any) -> Any:
    """As a closed jaxpr."""
    if hasattr(body, "consts"):
        return body
    core: Any = importlib.import_module("jax.extend.core")
    return core.ClosedJaxpr(body, ())


@contextlib.contextmanager
def _at(operation: Operation) -> Iterator[None]:
    """What is traced inside belongs to the user's line of the operation."""
    util: Any = importlib.import_module("jax._src.source_info_util")
    equation = operation.equation
    names = operation.names
    if names is None:
        names = equation.source_info.name_stack
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            util.user_context(
                equation.source_info.traceback, name_stack=util.current_name_stack() + names
            )
        )
        manager = getattr(getattr(equation, "ctx", None), "manager", None)
        if manager is not None:
            stack.enter_context(manager)
        yield


def bind(operation: Operation, values: Sequence[Any]) -> Sequence[Any]:
    """The results of an operation."""
    if operation.equation is None:
        assert operation.run is not None
        return operation.run(*values)
    with _at(operation):
        if operation.run is not None:
            return operation.run(*values)
        primitive = operation.equation.primitive
        parameters = primitive.get_bind_params(operation.equation.params)
        if isinstance(parameters, tuple):  # functions to call, and the rest
            functions, rest = parameters
            made = primitive.bind(*functions, *values, **rest)
        else:
            made = primitive.bind(*values, **parameters)
        return made if primitive.multiple_results else [made]


def execute(program: Program, arguments: Iterable[Any]) -> dict[int, Any]:
    """All values, by number. A value that no later operation reads is dropped early."""
    values: dict[int, Any] = dict(program.constants)
    values.update(zip(program.inputs, arguments, strict=True))
    for operation in program.operations:
        made = bind(operation, [value_of(values, atom) for atom in operation.reads])
        values.update(zip(operation.makes, made, strict=True))
    return values


def value_of(values: dict[int, Any], atom: Atom) -> Any:
    """What a value or a literal is."""
    return values[atom] if is_value(atom) else atom.val


def call(program: Program, arguments: Iterable[Any]) -> list[Any]:
    """The results."""
    values = execute(program, arguments)
    return [value_of(values, atom) for atom in program.results]
