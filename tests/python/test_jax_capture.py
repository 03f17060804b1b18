# SPDX-License-Identifier: Apache-2.0
"""capture and budget: every compile inside of a block."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
import stowplan
from stowplan import compile_hook

jax = pytest.importorskip("jax")
jnp = jax.numpy
compiler = pytest.importorskip("jax._src.compiler")

SPEC = jax.ShapeDtypeStruct((64, 64), jnp.float32)


def product(x: Any) -> Any:
    return jnp.sin(x @ x) @ x + x


def fresh(name: str = "product") -> Any:
    """A function that JAX has not compiled yet."""

    def call(x: Any) -> Any:
        return product(x)

    call.__name__ = name
    return jax.jit(call)


def test_captures_calls_and_compiles() -> None:
    x = jnp.ones((64, 64))
    with stowplan.capture() as modules:
        fresh("called")(x)
        fresh("lowered").lower(SPEC).compile()
    assert [module.name for module in modules] == ["jit_called", "jit_lowered"]
    assert modules["called"] is modules[0]
    assert modules["jit_lowered"].analysis.total_bytes == modules[0].analysis.total_bytes
    assert stowplan.analyze(modules[0]).peak == modules[0].analysis.peak
    assert modules[0].seconds > 0
    assert str(modules).startswith("2 modules\n  48.0KiB (49152)  jit_")
    assert modules.unread == []
    with pytest.raises(KeyError, match="no module 'caled' was compiled; did you mean"):
        modules["caled"]
    assert "<td>jit_called</td><td>48.0KiB (49152)</td>" in modules._repr_html_()
    again = pickle.loads(pickle.dumps(modules))
    assert str(again) == str(modules) and again[0].seconds == modules[0].seconds


def test_jax_is_as_it_was() -> None:
    functions = dict(vars(compiler))
    with stowplan.capture(), stowplan.capture():
        assert vars(compiler) != functions
    assert vars(compiler) == functions
    with pytest.raises(ZeroDivisionError), stowplan.budget("1GiB"):
        raise ZeroDivisionError
    assert vars(compiler) == functions


def test_nested_and_in_threads() -> None:
    with stowplan.capture() as outer:
        with stowplan.capture() as inner:
            thread = threading.Thread(target=lambda: fresh("threaded").lower(SPEC).compile())
            thread.start()
            thread.join()
        fresh("later").lower(SPEC).compile()
    assert [module.name for module in inner] == ["jit_threaded"]
    assert [module.name for module in outer] == ["jit_threaded", "jit_later"]


def test_captures_what_the_cache_answers(tmp_path: Path) -> None:
    cache = pytest.importorskip("jax.experimental.compilation_cache.compilation_cache")
    settings = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    old = {name: getattr(jax.config, name) for name in settings}
    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        cache.reset_cache()
        fresh("cached").lower(SPEC).compile()
        assert list(tmp_path.iterdir())
        with stowplan.capture() as modules:
            fresh("cached").lower(SPEC).compile()
    finally:
        for name, value in old.items():
            jax.config.update(name, value)
        cache.reset_cache()
    assert [module.name for module in modules] == ["jit_cached"]
    assert modules[0].analysis.total_bytes == 3 * 64 * 64 * 4


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    with stowplan.capture(progress=True):
        fresh("watched").lower(SPEC).compile()
    shown = capfd.readouterr().err
    assert "stowplan: 0 compiled; jit_watched ..." in shown
    assert "stowplan: 1 compiled; jit_watched took" in shown
    assert shown.endswith("\r")  # and the line is gone
    with stowplan.capture():
        fresh("unwatched").lower(SPEC).compile()
    assert capfd.readouterr().err == ""  # not a terminal


def test_a_version_that_cannot_be_listened_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_hook, "_FUNCTIONS", ("compile_by_magic",))
    with pytest.raises(stowplan.Error, match=r"cannot be listened to: JAX .* compile_by_magic"):
        stowplan.capture().__enter__()


def test_older_ways_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [name for name in compile_hook._FUNCTIONS[1:] if hasattr(compiler, name)]
    assert others
    for function in others:
        monkeypatch.setattr(compile_hook, "_FUNCTIONS", (function,))
        with stowplan.capture() as modules:
            fresh("other").lower(SPEC).compile()
        if function == others[0]:
            assert [module.name for module in modules] == ["jit_other"]


def test_budget_holds() -> None:
    with stowplan.budget("48KiB") as watch:
        fresh().lower(SPEC).compile()
    assert [footprint.bytes for footprint in watch.checked] == [49152]
    assert watch.largest == watch.checked[0]


def test_budget_is_exceeded() -> None:
    x = jnp.ones((64, 64))
    with pytest.raises(stowplan.BudgetExceeded) as caught, stowplan.budget("47KiB"):
        fresh("greedy")(x)
    error = caught.value
    assert (error.module, error.bytes, error.limit) == ("jit_greedy", 49152, 47 * 1024)
    words = str(error)
    assert words.startswith(
        "jit_greedy takes 48.0KiB (49152), the budget is 47.0KiB (48128): 1.0KiB (1024) too much\n"
        "  arguments 16.0KiB (16384), outputs 16.0KiB (16384), temporaries 16.0KiB (16384)\n"
        "what fills the peak of 48.0KiB (49152), by source line:\n"
    )
    assert "test_jax_capture.py:" in words
    assert sum(row.own for row in error.causes) == 49152
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.bytes, again.limit) == (words, error.bytes, error.limit)


def test_little_is_not_nothing() -> None:
    with pytest.raises(stowplan.BudgetExceeded) as caught, stowplan.budget("1KiB") as watch:
        assert repr(watch) == "<stowplan.Budget of 1.0KiB (1024), 0 programs checked>"
        jnp.full((3, 1237), 2.0)
    assert "   4B   <0.1%  (parameters)" in str(caught.value)


def test_budget_of_the_peak() -> None:
    def chain(x: Any) -> Any:
        return jnp.sin(x @ x).sum()

    with stowplan.budget("1GiB", of="peak") as watch:
        compiled = jax.jit(chain).lower(SPEC).compile()
    footprint = watch.checked[0]
    assert footprint.bytes == footprint.peak == stowplan.analyze(compiled).peak.bytes
    assert footprint.total >= footprint.bytes
    with pytest.raises(stowplan.Error, match="there is no figure .weight."):
        stowplan.budget("1GiB", of="weight")
    with pytest.raises(stowplan.Error):
        stowplan.budget("many")


def test_footprint_is_arguments_outputs_temporaries_once() -> None:
    def update(state: Any, x: Any) -> Any:
        return state + x @ x, x.sum()

    compiled = jax.jit(update, donate_argnums=0).lower(SPEC, SPEC).compile()
    stats = compiled.memory_analysis()
    with stowplan.budget("1GiB") as watch:
        footprint = watch.check(compiled)
    assert (
        footprint.constants
        + stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        - stats.alias_size_in_bytes
        + stats.temp_size_in_bytes
        == footprint.bytes
    )
