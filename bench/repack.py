# SPDX-License-Identifier: Apache-2.0
"""Training steps with less memory, in their own executables: memory, time and bits.

    python bench/repack.py                          all programs, at several parts of extra work
    python bench/repack.py mlp cnn --costs=0.1      some of them
    python bench/repack.py --budgets=0.5,0.35       as much less memory, whatever it costs

For each program, the step as compiled, the same executable serialized and loaded again without a change, and rewritten
ones run in turn in one process. A row has the temporaries that memory_analysis() of the loaded executable reports, as a
part of the original's, how many results are equal to the last bit, and the least time as a part of the original's. The
row "unchanged" is the noise of the measurement. What is computed again depends on the executable alone. At the end: the
geometric mean of the least temporaries of each program at times up to 1.05 and 1.20 times the original's.
"""

import argparse
import os
import statistics

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import stowplan
from repack_steps import (
    cnn,
    count_equal,
    fresh,
    least_times,
    lm,
    loaded_again,
    mlp,
    random_arguments,
    vit,
)


PROGRAMS = {
    "mlp": lambda: mlp(256, 1024, 512, 8),
    "mlp16": lambda: mlp(512, 2048, 1024, 16),
    "lm12": lambda: lm(2048, 256, 12, 4, 256, 4),
    "vit": lambda: vit(192, 6, 8, 64, 4, 64),
    "cnn": lambda: cnn(4, 16, 32, 6),
}


COSTS = "0.02,0.05,0.08,0.12,0.16,0.2,0.3"
TIME_LIMITS = (1.05, 1.20)


def measure(name, wanted, runs):
    step, shapes = PROGRAMS[name]()
    compiled = jax.jit(step, donate_argnums=0).lower(*shapes).compile()
    before = compiled.memory_analysis().temp_size_in_bytes
    arguments = jax.device_put(random_arguments(shapes))
    expected = compiled(*fresh(arguments))
    count = len(jax.tree.leaves(expected))
    rows = [("as compiled", compiled, ""), ("unchanged", loaded_again(compiled), "")]
    for label, options in wanted:
        if "budget" in options:
            free = stowplan.repack(compiled, reorder=False).report
            options = {"budget": int(free.other_bytes + options["budget"] * before)}
        better = stowplan.repack(compiled, **options)
        report = better.report
        note = f"{report.copied_thunks} again, {100 * report.cost:.1f} % by the model"
        rows.append((label, better.compiled, note))
    times = least_times([program for _, program, _ in rows], arguments, runs)
    print(f"{name}, {before} bytes of temporaries, {1e3 * times[0]:.2f} ms")
    ratios = {}
    for (label, program, note), seconds in zip(rows, times, strict=True):
        after = program.memory_analysis().temp_size_in_bytes
        equal = int(count_equal(program(*fresh(arguments)), expected))
        ratios[label] = (after / before, seconds / times[0], equal == count)
        print(
            f"  {label:12} {after:>12} = {after / before:.3f}  {equal:>3} of {count} equal"
            f"  time {seconds / times[0]:.3f}  {note}",
            flush=True,
        )
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS])
    parser.add_argument("--costs", default=COSTS, help="extra work, as parts of the program's")
    parser.add_argument("--budgets", default="", help="temporaries, as parts of the original's")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    wanted = [("order", {})]
    wanted += [(f"cost {c}", {"max_cost": float(c)}) for c in options.costs.split(",") if c]
    wanted += [(f"to {b}", {"budget": float(b)}) for b in options.budgets.split(",") if b]
    print(f"jax {jax.__version__}, the least of {options.runs} runs")
    results = [measure(name, wanted, options.runs) for name in options.programs or PROGRAMS]
    for label in results[0]:
        sizes = statistics.geometric_mean(result[label][0] for result in results)
        times = statistics.geometric_mean(result[label][1] for result in results)
        equal = all(result[label][2] for result in results)
        print(f"{label:14} temporaries {sizes:.3f}, time {times:.3f}, all equal: {equal}")
    for limit in TIME_LIMITS:
        # A program without a point within the limit keeps what it has.
        best = [
            min([1.0, *(size for size, time, equal in result.values() if time <= limit and equal)])
            for result in results
        ]
        print(f"at {limit} times the time: {statistics.geometric_mean(best):.3f} of the temporaries")


if __name__ == "__main__":
    main()
