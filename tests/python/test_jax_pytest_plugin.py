# SPDX-License-Identifier: Apache-2.0
"""The marker and the fixture for pytest, in a pytest of their own."""

from __future__ import annotations

import importlib.metadata

import pytest

pytest.importorskip("jax")
pytest_plugins = ["pytester"]

# Where Stowplan is installed, pytest finds the plugin by itself, and must not be told twice.
IS_INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="stowplan"))
PLUGIN = () if IS_INSTALLED else ("-p", "stowplan.pytest_plugin")

PROGRAM = """
    import jax, jax.numpy as jnp, pytest, stowplan

    SPEC = jax.ShapeDtypeStruct((64, 64), jnp.float32)

    def compile():
        jax.jit(lambda x: jnp.sin(x @ x) @ x + x).lower(SPEC).compile()
"""


def run(pytester: pytest.Pytester, tests: str) -> pytest.RunResult:
    pytester.makepyfile(PROGRAM + tests)
    return pytester.runpytest_inprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider")


def test_marker(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
    @pytest.mark.memory_budget("47KiB")
    def test_too_much():
        compile()

    @pytest.mark.memory_budget("48KiB")
    def test_enough():
        compile()

    @pytest.mark.memory_budget("1KiB")
    class TestMany:
        @pytest.mark.memory_budget("1MiB")
        def test_inner_marker_counts(self):
            compile()

        def test_nothing_compiled(self):
            pass

    def test_without():
        compile()
    """,
    )
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*BudgetExceeded: *takes 48.0KiB (49152), the budget is 47.0KiB*"])


def test_wrong_marker_is_a_failure_not_a_crash(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
    @pytest.mark.memory_budget("many")
    def test_it():
        compile()
    """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'many' is not a size*"])


def test_fixture(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
    def test_it(memory_budget):
        with memory_budget("1MiB") as watch:
            compile()
        assert watch.largest.bytes == 49152
        with pytest.raises(stowplan.BudgetExceeded), memory_budget("1KiB"):
            compile()
    """,
    )
    result.assert_outcomes(passed=1)


def test_what_was_not_checked_is_a_warning(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
    STEP = jax.jit(lambda x: x + 1)

    def test_before():
        STEP(jnp.ones(3))

    @pytest.mark.memory_budget("1KiB")
    def test_not_again():
        STEP(jnp.ones(3))

    @pytest.mark.memory_budget("1GiB")
    def test_unread(monkeypatch):
        def fail(*_, **__):
            raise stowplan.ParseError("not understood")
        monkeypatch.setattr("stowplan.inputs.analyze", fail)
        compile()

    @pytest.mark.memory_budget("1GiB")
    def test_checked():
        compile()

    @pytest.mark.memory_budget("1GiB")
    @pytest.mark.xfail
    def test_failed():
        assert False
    """,
    )
    result.assert_outcomes(passed=4, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "*nothing was compiled, so nothing was checked*jax.clear_caches()*",
            "*1 module could not be checked; the first: *: not understood",
        ]
    )


def test_marker_is_described(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*PLUGIN, "--markers")
    result.stdout.fnmatch_lines(["*@pytest.mark.memory_budget(limit, of='footprint'):*"])
