# SPDX-License-Identifier: Apache-2.0
"""explain_oom on exceptions that JAX raises."""

from __future__ import annotations

import pytest
import stowplan

jax = pytest.importorskip("jax")
jnp = jax.numpy


def fail_to_allocate() -> Exception:
    """What a program raises that wants 64 TiB."""
    with pytest.raises(Exception, match="RESOURCE_EXHAUSTED") as caught:
        jax.jit(lambda: jnp.zeros(1 << 46, "int8"))().block_until_ready()
    return caught.value


def test_an_allocation_that_fails() -> None:
    error = fail_to_allocate()
    assert type(error).__name__ in ("JaxRuntimeError", "XlaRuntimeError")
    report = stowplan.explain_oom(error)
    assert report.incident.requested == stowplan.OomSize(1 << 46)
    assert report.incident.backend == "CPU"
    assert report.framework == "JAX"
    assert "in fail_to_allocate" in report.raised_at
    assert "donate_argnums" in str(report)


def test_the_program_beside_it() -> None:
    compiled = jax.jit(lambda: jnp.zeros(1 << 46, "int8")).lower().compile()
    report = stowplan.explain_oom(fail_to_allocate())
    # What was wanted is what the program's plan has.
    sizes = [allocation.size for allocation in stowplan.analyze(compiled).allocations]
    assert report.incident.requested is not None
    assert report.incident.requested.bytes in sizes
