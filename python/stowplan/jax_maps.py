# SPDX-License-Identifier: Apache-2.0
"""`shard_map` with a body that can be changed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from .jax_program import Operation, Program, call, closed_body, flatten


@dataclass(frozen=True, slots=True)
class Map:
    """A `shard_map`: the body runs on each device."""

    body: Program
    params: dict[str, Any]  # of the primitive
    in_specs: tuple[Any, ...]
    out_specs: tuple[Any, ...]
    # Scalars that are kept for another map have a dimension of their own, over which devices are
    # spread.
    lifted_inputs: frozenset[int] = frozenset()
    lifted_results: frozenset[int] = frozenset()

    # As of a loop of one trip in which everything is a slice.
    constants: ClassVar[int] = 0
    carries: ClassVar[int] = 0
    length: ClassVar[int] = 1

    def __call__(self, *values: Any) -> Sequence[Any]:
        params = self.params

        def body(*arguments: Any) -> Any:
            inside = [x[0] if i in self.lifted_inputs else x for i, x in enumerate(arguments)]
            made = call(self.body, inside)
            return tuple(x[None] if i in self.lifted_results else x for i, x in enumerate(made))

        options: dict[str, Any] = {
            "mesh": params["mesh"],
            "in_specs": self.in_specs,
            "out_specs": self.out_specs,
        }
        jax: Any = importlib.import_module("jax")
        if hasattr(jax, "shard_map"):
            options["check_vma"] = params.get("check_vma", params.get("check_rep", False))
            if self._axes():
                options["axis_names"] = set(self._axes())
            return list(jax.shard_map(body, **options)(*values))
        module: Any = importlib.import_module("jax.experimental.shard_map")
        options["check_rep"] = params.get("check_rep", False)
        options["auto"] = params.get("auto", frozenset())
        return list(module.shard_map(body, **options)(*values))

    def _axes(self) -> tuple[str, ...]:
        for name in ("newly_manual_axes", "manual_axes", "axis_names"):
            if self.params.get(name):
                return tuple(a for a in self.params["mesh"].axis_names if a in self.params[name])
        return tuple(self.params["mesh"].axis_names)

    def hands_on(self, number: int, other: Any, place: int) -> bool:
        """Whether what each device makes as result `number` is what it reads as operand `place`."""
        return (
            isinstance(other, Map)
            and other.params["mesh"] == self.params["mesh"]
            and other.in_specs[place] == self.out_specs[number]
            and (place in other.lifted_inputs) == (number in self.lifted_results)
        )

    def kept(self, aval: Any) -> Any:
        """What a value of the body becomes if all devices keep theirs."""
        jax: Any = importlib.import_module("jax")
        devices = math.prod(self.params["mesh"].shape[axis] for axis in self._axes())
        first, *rest = aval.shape or (1,)
        return jax.ShapeDtypeStruct((devices * first, *rest), aval.dtype)

    def _spread(self) -> Any:
        spec: Any = importlib.import_module("jax").sharding.PartitionSpec
        return spec(self._axes())

    def keeping(self, body: Program, dropped: Sequence[int], added: Sequence[Any]) -> Map:
        """With other results: without those of the numbers in `dropped`, and those `added`."""
        still = [n for n in range(len(self.out_specs)) if n not in dropped]
        lifted = {i for i, n in enumerate(still) if n in self.lifted_results}
        lifted.update(len(still) + i for i, aval in enumerate(added) if not aval.shape)
        specs = [self.out_specs[n] for n in still] + [self._spread()] * len(added)
        return replace(self, body=body, out_specs=tuple(specs), lifted_results=frozenset(lifted))

    def reading(
        self,
        body: Program,
        still: Sequence[int],
        added: Sequence[Any],
        first: Any,
        constants: Sequence[int],
        slices: Sequence[int],
    ) -> Map:
        """With other operands: some it still has, values that are kept for it, and operands of the
        map that keeps them."""
        lifted = {i for i, n in enumerate(still) if n in self.lifted_inputs}
        lifted.update(len(still) + i for i, aval in enumerate(added) if not aval.shape)
        begin = len(still) + len(added)
        lifted.update(begin + i for i, n in enumerate(slices) if n in first.lifted_inputs)
        specs = [self.in_specs[n] for n in still] + [self._spread()] * len(added)
        specs += [first.in_specs[n] for n in slices]
        return replace(self, body=body, in_specs=tuple(specs), lifted_inputs=frozenset(lifted))


def _specs(params: dict[str, Any], side: str) -> Sequence[Any]:
    """Partition specs; older versions have a dictionary by dimension instead."""
    specs = params.get(f"{side}_specs")
    if specs is not None:
        return list(specs)
    spec: Any = importlib.import_module("jax").sharding.PartitionSpec
    made = []
    for names in params[f"{side}_names"]:
        size = max(names, default=-1) + 1
        made.append(spec(*(tuple(names.get(d, ())) or None for d in range(size))))
    return made


def map_of(operation: Operation) -> Map | None:
    """None: it is none, or cannot be changed."""
    if isinstance(operation.run, Map):
        return operation.run
    if operation.kind != "shard_map" or operation.run is not None or not operation.is_pure:
        return None
    body = operation.equation.params["jaxpr"]
    if getattr(body, "constvars", ()):
        return None
    params = dict(operation.equation.params)
    return Map(
        flatten(closed_body(body)),
        params,
        tuple(_specs(params, "in")),
        tuple(_specs(params, "out")),
    )
