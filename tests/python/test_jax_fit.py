# SPDX-License-Identifier: Apache-2.0
"""Analysis.fit and what it advises, for a training step that JAX compiles here."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import stowplan

jax = pytest.importorskip("jax")
jnp = jax.numpy

LAYERS = 4
WIDTH = 128


def layer(weights: Any, x: Any) -> Any:
    return x + jnp.tanh(jnp.sin(x @ weights["in"]) * jnp.exp(-x[:, :1])) @ weights["out"]


def network(params: Any, x: Any, checkpoint: bool) -> Any:
    for i, weights in enumerate(params):
        with jax.named_scope(f"layer_{i}"):
            x = (jax.checkpoint(layer) if checkpoint else layer)(weights, x)
    return jnp.mean(x**2)


def step(params: Any, x: Any, checkpoint: bool = False) -> Any:
    gradients = jax.grad(network)(params, x, checkpoint)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


def lowered(checkpoint: bool = False) -> Any:
    shape = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
    weights = {"in": shape((WIDTH, 4 * WIDTH)), "out": shape((4 * WIDTH, WIDTH))}
    f = jax.jit(functools.partial(step, checkpoint=checkpoint))
    return f.lower([weights] * LAYERS, shape((2048, WIDTH)))


@pytest.fixture(scope="module")
def r() -> stowplan.Analysis:
    return stowplan.analyze(lowered())


def test_lines_and_layers(r: stowplan.Analysis) -> None:
    fit = r.fit(max_cost=0.2)
    assert fit.bytes < 0.8 * fit.given_bytes
    first = fit.lines[0]
    assert first.source is not None
    assert first.source.startswith("test_jax_fit.py:")
    assert first.function in ("layer", None)
    assert first.parts is not None
    assert first.parts.startswith("layer")
    assert f"of {first.source} in {first.parts}" in str(fit)


def test_donated_arguments_have_their_names(r: stowplan.Analysis) -> None:
    fit = r.fit(max_cost=0.1, use="pack,order,recompute,donate")
    assert fit.donated == ("params",)
    assert fit.donation is not None
    # A list: its parts are named like those of *params, for which JAX takes no donate_argnames.
    assert fit.donation == "jax.jit(f, donate_argnums=(0,))"
    assert fit.bytes < r.fit(max_cost=0.1).bytes


def test_the_first_advice_is_what_fit_found(r: stowplan.Analysis) -> None:
    first = r.advice()[0]
    assert [edit["kind"] for edit in first.edits] == ["fit"]
    assert "in layer" in first.what
    assert "jax.checkpoint" in first.how
    # XLA for CPUs merges both computations, so this saves nothing there; it is said.
    if r.target == "cpu":
        assert "XLA for CPUs often merges" in first.notes[-1]


def test_checkpoints_are_never_made_worse() -> None:
    fit = stowplan.analyze(lowered(checkpoint=True)).fit(max_cost=0.1)
    assert fit.bytes <= fit.ordered_bytes <= fit.given_bytes
