# SPDX-License-Identifier: Apache-2.0
"""The difference of two plans: should take about as long as reading both modules from text."""

import json
import pathlib
import subprocess
import tempfile

import assign

DIFFER = assign.ROOT / "build/release/bench/stowplan_bench_diff"


def against_reading(results):
    print("\nthe difference of two plans, against reading both modules' texts\n")
    print(f"  {'pair':34}{'instructions':>14}{'reading':>12}{'pictures':>12}{'difference':>12}   against reading")
    scale = assign.CORPUS / "scale"
    text = "sm_9.0a_gpu_after_optimizations.txt"
    with tempfile.TemporaryDirectory() as temporary:
        old, new = pathlib.Path(temporary) / "old.hlo", pathlib.Path(temporary) / "new.hlo"
        cases = [("24 and 96 layers", "gpu", scale / "lm_unrolled_24" / text, scale / "lm_unrolled_96" / text),
                 ("96 layers, the same", "gpu", scale / "lm_unrolled_96" / text, scale / "lm_unrolled_96" / text),
                 ("training step, larger", "cpu", old, new)]
        assign.unrolled_step(3125, old)
        new.write_text(old.read_text().replace("f32[4096]", "f32[6144]"))
        for name, target, a, b in cases:
            command = [DIFFER, target, "5", a, b]
            row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            results.append({"diff": name, **row})
            print(f"  {name:34}{row['instructions']:14}{row['read_s'] * 1e3:9.1f} ms{row['picture_s'] * 1e3:9.1f} ms"
                  f"{row['diff_s'] * 1e3:9.1f} ms   {row['diff_s'] / row['read_s']:.1f} times")
