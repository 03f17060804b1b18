# SPDX-License-Identifier: Apache-2.0
"""sweep: asks one question about many programs, in parallel, and can resume."""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, overload

from . import arguments, portable
from .analysis import Analysis
from .checkpoint import Checkpoint
from .inputs import plan_of
from .progress import Progress
from .sizes import format_size
from .sweep_inputs import Task, tasks_of
from .sweep_task import Reply, run_task
from .tables import Rows, frame_of, html_table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep returns for each input by default."""

    module: str
    backend: str  # "CPU", "GPU", "TPU"; empty: not known
    peak: int | None  # bytes, of the largest memory space; None: not known
    total: int  # bytes of all allocations
    values: int


def summary(r: Any) -> Summary:
    """The figures of one program, given as an Analysis or anything else that `analyze` takes."""
    r = plan_of(r)
    peak = r.peak.bytes if r.has_peak else None
    return Summary(r.name, r.backend, peak, r.total_bytes, len(r.values))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one input."""

    name: str  # of the input
    value: Any  # what fn returned; None when there is an error
    error: BaseException | None
    seconds: float
    is_resumed: bool  # an earlier run did it


class SweepResult(Sequence[Outcome]):
    """Outcomes in the order of the inputs. `values` are what fn returned."""

    def __init__(self, outcomes: list[Outcome], missing: list[str], notes: list[str]) -> None:
        self.outcomes = tuple(outcomes)
        self.missing = tuple(missing)  # inputs that were not reached
        self.notes = notes

    @property
    def interrupted(self) -> bool:
        """Ctrl-C ended the sweep."""
        return bool(self.missing)

    @property
    def values(self) -> list[Any]:
        """The values of the inputs without errors."""
        return [outcome.value for outcome in self.outcomes if outcome.error is None]

    @property
    def errors(self) -> dict[str, BaseException]:
        """By the name of the input."""
        return {
            outcome.name: outcome.error for outcome in self.outcomes if outcome.error is not None
        }

    @overload
    def __getitem__(self, key: int | str) -> Outcome: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Outcome, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Outcome | tuple[Outcome, ...]:
        if not isinstance(key, str):
            return self.outcomes[key]
        for outcome in self.outcomes:
            if outcome.name == key:
                return outcome
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __repr__(self) -> str:
        words = ["1 outcome" if len(self) == 1 else f"{len(self)} outcomes"]
        if self.errors:
            words.append(f"{len(self.errors)} of them errors")
        if self.missing:
            words.append(f"{len(self.missing)} inputs not reached")
        return f"<stowplan.SweepResult: {', '.join(words)}>"

    def __str__(self) -> str:
        """One line per input."""
        rows = [_cells(outcome) for outcome in self.outcomes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{row[0]:>{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows]
        return "\n".join([repr(self).strip("<>").removeprefix("stowplan.SweepResult: "), *lines])

    def _repr_html_(self) -> str:
        rest = len(self) - Rows.SHOWN
        more = f"<p>and {rest} more</p>" if rest > 0 else ""
        return html_table(self.outcomes[: Rows.SHOWN], ("name", "value", "error", "seconds")) + more

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with one row per input; values with fields become columns."""
        return frame_of(
            [
                {"name": outcome.name}
                | _columns(outcome)
                | {"seconds": outcome.seconds, "error": outcome.error}
                for outcome in self.outcomes
            ]
        )


def _cells(outcome: Outcome) -> tuple[str, str, str]:
    if outcome.error is not None:
        line = str(outcome.error).split("\n", 1)[0]
        return "error", "", f"{outcome.name}: {line}"
    if isinstance(outcome.value, Summary):
        peak = "" if outcome.value.peak is None else f"{format_size(outcome.value.peak)} live"
        return format_size(outcome.value.total), peak, outcome.name
    return "", arguments.written(outcome.value), outcome.name


def _columns(outcome: Outcome) -> dict[str, Any]:
    value = outcome.value
    if outcome.error is not None:
        return {}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return value
    return {"value": value}


class _Bar:
    """Shows progress on terminals."""

    _WIDTH = 20
    _ROOM = 60  # for the line without what stands before it

    def __init__(self, count: int, wanted: bool | None) -> None:
        self._line = Progress(wanted)
        self._count = count
        self._done = self._failed = self._resumed = 0
        self._begin = time.monotonic()

    def add(self, outcome: Outcome) -> None:
        self._done += 1
        self._failed += outcome.error is not None
        self._resumed += outcome.is_resumed
        self.show(outcome.name)

    def show(self, name: str = "") -> None:
        full = self._WIDTH * self._done // max(1, self._count)
        words = [f"{'█' * full}{'·' * (self._WIDTH - full)} {self._done} of {self._count}"]
        if self._failed:
            words.append(f"{self._failed} failed")
        fresh = self._done - self._resumed
        if fresh and self._done < self._count:
            pace = (time.monotonic() - self._begin) / fresh
            words.append(f"{_clock(pace * (self._count - self._done))} left")
        line = ", ".join(words)
        room = self._ROOM - len(line)
        if name:
            line += ", " + (name if len(name) <= room else f"…{name[-room:]}")
        self._line.show(line)

    def clear(self) -> None:
        self._line.clear()


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _run(
    tasks: list[Task], fn: Callable[[Analysis], Any], workers: int | None, backend: str
) -> Generator[Reply]:
    if not tasks:
        return
    if workers == 0:
        yield from (run_task(task, fn) for task in tasks)
    elif backend == "ray":
        from .ray_sweep import run_on_ray

        yield from run_on_ray(tasks, fn, workers)
    else:
        from .sweep_workers import run_in_processes

        yield from run_in_processes(tasks, fn, workers)


class _Sweep:
    """Gathers outcomes by their place."""

    def __init__(self, tasks: list[Task], checkpoint: Checkpoint | None, bar: _Bar) -> None:
        self._tasks = tasks
        self._checkpoint = checkpoint
        self._bar = bar
        self.outcomes: dict[int, Outcome] = {}
        self._sound = 0  # so many inputs from the first on have no error

    def resume(self) -> list[Task]:
        """Takes over earlier results, and returns the remaining tasks."""
        rest = []
        for task in self._tasks:
            found = None if self._checkpoint is None else self._checkpoint.find(task.digest)
            if found is None:
                rest.append(task)
            else:
                self._keep(task, pickle.loads(found[0]), None, found[1], True)
        return rest

    def take(self, reply: Reply) -> None:
        task = self._tasks[reply.index]
        error = reply.error
        value = None
        if error is None:
            value = pickle.loads(reply.data)
        else:
            error.add_note(f"the input was {task.name}")
            if reply.trace:
                error.add_note(f"in the worker:\n{reply.trace}")
        if self._checkpoint is not None and error is None:
            self._checkpoint.add(task.name, task.digest, reply.seconds, reply.data)
        elif self._checkpoint is not None:
            self._checkpoint.add_error(task.name, task.digest, reply.seconds, str(error))
        self._keep(task, value, error, reply.seconds, False)

    def _keep(
        self, task: Task, value: Any, error: BaseException | None, seconds: float, resumed: bool
    ) -> None:
        outcome = self.outcomes[task.index] = Outcome(task.name, value, error, seconds, resumed)
        self._bar.add(outcome)

    def first_error(self) -> BaseException | None:
        """The error of the first input that has one, once all inputs before it are done."""
        while (outcome := self.outcomes.get(self._sound)) is not None:
            if outcome.error is not None:
                return outcome.error
            self._sound += 1
        return None

    def result(self, notes: list[str]) -> SweepResult:
        missing = [task.name for task in self._tasks if task.index not in self.outcomes]
        return SweepResult([self.outcomes[at] for at in sorted(self.outcomes)], missing, notes)


def sweep(
    inputs: Any,
    fn: Callable[[Analysis], Any] = summary,
    *,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    on_error: str = "raise",
    backend: str = "processes",
) -> SweepResult:
    """Calls `fn(stowplan.analyze(x))` for each input x, in parallel processes.

    Inputs are anything that `analyze` takes; a directory stands for all modules in it. A dict gives
    the inputs names. Outcomes are in the order of the inputs. The default `fn` returns a `Summary`.

    With a `checkpoint` file, a run that was killed or stopped can be resumed; inputs that have
    changed are done again, and so is everything if `fn` has changed. An error ends the sweep, or
    with on_error="keep" becomes that input's outcome. Ctrl-C returns the outcomes so far, with
    `interrupted` set.

    By default there are as many `workers` as cores; 0 runs everything in this process. With backend
    "ray" they are tasks of a Ray cluster. A script that passes its own function must call sweep
    under `if __name__ == "__main__":`, because workers import the script. `progress` shows a bar;
    by default only on terminals.
    """
    arguments.function(fn, "fn", "a function of an Analysis")
    on_error = arguments.choice(
        on_error, "on_error", {"raise": "ends the sweep", "keep": "makes it the outcome"}
    )
    backend = arguments.choice(backend, "backend", {"processes": "", "ray": ""})
    if workers is not None:
        workers = arguments.whole(workers, "workers", "a number, 0: this process", least=0)
    tasks = tasks_of(inputs)
    notes: list[str] = []
    bar = _Bar(len(tasks), progress)
    with contextlib.ExitStack() as stack:
        stack.callback(bar.clear)
        file = None
        if checkpoint is not None:
            file = Checkpoint(checkpoint, portable.digest(fn), portable.name_of(fn))
            stack.enter_context(file)
            if file.others:
                notes.append(f"{file.others} results of a different function are not used")
        run = _Sweep(tasks, file, bar)
        try:
            rest = run.resume()
            bar.show()
            with contextlib.closing(_run(rest, fn, workers, backend)) as replies:
                for reply in replies:
                    run.take(reply)
                    if on_error == "raise" and (error := run.first_error()) is not None:
                        raise error
        except KeyboardInterrupt:
            notes.append("Ctrl-C ended the sweep")
        return run.result(notes)
