# SPDX-License-Identifier: Apache-2.0
"""repack: small computations are compiled into one kernel, with their temporaries in the heap."""

from __future__ import annotations

from typing import Any

import pytest
import stowplan

jax = pytest.importorskip("jax")
jnp = jax.numpy
np = pytest.importorskip("numpy")


def map_of_scans(rows: Any) -> Any:
    def one(row: Any) -> Any:
        return jax.lax.scan(lambda carry, x: (carry + x, carry * x), jnp.zeros(16), row)

    return jax.lax.map(one, rows)


def test_what_a_kernel_makes_itself_may_move() -> None:
    compiled = jax.jit(map_of_scans).lower(jax.ShapeDtypeStruct((8, 16, 16), jnp.float32)).compile()
    if "xla_cpu_small_call" not in compiled.as_text():
        pytest.skip("this release compiles no small computations into one kernel")
    better = stowplan.repack(compiled)
    report = better.report
    if any("XLA's rules" in refusal for refusal in report.refusals):
        pytest.skip(f"a release whose plans are not known: {report.refusals}")
    assert report.is_rewritten, report.refusals
    assert better.memory_analysis().temp_size_in_bytes == report.temporaries_after
    rows = np.random.default_rng(1).standard_normal((8, 16, 16)).astype(np.float32)
    bits = [
        [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(program(rows))]
        for program in (compiled, better)
    ]
    assert bits[0] == bits[1]
