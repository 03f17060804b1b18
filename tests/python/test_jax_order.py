# SPDX-License-Identifier: Apache-2.0
"""Analysis.order(try_flags=True): the compiler's own figures with other options."""

from __future__ import annotations

from typing import Any

import pytest
import stowplan
from stowplan.order import FLAGS, tried_flags

jax = pytest.importorskip("jax")
jnp = jax.numpy


def outer(x: Any) -> Any:
    """Eight large products: all may be computed first, or each be added up before the next."""
    products = [jnp.sin(x[i])[:, None] * jnp.cos(x[i])[None, :] for i in range(8)]
    return sum(jnp.sum(jnp.tanh(p @ p)) for p in products)


@pytest.fixture(scope="module")
def lowered() -> Any:
    return jax.jit(outer).lower(jax.ShapeDtypeStruct((8, 200), jnp.float32))


def test_the_program_is_compiled_again(lowered: Any) -> None:
    order = stowplan.analyze(lowered).order(try_flags=True)
    (tried,) = order.tried
    assert tried.options == FLAGS["cpu"][0]
    assert str(order).endswith(str(tried))
    try:
        again = lowered.compile(compiler_options=dict(tried.options))
    except Exception:  # this release does not have the option
        assert tried.after is None
        assert tried.error is not None
        assert tried.saved is None
        return
    stats = again.memory_analysis().temp_size_in_bytes
    own = lowered.compile().memory_analysis().temp_size_in_bytes
    assert tried.error is None
    assert tried.before is not None
    assert tried.after is not None
    assert (tried.before["temp_size_in_bytes"], tried.after["temp_size_in_bytes"]) == (own, stats)
    assert tried.saved == own - stats
    # What the order costs, the flag saves, or nearly.
    assert stats <= order.bytes * 1.2


def test_nothing_is_compiled_without_being_asked(lowered: Any) -> None:
    assert stowplan.analyze(lowered).order().tried == ()


def test_a_traced_can_be_compiled_again() -> None:
    f = jax.jit(outer)
    if not hasattr(f, "trace"):
        pytest.skip("this release of JAX has no Traced")
    traced = f.trace(jax.ShapeDtypeStruct((8, 100), jnp.float32))
    assert len(stowplan.analyze(traced).order(try_flags=True).tried) == 1


def test_a_compiled_cannot(lowered: Any) -> None:
    with pytest.raises(stowplan.ArgumentError, match=r"lower\(...\)"):
        stowplan.analyze(lowered.compile()).order(try_flags=True)


def test_unknown_options_and_targets() -> None:
    def refuse(options: dict[str, str]) -> Any:
        raise ValueError(f"No such compile option: {next(iter(options))}\nand more")

    (tried,) = tried_flags(refuse, "cpu", {"temp_size_in_bytes": 1})
    assert tried.saved is None
    assert str(tried).endswith("No such compile option: xla_cpu_scheduler_type")
    assert tried_flags(refuse, "gpu", None) == ()
