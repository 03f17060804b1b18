# SPDX-License-Identifier: Apache-2.0
"""Rewritten executables on a GPU: bits, memory, time, and a step that only fits after rewriting.

    python3 bench/repack_gpu.py --out=OUT                     everything, most worth first
    python3 bench/repack_gpu.py --out=OUT --seconds=540       what fits into nine minutes
    python3 bench/repack_gpu.py --out=OUT --only='step:lm|programs'

The package must be on the path. OUT/results.jsonl gets a line for each point, program and failure; a second run with
the same OUT goes on where the first ended. OUT/executables has the steps as compiled, and every program that was
refused or whose results differ, for a look without a GPU. Tasks, each in a process of its own:

    step:NAME      a training step as compiled, serialized and loaded again, and rewritten at several costs, in turn:
                   the least of 50 runs, results compared to the bit; then each in a fresh process: peak_bytes_in_use;
                   then as compiled and rewritten with memory limited to the middle of both peaks
    cpu:NAME       bench/repack.py, for the CPU of the same machine, to OUT/cpu.NAME.txt
    programs:N     those of tests/oracle for one device, the N-th of several parts that run at the same time: loaded,
                   compared to the bit, and how many are refused, and why

At the end the figures are summed up; --summary only does that.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import pickle
import re
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests" / "oracle"))

RUNS = 50
COSTS = (0.02, 0.035, 0.05, 0.065, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2, 0.24, 0.28)
TIME_LIMITS = (1.05, 1.15, 1.25)
LIMITED = ("lm", "mlp", "vit")  # also run with less memory than they need as compiled
PARTS = 5
SETS = ("work", "more", "constructs", "gpu_heroes")
MOST_PROGRAMS = 150
MOST_SAVED = 16 << 20
# What the process that measures times takes of the GPU's memory, and each of those beside it. They take it at once, as
# JAX does unless told otherwise: the allocator then gives out what was asked for, and not a larger piece.
TIMED_SHARE = 0.5
SHARE = 0.08
DETERMINISTIC = "xla_gpu_deterministic_ops"


def steps():
    import jax.numpy as jnp
    from repack_steps import cnn, lm, mlp, vit

    half = jnp.bfloat16
    return {
        "mlp": lambda: mlp(2048, 8192, 4096, 8),
        "lm": lambda: lm(16384, 1024, 8, 4, 1024, 16, half),
        "vit": lambda: vit(768, 12, 32, 256, 12, 1000, half),
        "cnn": lambda: cnn(128, 32, 256, 6),
        "mlp_bf16": lambda: mlp(4096, 16384, 4096, 8, half),
        "lm_f32": lambda: lm(8192, 768, 12, 8, 512, 12),
        "mlp_scan": lambda: mlp(2048, 8192, 4096, 8, is_scanned=True),
        "lm_scan": lambda: lm(16384, 1024, 8, 4, 1024, 16, half, is_scanned=True),
    }


# The six of the table, and two scans. Programs come early: what they show is about all others.
TASKS = (
    "step:lm",
    *(f"programs:{part}" for part in range(PARTS)),
    "step:lm_f32",
    "step:vit",
    "step:mlp",
    "step:mlp_bf16",
    "step:cnn",
    *(f"cpu:{name}" for name in ("mlp", "cnn", "vit", "lm12", "mlp16")),
    "step:lm_scan",
    "step:mlp_scan",
)


class Results:
    """Lines of results.jsonl."""

    def __init__(self, out):
        self.out = pathlib.Path(out)
        (self.out / "executables").mkdir(parents=True, exist_ok=True)
        self.path = self.out / "results.jsonl"

    def rows(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def add(self, **row):
        line = json.dumps(row)
        with self.path.open("a") as file:
            file.write(line + "\n")
        print(line[:400], flush=True)

    def save(self, name, data):
        if len(data) <= MOST_SAVED:
            (self.out / "executables" / f"{name}.bin").write_bytes(data)


def serialized(compiled):
    executable = compiled.runtime_executable()
    return bytes(executable.client.serialize_executable(executable))


# ---- a step ----


class Variant:
    """A program that is measured beside others."""

    def __init__(self, label, compiled, report=None):
        self.label = label
        self.compiled = compiled
        self.report = report
        self.row = {}


def rewritten(compiled, name, results):
    """Variants at several costs, searched for at the same time; those with the same temporaries once."""
    import stowplan

    def find(cost):
        begin = time.perf_counter()
        return stowplan.repack(compiled, max_cost=cost), time.perf_counter() - begin

    costs = (None, *COSTS)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(find, costs))
    found = []
    seen = set()
    for cost, (better, seconds) in zip(costs, answers, strict=True):
        report = better.report
        results.add(kind="search", step=name, cost=cost, seconds=seconds, is_rewritten=report.is_rewritten,
                    after=report.temporaries_after, copies=report.copied_thunks, model=report.cost,
                    refusals=report.refusals[:3])
        if report.is_rewritten and report.temporaries_after not in seen:
            seen.add(report.temporaries_after)
            found.append(Variant("order" if cost is None else f"cost {cost}", better.compiled, report))
    return found


def measure_step(name, results):
    import jax
    from repack_steps import count_equal, fresh, least_times, loaded_again, random_arguments

    begin = time.perf_counter()
    step, shapes = steps()[name]()
    step.__name__ = name
    compiled = jax.jit(step, donate_argnums=0).lower(*shapes).compile({DETERMINISTIC: True})
    compile_seconds = time.perf_counter() - begin
    before = compiled.memory_analysis().temp_size_in_bytes
    results.save(name, serialized(compiled))
    results.add(kind="compiled", step=name, seconds=compile_seconds, temporaries=before)
    variants = [Variant("as compiled", compiled), Variant("unchanged", loaded_again(compiled))]
    variants += rewritten(compiled, name, results)
    arguments = jax.device_put(random_arguments(shapes))
    expected = compiled(*fresh(arguments))
    leaves = len(jax.tree.leaves(expected))
    for variant in variants:
        variant.row["equal"] = int(count_equal(variant.compiled(*fresh(arguments)), expected))
    del expected
    begin = time.perf_counter()
    times = least_times([variant.compiled for variant in variants], arguments, RUNS)
    for variant, seconds in zip(variants, times, strict=True):
        variant.row.update(
            kind="point", step=name, label=variant.label, leaves=leaves, before=before,
            after=variant.compiled.memory_analysis().temp_size_in_bytes, ms=1e3 * seconds, ratio=seconds / times[0],
            copies=variant.report.copied_thunks if variant.report else 0,
            model=variant.report.cost if variant.report else 0.0)
        results.add(**variant.row)
    print(f"{name}: measured in {time.perf_counter() - begin:.0f} s", flush=True)
    measure_peaks(name, variants, results)


def measure_peaks(name, variants, results):
    """In fresh processes: the peaks of the original, of the lowest, and of the best within each limit of time."""
    from jax.experimental import serialize_executable

    low = [variant for variant in variants[2:] if variant.row["equal"] == variant.row["leaves"]]
    wanted = {variants[0].label: variants[0]}
    for limit in TIME_LIMITS:
        within = [variant for variant in low if variant.row["ratio"] <= limit]
        if within:
            best = min(within, key=lambda variant: variant.row["after"])
            wanted[best.label] = best
    if low:
        lowest = min(low, key=lambda variant: variant.row["after"])
        wanted[lowest.label] = lowest
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for number, (label, variant) in enumerate(wanted.items()):
            paths[label] = pathlib.Path(folder) / f"{number}.pickle"
            paths[label].write_bytes(pickle.dumps(serialize_executable.serialize(variant.compiled)))
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            found = dict(zip(paths, pool.map(lambda path: in_fresh_process(name, path), paths.values()), strict=True))
        for label, answer in found.items():
            results.add(kind="peak", step=name, label=label, temporaries=wanted[label].row["after"], **answer)
        first = found[variants[0].label]
        if name not in LIMITED or not low or "peak" not in first or "peak" not in found[lowest.label]:
            return
        limit = (first["peak"] + found[lowest.label]["peak"]) // 2
        for label in (variants[0].label, lowest.label):
            answer = in_fresh_process(name, paths[label], limit / first["whole"])
            results.add(kind="limited", step=name, label=label, allowed=limit, **answer)


def in_fresh_process(name, path, fraction=None):
    """What run_once says, or why it says nothing. With a fraction, only that part of the GPU's memory is there."""
    environment = dict(os.environ, XLA_PYTHON_CLIENT_MEM_FRACTION=str(fraction or SHARE))
    command = [sys.executable, __file__, f"--run-once={path}", f"--only={name}"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return {"error": "it takes more than 120 s"}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    exhausted = [line for line in done.stderr.splitlines() if "RESOURCE_EXHAUSTED" in line]
    return {"error": exhausted[-1][:200] if exhausted else done.stderr[-600:]}


def run_once(name, path):
    import jax
    import numpy as np
    from repack_steps import loaded, random_arguments

    device = jax.devices()[0]
    arguments = jax.block_until_ready(jax.device_put(random_arguments(steps()[name]()[1])))
    program = loaded(*pickle.loads(pathlib.Path(path).read_bytes()), device)
    before = device.memory_stats()["bytes_in_use"]
    result = jax.block_until_ready(program(*arguments))
    stats = device.memory_stats()
    loss = float(np.asarray(jax.tree.leaves(result)[-1]).astype(np.float32).ravel()[0])
    part = float(os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"])
    print(json.dumps({"peak": stats["peak_bytes_in_use"], "arguments": before, "limit": stats["bytes_limit"],
                      "whole": stats["bytes_limit"] / part, "loss": loss}))


# ---- programs ----


def run_programs(part, results):
    """Names of this part's programs come from a fixed list, so that a second try skips what the first one did."""
    import repack_runs

    rows = [row for row in results.rows() if row["kind"] == "program"]
    done = {row["name"] for row in rows}
    begun = results.out / f"begun.{part}"
    if begun.exists():  # it ended the process
        name = begun.read_text()
        if name not in done:
            results.add(kind="program", name=name, error="the process ended")
            done.add(name)
    names = list(repack_runs.listed(",".join(SETS)))[:MOST_PROGRAMS]
    for name, lowered in names[part::PARTS]:
        if name in done:
            continue
        begun.write_text(name)
        compiled = []

        def lower(lowered=lowered, compiled=compiled):
            made = lowered()
            compile_it = made.compile
            made.compile = lambda: compiled.append(compile_it({DETERMINISTIC: True})) or compiled[0]
            return made

        try:
            row = repack_runs.measured(lower, 0.1)
        except Exception as error:  # a program for several devices, or one that the compiler refuses
            results.add(kind="program", name=name, error=f"{type(error).__name__}: {error}"[:300])
            continue
        if compiled and (row.get("is_wrong") or repack_runs.is_refused(row)):
            results.save(name.replace("/", "_"), serialized(compiled[0]))
        results.add(kind="program", name=name, **row)
    begun.unlink(missing_ok=True)


# ---- all of it ----


def summary(rows):
    points = {}
    for row in rows:
        if row["kind"] == "point":
            points.setdefault(row["step"], {})[row["label"]] = row
    for step, found in points.items():
        print(f"{step}: {found['as compiled']['before']} bytes, {found['as compiled']['ms']:.3f} ms")
        for row in found.values():
            print(f"  {row['label']:12} {row['after']:>12} = {row['after'] / row['before']:.4f}  time {row['ratio']:.4f}"
                  f"  model {1 + row['model']:.3f}  {row['copies']:>3} again  {row['equal']} of {row['leaves']} equal")
    table = [step for step in points if not step.endswith("_scan")]
    for limit in TIME_LIMITS if table else ():
        best = [min([row["after"] / row["before"] for row in points[step].values()
                     if row["ratio"] <= limit and row["equal"] == row["leaves"]] + [1]) for step in table]
        print(f"at {limit} times the time: {statistics.geometric_mean(best):.4f} of the temporaries of {table}: "
              f"{[round(each, 4) for each in best]}")
    peaks = {(row["step"], row["label"]): row for row in rows if row["kind"] == "peak" and "peak" in row}
    for (step, label), row in peaks.items():
        first = peaks.get((step, "as compiled"))
        if first and label != "as compiled":
            print(f"{step} {label}: the peak falls by {first['peak'] - row['peak']}, "
                  f"temporaries by {first['temporaries'] - row['temporaries']}")
    for row in rows:
        if row["kind"] == "limited":
            print(f"{row['step']} {row['label']} in {row['allowed']}: {row.get('error', 'runs')[:120]}")
        if row["kind"] == "failure":
            print(f"FAILURE {row}")
    programs = [row for row in rows if row["kind"] == "program"]
    if programs:
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        import repack_runs

        print(repack_runs.summary(programs))


def run_on_cpu(name, results):
    with (results.out / f"cpu.{name}.txt").open("w") as out:
        command = [sys.executable, str(HERE / "repack.py"), name]
        subprocess.run(command, env=dict(os.environ, JAX_PLATFORMS="cpu"), stdout=out, check=True)


def run_task(task, results):
    kind, name = task.split(":")
    if kind == "step":
        measure_step(name, results)
    elif kind == "cpu":
        run_on_cpu(name, results)
    else:
        run_programs(int(name), results)
    results.add(kind="done", task=task)


def start(task, options, left):
    share = SHARE if task.startswith("programs") else TIMED_SHARE
    environment = dict(os.environ, JAX_PLATFORMS="cuda", XLA_PYTHON_CLIENT_PREALLOCATE="true",
                       XLA_PYTHON_CLIENT_MEM_FRACTION=str(share))
    command = ["timeout", str(max(1, int(left))), sys.executable, __file__, f"--task={task}", f"--out={options.out}"]
    print(f"--- {task}, {left:.0f} s left", flush=True)
    return subprocess.Popen(command, env=environment)


def run_all(options, results):
    begin = time.monotonic()
    left = lambda: options.seconds - (time.monotonic() - begin)  # noqa: E731
    done = {row["task"] for row in results.rows() if row["kind"] == "done"}
    waiting = [task for task in TASKS if task not in done and re.search(options.only, task)]
    while waiting and left() > 30:
        kind = waiting[0].split(":")[0]
        batch = [task for task in waiting if task.startswith("programs")] if kind == "programs" else waiting[:1]
        waiting = [task for task in waiting if task not in batch]
        limit = min(left() - 5, 260)
        running = {task: start(task, options, limit) for task in batch}
        for task, process in running.items():
            # A program that ends its process is left out of the next try.
            while process.wait() not in (0, 124) and kind == "programs" and left() > 30:
                process = start(task, options, left() - 5)
            if process.returncode != 0:
                results.add(kind="failure", task=task, code=process.returncode)
    print(f"{options.seconds - left():.0f} s; not done: {waiting}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="repack_gpu")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--only", default="", help="a regular expression for tasks")
    parser.add_argument("--task", help="only this one, in this process")
    parser.add_argument("--run-once", help=argparse.SUPPRESS)
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.run_once:
        run_once(options.only, options.run_once)
        return
    results = Results(options.out)
    if options.task:
        try:
            run_task(options.task, results)
        except Exception:
            results.add(kind="failure", task=options.task, trace=traceback.format_exc()[-1500:])
            raise
        return
    if not options.summary:
        run_all(options, results)
    summary(results.rows())


if __name__ == "__main__":
    main()
