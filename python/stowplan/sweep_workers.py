# SPDX-License-Identifier: Apache-2.0
"""Runs a sweep in processes.

Workers are spawned: each starts as a new interpreter. A forked one would be a copy of a process
that may be in the middle of JAX's threads and locks, and would sooner or later hang.

Each worker has one task at a time and its own pipe, so the parent knows which input killed a
worker: that input is given to another worker once, and is an error if that one dies, too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from . import portable
from .errors import Error
from .sweep_inputs import Task
from .sweep_task import Reply, WorkerDied, run_task

_TRIES = 2


def _serve(pipe: Connection, function: bytes) -> None:
    """The main loop of a worker: it answers tasks until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with contextlib.suppress(EOFError, ConnectionError):  # the parent is gone
        try:
            fn = portable.load(function)
        except Exception as error:
            pipe.send(Error(f"the function cannot be loaded in a worker: {error}"))
            return
        pipe.send(None)
        while True:
            pipe.send_bytes(pickle.dumps(run_task(pipe.recv(), fn)))


@contextlib.contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """A process started inside must not die of Ctrl-C before it can handle it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _main_is_hidden(is_hidden: bool) -> Iterator[None]:
    """A process started inside does not import the main program."""
    main = sys.modules["__main__"]
    if is_hidden:
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Worker:
    def __init__(self, function: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_serve, args=(theirs, function), daemon=True, name="stowplan-sweep"
        )
        # The main program may be no file, or sweep as soon as it is imported.
        with _ctrl_c_later(), _main_is_hidden(b"__main__" not in function):
            self.process.start()
        theirs.close()
        self.is_ready = False
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        with contextlib.suppress(OSError):  # it has died, which its end of the pipe will tell
            self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()  # all that a worker without a task needs to know
        if self.is_ready and self.task is None:
            self.process.join(timeout=1)
        self.process.terminate()
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def last_words(self) -> str:
        """How it died."""
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"ended with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        why = "; the system does that when memory runs out" if name == "SIGKILL" else ""
        return f"was ended by {name}{why}"


def worker_count(wanted: int | None, tasks: int) -> int:
    """As many as there are available cores, but no more than tasks."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(wanted or cores or 1, tasks))


class _Pool:
    def __init__(self, tasks: list[Task], function: bytes, workers: int) -> None:
        self._waiting = deque(tasks)
        self._function = function
        self._size = workers
        self._workers: list[_Worker] = []
        self._deaths: dict[int, int] = {}  # by task
        self._has_started = False  # a worker could

    def __iter__(self) -> Iterator[Reply]:
        """Replies as they come."""
        while self._waiting or any(worker.task for worker in self._workers):
            self._fill()
            pipes = {worker.pipe: worker for worker in self._workers}
            for pipe in wait(list(pipes)):
                if (reply := self._hear(pipes[pipe])) is not None:  # type: ignore[index]
                    yield reply

    def _fill(self) -> None:
        """Hands out waiting tasks, in order."""
        busy = sum(worker.task is not None for worker in self._workers)
        while len(self._workers) < min(self._size, busy + len(self._waiting)):
            self._workers.append(_Worker(self._function))
        for worker in self._workers:
            if worker.is_ready and worker.task is None and self._waiting:
                worker.give(self._waiting.popleft())

    def _hear(self, worker: _Worker) -> Reply | None:
        try:
            if not worker.is_ready:
                answer = worker.pipe.recv()
                if answer is not None:
                    raise answer
                worker.is_ready = self._has_started = True
                return None
            reply: Reply = pickle.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            return self._mourn(worker)
        worker.task = None
        return reply

    def _mourn(self, worker: _Worker) -> Reply | None:
        self._workers.remove(worker)
        words = worker.last_words()
        worker.end()
        if not worker.is_ready:
            if self._has_started:
                return None  # the next one may
            raise Error(
                f"a worker {words} before it could begin\n"
                "  workers import the script that has the function: it must call sweep under\n"
                '  `if __name__ == "__main__":`; workers=0 sweeps in this process'
            )
        task = worker.task
        if task is None:
            return None
        self._deaths[task.index] = deaths = self._deaths.get(task.index, 0) + 1
        if deaths < _TRIES:
            self._waiting.appendleft(task)
            return None
        return Reply(
            task.index, 0.0, b"", WorkerDied(f"the process that worked on it {words}, twice")
        )

    def close(self) -> None:
        for worker in self._workers:
            worker.end()


def run_in_processes(
    tasks: list[Task], fn: Callable[[Any], Any], workers: int | None
) -> Iterator[Reply]:
    """Replies as they come. Closing the iterator ends the workers."""
    pool = _Pool(tasks, portable.dump(fn), worker_count(workers, len(tasks)))
    try:
        yield from pool
    finally:
        pool.close()
