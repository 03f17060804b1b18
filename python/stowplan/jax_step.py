# SPDX-License-Identifier: Apache-2.0
"""A step of JAX with its arguments: traced once, so that variants of it can be compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .errors import ArgumentError
from .jax_program import Program, call, flatten
from .jax_targets import target_of


def positions(value: Any, name: str) -> tuple[int, ...]:
    """Of arguments, as jax.jit takes them."""
    if value is None:
        return ()
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        raise ArgumentError(f"{name} is a position or several, not {value!r}")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class Step:
    """What is traced, and how it is compiled."""

    name: str
    program: Program
    arguments: tuple[Any, ...]
    results: Any  # the tree of the results
    jit: dict[str, Any]  # for jax.jit
    target: str | None  # "cpu", "gpu", "tpu-v5e"

    @property
    def platform(self) -> str:
        return (self.target or "").split("-")[0]

    def function(self, program: Program) -> Callable[..., Any]:
        """The step as another program computes it."""
        jax: Any = importlib.import_module("jax")
        tree = self.results

        def step(*arguments: Any) -> Any:
            return jax.tree.unflatten(tree, call(program, jax.tree.leaves(arguments)))

        step.__name__ = step.__qualname__ = self.name
        return step


def _abstract(leaf: Any) -> Any:
    """Arrays as shapes: nothing is kept alive, and a committed array keeps its devices."""
    jax: Any = importlib.import_module("jax")
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    aval = jax.api_util.shaped_abstractify(leaf)
    where = leaf.sharding if getattr(leaf, "committed", False) else None
    options: dict[str, Any] = {}
    if getattr(aval, "weak_type", False):
        options["weak_type"] = True
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=where, **options)


def _target(arguments: Any) -> str | None:
    jax: Any = importlib.import_module("jax")
    for leaf in jax.tree.leaves(arguments):
        for device in getattr(getattr(leaf, "sharding", None), "device_set", ()):
            return target_of(device.platform, getattr(device, "device_kind", ""))
    default = jax.config.jax_default_device
    device = default if hasattr(default, "platform") else jax.devices()[0]
    return target_of(device.platform, getattr(device, "device_kind", ""))


def _unspecified(items: Iterable[Any]) -> list[Any]:
    """Shardings as jax.jit takes them."""
    return [None if type(item).__name__ == "UnspecifiedValue" else item for item in items]


def _jit_options(
    closed: Any, arguments: tuple[Any, ...], results: Any
) -> tuple[Any, dict[str, Any]]:
    """Of a step that is itself what jax.jit returns: its jaxpr, donations and shardings."""
    jax: Any = importlib.import_module("jax")
    jaxpr = closed.jaxpr
    if len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive.name not in ("jit", "pjit"):
        return closed, {}
    equation = jaxpr.eqns[0]
    is_whole = list(equation.invars) == list(jaxpr.invars) and list(equation.outvars) == list(
        jaxpr.outvars
    )
    if not is_whole:
        return closed, {}
    params = equation.params
    options: dict[str, Any] = {}
    tree = jax.tree.structure(arguments)
    donated = jax.tree.unflatten(tree, params["donated_invars"])
    options["donate_argnums"] = tuple(
        i for i, part in enumerate(donated) if any(jax.tree.leaves(part))
    )
    inputs = _unspecified(params["in_shardings"])
    if any(item is not None for item in inputs):
        options["in_shardings"] = jax.tree.unflatten(tree, inputs)
    outputs = _unspecified(params["out_shardings"])
    if any(item is not None for item in outputs):
        options["out_shardings"] = jax.tree.unflatten(results, outputs)
    return params["jaxpr"], options


def trace(step: Callable[..., Any], arguments: tuple[Any, ...], donate: Any) -> Step:
    """Traces a step, which may be what jax.jit returns."""
    jax: Any = importlib.import_module("jax")
    if not callable(step):
        raise ArgumentError(f"a step is a function, not {step!r}")
    shapes = jax.tree.map(_abstract, arguments)
    closed, made = jax.make_jaxpr(step, return_shape=True)(*shapes)
    results = jax.tree.structure(made)
    options: dict[str, Any] = {}
    if hasattr(step, "lower"):
        closed, options = _jit_options(closed, shapes, results)
    if donate is not None:
        options["donate_argnums"] = positions(donate, "donate_argnums")
    name = getattr(step, "__name__", type(step).__name__)
    return Step(name, flatten(closed), shapes, results, options, _target(shapes))
