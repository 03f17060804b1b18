# SPDX-License-Identifier: Apache-2.0
"""Compiling a step to learn what it takes. What was learned is kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .max_batch import is_out_of_memory
from .sizes import parse_size

# What lowers memory without changing the program, by platform.
OPTIONS: dict[str, dict[str, Any]] = {
    "cpu": {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    "gpu": {"xla_gpu_enable_latency_hiding_scheduler": False},
    "tpu": {"xla_tpu_enable_latency_hiding_scheduler": False},
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What the compiler says about a program, for one device."""

    temporaries: int
    arguments: int
    outputs: int
    aliased: int  # of the outputs: in the memory of donated arguments
    flops: float  # the body of a loop counts once; 0: not known

    @property
    def bytes(self) -> int:
        return self.temporaries + self.arguments + self.outputs - self.aliased

    @property
    def is_known(self) -> bool:
        """False: the compiler ran out of memory, or failed."""
        return self.temporaries < UNKNOWN


UNKNOWN = 1 << 60


def _figures_of_failure(error: Exception) -> Figures:
    """The compiler says how much it would have used, sometimes."""
    found = re.search(r"Used ([0-9.]+)([KMGT]?) of", str(error))
    used = parse_size(found[1] + found[2]) if found else UNKNOWN
    return Figures(max(used, 1), 0, 0, 0, 0.0)


def figures_of(compiled: Any) -> Figures:
    """Of a compiled program of JAX."""
    analysis = compiled.memory_analysis()
    if isinstance(analysis, list):
        analysis = analysis[0]
    try:
        costs = compiled.cost_analysis()
    except Exception:  # back ends that have none say so in many ways
        costs = None
    if isinstance(costs, list):
        costs = costs[0] if costs else None
    return Figures(
        int(analysis.temp_size_in_bytes),
        int(analysis.argument_size_in_bytes),
        int(analysis.output_size_in_bytes),
        int(analysis.alias_size_in_bytes),
        float((costs or {}).get("flops", 0.0)),
    )


@dataclass(slots=True)
class Trial:
    """A program that was lowered, and compiled unless its figures were known."""

    words: str
    function: Any = field(repr=False)  # as jax.jit returns it
    lowered: Any = field(repr=False)
    options: dict[str, Any]
    figures: Figures
    seconds: float
    is_cached: bool
    error: str = ""  # why it could not be compiled
    _compiled: Any = field(default=None, repr=False)

    @property
    def compiled(self) -> Any:
        if self._compiled is None:
            self._compiled = compile_lowered(self.lowered, self.options)
        return self._compiled


def compile_lowered(lowered: Any, options: dict[str, Any]) -> Any:
    """With options of the compiler, if there are any."""
    return lowered.compile(options) if options else lowered.compile()


def cache_folder() -> Path:
    """Where figures are kept: $STOWPLAN_CACHE, or the user's cache folder."""
    given = os.environ.get("STOWPLAN_CACHE")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "stowplan"


class Cache:
    """Figures by program, back end and options. A cache that cannot be used is not an error."""

    def __init__(self, is_on: bool) -> None:
        self._is_on = is_on

    def key(self, lowered: Any, options: dict[str, Any], device: str) -> str:
        if not self._is_on:
            return ""
        jaxlib: Any = importlib.import_module("jaxlib")
        text = hashlib.sha256(lowered.as_text().encode())
        rest = [device, sorted(options.items()), getattr(jaxlib, "__version__", "")]
        rest.append(os.environ.get("XLA_FLAGS", ""))
        text.update(json.dumps(rest, default=str).encode())
        return text.hexdigest()

    def find(self, key: str) -> Figures | None:
        if not key:
            return None
        try:
            return Figures(**json.loads((cache_folder() / f"{key}.json").read_text()))
        except (OSError, TypeError, ValueError):
            return None

    def keep(self, key: str, figures: Figures) -> None:
        if not key:
            return
        with contextlib.suppress(OSError):
            folder = cache_folder()
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder)
            with os.fdopen(handle, "w") as file:
                json.dump(asdict(figures), file)
            os.replace(name, folder / f"{key}.json")


@dataclass(slots=True)
class Compiler:
    """Compiles variants of one step, for the same arguments."""

    arguments: tuple[Any, ...]
    jit: dict[str, Any]  # for jax.jit
    device: str
    cache: Cache
    trials: list[Trial] = field(default_factory=list)

    @property
    def compiles(self) -> int:
        return sum(not trial.is_cached for trial in self.trials)

    def try_out(
        self,
        function: Callable[..., Any],
        words: str,
        options: dict[str, Any],
        jit: dict[str, Any] | None = None,
    ) -> Trial:
        jax: Any = importlib.import_module("jax")
        start = time.monotonic()
        jitted = jax.jit(function, **(self.jit if jit is None else jit))
        lowered = jitted.lower(*self.arguments)
        key = self.cache.key(lowered, options, self.device)
        figures = self.cache.find(key)
        is_cached = figures is not None
        compiled = None
        said = ""
        if figures is None:
            try:
                compiled = compile_lowered(lowered, options)
                figures = figures_of(compiled)
                self.cache.keep(key, figures)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                figures = _figures_of_failure(error)
                said = str(error).splitlines()[0]
        trial = Trial(
            words,
            jitted,
            lowered,
            options,
            figures,
            time.monotonic() - start,
            is_cached,
            said,
            compiled,
        )
        self.trials.append(trial)
        return trial
