# SPDX-License-Identifier: Apache-2.0
"""fit: whole training steps that take less memory and compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import stowplan  # noqa: E402

WIDTH, BATCH, LAYERS = 32, 512, 6


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOWPLAN_CACHE", str(tmp_path))


def numbers(seed: int, *shape: int) -> Any:
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape) * 0.2, jnp.float32)


WEIGHTS = [numbers(i, WIDTH, WIDTH) for i in range(LAYERS)]
INPUTS = numbers(99, BATCH, WIDTH)


def deep(weights: Any, x: Any) -> Any:
    for w in weights:
        x = jnp.tanh(jnp.tanh(x @ w) @ w) + x
    return jnp.mean(x**2)


def step_of(loss: Callable[..., Any]) -> Callable[..., Any]:
    def step(weights: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients), value

    return step


def bytes_of(compiled: Any) -> int:
    figures = compiled.memory_analysis()
    return (
        figures.temp_size_in_bytes
        + figures.argument_size_in_bytes
        + figures.output_size_in_bytes
        - figures.alias_size_in_bytes
    )


def given_bytes(step: Callable[..., Any], *args: Any, **jit: Any) -> int:
    return bytes_of(jax.jit(step, **jit).lower(*args).compile())


def same(a: Any, b: Any) -> bool:
    return jax.tree.structure(a) == jax.tree.structure(b) and all(
        np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )


def test_what_fits_stays_as_it_is() -> None:
    step = step_of(deep)
    limit = given_bytes(step, WEIGHTS, INPUTS)
    fitted = stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    assert fitted.report.levers == ()
    assert fitted.report.compiles == 1
    assert fitted.report.extra == 0
    assert same(fitted(WEIGHTS, INPUTS), jax.jit(step)(WEIGHTS, INPUTS))


@pytest.mark.parametrize("share", [0.85, 0.6])
def test_less_memory_and_the_same_bits(share: float) -> None:
    step = step_of(deep)
    limit = int(share * given_bytes(step, WEIGHTS, INPUTS))
    fitted = stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    report = fitted.report
    assert report.bytes == bytes_of(fitted.compiled) <= limit
    assert len(report.trials) <= 6
    assert 0 < report.extra < 0.35
    assert same(fitted(WEIGHTS, INPUTS), jax.jit(step)(WEIGHTS, INPUTS))
    assert any(line.source.startswith("test_jax_fit_step.py:") for line in report.lines)
    assert "checkpoint_name" in fitted.source()
    assert "computed again" in str(report)


def test_what_cannot_fit_says_how_far_it_got() -> None:
    step = step_of(deep)
    limit = given_bytes(step, WEIGHTS, INPUTS) // 4
    with pytest.raises(stowplan.DoesNotFit) as caught:
        stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    error = caught.value
    assert error.budget == limit < error.least == bytes_of(error.best.compiled)
    assert error.least < error.report.before.bytes
    assert error.causes
    assert same(error.best(WEIGHTS, INPUTS), jax.jit(step)(WEIGHTS, INPUTS))


def test_a_jitted_step_keeps_its_donations() -> None:
    step = step_of(deep)
    jitted = jax.jit(step, donate_argnums=0)
    limit = int(0.7 * bytes_of(jitted.lower(WEIGHTS, INPUTS).compile()))
    fitted = stowplan.fit(jitted, WEIGHTS, INPUTS, budget=limit)
    assert fitted.report.donated == (0,)
    assert fitted.report.after.aliased == sum(w.nbytes for w in WEIGHTS)
    expected = jax.jit(step)(WEIGHTS, INPUTS)
    assert same(fitted([jnp.array(w) for w in WEIGHTS], INPUTS), expected)


def test_donation_on_request() -> None:
    step = step_of(deep)
    whole = given_bytes(step, WEIGHTS, INPUTS)
    donated = given_bytes(step, WEIGHTS, INPUTS, donate_argnums=0)
    assert donated < whole
    fitted = stowplan.fit(step, WEIGHTS, INPUTS, budget=donated, donate=True)
    assert fitted.report.donated == (0,)
    assert fitted.report.extra == 0


def test_figures_are_known_the_second_time() -> None:
    step = step_of(deep)
    limit = int(0.85 * given_bytes(step, WEIGHTS, INPUTS))
    first = stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    second = stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    assert first.report.compiles == len(first.report.trials)
    assert second.report.compiles == 0
    assert second.report.after == first.report.after
    assert same(second(WEIGHTS, INPUTS), first(WEIGHTS, INPUTS))


def test_inside_of_another_program() -> None:
    step = step_of(deep)
    limit = int(0.85 * given_bytes(step, WEIGHTS, INPUTS))
    fitted = stowplan.fit(step, WEIGHTS, INPUTS, budget=limit)
    twice = jax.jit(lambda w, x: fitted(fitted(w, x)[0], x))
    plain = jax.jit(lambda w, x: step(step(w, x)[0], x))
    np.testing.assert_allclose(twice(WEIGHTS, INPUTS)[1], plain(WEIGHTS, INPUTS)[1], rtol=1e-6)


def test_curve() -> None:
    curve = stowplan.fit.curve(step_of(deep), WEIGHTS, INPUTS, compiles=3)
    costs = [point.cost for point in curve.points]
    assert costs == sorted(costs)
    measured = [point.measured for point in curve.points if point.measured is not None]
    assert len(measured) == 3
    assert measured[-1].bytes < measured[0].bytes == curve.before.bytes
    assert "as it is" in str(curve)


@pytest.mark.parametrize("value", [np.nan, -np.nan, -0.0, np.inf])
def test_holding_changes_no_bit(value: float) -> None:
    """What is held back keeps its bits, whatever it and the trigger are."""
    from stowplan.jax_repeat import hold_by_value

    for dtype in (jnp.float32, jnp.bfloat16, jnp.float16, jnp.complex64):
        operand = jnp.full((3,), value, dtype)
        (held,) = jax.jit(hold_by_value)(operand, jnp.full((2, 2), value, dtype))
        assert np.asarray(held).tobytes() == np.asarray(operand).tobytes()
    for operand in (jnp.arange(3), jnp.array([True, False]), jnp.arange(3, dtype=jnp.uint8)):
        (held,) = jax.jit(hold_by_value)(operand, jnp.float32(value))
        assert held.dtype == operand.dtype
        assert np.array_equal(held, operand)
    (key,) = jax.jit(hold_by_value)(jax.random.key(7), jnp.float32(value))
    assert np.array_equal(jax.random.key_data(key), jax.random.key_data(jax.random.key(7)))
