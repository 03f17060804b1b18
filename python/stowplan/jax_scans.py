# SPDX-License-Identifier: Apache-2.0
"""`lax.scan` with a body that can be changed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .jax_program import Operation, Program, call, flatten


@dataclass(frozen=True, slots=True)
class Scan:
    """A `lax.scan` with a body that can be changed. Inputs and results of the body are in the order
    of the primitive: constants, carries, slices."""

    body: Program
    constants: int
    carries: int
    length: int
    reverse: bool
    unroll: Any

    def __call__(self, *values: Any) -> Sequence[Any]:
        lax: Any = importlib.import_module("jax").lax
        fixed = values[: self.constants]
        first = values[self.constants : self.constants + self.carries]
        stacks = values[self.constants + self.carries :]

        def body(carry: Any, slices: Any) -> Any:
            made = call(self.body, [*fixed, *carry, *slices])
            return tuple(made[: self.carries]), tuple(made[self.carries :])

        last, made = lax.scan(
            body,
            tuple(first),
            tuple(stacks),
            length=self.length,
            reverse=self.reverse,
            unroll=self.unroll,
        )
        return [*last, *made]

    def hands_on(self, number: int, other: Any, place: int) -> bool:
        """Whether slices that result `number` is made of are those that operand `place` has."""
        return (
            isinstance(other, Scan)
            and other.length == self.length
            and place >= other.constants + other.carries
        )

    def kept(self, aval: Any) -> Any:
        """What a value of the body becomes if it is kept for each trip."""
        jax: Any = importlib.import_module("jax")
        return jax.ShapeDtypeStruct((self.length, *aval.shape), aval.dtype)

    def keeping(self, body: Program, dropped: Sequence[int], added: Sequence[Any]) -> Scan:
        """With other results: without those of the numbers in `dropped`, and those `added`."""
        return replace(self, body=body)

    def reading(
        self,
        body: Program,
        still: Sequence[int],
        added: Sequence[Any],
        first: Any,
        constants: Sequence[int],
        slices: Sequence[int],
    ) -> Scan:
        """With other operands: constants of another loop, slices that it still has, values that are
        kept for it, and slices of the other loop."""
        return replace(self, body=body, constants=self.constants + len(constants))


def scan_of(operation: Operation) -> Scan | None:
    """None: it is none, or has effects."""
    if isinstance(operation.run, Scan):
        return operation.run
    if operation.kind != "scan" or operation.run is not None or not operation.is_pure:
        return None
    params = operation.equation.params
    return Scan(
        flatten(params["jaxpr"]),
        params["num_consts"],
        params["num_carry"],
        params["length"],
        params["reverse"],
        params["unroll"],
    )
