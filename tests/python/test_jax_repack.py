# SPDX-License-Identifier: Apache-2.0
"""repack: compiled programs with a lower plan run, and give the same bits."""

from __future__ import annotations

import subprocess
import sys
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


def test_verify_takes_keys() -> None:
    def draw(key: Any, x: Any) -> Any:
        first, second = jax.random.split(key)
        return second, jnp.tanh(x @ jax.random.normal(first, (64, 64))) @ x.T

    shape = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    key = jax.eval_shape(lambda: jax.random.key(0))
    better = stowplan.repack(jax.jit(draw).lower(key, shape).compile(), verify=True)
    assert better.report.is_verified or not better.report.is_rewritten
    assert not any("differ" in refusal for refusal in better.report.refusals)


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


def layers(weights: Any, x: Any) -> Any:
    def loss(weights: Any) -> Any:
        out = x
        for w, b in weights:
            out = jnp.tanh(out @ w + b) * jnp.sin(out)
        return jnp.mean(out**2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value


LAYERS = ([(spec(64, 64), spec(64))] * 8, spec(256, 64))


def arrays(shapes: Any, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return jax.tree.map(
        lambda s: jnp.asarray(random.standard_normal(s.shape).astype(np.float32)), shapes
    )


def bits(tree: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def test_values_computed_again_give_the_same_bits() -> None:
    compiled = jax.jit(layers, donate_argnums=0).lower(*LAYERS).compile()
    free = stowplan.repack(compiled)
    if any("XLA's rules" in refusal for refusal in free.report.refusals):
        pytest.skip(f"a release whose plans are not known: {free.report.refusals}")
    assert free.report.copied_thunks == 0
    better = stowplan.repack(compiled, max_cost=1.0)
    report = better.report
    assert report.copied_thunks > 0
    assert report.temporaries_after < free.report.temporaries_after
    assert better.memory_analysis().temp_size_in_bytes == report.temporaries_after
    assert any(repeat.source.startswith("test_jax_repack.py:") for repeat in report.repeats), report
    assert "run once more" in str(report)
    for seed in range(3):
        assert bits(better(*arrays(LAYERS, seed))) == bits(compiled(*arrays(LAYERS, seed)))


def test_a_budget_is_met() -> None:
    compiled = jax.jit(layers).lower(*LAYERS).compile()
    free = stowplan.repack(compiled).report
    if any("XLA's rules" in refusal for refusal in free.refusals):
        pytest.skip(f"a release whose plans are not known: {free.refusals}")
    enough = free.other_bytes + free.temporaries_after
    assert stowplan.repack(compiled, budget=enough).report.copied_thunks == 0
    lower = stowplan.repack(compiled, budget=enough - 1, verify=True).report
    assert lower.fits
    assert lower.copied_thunks > 0
    assert lower.is_verified
    assert not stowplan.repack(compiled, budget="1KiB").report.fits
    with pytest.raises(stowplan.ArgumentError, match="max_cost"):
        stowplan.repack(compiled, max_cost=-1)


def test_repack_jit_compiles_once_for_each_kind_of_arguments() -> None:
    traced = []

    def scaled(x: Any, y: Any, power: int, *, negative: bool = False) -> Any:
        traced.append(x.shape)
        out = (x @ y) ** power
        return -out if negative else out

    function = stowplan.repack_jit(scaled, static_argnums=2, static_argnames="negative")
    reference = jax.jit(scaled, static_argnums=2, static_argnames="negative")
    cases = [((8, 8), 2, False), ((8, 8), 3, False), ((4, 8), 2, False), ((8, 8), 2, True)]
    for shape, power, negative in cases * 2:
        x, y = jnp.ones(shape) * 1.5, jnp.ones((8, 8))
        assert bits(function(x, y, power, negative=negative)) == bits(
            reference(x, y, power, negative=negative)
        )
    assert len(function.reports) == len(cases)
    assert len(traced) <= 2 * len(cases)
    assert function.__name__ == "scaled"


def test_repack_jit_donates_and_can_be_traced() -> None:
    @stowplan.repack_jit(donate_argnums=0, max_cost=0.5)
    def step(state: Any, x: Any) -> Any:
        return layers(state, x)

    state, x = arrays(LAYERS, 0)
    before = state[0][0]
    state, _ = step(state, x)
    assert before.is_deleted()
    state, _ = step(state, x)
    assert len(step.reports) == 1
    assert bits(jax.jit(lambda s, x: step(s, x)[1])(state, x)) == bits(step(state, x)[1])


def test_an_entry_of_the_cache_is_rewritten(tmp_path: Any) -> None:
    zlib_or_zstd = tmp_path / "cache"
    code = f"""
import jax, jax.numpy as jnp
jax.config.update("jax_compilation_cache_dir", {str(zlib_or_zstd)!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
def f(x, w):
    def loss(w):
        out = x
        for i in range(8): out = jnp.tanh(out @ w) * jnp.sin(out)
        return jnp.mean(out ** 2)
    return jax.grad(loss)(w)
c = jax.jit(f).lower(jnp.ones((256, 64)), jnp.ones((64, 64))).compile()
print("temp", c.memory_analysis().temp_size_in_bytes, float(c(jnp.ones((256, 64)), jnp.ones((64, 64)) / 64).sum()))
"""

    def run() -> list[str]:
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return out.stdout.split()[-2:]

    first = run()
    assert run() == first
    names = [path for path in zlib_or_zstd.iterdir() if path.name.endswith("-cache")]
    for path in names:
        stowplan_cli = [sys.executable, "-m", "stowplan", "repack", str(path), "--in-place"]
        if subprocess.run(stowplan_cli + ["--max-cost=100%"], check=False).returncode != 0:
            pytest.skip("no command line beside the package")
    second = run()
    assert int(second[0]) < int(first[0])
    assert second[1] == first[1]


def test_what_is_not_compiled_is_refused() -> None:
    with pytest.raises(stowplan.ArgumentError, match="Compiled"):
        stowplan.repack(jax.jit(lambda x: x))


def test_what_cannot_be_read_stays_as_it_is(monkeypatch: Any) -> None:
    def fail(*_: Any) -> Any:
        raise stowplan.ParseError("a container of tomorrow")

    monkeypatch.setattr(sys.modules["stowplan.repack"]._core, "repack", fail)  # type: ignore[attr-defined]
    compiled = jax.jit(lambda x: x * x).lower(jax.ShapeDtypeStruct((8,), jnp.float32)).compile()
    better = stowplan.repack(compiled)
    assert better.compiled is compiled
    assert better.report.refusals == ("a container of tomorrow",)
