# SPDX-License-Identifier: Apache-2.0
"""Programs of JAX in a sweep: they go to workers without JAX."""

from __future__ import annotations

import pytest
import stowplan

jax = pytest.importorskip("jax")


def make_facts():
    """A function that goes as code: a worker need not import this file, which imports JAX."""

    def facts(r):
        import sys

        assert "jax" not in sys.modules
        return r.name, r.total_bytes, r.peak.bytes

    return facts


def lowered(size: int):
    shape = jax.ShapeDtypeStruct((size, size), "float32")
    return jax.jit(lambda x: (x @ x).sum()).lower(shape)


def test_compiled_and_lowered() -> None:
    inputs = [lowered(64).compile(), lowered(128)]
    result = stowplan.sweep(inputs, make_facts(), workers=2)
    want = [stowplan.analyze(x) for x in inputs]
    assert result.values == [(r.name, r.total_bytes, r.peak.bytes) for r in want]
    assert [outcome.name for outcome in result] == [want[0].name, f"{want[0].name} #2"]
    assert result.values[0] != result.values[1]


def test_captured(tmp_path) -> None:
    with stowplan.capture(progress=False) as modules:
        lowered(96).compile()
        lowered(97).compile()
    expected = [module.analysis.total_bytes for module in modules]  # it holds a plan now
    file = tmp_path / "done.jsonl"
    first = stowplan.sweep(modules, make_facts(), checkpoint=file, workers=1)
    assert [value[1] for value in first.values] == expected and len(expected) == 2
    again = stowplan.sweep(modules, make_facts(), checkpoint=file, workers=1)
    assert all(outcome.is_resumed for outcome in again)
