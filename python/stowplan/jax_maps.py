# SPDX-License-Identifier: Apache-2.0
"""`shard_map` with a body that can be changed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .jax_program import Operation, Program, call, closed_body, flatten


@dataclass(frozen=True, slots=True)
class Map:
    """A `shard_map`: the body runs on each device."""

    body: Program
    params: dict[str, Any]

    def __call__(self, *values: Any) -> Sequence[Any]:
        params = self.params

        def body(*arguments: Any) -> Any:
            return tuple(call(self.body, arguments))

        options: dict[str, Any] = {
            "mesh": params["mesh"],
            "in_specs": tuple(_specs(params, "in")),
            "out_specs": tuple(_specs(params, "out")),
        }
        jax: Any = importlib.import_module("jax")
        if hasattr(jax, "shard_map"):
            options["check_vma"] = params.get("check_vma", params.get("check_rep", False))
            axes = params.get("manual_axes", params.get("axis_names"))
            if axes:
                options["axis_names"] = set(axes)
            return list(jax.shard_map(body, **options)(*values))
        module: Any = importlib.import_module("jax.experimental.shard_map")
        options["check_rep"] = params.get("check_rep", False)
        options["auto"] = params.get("auto", frozenset())
        return list(module.shard_map(body, **options)(*values))


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
    return Map(flatten(closed_body(body)), dict(operation.equation.params))
