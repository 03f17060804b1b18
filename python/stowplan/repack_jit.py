# SPDX-License-Identifier: Apache-2.0
"""jax.jit whose programs are repacked."""

from __future__ import annotations

import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from .repack import Repacked, RepackReport, repack


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


class RepackedFunction:
    """A function that is compiled and repacked once for each kind of arguments, as `jax.jit`
    compiles it. `reports` has what became of each program so far."""

    def __init__(
        self, function: Callable[..., Any], jit: dict[str, Any], options: dict[str, Any]
    ) -> None:
        jax: Any = importlib.import_module("jax")

        functools.update_wrapper(self, function)
        self._jitted = jax.jit(function, **jit)
        self._options = options
        self._programs: dict[Hashable, Repacked] = {}
        self._lock = threading.Lock()
        self._find_static(function, jit)

    def _find_static(self, function: Callable[..., Any], jit: dict[str, Any]) -> None:
        """As jax.jit does: names and positions of the same parameters."""
        numbers = set(_as_tuple(jit.get("static_argnums")))
        names = set(_as_tuple(jit.get("static_argnames")))
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        numbers = {n + len(places) if n < 0 else n for n in numbers}
        named = [p for p in places if p.kind is p.POSITIONAL_OR_KEYWORD]
        if not names:
            names = {p.name for n, p in enumerate(places) if n in numbers and p in named}
        elif not numbers:
            numbers = {n for n, p in enumerate(places) if p.name in names}
        self._static_numbers = numbers
        self._static_names = names

    def _split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any], Hashable]:
        """What the compiled program is called with, and the values of static arguments."""
        numbers, names = self._static_numbers, self._static_names
        fixed = tuple((n, arg) for n, arg in enumerate(args) if n in numbers)
        named = tuple(sorted((k, v) for k, v in kwargs.items() if k in names))
        return (
            tuple(arg for n, arg in enumerate(args) if n not in numbers),
            {k: v for k, v in kwargs.items() if k not in names},
            (fixed, named),
        )

    def compiled(self, *args: Any, **kwargs: Any) -> Repacked:
        """The program for such arguments: compiled and repacked when it is first asked for."""
        dynamic, named, static = self._split(args, kwargs)
        return self._find(args, kwargs, self._key(dynamic, named, static))

    def _key(self, dynamic: tuple[Any, ...], named: dict[str, Any], static: Hashable) -> Hashable:
        jax: Any = importlib.import_module("jax")

        def kind(leaf: Any) -> Hashable:
            aval = jax.api_util.shaped_abstractify(leaf)
            where = leaf.sharding if getattr(leaf, "committed", False) else None
            return (aval.shape, aval.dtype, getattr(aval, "weak_type", False), where)

        leaves, tree = jax.tree.flatten((dynamic, named))
        context = getattr(jax.config, "_trace_context", lambda: None)()
        return (tree, tuple(kind(leaf) for leaf in leaves), static, context)

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: Hashable) -> Repacked:
        program = self._programs.get(key)
        if program is None:
            with self._lock:
                program = self._programs.get(key)
                if program is None:
                    lowered = self._jitted.lower(*args, **kwargs)
                    program = repack(lowered.compile(), **self._options)
                    self._programs[key] = program
        return program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        jax: Any = importlib.import_module("jax")

        dynamic, named, static = self._split(args, kwargs)
        # What is being traced becomes a part of another program.
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((dynamic, named))):
            return self._jitted(*args, **kwargs)
        return self._find(args, kwargs, self._key(dynamic, named, static))(*dynamic, **named)

    @property
    def reports(self) -> list[RepackReport]:
        return [program.report for program in self._programs.values()]

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """As of `jax.jit`: what is lowered is not repacked."""
        return self._jitted.lower(*args, **kwargs)

    def clear_cache(self) -> None:
        self._programs.clear()


def repack_jit(
    function: Callable[..., Any] | None = None,
    *,
    budget: int | float | str | None = None,
    max_cost: float | None = None,
    reorder: bool = True,
    verify: bool = False,
    release: str = "",
    **jit: Any,
) -> Any:
    """`jax.jit` with lower plans: compiles for each kind of arguments, and repacks the programs.

        step = stowplan.repack_jit(step, donate_argnums=0, budget="16GiB")

    budget, max_cost, reorder, verify, release:  as for `stowplan.repack`
    all others:                                  as for `jax.jit`

    Also a decorator, with arguments or without.
    """
    options = {
        "budget": budget,
        "max_cost": max_cost,
        "reorder": reorder,
        "verify": verify,
        "release": release,
    }
    if function is None:
        return lambda decorated: RepackedFunction(decorated, jit, options)
    return RepackedFunction(function, jit, options)
