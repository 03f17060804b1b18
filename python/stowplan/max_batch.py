# SPDX-License-Identifier: Apache-2.0
"""max_batch: finds the largest batch that fits by compiling only a few sizes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import floor
from typing import TYPE_CHECKING, Any

from . import arguments
from .errors import Error
from .footprint import check_figure, footprint_of
from .progress import Progress
from .sizes import format_size, parse_size

if TYPE_CHECKING:
    from fractions import Fraction

    from .analysis import Analysis


@dataclass(frozen=True, slots=True)
class BatchSample:
    """A size that was compiled."""

    batch: int
    bytes: int | None  # None: the compiler itself ran out of memory
    predicted: int | None  # predicted from the earlier sizes; None: there were too few
    fits: bool
    seconds: float
    error: str = ""  # what the compiler said when it ran out of memory


@dataclass(frozen=True, repr=False)
class MaxBatch:
    """The largest batch that fits, and how it was found."""

    batch: int  # 0: not even the smallest fits
    bytes: int | None  # that it takes; None: nothing fits
    next_batch: int | None  # the next larger size; None: `most` was reached
    next_bytes: int | None  # more than the budget; None: the compiler gave up
    budget: int
    of: str
    samples: tuple[BatchSample, ...]  # in the order of compiling
    analysis: Analysis | None = field(default=None, repr=False, compare=False)
    next_analysis: Analysis | None = field(default=None, repr=False, compare=False)

    @property
    def compiles(self) -> int:
        return len(self.samples)

    @property
    def log(self) -> str:
        """One line per compile."""
        lines = []
        for sample in self.samples:
            size = "the compiler ran out of memory" if sample.bytes is None else ""
            size = size or format_size(sample.bytes or 0)
            told = "" if sample.predicted is None else f", predicted {sample.predicted}"
            verdict = "fits" if sample.fits else "too much"
            lines.append(f"{sample.batch}: {size}{told}, {verdict} ({sample.seconds:.1f} s)")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<stowplan.MaxBatch {self.batch} in {format_size(self.budget)}, "
            f"{self.compiles} sizes compiled>"
        )

    def __int__(self) -> int:
        return self.batch

    def __str__(self) -> str:
        limit = format_size(self.budget)
        if self.bytes is None:
            first = f"no batch fits into {limit}"
        else:
            first = f"batch {self.batch} fits: {format_size(self.bytes)} of {limit}"
        if self.next_batch is None:
            second = "no larger one was tried"
        elif self.next_bytes is None:
            second = f"batch {self.next_batch} does not: the compiler ran out of memory"
        else:
            second = f"batch {self.next_batch} does not: {format_size(self.next_bytes)}"
        compiled = ", ".join(str(sample.batch) for sample in self.samples)
        return f"{first}\n{second}\ncompiled: {compiled}"


_XLA_ERRORS = ("JaxRuntimeError", "XlaRuntimeError")


def is_out_of_memory(error: Exception) -> bool:
    """Whether XLA reports that the plan of a program does not fit. Other code that runs out of
    memory says nothing about the batch.
    """
    words = str(error)
    if "RESOURCE_EXHAUSTED" in words:
        return True
    is_xla = any(kind.__name__ in _XLA_ERRORS for kind in type(error).__mro__)
    return is_xla and "Ran out of memory" in words


# A line that predicts to within one part in this many is right.
_STRAIGHT = 30
# A curve that leaves more than half of the sizes costs patience; a better one restores some.
_PATIENCE = 8
_COST = 2


class _Curve:
    """The polynomial through two or three points, by Newton's differences."""

    def __init__(self, points: list[tuple[int, int]]) -> None:
        from fractions import Fraction

        self._places = [x for x, _ in points]
        row = [Fraction(y) for _, y in points]
        self._terms = [row[0]]
        for order in range(1, len(points)):
            row = [
                (row[at + 1] - row[at]) / (self._places[at + order] - self._places[at])
                for at in range(len(row) - 1)
            ]
            self._terms.append(row[0])

    @property
    def comes_down(self) -> bool:
        """Whether it rises more and more slowly, and finally falls."""
        return len(self._terms) > 2 and self._terms[2] < 0

    def __call__(self, x: int) -> int:
        value: Fraction | int = 0
        for term, place in zip(reversed(self._terms), reversed(self._places), strict=True):
            value = value * (x - place) + term
        return floor(value)


class _Search:
    """In units of `step`: batch = units * step."""

    def __init__(
        self, lower: Callable[[int], Any], limit: int, step: int, of: str, progress: Progress
    ) -> None:
        self._lower = lower
        self._limit = limit
        self._step = step
        self._of = of
        self._progress = progress
        self.samples: dict[int, BatchSample] = {}
        self.analyses: dict[int, Analysis] = {}
        self.smallest_error: Exception | None = None  # of the smallest that ran out
        self._is_bent = False

    def fits(self, units: int) -> bool:
        """Compiles a size, unless that has been done."""
        if units not in self.samples:
            self.samples[units] = self._compile(units)
        return self.samples[units].fits

    def _compile(self, units: int) -> BatchSample:
        from .inputs import analyze

        batch = units * self._step
        self._progress.show(f"{len(self.samples)} sizes compiled; batch {batch} ...")
        curve = self._best_curve(units)
        predicted = None if curve is None else curve(units)
        start = time.perf_counter()
        try:
            analysis = analyze(self._lower(batch))
        except Exception as error:
            if not is_out_of_memory(error):
                error.add_note(f"stowplan: this was batch {batch} of max_batch")
                raise
            if units < min(self.samples, default=units + 1):
                self.smallest_error = error
            seconds = time.perf_counter() - start
            return BatchSample(batch, None, predicted, False, seconds, str(error))
        size = footprint_of(analysis, self._of).bytes
        self.analyses[units] = analysis
        self._learn(units, size)
        return BatchSample(batch, size, predicted, size <= self._limit, time.perf_counter() - start)

    @property
    def low(self) -> int:
        """The largest that fits; 0: none was found."""
        return max((units for units, sample in self.samples.items() if sample.fits), default=0)

    @property
    def high(self) -> int | None:
        """The smallest above `low` that does not fit."""
        return min((units for units in self.samples if units > self.low), default=None)

    def _curve(self, near: int, count: int) -> _Curve | None:
        """Through `count` samples: those on both sides of `near` first, then the nearest."""
        known = sorted(
            ((k, s.bytes) for k, s in self.samples.items() if s.bytes is not None),
            key=lambda point: (abs(point[0] - near), point[0]),
        )
        if len(known) < count:
            return None
        nearest = known[0]
        beyond = [p for p in known[1:] if (p[0] < near) != (nearest[0] < near)]
        points = [nearest, *beyond[:1]]
        points += [point for point in known if point not in points]
        return _Curve(points[:count])

    def _best_curve(self, near: int) -> _Curve | None:
        """A line or a parabola: whichever predicted the last sample better."""
        return (self._curve(near, 3) if self._is_bent else None) or self._curve(near, 2)

    def _learn(self, units: int, size: int) -> None:
        """Decides which kind of curve fits here; called before the sample is added."""
        line, parabola = self._curve(units, 2), self._curve(units, 3)
        if line is None or parabola is None:
            return
        off = abs(line(units) - size)
        # Steps and jumps of a few percent do not bend a line.
        self._is_bent = off * _STRAIGHT > size and abs(parabola(units) - size) < off

    def guess(self, near: int, most: int) -> int | None:
        """The largest size up to `most` that fits according to the curve near this one; None: the
        curve does not rise.
        """
        curve = self._best_curve(near)
        if curve is not None and curve.comes_down and self.high is None:
            curve = self._curve(near, 2)
        if curve is None or curve(most) <= curve(self.low):
            return None
        fits, too_much = self.low, most + 1
        while too_much - fits > 1:
            middle = (fits + too_much) // 2
            if curve(middle) <= self._limit:
                fits = middle
            else:
                too_much = middle
        return fits

    def run(self, first: int, most: int) -> None:
        """Searches until `low` fits and `low` + 1 does not, or `most` fits."""
        if not self.fits(first):
            self._go_down()
            return
        # A second point, far enough for a slope.
        if first < most:
            self.fits(min(first * 16, most))
        patience = _PATIENCE
        while self.low < most:
            low, high = self.low, self.high
            if high is None:
                # Nothing is known above: the curve may lead far, but not forever.
                guess = self.guess(low + 1, min(most, low * 4096))
                guess = low * 16 if guess is None else guess
                self.fits(min(max(guess, low + 1), most))
                continue
            if high == low + 1:
                return
            # If curves make no progress, halving does.
            middle = (low + high) // 2
            guess = self.guess(middle, high - 1) if patience >= _COST else None
            self.fits(middle if guess is None else min(max(guess, low + 1), high - 1))
            rest = self.high - self.low if self.high is not None else high - low
            is_half = rest <= middle - low + 1
            patience = min(patience + 1, _PATIENCE) if is_half else patience - _COST

    def _go_down(self) -> None:
        """The first size does not fit: is there a smaller one?"""
        while self.high is not None and self.high > self.low + 1:
            self.fits((self.low + self.high) // 2)


def max_batch(
    lower: Callable[[int], Any],
    budget: int | float | str,
    *,
    step: int = 1,
    first: int | None = None,
    most: int = 1 << 20,
    of: str = "footprint",
    progress: bool | None = None,
) -> MaxBatch:
    """The largest batch whose program takes at most `budget`.

        stowplan.max_batch(lambda b: step.lower(params, spec(b)), budget="14GiB")

    `lower` returns the program for a batch size: a Lowered, a Compiled, or anything else that
    `analyze` takes. Nothing is executed. A line or a parabola through the sizes compiled so far
    suggests which one to try next, but the answer does not depend on it: the returned batch was
    compiled and fits, and the next larger one was compiled and does not. A size does not fit if XLA
    runs out of memory compiling it; if that is the smallest size, XLA's error is raised. All other
    errors are raised, too.

    `of` is what must fit, as for `stowplan.budget`. Batches are multiples of `step` (the size of a
    mesh, say) up to `most`; `first` is tried first.
    """
    limit = parse_size(budget)
    arguments.function(lower, "lower", "a function that returns the program for a batch size")
    step = arguments.whole(step, "step", "a number, 1 or more", least=1)
    most = arguments.whole(most, "most", "the largest batch to try")
    if first is not None:
        first = arguments.whole(first, "first", "the first batch to try", least=0)
    if most < step:
        raise Error(f"step={step}, most={most}: there is no batch to try")
    start = 1 if first is None else max(1, first // step)
    line = Progress(progress)
    search = _Search(lower, limit, step, check_figure(of), line)
    try:
        search.run(min(start, most // step), most // step)
    finally:
        line.clear()
    low, high = search.low, search.high
    best = search.samples.get(low)
    above = search.samples[high] if high is not None else None
    if best is None and above is not None and above.bytes is None and search.smallest_error:
        # No size can be compiled, so the compiler's error is the answer.
        search.smallest_error.add_note(f"stowplan: not even batch {above.batch} can be compiled")
        raise search.smallest_error
    return MaxBatch(
        batch=low * step,
        bytes=best.bytes if best else None,
        next_batch=above.batch if above else None,
        next_bytes=above.bytes if above else None,
        budget=limit,
        of=of,
        samples=tuple(search.samples.values()),
        analysis=search.analyses.get(low),
        next_analysis=search.analyses.get(high) if high is not None else None,
    )
