# SPDX-License-Identifier: Apache-2.0
"""Explaining a plan: must take about as long as reading the same module from text; twice is the limit."""

import json
import pathlib
import subprocess
import tempfile

import assign

EXPLAINER = assign.ROOT / "build/release/bench/stowplan_bench_explain"


def against_reading(results):
    print("\nexplaining a plan, against reading the module's text\n")
    print(f"  {'module':34}{'instructions':>14}{'reading':>12}{'explaining':>12}{'ratio':>8}   below twice")
    folder = assign.CORPUS / "scale"
    cases = [(name, "gpu", folder / name / "sm_9.0a_gpu_after_optimizations.txt")
             for name in ("lm_unrolled_24", "lm_unrolled_96", "rnn_unrolled_500")]
    with tempfile.TemporaryDirectory() as temporary:
        for layers in (312, 3125):
            file = pathlib.Path(temporary) / f"step_{layers}.hlo"
            assign.unrolled_step(layers, file)
            cases.append((f"training step, {layers} layers", "cpu", file))
        for name, target, file in cases:
            command = [EXPLAINER, target, "5", file]
            row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            results.append({"explain": name, **row})
            ratio = row["explain_s"] / row["read_s"]
            must = "yes" if ratio < 2 else "NO"
            print(f"  {name:34}{row['instructions']:14}{row['read_s'] * 1e3:9.1f} ms{row['explain_s'] * 1e3:9.1f} ms"
                  f"{ratio:7.1f}x   {must}")
