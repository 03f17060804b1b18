# SPDX-License-Identifier: Apache-2.0
"""`analyze(compiled)` against XLA's dump of the same compile and against memory_analysis(): a sample. `./run test --all`
takes all programs and several versions of JAX.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import ROOT

pytest.importorskip("jax")

DRIVER = ROOT / "tests" / "oracle" / "jax_equal.py"
SAMPLE = (
    "slices,psum4,identity_outputs,donated_update,donated_unusable,nested_while,switch3,cond_in_while,scan_stack,"
    "sort_argsort,rng_dropout,linalg_calls,small_types,big_tuple,constants,zero_sized,ring_buffer_donated,"
    "mlp_train_sgd,lstm_train,tensor_parallel4,moe_layer"
)


def test_sample() -> None:
    done = subprocess.run(
        [sys.executable, "-B", DRIVER, "constructs", "work", "--only", SAMPLE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    print(counts)
    programs = len(SAMPLE.split(","))
    assert counts["different"] == counts["failed"] == []
    assert counts["programs"] == counts["own_equal"] == counts["xla_equal"] == programs
    assert counts["fields"] == counts["fields_equal"] >= 8 * programs
