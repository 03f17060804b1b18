# SPDX-License-Identifier: Apache-2.0
"""fit: a training step that needs no more memory than there is, without a change of its source."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import arguments
from .jax_compile import OPTIONS, Cache, Compiler, Trial
from .jax_fitted import DoesNotFit, FittedStep, StepCurve, StepPoint, StepReport, trial_row
from .jax_lines import lines_of
from .jax_plans import Candidate, Settings, find_candidates, front_of
from .jax_program import Program, is_value
from .jax_step import Step, trace
from .jax_work import Model
from .progress import Progress
from .sizes import parse_size

_MOST_COMPILES = 6
# Options of the compiler leave at least this share of the temporaries.
_SAVED_BY_OPTIONS = 0.75


def settings_for(step: Step) -> Settings:
    """XLA for CPUs drops barriers before it chooses an order; so does XLA for GPUs."""
    is_tpu = step.platform == "tpu"
    return Settings(Model(is_tpu), by_barrier=is_tpu, with_light=not is_tpu)


class _Search:
    """Looks for the cheapest candidate that fits. The model's figures are rough, so each program
    that was compiled corrects them for the next."""

    def __init__(self, candidates: list[Candidate], first: Trial, budget: int) -> None:
        self._candidates = candidates
        self._budget = budget
        fixed = first.figures.bytes - first.figures.temporaries
        self._wanted = max(budget - fixed, 1)
        # The model's bytes against the compiler's.
        self._known: list[tuple[int, int]] = []
        if first.figures.is_known:
            self._note(0, first)
        self._low = 0  # too large, or not worth it
        self._high = len(candidates)  # fits, or nothing is left there

    def predict(self, peak: int) -> float:
        """Between what is known, in proportion."""
        peak = max(peak, 1)
        if not self._known:
            return peak
        known = sorted(self._known)
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

    def _note(self, index: int, trial: Trial) -> None:
        peak = max(self._candidates[index].peak, 1)
        self._known.append((peak, max(trial.figures.temporaries, 1)))

    def skip(self, index: int) -> None:
        """It cannot be compiled."""
        self._low = index

    def learn(self, index: int, trial: Trial) -> bool:
        """Whether it fits."""
        if trial.figures.is_known:
            self._note(index, trial)
        if trial.figures.bytes <= self._budget:
            self._high = index
            return True
        self._low = index
        return False


class _Fitter:
    """One call of fit."""

    def __init__(self, step: Step, original: Callable[..., Any], options: _Options) -> None:
        self.step = step
        self.original = original
        self.options = options
        self.budget = options.budget
        self.compiler = Compiler(step.arguments, step.jit, str(step.target), options.cache)
        self.levers: tuple[str, ...] = ()
        self.best: tuple[Trial, Program | None, tuple[str, ...]] | None = None
        self.interrupted = False
        self.failures: list[str] = []  # variants that could not be compiled

    def compile(self, function: Callable[..., Any], words: str, options: dict[str, Any]) -> Trial:
        count = len(self.compiler.trials) + 1
        self.options.progress.show(f"fit: compiling variant {count}: {words}")
        try:
            return self.compiler.try_out(function, words, options)
        finally:
            self.options.progress.clear()

    def attempt(
        self, function: Callable[..., Any], words: str, options: dict[str, Any]
    ) -> Trial | None:
        """None: it cannot be compiled. Some compilers do not know an option, and a rewritten
        program may be more than JAX can take. The step as it is remains."""
        try:
            return self.compile(function, words, options)
        except Exception as error:
            lines = str(error).splitlines() or [repr(error)]
            self.failures.append(f"{words}: {lines[0]}")
            return None

    def fits(self, trial: Trial) -> bool:
        return trial.figures.bytes <= self.budget

    def keep(self, trial: Trial, program: Program | None, levers: tuple[str, ...]) -> None:
        """What fits is better than what does not; then the cheaper one, or the smaller one."""

        def rank(candidate: Trial) -> tuple[bool, float, int]:
            fits = self.fits(candidate)
            return not fits, candidate.figures.flops if fits else 0.0, candidate.figures.bytes

        if self.best is None or rank(trial) < rank(self.best[0]):
            self.best = (trial, program, levers)

    def run(self) -> FittedStep:
        first = self.compile(self.original, "as it is", {})
        self.keep(first, None, ())
        try:
            if not self.fits(first):
                self.lower(first)
        except KeyboardInterrupt:
            self.interrupted = True
        return self.finish(first)

    def lower(self, first: Trial) -> None:
        """Cheap means first."""
        base = self.try_donation(first)
        if self.fits(base):
            return
        if self.try_options(base):
            return
        self.recompute(base)

    def try_options(self, base: Trial) -> bool:
        """Whether they are enough. They never save much; and what is computed again is better off
        without them, as their order of the operations is not that of the plan."""
        options = OPTIONS.get(self.step.platform)
        fixed = base.figures.bytes - base.figures.temporaries
        if not options or self.budget - fixed < _SAVED_BY_OPTIONS * base.figures.temporaries:
            return False
        words = "options of the compiler"
        trial = self.attempt(self.original, words, options)
        if trial is None:
            return False
        self.keep(trial, None, (*self.levers, words))
        return self.fits(trial)

    def try_donation(self, first: Trial) -> Trial:
        if not self.options.donate or self.step.jit.get("donate_argnums"):
            return first
        donated = donatable(self.step)
        if not donated:
            return first
        self.compiler.jit = {**self.step.jit, "donate_argnums": donated}
        trial = self.compile(self.original, f"arguments {donated} donated", {})
        self.levers = (f"arguments {donated} donated",)
        self.keep(trial, None, self.levers)
        return trial

    def recompute(self, base: Trial) -> None:
        settings = settings_for(self.step)
        self.options.progress.show("fit: looking for values to compute again")
        candidates = front_of(find_candidates(self.step.program, settings))
        self.options.progress.clear()
        search = _Search(candidates, base, self.budget)
        while len(self.compiler.trials) + len(self.failures) < self.options.max_compiles:
            index = search.next()
            if index is None:
                return
            program = candidates[index].make()
            function = self.step.function(program)
            trial = self.attempt(function, candidates[index].words, {})
            if trial is None:
                search.skip(index)
                continue
            search.learn(index, trial)
            self.keep(trial, program, (*self.levers, candidates[index].words))

    def finish(self, first: Trial) -> FittedStep:
        assert self.best is not None
        trial, program, levers = self.best
        report = StepReport(
            self.step.name,
            self.budget,
            first.figures,
            trial.figures,
            levers,
            trial.options,
            tuple(self.compiler.jit.get("donate_argnums", ())),
            lines_of(program, self.step.program),
            tuple(trial_row(each, self.budget) for each in self.compiler.trials),
            tuple(self.failures),
            self.interrupted,
        )
        fitted = FittedStep(self.step, trial, report, program)
        if not self.fits(trial) and not self.interrupted:
            raise DoesNotFit(fitted)
        return fitted


def donatable(step: Step) -> tuple[int, ...]:
    """Arguments whose every part could lie where a result of the same shape does."""
    jax: Any = importlib.import_module("jax")
    program = step.program

    def kind(aval: Any) -> tuple[Any, ...]:
        return tuple(aval.shape), str(aval.dtype)

    left: dict[tuple[Any, ...], int] = {}
    for atom in program.results:
        aval = program.avals[atom] if is_value(atom) else atom.aval
        left[kind(aval)] = left.get(kind(aval), 0) + 1
    donated = []
    for number, argument in enumerate(step.arguments):
        leaves = [kind(leaf) for leaf in jax.tree.leaves(argument)]
        if leaves and all(left.get(k, 0) >= leaves.count(k) for k in leaves):
            donated.append(number)
            for k in leaves:
                left[k] -= 1
    return tuple(donated)


@dataclass(frozen=True, slots=True)
class _Options:
    budget: int
    max_compiles: int
    donate: bool
    cache: Cache
    progress: Progress


class _Fit:
    """The function `stowplan.fit`; see its call."""

    def __call__(
        self,
        step: Callable[..., Any],
        *args: Any,
        budget: int | float | str,
        donate_argnums: Any = None,
        donate: bool = False,
        max_compiles: int = _MOST_COMPILES,
        cache: bool = True,
        progress: bool | None = None,
    ) -> FittedStep:
        """A step that takes no more than `budget` on each device, by the compiler's own figures.

            fitted = stowplan.fit(step, state, batch, budget="16GiB", donate_argnums=0)
            state, loss = fitted(state, batch)

        step:            a function of JAX, jitted or not; its source stays as it is
        args:            its arguments, or their shapes
        donate_argnums:  as for jax.jit
        donate:          also donate arguments of the kind of the results, if that is needed
        max_compiles:    variants that are tried at most
        cache:           keep the figures of what was compiled on disk

        Tries, cheapest first, and compiles what it tries: the step as it is; donation; options of
        the compiler; computing values again instead of keeping them. Ctrl-C ends it with the best
        so far. If nothing fits, raises DoesNotFit, which has the least that was reached.
        """
        options = _Options(
            parse_size(budget),
            arguments.whole(max_compiles, "max_compiles", "a number, 1 or more", least=1),
            donate,
            Cache(cache),
            Progress(progress),
        )
        traced = trace(step, args, donate_argnums)
        return _Fitter(traced, step, options).run()

    def curve(
        self,
        step: Callable[..., Any],
        *args: Any,
        donate_argnums: Any = None,
        compiles: int = _MOST_COMPILES,
        cache: bool = True,
        progress: bool | None = None,
    ) -> StepCurve:
        """Memory against work: what `fit` can reach. Compiles some of the points."""
        count = arguments.whole(compiles, "compiles", "a number, 1 or more", least=1)
        traced = trace(step, args, donate_argnums)
        options = _Options(0, count, False, Cache(cache), Progress(progress))
        fitter = _Fitter(traced, step, options)
        first = fitter.compile(step, "as it is", {})
        candidates = front_of(find_candidates(traced.program, settings_for(traced)))
        search = _Search(candidates, first, 0)
        measured = {0: first}
        for index in _spread(len(candidates), count):
            if index == 0:
                continue
            program = candidates[index].make()
            trial = fitter.compile(traced.function(program), candidates[index].words, {})
            measured[index] = trial
            search.learn(index, trial)
        fixed = first.figures.bytes - first.figures.temporaries
        points = tuple(
            StepPoint(
                candidate.cost,
                fixed + round(search.predict(candidate.peak)),
                candidate.words,
                measured[index].figures if index in measured else None,
            )
            for index, candidate in enumerate(candidates)
        )

        def make(budget: int) -> FittedStep:
            return self(step, *args, budget=budget, donate_argnums=donate_argnums, cache=cache)

        return StepCurve(traced.name, points, first.figures, make)


def _spread(count: int, most: int) -> list[int]:
    """Numbers from 0 to count - 1, spread evenly."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / max(most - 1, 1)) for k in range(most)})


fit = _Fit()
