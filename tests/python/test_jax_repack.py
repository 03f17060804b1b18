# SPDX-License-Identifier: Apache-2.0
"""repack: compiled programs with a lower plan run, and give the same bits."""

from __future__ import annotations

from typing import Any

import pytest
import stowplan

jax = pytest.importorskip("jax")
jnp = jax.numpy
np = pytest.importorskip("numpy")


def spec(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def convolutions(x: Any, w1: Any, w2: Any) -> Any:
    def layer(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return jax.grad(lambda w1, w2: jnp.mean(layer(jax.nn.relu(layer(x, w1)), w2) ** 2), (0, 1))(
        w1, w2
    )


def loop(x: Any, xs: Any, w: Any) -> Any:
    def loss(w: Any) -> Any:
        def body(c: Any, x: Any) -> Any:
            c = jnp.tanh(c @ w + x)
            return c, c

        return jnp.sum(jax.lax.scan(body, x, xs)[1] ** 2)

    return jax.grad(loss)(w)


PROGRAMS = [
    (convolutions, (spec(4, 16, 16, 3), spec(3, 3, 3, 8), spec(3, 3, 8, 8))),
    (loop, (spec(8, 32), spec(12, 8, 32), spec(32, 32))),
]


@pytest.mark.parametrize(
    ("function", "arguments"), PROGRAMS, ids=lambda part: getattr(part, "__name__", "")
)
def test_a_lower_plan_gives_the_same_bits(function: Any, arguments: Any) -> None:
    compiled = jax.jit(function).lower(*arguments).compile()
    better = stowplan.repack(compiled)
    report = better.report
    if any("XLA's rules" in refusal for refusal in report.refusals):
        pytest.skip(f"a release whose plans are not known: {report.refusals}")
    assert report.is_rewritten, report.refusals
    assert report.temporaries_after < report.temporaries_before
    assert compiled.memory_analysis().temp_size_in_bytes == report.temporaries_before
    assert better.memory_analysis().temp_size_in_bytes == report.temporaries_after
    random = np.random.default_rng(1)
    for _ in range(3):
        inputs = [random.standard_normal(a.shape).astype(np.float32) for a in arguments]
        expected = [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(compiled(*inputs))]
        assert [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(better(*inputs))] == expected


def test_verify_runs_both() -> None:
    function, arguments = PROGRAMS[0]
    better = stowplan.repack(jax.jit(function).lower(*arguments).compile(), verify=True)
    assert better.report.is_verified == better.report.is_rewritten


def test_donation_stays() -> None:
    def step(state: Any, x: Any) -> Any:
        y = jnp.sin(state @ x)
        return state - jnp.cos(y @ x) @ y.T, y.sum()

    arguments = (spec(64, 64), spec(64, 64))
    compiled = jax.jit(step, donate_argnums=0).lower(*arguments).compile()
    better = stowplan.repack(compiled, verify=True)
    state = jnp.ones((64, 64))
    better(state, jnp.ones((64, 64)))
    assert state.is_deleted()


def test_what_is_not_compiled_is_refused() -> None:
    with pytest.raises(stowplan.ArgumentError, match="Compiled"):
        stowplan.repack(jax.jit(lambda x: x))
