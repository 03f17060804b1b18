# SPDX-License-Identifier: Apache-2.0
"""max_batch: the batch that is returned fits, the next one does not; both by compiling them here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import stowplan

jax = pytest.importorskip("jax")
jnp = jax.numpy


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def mlp_training() -> Callable[[int], Any]:
    def loss(params: Any, x: Any, y: Any) -> Any:
        for w in params:
            x = jax.nn.relu(x @ w)
        return jnp.mean((x - y) ** 2)

    def train(params: Any, x: Any, y: Any) -> Any:
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = [f32(128, 256), f32(256, 256), f32(256, 16)]
    step = jax.jit(train, donate_argnums=0)
    return lambda b: step.lower(params, f32(b, 128), f32(b, 16))


def attention() -> Callable[[int], Any]:
    def attend(w: Any, x: Any) -> Any:
        q, k, v = jnp.split(x @ w, 3, axis=-1)
        scores = jax.nn.softmax(q @ k.transpose(0, 2, 1) / 8.0)
        return scores @ v + x

    step = jax.jit(attend)
    return lambda b: step.lower(f32(64, 192), f32(b, 128, 64))


def convolution() -> Callable[[int], Any]:
    def loss(weights: Any, x: Any) -> Any:
        for w in weights:
            x = jax.lax.conv_general_dilated(
                x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x - x.mean((0, 1, 2)))
        return jnp.mean(x**2)

    step = jax.jit(jax.grad(loss))
    weights = [f32(3, 3, 3, 16), f32(3, 3, 16, 16)]
    return lambda b: step.lower(weights, f32(b, 16, 16, 3))


def taken(program: Any) -> int:
    """Bytes by JAX's own figures, and the constants, which these leave out."""
    compiled = program.compile()
    stats = compiled.memory_analysis()
    constants = sum(a.size for a in stowplan.analyze(compiled).allocations if a.is_constant)
    return int(
        stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        - stats.alias_size_in_bytes
        + stats.temp_size_in_bytes
        + constants
    )


@pytest.mark.parametrize(
    ("make", "budget", "most_compiles"),
    [(mlp_training, "64MiB", 8), (attention, "100MiB", 8), (convolution, "96MiB", 8)],
    ids=["mlp", "attention", "convolution"],
)
def test_batch_fits_and_next_does_not(
    make: Callable[[], Callable[[int], Any]], budget: str, most_compiles: int
) -> None:
    lower = make()
    limit = stowplan.parse_size(budget)
    found = stowplan.max_batch(lower, budget)
    print(f"{found}\n{found.log}")
    assert found.next_batch == found.batch + 1
    assert found.bytes == taken(lower(found.batch)) <= limit
    assert found.next_bytes == taken(lower(found.batch + 1)) > limit
    assert found.compiles <= most_compiles
    assert found.analysis is not None and found.next_analysis is not None
    assert int(found) == found.batch


# How it searches: programs of which only the size counts.


def program(size: int) -> Any:
    """A program that takes so many bytes."""
    text = f"HloModule m, is_scheduled=true\n\nENTRY e {{\n  ROOT p = u8[{size}] parameter(0)\n}}\n"
    return stowplan.analyze(text, target="cpu")


def search(
    sizes: Callable[[int], int], budget: int, **settings: Any
) -> tuple[stowplan.MaxBatch, list[int]]:
    asked: list[int] = []

    def lower(batch: int) -> Any:
        asked.append(batch)
        return program(sizes(batch))

    return stowplan.max_batch(lower, budget, **settings), asked


@pytest.mark.parametrize("budget", [1000, 1007, 12345, 1_000_003])
def test_line(budget: int) -> None:
    found, asked = search(lambda b: 100 + 7 * b, budget)
    assert found.batch == (budget - 100) // 7
    assert found.bytes == 100 + 7 * found.batch
    assert len(asked) == len(set(asked)) == found.compiles <= 5


def test_steps_and_kinks() -> None:
    def padded(b: int) -> int:
        return 4096 * -(-b // 128) + 10 * b

    def kinked(b: int) -> int:
        return 100 * b if b < 500 else 50_000 + 3 * (b - 500)

    def squared(b: int) -> int:
        return 64 + b * b

    for sizes, budget in ((padded, 1_000_000), (kinked, 60_001), (squared, 9_999_999)):
        found, asked = search(sizes, budget)
        assert sizes(found.batch) <= budget < sizes(found.batch + 1)
        assert len(asked) == len(set(asked)) <= 32  # twice what halving takes


@pytest.mark.parametrize("budget", [10**6, 10**8, 1 << 30, 14 << 30])
@pytest.mark.parametrize("linear", [0, 700])
def test_parabola(linear: int, budget: int) -> None:
    """Lengths of sequences: attention takes their square."""
    found, asked = search(lambda b: 8 * b * b + linear * b, budget)
    assert 8 * found.batch**2 + linear * found.batch <= budget < found.next_bytes
    assert len(asked) <= 7, found.log


def test_jump_at_every_size() -> None:
    found, asked = search(lambda b: 10 if b < 7777 else 10**9, 1000)
    assert found.batch == 7776
    assert len(asked) < 40


def test_not_monotonic() -> None:
    def sizes(b: int) -> int:
        return 10 * b + (500 if b % 2 else 0)

    found, _ = search(sizes, 2000)
    assert sizes(found.batch) <= 2000 < sizes(found.batch + 1)
    assert found.next_batch == found.batch + 1


def test_nothing_fits() -> None:
    found, asked = search(lambda b: 10_000 * b, 5000)
    assert (found.batch, found.bytes, found.next_batch, found.next_bytes) == (0, None, 1, 10_000)
    assert asked == [1]
    assert str(found).startswith("no batch fits into")


def test_first_is_too_large() -> None:
    found, _ = search(lambda b: 100 * b, 1234, first=512)
    assert found.batch == 12


def test_nothing_grows() -> None:
    found, asked = search(lambda b: 100, 1000, most=10_000)
    assert (found.batch, found.next_batch) == (10_000, None)
    assert len(asked) <= 6
    assert "no larger one was tried" in str(found)


def test_multiples() -> None:
    found, asked = search(lambda b: 100 * b, 12_345, step=8)
    assert (found.batch, found.next_batch) == (120, 128)
    assert all(batch % 8 == 0 for batch in asked)
    with pytest.raises(stowplan.Error, match="no batch to try"):
        search(lambda b: b, 100, step=8, most=4)


def test_compiler_runs_out_of_memory() -> None:
    def lower(batch: int) -> Any:
        if batch > 100:
            raise RuntimeError("RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.")
        return program(10 * batch)

    found = stowplan.max_batch(lower, "1GiB")
    assert (found.batch, found.next_batch, found.next_bytes) == (100, 101, None)
    assert "the compiler ran out of memory" in found.log
    errors = {sample.batch: sample.error for sample in found.samples}
    assert errors[101].startswith("RESOURCE_EXHAUSTED: Ran out") and errors[100] == ""

    def broken(batch: int) -> Any:
        raise ValueError("shapes do not fit")

    with pytest.raises(ValueError, match="shapes do not fit"):
        stowplan.max_batch(broken, "1GiB")


class XlaRuntimeError(RuntimeError):
    """As jaxlib names it."""


@pytest.mark.parametrize("first", [1, 64])
def test_smallest_cannot_be_compiled(first: int) -> None:
    def lower(batch: int) -> Any:
        raise XlaRuntimeError(f"Ran out of memory in memory space vmem, batch {batch}")

    with pytest.raises(XlaRuntimeError, match="vmem, batch 1\n") as caught:
        stowplan.max_batch(lower, "1GiB", first=first)
    assert caught.value.__notes__ == ["stowplan: not even batch 1 can be compiled"]


@pytest.mark.parametrize(
    "error", [MemoryError("out of memory"), RuntimeError("Ran out of memory for the data set")]
)
def test_other_memory_says_nothing_about_the_batch(error: Exception) -> None:
    def lower(batch: int) -> Any:
        if batch > 1:
            raise error
        return program(10)

    with pytest.raises(type(error), match="out of memory") as caught:
        stowplan.max_batch(lower, "1GiB")
    assert "stowplan: this was batch 16 of max_batch" in caught.value.__notes__


def test_repr_is_short() -> None:
    found, _ = search(lambda b: 100 * b, 1000)
    assert repr(found) == f"<stowplan.MaxBatch 10 in 1000B, {found.compiles} sizes compiled>"


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    search(lambda b: 100 * b, 1000, progress=True)
    assert "sizes compiled; batch" in capfd.readouterr().err
    search(lambda b: 100 * b, 1000)
    assert capfd.readouterr().err == ""
