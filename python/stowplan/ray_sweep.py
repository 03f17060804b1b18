# SPDX-License-Identifier: Apache-2.0
"""Runs a sweep on a Ray cluster. Files are opened where a task runs, so all machines need them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .sweep_inputs import Task
from .sweep_task import Reply, WorkerDied, run_task

# A task is run once more if its worker dies, as with processes.
_RETRIES = 1


def _ray() -> Any:
    try:
        import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError('backend="ray" needs Ray: pip install "stowplan[ray]"') from error
    return ray


def run_on_ray(tasks: list[Task], fn: Callable[[Any], Any], workers: int | None) -> Iterator[Reply]:
    """Replies as they come. Uses a running Ray; otherwise starts one, and stops it at the end."""
    ray = _ray()
    is_ours = not ray.is_initialized()
    if is_ours:
        ray.init(log_to_driver=False, configure_logging=False)
    try:
        yield from _replies(ray, tasks, fn, workers or int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if is_ours:
            ray.shutdown()


def _replies(
    ray: Any, tasks: list[Task], fn: Callable[[Any], Any], at_once: int
) -> Iterator[Reply]:
    remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(run_task)
    function = ray.put(fn)  # once for all
    waiting = deque(tasks)
    running: dict[Any, Task] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                task = waiting.popleft()
                running[remote.remote(task, function, ray.cloudpickle.dumps)] = task
            (done, *_), _ = ray.wait(list(running))
            task = running.pop(done)
            try:
                yield ray.get(done)
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
                line = str(error).split("\n", 1)[0]
                died = WorkerDied(f"the process that worked on it died, twice: {line}")
                yield Reply(task.index, 0.0, b"", died)
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
