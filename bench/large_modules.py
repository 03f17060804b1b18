# SPDX-License-Identifier: Apache-2.0
"""The largest modules there are, real and made up, for what is measured against reading them."""

import json
import pathlib
import subprocess
import tempfile

import assign


def measured(program):
    """What a program of bench/ prints for each, as (name, row)."""
    folder = assign.CORPUS / "scale"
    cases = [(name, "gpu", folder / name / "sm_9.0a_gpu_after_optimizations.txt")
             for name in ("lm_unrolled_24", "lm_unrolled_96", "rnn_unrolled_500")]
    with tempfile.TemporaryDirectory() as temporary:
        for layers in (312, 3125):
            file = pathlib.Path(temporary) / f"step_{layers}.hlo"
            assign.unrolled_step(layers, file)
            cases.append((f"training step, {layers} layers", "cpu", file))
        for name, target, file in cases:
            command = [assign.ROOT / "build/release/bench" / program, target, "5", file]
            yield name, json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
