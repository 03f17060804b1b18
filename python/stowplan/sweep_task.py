# SPDX-License-Identifier: Apache-2.0
"""One task of a sweep, wherever it runs."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import Error
from .sweep_inputs import Task


class WorkerDied(Error):
    """The process that worked on an input died without an answer, twice."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a task: a value, or an error."""

    index: int
    seconds: float
    data: bytes  # the value, pickled; empty: there is an error
    error: BaseException | None = None
    trace: str = ""  # where it was raised


def run_task(
    task: Task, fn: Callable[[Any], Any], dumps: Callable[[Any], bytes] = pickle.dumps
) -> Reply:
    """Analyzes the input and asks fn about it."""
    from .inputs import analyze

    begin = time.perf_counter()
    try:
        data = _dumped(fn(analyze(pickle.loads(task.data))), dumps)
        return Reply(task.index, time.perf_counter() - begin, data)
    except Exception as error:
        seconds = time.perf_counter() - begin
        return Reply(task.index, seconds, b"", _to_send(error, dumps), traceback.format_exc())


def _dumped(value: Any, dumps: Callable[[Any], bytes]) -> bytes:
    try:
        return dumps(value)
    except Exception as error:
        kind = type(value).__qualname__
        raise Error(
            f"what fn returned (of type {kind}) cannot be sent between processes: {error}\n"
            "  return numbers, rows, or to_pandas()"
        ) from error


def _to_send(error: Exception, dumps: Callable[[Any], bytes]) -> Exception:
    """The error itself if it can be sent to another process, otherwise a substitute."""
    try:
        pickle.loads(dumps(error))
    except Exception:
        return Error(f"{type(error).__qualname__}: {error}")
    return error
