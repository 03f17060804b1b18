# SPDX-License-Identifier: Apache-2.0
"""Compiles programs of third-party libraries by the XLA of this process; runs those that it is asked to.

A process of its own, like campaign_worker.py, whose protocol it speaks. With no argument it prints the names of all
programs, a JSON list, and to standard error which libraries are not installed.
"""

import importlib
import json
import os
import pathlib
import sys
import time
import warnings

warnings.simplefilter("ignore")

import jax
import numpy as np

import all_programs
import campaign_worker

LIBRARIES = pathlib.Path(__file__).resolve().parent / "libraries"


def listed(library):
    return importlib.import_module(f"libraries.{library}").PROGRAMS


def names():
    found = []
    for path in sorted(LIBRARIES.glob("*_programs.py")):
        try:
            found += [f"{path.stem.removesuffix('_programs')}/{name}" for name in listed(path.stem)]
        except ImportError as error:
            print(f"{path.stem}: {error}", file=sys.stderr)
    return found


def values(shapes, seed):
    """Random arrays. Integers are small, so that they may be tokens, indices or counters; numbers are positive, so
    that they may be second moments."""
    draw = np.random.default_rng(seed)

    def one(shape):
        if jax.numpy.issubdtype(shape.dtype, jax.numpy.floating):
            return draw.uniform(0.05, 0.5, shape.shape).astype(shape.dtype)
        if shape.dtype == np.uint32:
            return draw.integers(0, 2**32, shape.shape, np.uint32)
        return draw.integers(0, 2 if shape.dtype == bool else 4, shape.shape).astype(shape.dtype)

    return jax.tree.map(one, shapes)


def perturbed(given, seed):
    draw = np.random.default_rng(seed)
    nudge = lambda x: (x * (1 + 3e-6 * draw.uniform(-1, 1, x.shape))).astype(x.dtype) if x.dtype == np.float32 else x
    return jax.tree.map(nudge, given)


def op_by_op(function, given):
    """Each operation is compiled alone, so no plan of the whole program is used."""
    with jax.disable_jit():
        return [np.asarray(x) for x in jax.tree.leaves(function(*jax.tree.map(jax.numpy.asarray, given)))]


def run_and_compare(program, compiled, times):
    """The largest share of wrong elements of a result, as in the campaign."""
    for time_ in range(times):
        given = values(program.args, time_)
        got = [np.asarray(x) for x in jax.tree.leaves(compiled(*jax.tree.map(jax.numpy.array, given)))]
        want = op_by_op(program.function, given)
        near = [op_by_op(program.function, perturbed(given, k)) for k in range(2)]
        shares = []
        for k, (w, g) in enumerate(zip(want, got, strict=True)):
            off, firm = campaign_worker.off_and_firm(w, g, [n[k] for n in near], 5e-3)
            shares.append(float((off & firm).mean()) if w.size else 0.0)
        if max(shares, default=0) > 0:
            return {"run": "wrong", "shares": shares}
    return {"run": "right"}


def do(job, devices, can_run):
    record = {"key": job["key"], "name": job["name"], "features": []}
    library, name = job["key"].split("/")
    begin = time.monotonic()
    try:
        program = listed(library + "_programs")[name]()
        compiled = all_programs.lower(program.function, job["name"], program.args, program.donate, devices).compile()
    except Exception as error:
        return {**record, "run": "no compile", "why": f"{type(error).__name__}: {error}"[:300]}
    record["seconds"] = round(time.monotonic() - begin, 1)
    if not can_run or not job.get("times"):
        return {**record, "run": "not run"}
    try:
        return {**record, **run_and_compare(program, compiled, job["times"])}
    except Exception as error:
        return {**record, "run": "failed", "why": f"{type(error).__name__}: {error}"[:300]}


def main():
    out = open(sys.argv[1], "a", buffering=1)
    task = json.load(sys.stdin)
    runner = campaign_worker.Runner(task["platform"])
    jax.config.update("jax_default_matmul_precision", None)
    print(json.dumps({"version": runner.version()}), file=out)
    for job in task["jobs"]:
        print(json.dumps({"begin": job["key"]}), file=out)
        print(json.dumps(do(job, None if runner.can_run else runner.devices, runner.can_run)), file=out)
        jax.clear_caches()
    out.flush()
    os._exit(0)  # no waiting for the threads of XLA


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main()
    else:
        print(json.dumps(names()))
