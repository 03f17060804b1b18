# SPDX-License-Identifier: Apache-2.0
"""Programs compiled ahead of time for TPUs, where libtpu is installed. No TPU is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import stowplan
from conftest import ROOT

os.environ.update(TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
pytest.importorskip("libtpu")
jax = pytest.importorskip("jax")
topologies = pytest.importorskip("jax.experimental.topologies")


@pytest.mark.parametrize(
    ("topology", "target"),
    [
        ("v4:2x2x1", "tpu-v4"),
        ("v5e:2x2", "tpu-v5e"),
        ("v5p:2x2x1", "tpu-v5p"),
        ("v6e:2x2", "tpu-v6e"),
    ],
)
def test_ahead_of_time(topology: str, target: str) -> None:
    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices
    mesh = jax.sharding.Mesh(devices[:1], ("x",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    def update(state: Any, x: Any) -> Any:
        return state + jax.numpy.sin(x @ x)

    spec = jax.ShapeDtypeStruct((256, 256), jax.numpy.float32, sharding=everywhere)
    with stowplan.capture() as modules:
        compiled = jax.jit(update, donate_argnums=0).lower(spec, spec).compile()
    r = stowplan.analyze(compiled)
    assert r.target == target
    assert any("does not provide XLA's own plan" in note for note in r.notes)
    assert {a.path for a in r.allocations if a.path} == {"state", "x"}
    stats = compiled.memory_analysis()
    figures = r.reconcile().memory_analysis
    for kind in ("argument_size", "output_size", "alias_size", "temp_size", "peak_memory"):
        assert figures[f"{kind}_in_bytes"] == getattr(stats, f"{kind}_in_bytes")
    # What is captured has no Compiled around it: the device is known all the same.
    assert modules["update"].analysis.target == target
    assert modules["update"].analysis.total_bytes == r.total_bytes


def test_sample() -> None:
    """Allocation for allocation, and field by field; places in fast memory are not told."""
    sample = "slices,psum4,while_cond,nested_while,cond_in_while,while_in_cond,scan_stack,sort_argsort,rng_dropout"
    for topology in ("v4:2x2x1", "v5e:2x2", "v5p:2x2x1", "v6e:2x2"):
        check_equal("constructs", sample, topology)


def test_sample_of_tpu_programs() -> None:
    """Kernels, memory of the host, callbacks."""
    sample = (
        "scattered_product,kernel_in_place,kernel_with_transfers,splash_attention_grad,state_on_host,"
        "activations_on_host,callbacks,callbacks_in_order,branches_in_branches,branches_in_a_loop"
    )
    for topology in ("v5e:2x2", "v6e:2x2"):
        check_equal("tpu_more", sample, topology)


def check_equal(programs: str, sample: str, topology: str) -> None:
    driver = ROOT / "tests" / "oracle" / "jax_equal.py"
    done = subprocess.run(
        [sys.executable, "-B", driver, programs, "--only", sample, "--topology", topology],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["different"] == counts["failed"] == []
    assert counts["programs"] == counts["own_equal"] == len(sample.split(","))
    assert counts["fields"] == counts["fields_equal"]
