# SPDX-License-Identifier: Apache-2.0
"""What `fit` returns: a step, and what was done to it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .budget import causes_of, peak_of
from .errors import Error
from .jax_compile import Figures, Trial
from .jax_lines import StepLine, advice, lines_of
from .jax_program import Program
from .jax_step import Step
from .sizes import format_size
from .tables import Row, html_table

if TYPE_CHECKING:
    from .analysis import Analysis


@dataclass(frozen=True, slots=True)
class StepTrial:
    """A variant that was compiled."""

    words: str
    bytes: int
    flops: float
    fits: bool
    seconds: float
    is_cached: bool  # its figures were known from an earlier call


def trial_row(trial: Trial, budget: int) -> StepTrial:
    return StepTrial(
        trial.words,
        trial.figures.bytes,
        trial.figures.flops,
        trial.figures.bytes <= budget,
        trial.seconds,
        trial.is_cached,
    )


@dataclass(frozen=True, slots=True)
class StepReport:
    """What was done, in the compiler's own figures for one device."""

    name: str
    budget: int
    before: Figures
    after: Figures
    levers: tuple[str, ...]  # what was changed; none: the step fits as it is
    options: dict[str, Any]  # for the compiler
    donated: tuple[int, ...]
    lines: tuple[StepLine, ...]  # of the user's source: what is computed again
    trials: tuple[StepTrial, ...]
    failures: tuple[str, ...] = ()  # variants that could not be compiled, and why
    interrupted: bool = False

    @property
    def bytes(self) -> int:
        return self.after.bytes

    @property
    def saved(self) -> int:
        return self.before.bytes - self.after.bytes

    @property
    def extra(self) -> float:
        """Extra work by the compiler's count of flops, in which the body of a loop counts once;
        0.1: 10 %."""
        return self.after.flops / self.before.flops - 1 if self.before.flops else 0.0

    @property
    def compiles(self) -> int:
        return sum(not trial.is_cached for trial in self.trials)

    def __str__(self) -> str:
        first = (
            f"{self.name}: {format_size(self.after.bytes)} of {format_size(self.budget)}, "
            f"{format_size(self.before.bytes)} before"
        )
        rows = [first]
        if not self.levers:
            rows.append("  it fits as it is; nothing was changed")
        else:
            rows.append(f"  {'; '.join(self.levers)}")
            rows.append(
                f"  {self.extra:+.1%} flops ({self.before.flops:.4g} before); "
                f"temporaries {format_size(self.before.temporaries)} before, "
                f"{format_size(self.after.temporaries)} now"
            )
        if self.lines:
            rows.append("computed again:")
            rows += [f"  {line}" for line in self.lines]
        rows.append(f"compiled: {self.compiles} of {len(self.trials)} variants")
        rows += [
            f"  {format_size(trial.bytes)}, {trial.flops:.4g} flops: {trial.words}"
            f" ({trial.seconds:.1f} s{', known' if trial.is_cached else ''})"
            for trial in self.trials
        ]
        rows += [f"  failed: {failure}" for failure in self.failures]
        if self.interrupted:
            rows.append("interrupted: this is the best so far")
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        return html_table(
            self.lines, ("source", "function", "operations", "times", "bytes", "share")
        )


class FittedStep:
    """A step that fits: called like the one it was made from, with the same results."""

    def __init__(
        self, step: Step, trial: Trial, report: StepReport, program: Program | None
    ) -> None:
        self._step = step
        self._trial = trial
        self._program = program
        self.report = report
        self.__name__ = step.name

    @property
    def compiled(self) -> Any:
        """The program of JAX that calls execute."""
        return self._trial.compiled

    @property
    def analysis(self) -> Analysis:
        from .inputs import analyze

        return analyze(self.compiled)

    def __call__(self, *arguments: Any) -> Any:
        jax: Any = importlib.import_module("jax")
        # What is being traced becomes a part of another program.
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments)):
            return self._trial.function(*arguments)
        return self.compiled(*arguments)

    def lower(self, *arguments: Any) -> Any:
        """As of `jax.jit`."""
        return self._trial.function.lower(*arguments)

    def source(self) -> str:
        """What to write by hand to get nearly the same."""
        return advice(self._step, self._program, self.report.options, self.report.donated)

    def __repr__(self) -> str:
        return (
            f"<stowplan.FittedStep {self.report.name}: {format_size(self.report.bytes)}, "
            f"{self.report.extra:+.1%} flops>"
        )


class DoesNotFit(Error):
    """No variant that was tried fits. `least` is the smallest of them, and `best` runs it."""

    def __init__(self, fitted: FittedStep) -> None:
        self.best = fitted
        self.report = fitted.report
        self.budget = fitted.report.budget
        self.least = fitted.report.bytes
        self.causes: tuple[Row, ...] = ()
        rows = [
            f"{fitted.report.name} does not fit into {format_size(self.budget)}: the least that "
            f"was reached is {format_size(self.least)}, "
            f"{format_size(fitted.report.before.bytes)} as it is"
        ]
        fixed = fitted.report.after.bytes - fitted.report.after.temporaries
        if fixed > self.budget:
            rows.append(
                f"  arguments and results alone take {format_size(fixed)}; donate_argnums lets "
                "results lie in arguments"
            )
        try:
            self.causes = causes_of(peak_of(fitted.analysis))
        except Error:  # what the compiler gives away is not always enough
            self.causes = ()
        if self.causes:
            rows.append("what fills it, by source line:")
            rows += [f"  {format_size(row.own)}  {row.name}" for row in self.causes]
        super().__init__("\n".join(rows))

    def __reduce__(self) -> tuple[Any, ...]:
        return Error, (str(self), ())


@dataclass(frozen=True, slots=True)
class StepPoint:
    """A way to run a step."""

    cost: float  # extra work; 0.1: 10 %
    bytes: int  # as the model expects it, corrected by what was compiled
    words: str
    measured: Figures | None = None  # what the compiler says; None: not compiled


@dataclass(frozen=True, slots=True)
class StepCurve:
    """Memory against work. Points that were compiled have figures of the compiler."""

    name: str
    points: tuple[StepPoint, ...]  # by rising cost and falling bytes
    before: Figures
    make: Callable[[int], FittedStep] = field(repr=False)

    def fit(self, budget: int | str) -> FittedStep:
        """The step that fits into a budget."""
        from .sizes import parse_size

        return self.make(parse_size(budget))

    def __str__(self) -> str:
        rows = [f"{self.name}: {format_size(self.before.bytes)} as it is"]
        for point in self.points:
            if point.measured is not None:
                rows.append(f"  {format_size(point.measured.bytes)} at {point.cost:+.1%} work")
            else:
                rows.append(f"  about {format_size(point.bytes)} at {point.cost:+.1%} work")
        return "\n".join(rows)

    def html(self) -> str:
        from .jax_chart import chart

        return chart(self)

    def _repr_html_(self) -> str:
        return self.html()


__all__ = [
    "DoesNotFit",
    "FittedStep",
    "StepCurve",
    "StepLine",
    "StepPoint",
    "StepReport",
    "lines_of",
]
