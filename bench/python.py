#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Python costs: stowplan.analyze beside the command line, on the same bytes.

    python bench/python.py [--program=build/stowplan] [FILE...]

Both read the file, find live ranges and the peak, and make the same page: `stowplan report` beside analyze() and page(), `stowplan
explain` beside analyze() and explain(). The command line's time has the start of a process in it; Python's has not, since a program that
asks has been started already. Milliseconds of the processor and of the clock, the least of some runs each; the ratio is of the former,
which a busy machine does not change much.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import stowplan

RUNS = 7
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "build/corpus"))
NAMES = ("lm_unrolled_24", "lm_unrolled_96", "rnn_unrolled_500")


def used():
    """Seconds of the processor so far."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def best(work):
    """(processor, clock), in milliseconds; of this process and those that it started."""
    processor, clock = [], []
    for _ in range(RUNS):
        before, begin = used(), time.perf_counter()
        work()
        clock.append(time.perf_counter() - begin)
        processor.append(used() - before)
    return 1e3 * min(processor), 1e3 * min(clock)


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def row(name, size, theirs, ours):
    ratio = ours[0] / theirs[0]
    print(f"{name:26} {size:9} {theirs[0]:9.0f} {theirs[1]:7.0f} {ours[0]:13.0f} {ours[1]:7.0f} {ratio:9.2f}", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.environ.get("STOWPLAN", "build/stowplan"))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files or [CORPUS / "scale" / name / "sm_9.0a_gpu_after_optimizations.hlo.pb" for name in NAMES]
    program = str(pathlib.Path(arguments.program).resolve())
    nothing, imported = best(lambda: run(sys.executable, "-c", "")), best(lambda: run(sys.executable, "-c", "import stowplan"))
    print(f"import stowplan: {imported[0] - nothing[0]:.0f} ms\n")
    print("                              bytes   command  (clock)       Python  (clock)     ratio")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            # Alone: neighbours of the file would be read too. XLA's own name tells the machine.
            path = pathlib.Path(folder) / file.parent.name / file.name
            path.parent.mkdir()
            shutil.copy(file, path)
            name, size = path.parent.name, path.stat().st_size
            worst = max(
                worst,
                row(f"{name} report", size, best(lambda: run(program, "report", path)), best(lambda: stowplan.analyze(path).page())),
                row(f"{name} explain", size, best(lambda: run(program, "explain", path)), best(lambda: stowplan.analyze(path).explain())),
            )
    print(f"\nworst ratio {worst:.2f}; at most 1.2 is wanted")
    return 0 if worst <= 1.2 else 1


if __name__ == "__main__":
    sys.exit(main())
