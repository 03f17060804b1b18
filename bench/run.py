# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of the readers and of the planner, against XLA's own in the same run.

CPU time of one thread, the best of several, Stowplan and the peer by turns: this survives a busy machine, wall clocks
do not. Called by `./run bench`; writes build/bench.json too.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", ROOT / "build/corpus"))
READER = ROOT / "build/release/bench/stowplan_bench_read"
ROUNDS = 5

import assign
import check
import diff
import explain

try:
    from jaxlib import _hlo
except ImportError:
    _hlo = None


def stowplan(kind, repetitions, *files):
    command = [READER, kind, str(repetitions), *files]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def module_bytes(proto):
    """Field 1 of an HloProto: the HloModuleProto."""
    at, length, shift = 1, 0, 0
    assert proto[0] == 0x0A
    while True:
        byte = proto[at]
        at += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return proto[at : at + length]


def peer_seconds(read):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read()
        best = min(best, time.process_time() - start)
    return best


def against_peer(results):
    print("against XLA's own reader (jaxlib 0.10.2), CPU time of one thread\n")
    print(f"  {'module':32}{'input':8}{'Stowplan':>12}{'XLA':>12}{'ratio':>8}   must")
    for name in ("lm_train_unrolled_12", "lm_train_unrolled_12_remat"):
        stem = CORPUS / "cpu" / name / "cpu_after_optimizations"
        text = stem.with_suffix(".txt").read_text()
        proto = module_bytes(stem.with_suffix(".hlo.pb").read_bytes())
        module = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"{name}.module.pb"
        module.write_bytes(proto)
        cases = [
            ("text", stem.with_suffix(".txt"), 10, len(text), lambda: _hlo.hlo_module_from_text(text)),
            ("proto", module, 6, len(proto), lambda: _hlo.HloModule.from_serialized_hlo_module_proto(proto)),
        ]
        for kind, file, must, size, read in cases:
            ours = theirs = float("inf")
            for _ in range(ROUNDS):
                ours = min(ours, stowplan("module", 10, file)["seconds"])
                theirs = min(theirs, peer_seconds(read))
            ratio = theirs / ours
            results.append({"module": name, "input": kind, "bytes": size, "stowplan_s": ours, "xla_s": theirs})
            print(
                f"  {name:32}{kind:8}{size / ours / 1e6:7.0f} MB/s{size / theirs / 1e6:7.1f} MB/s{ratio:7.1f}x"
                f"   {must}x {'yes' if ratio >= must else 'NO'}"
            )
        module.unlink()


def large_modules(results):
    print("\nlarge modules\n")
    print(f"  {'module':32}{'input':8}{'size':>10}{'speed':>12}{'peak memory':>14}{'of input':>10}")
    seconds = {}
    for name in ("lm_unrolled_24", "lm_unrolled_96", "rnn_unrolled_500"):
        for ending in (".txt", ".hlo.pb"):
            file = CORPUS / "scale" / name / f"sm_9.0a_gpu_after_optimizations{ending}"
            best = stowplan("module", 10, file)
            once = stowplan("module", 1, file)
            taken = once["peak_bytes"] - once["start_bytes"]
            kind = "text" if ending == ".txt" else "proto"
            seconds[name, kind] = best
            results.append({"module": name, "input": kind, **best, "peak_of_one_reading": taken})
            print(
                f"  {name:32}{kind:8}{best['bytes'] / 1e6:7.1f} MB{best['bytes'] / best['seconds'] / 1e6:7.0f} MB/s"
                f"{taken / 1e6:11.1f} MB{taken / best['bytes']:9.2f}x"
            )
    for kind in ("text", "proto"):
        small, large = seconds["lm_unrolled_24", kind], seconds["lm_unrolled_96", kind]
        print(
            f"  24 to 96 layers, {kind}: {large['bytes'] / small['bytes']:.2f} times the bytes,"
            f" {large['seconds'] / small['seconds']:.2f} times the time"
        )


def reports(results):
    print("\nreports of lm_unrolled_96 (value list, assignment, live ranges, usage)\n")
    folder = CORPUS / "scale" / "lm_unrolled_96"
    files = [folder / f"sm_9.0a_gpu_after_optimizations{end}" for end in
             ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt", "-memory-usage-report.txt")]
    best = stowplan("report", 10, *files)
    small = stowplan("report", 10, *[pathlib.Path(str(f).replace("_96", "_24")) for f in files])
    speed = best["bytes"] / best["seconds"] / 1e6
    results.append({"module": "lm_unrolled_96", "input": "report", **best})
    print(f"  {best['bytes'] / 1e6:.1f} MB at {speed:.0f} MB/s, must 200 {'yes' if speed >= 200 else 'NO'};"
          f" {best['bytes'] / small['bytes']:.2f} times the bytes of 24 layers in"
          f" {best['seconds'] / small['seconds']:.2f} times the time")


def main():
    results = []
    if _hlo is None:
        print("jaxlib is not there: no comparison")
    else:
        against_peer(results)
    large_modules(results)
    reports(results)
    if _hlo is not None:
        assign.against_xla(results)
    assign.growth(results)
    check.against_reading(results)
    explain.against_reading(results)
    diff.against_reading(results)
    (ROOT / "build/bench.json").write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
