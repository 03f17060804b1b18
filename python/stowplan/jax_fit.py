# SPDX-License-Identifier: Apache-2.0
"""fit: a training step that needs no more memory than there is, without a change of its source."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import arguments
from .errors import Error
from .jax_compile import OPTIONS, Cache, Compiler, Trial
from .jax_fitted import DoesNotFit, FittedStep, StepCurve, StepPoint, StepReport
from .jax_plans import Candidate, Settings, find_candidates, front_of
from .jax_program import Program
from .jax_step import Step, trace
from .jax_work import Model
from .progress import Progress
from .sizes import format_size, parse_size

_MOST_COMPILES = 6
# Plans whose cost differs by less are the same to a user.
_CLOSE = 0.002


def settings_for(step: Step) -> Settings:
    """XLA for CPUs drops barriers before it chooses an order; so does XLA for GPUs."""
    is_tpu = step.platform == "tpu"
    return Settings(Model(is_tpu), by_barrier=is_tpu, with_light=not is_tpu)


@dataclass(slots=True)
class _Tried:
    index: int
    trial: Trial
    program: Program


class _Search:
    """Looks for the cheapest candidate that fits. The model's figures are rough, so each program that
    was compiled corrects them for the next."""

    def __init__(self, candidates: list[Candidate], first: Trial, budget: int) -> None:
        self._candidates = candidates
        self._budget = budget
        fixed = first.figures.bytes - first.figures.temporaries
        self._wanted = max(budget - fixed, 1)
        # The model's bytes against the compiler's.
        self._known = [(max(candidates[0].peak, 1), max(first.figures.temporaries, 1))]
        self._low = 0  # too large, or not worth it
        self._high = len(candidates)  # fits, or nothing is left there

    def predict(self, peak: int) -> float:
        """Between what is known, in proportion."""
        known = sorted(self._known)
        peak = max(peak, 1)
        below = [k for k in known if k[0] <= peak]
        above = [k for k in known if k[0] > peak]
        if below and above:
            (x0, y0), (x1, y1) = below[-1], above[0]
            share = (math.log(peak) - math.log(x0)) / (math.log(x1) - math.log(x0))
            return math.exp(math.log(y0) + share * (math.log(y1) - math.log(y0)))
        x, y = below[-1] if below else above[0]
        return y * peak / x

    def next(self) -> int | None:
        """The next to compile."""
        between = range(self._low + 1, self._high)
        if not between:
            return None
        for index in between:
            if self.predict(self._candidates[index].peak) <= self._wanted:
                return index
        # None is expected to fit: then the leanest, unless it was tried.
        return between[-1]

    def learn(self, index: int, trial: Trial) -> bool:
        """Whether it fits."""
        self._known.append((max(self._candidates[index].peak, 1), max(trial.figures.temporaries, 1)))
        if trial.figures.bytes <= self._budget:
            self._high = index
            return True
        self._low = index
        return False


class _Fitter:
    def __init__(
        self, step: Step, original: Callable[..., Any], budget: int, cache: bool, progress: Progress
    ) -> None:
        self.step = step
        self.original = original
        self.budget = budget
        self.progress = progress
        self.compiler = Compiler(step.arguments, step.jit, str(step.target), Cache(cache))

    def compile(
        self, function: Callable[..., Any], words: str, options: dict[str, Any]
    ) -> Trial:
        count = len(self.compiler.trials) + 1
        self.progress.show(f"fit: compiling {count}: {words}")
        try:
            return self.compiler.try_out(function, words, options)
        finally:
            self.progress.clear()

    def fits(self, trial: Trial) -> bool:
        return trial.figures.bytes <= self.budget
