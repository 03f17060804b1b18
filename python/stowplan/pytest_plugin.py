# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: tests fail if they compile a program that takes too much memory.

    @pytest.mark.memory_budget("14GiB")
    def test_step(): ...

    def test_other(memory_budget):
        with memory_budget("2GiB"):
            ...

pytest finds it automatically once Stowplan is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .budget import Budget


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        "memory_budget(limit, of='footprint'): no program that JAX compiles during the test takes "
        "more memory than this, such as '14GiB'",
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Puts a marked test under its budget. The innermost marker counts."""
    marker = item.get_closest_marker("memory_budget")
    if marker is None:
        yield
        return
    from .budget import budget

    with budget(*marker.args, **marker.kwargs) as watch:
        outcome = yield
    if outcome.excinfo is None:
        _warn(item, watch)


class MemoryBudgetWarning(pytest.PytestWarning):
    """Warns about a test that passed without checking what it claims to check."""


def _warn(item: pytest.Item, watch: Budget) -> None:
    if watch.unread:
        count = len(watch.unread)
        modules = "1 module" if count == 1 else f"{count} modules"
        item.warn(
            MemoryBudgetWarning(
                f"memory_budget: {modules} could not be checked; the first: {watch.unread[0]}"
            )
        )
    elif not watch.checked:
        item.warn(
            MemoryBudgetWarning(
                "memory_budget: nothing was compiled, so nothing was checked; JAX does not compile "
                "again what it has compiled before: call jax.clear_caches() first"
            )
        )


@pytest.fixture
def memory_budget() -> Callable[..., Budget]:
    """`stowplan.budget`: `with memory_budget("14GiB"): ...`."""
    from .budget import budget

    return budget
