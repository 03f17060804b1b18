#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python costs: stowplan.analyze beside the command line, on the same bytes.

    python bench/python.py [--program=build/stowplan] [FILE...]

Both read the file, find live ranges, the peak and what there is to say, and write the page of the command: `stowplan report` beside
analyze() and page(), `stowplan explain` beside analyze() and explain(). The command line's time has the start of a process in it;
Python's has not, since a program that asks has been started already. The best of some runs counts.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import stowplan

RUNS = 7
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "build/corpus"))
NAMES = ("lm_unrolled_24", "lm_unrolled_96", "rnn_unrolled_500")


def best(work):
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def run(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(path, program):
    data = path.read_bytes()
    command = {name: best(lambda name=name: run([program, name, path])) for name in ("report", "explain")}
    ours = {
        "report": best(lambda: stowplan.analyze(path).page()),
        "explain": best(lambda: stowplan.analyze(path).explain()),
        "load": best(lambda: stowplan.analyze(data)),
    }
    return len(data), command, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.environ.get("STOWPLAN", "build/stowplan"))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files or [CORPUS / "scale" / name / "sm_9.0a_gpu_after_optimizations.hlo.pb" for name in NAMES]
    begin = time.perf_counter()
    run([sys.executable, "-c", "import stowplan"])
    with_import = time.perf_counter() - begin
    print(f"python -c 'import stowplan': {with_import * 1e3:.0f} ms\n")
    print("module              bytes     report  analyze+page  ratio    explain  analyze+explain  ratio   analyze alone")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            # Alone: neighbours of the file would be read too. XLA's own name tells the machine.
            path = pathlib.Path(folder) / file.parent.name / file.name
            path.parent.mkdir()
            shutil.copy(file, path)
            size, command, ours = measure(path, arguments.program)
            ratios = [ours[name] / command[name] for name in ("report", "explain")]
            worst = max(worst, *ratios)
            print(
                f"{path.parent.name:18} {size:8} {command['report'] * 1e3:7.1f} ms {ours['report'] * 1e3:9.1f} ms {ratios[0]:8.2f}"
                f" {command['explain'] * 1e3:7.1f} ms {ours['explain'] * 1e3:12.1f} ms {ratios[1]:8.2f} {ours['load'] * 1e3:11.1f} ms"
            )
    print(f"\nworst ratio {worst:.2f}; at most 1.2 is wanted")
    return 0 if worst <= 1.2 else 1


if __name__ == "__main__":
    sys.exit(main())
