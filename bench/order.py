# SPDX-License-Identifier: Apache-2.0
"""The order of least memory: what it saves, how far from the best it can be, and how long its search takes.

Temporaries of memory space 0, planned by policy `best` and checked, in XLA's order and in others. Programs are those of
the archives, and fresh ones compiled by the jax of each Python named in JAX_PYTHONS (by default, the one that runs
this); of all, those whose temporaries take at least 1 MB. Called by `./run bench order`; writes build/bench_order.json.

    python order.py [--only=TEXT] [--no-fresh]
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import assign

ROOT, CORPUS = assign.ROOT, assign.CORPUS
MEASURE = pathlib.Path(os.environ.get("STOWPLAN_BENCH_DIR", ROOT / "build/release/bench")) / "stowplan_bench_order"
LEAST = 1_000_000
HEURISTICS = ("post_order", "depth_first", "list")
CPU_SCHEDULERS = ("MEMORY_OPTIMIZED", "CONCURRENCY_OPTIMIZED")

# Archives of one compiler; folders of the others are named after theirs.
ARCHIVES = {"cpu": ("cpu", "jaxlib-0.10.2"), "cpu11": ("cpu", "jaxlib-0.11.2"), "explain": ("cpu", "jaxlib-0.10.2"),
            "gpu": ("gpu", "jaxlib-0.11.2"), "scale": ("gpu", "jaxlib-0.11.2"), "tpu": ("tpu-v5e", "libtpu-0.0.51")}
NAMED = ("oracle", "oracle_tpu", "frameworks")
# What the geometric mean must be at most, and what it should be, in percent.
MUSTS = {"CPU, jaxlib 0.11": (-12, -18), "CPU, jaxlib 0.10": (-20, -28), "GPU": (-2, -3.5), "TPU, overlap kept": (0, -1)}

Case = collections.namedtuple("Case", "name target release file")


def group_of(case):
    # Variants of a dozen small programs, and programs that were drawn at random.
    if case.name.startswith("explain/"):
        return "small variants"
    if case.name.startswith("oracle"):
        return "random programs"
    if case.target.startswith("tpu"):
        return "TPU, overlap kept"
    if case.target == "gpu":
        return "GPU"
    jaxlib = re.match(r"jaxlib-0\.1([01])\.", case.release)
    return f"CPU, jaxlib 0.1{jaxlib[1]}" if jaxlib else "CPU, others"


def archived():
    for archive in (*ARCHIVES, *NAMED):
        for file in sorted((CORPUS / archive).rglob("*.hlo.pb")):
            parts = file.relative_to(CORPUS).parts
            if archive in ARCHIVES:
                target, release = ARCHIVES[archive]
            else:
                target, release = re.match(r"(cpu|gpu|tpu-v\w+)-(\w+-[\d.]+)", parts[1]).groups()
            yield Case("/".join(parts[:-1]), target, release, file)


def compiled(python, folder, *options):
    """Fresh programs as cases, by name; nothing where this Python has no jax, or no compiler for the topology."""
    environment = dict(os.environ, XLA_FLAGS=f"--xla_dump_to={folder} --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"
                                 f" --xla_dump_hlo_module_re=jit_.*",
                       JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1")
    run = subprocess.run([python, ROOT / "bench/order_programs.py", *options], env=environment, capture_output=True,
                         text=True)
    if run.returncode != 0:
        print(f"  not compiled by {python} {' '.join(options)}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    target, release = run.stdout.split()
    files = pathlib.Path(folder).glob("*after_optimizations.hlo.pb")
    programs = {re.search(r"jit_(\w+)\.", f.name)[1]: f for f in files if "jit_" in f.name}
    return {name: Case(f"fresh/{release}/{name}", target, release, file) for name, file in sorted(programs.items())}


def measure(case, *options):
    command = [MEASURE, case.target, case.release, case.file, *options]
    report = pathlib.Path(str(case.file).removesuffix(".hlo.pb") + "-buffer-assignment.txt")
    if case.target.startswith("tpu") and report.exists():
        command.append(f"preset={report}")
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 3:
        return {"left out": run.stderr.splitlines()[0]}
    if run.returncode != 0:
        return {"error": run.stderr.strip()}
    return json.loads(run.stdout)


def change(new, old):
    return 100 * (new / old - 1)


def mean_change(rows, new, old="given"):
    rows = [row for row in rows if row[new] >= 0]
    if not rows:
        return 0
    # A plan without temporaries counts as one byte.
    return 100 * (math.exp(sum(math.log(max(row[new], 1) / row[old]) for row in rows) / len(rows)) - 1)


def measured(cases):
    """Rows of those that are large enough; errors are shown and count as failures. Modules without a sound plan in
    their own order, and pieces of programs, which are no valid modules, are left out."""
    rows, failures, left_out = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, row in zip(cases, pool.map(lambda c: measure(c, f"least={LEAST}"), cases)):
            if "error" in row:
                print(f"  {case.name}: {row['error']}", file=sys.stderr)
                failures += 1
            elif "left out" in row:
                left_out += 1
            elif "best" in row:
                rows.append({"name": case.name, "group": group_of(case), **row})
    print(f"  {len(cases)} modules, {len(rows)} of them large enough, {left_out} left out, {failures} failed\n")
    return rows, failures


def print_rows(rows):
    print(f"  {'program':46}{'instructions':>13}{'in XLA order':>15}{'best order':>15}{'':>8}{'load above':>12}{'search':>10}")
    print(f"  {'':46}{'':13}{'temporaries':>15}{'temporaries':>15}{'':>8}{'the bound':>12}")
    for row in rows:
        loose = change(row["best_load"], row["bound"]) if row["bound"] else 0
        print(f"  {row['name']:46}{row['instructions']:13}{row['given']:15}{row['best']:15}"
              f"{change(row['best'], row['given']):7.1f}%{loose:11.2f}%{row['search_s'] * 1e3:7.0f} ms")


def verdict(is_met):
    return "yes" if is_met else "NO"


def print_groups(rows):
    print(f"\n  {'':20}{'programs':>10}{'lower':>7}{'mean':>9}   {'must':16}{'aim':16}{'bound within 1 %':>16}   must 60 %, aim 85 %")
    for group in dict.fromkeys(row["group"] for row in rows):
        mine = [row for row in rows if row["group"] == group]
        lower = sum(row["best"] < row["given"] for row in mine)
        tight = sum(row["best_load"] - row["bound"] <= row["best_load"] / 100 for row in mine)
        mean = mean_change(mine, "best")
        must, aim = MUSTS.get(group, (0, 0))
        print(f"  {group:20}{len(mine):10}{lower:7}{mean:8.1f}%   {f'{must} % ' + verdict(mean <= must):16}"
              f"{f'{aim} % ' + verdict(mean <= aim):16}{tight:9} of {len(mine):3}   "
              f"{verdict(tight >= 0.6 * len(mine))}, {verdict(tight >= 0.85 * len(mine))}")


def is_worse(row, other):
    return 0 <= other < row["best"]


def print_heuristics(rows):
    print("\nagainst the simple orders (`--schedule=`), each planned by `best` and checked: means, of those that keep effects and overlap and have a sound plan")
    print(f"\n  {'':20}{'post-order':>18}{'depth-first':>18}{'list':>18}{'best':>9}   best is worse than one")
    for group in dict.fromkeys(row["group"] for row in rows):
        mine = [row for row in rows if row["group"] == group]
        texts = [f"{mean_change(mine, h):.1f}% ({sum(r[h] >= 0 for r in mine)})" for h in HEURISTICS]
        worse = [row["name"] for row in mine if any(is_worse(row, row[h]) for h in HEURISTICS)]
        print(f"  {group:20}" + "".join(f"{text:>18}" for text in texts) +
              f"{mean_change(mine, 'best'):8.1f}%   {', '.join(worse) or 'never'}")


def print_loops(rows):
    print("\nprograms whose peak is inside a loop\n")
    inside = [row for row in rows if row["is_peak_in_loop"]]
    for row in inside:
        print(f"  {row['name']:46}{row['given']:15}{row['best']:15}{change(row['best'], row['given']):7.1f}%"
              f"   {'its body has a new order' if row['is_loop_changed'] else 'its body is as it was'}")
    if inside:
        print(f"  {len(inside)} programs, mean {mean_change(inside, 'best'):.1f} %;"
              f" {sum(row['is_loop_changed'] for row in rows)} of all {len(rows)} have a body in a new order")


def fresh(folder):
    """Cases, and by name the cases that XLA's CPU schedulers make of the same program."""
    cases, others = [], {}
    for k, python in enumerate(os.environ.get("JAX_PYTHONS", sys.executable).split()):
        plain = compiled(python, f"{folder}/{k}")
        cases += plain.values()
        for scheduler in CPU_SCHEDULERS if plain else ():
            made = compiled(python, f"{folder}/{k}_{scheduler}", f"--scheduler=CPU_SCHEDULER_TYPE_{scheduler}")
            for name, case in made.items():
                others.setdefault(plain[name].name, {})[scheduler] = case
        cases += compiled(python, f"{folder}/{k}_tpu", "--topology=v5e:2x2").values()
    return cases, others


def print_schedulers(rows, others):
    print("\nagainst XLA's own CPU schedulers (xla_cpu_scheduler_type), recompiled, planned by `best`; best is Stowplan's for the default\n")
    print(f"  {'program':46}{'default':>15}" + "".join(f"{s.lower():>24}" for s in CPU_SCHEDULERS) + f"{'best':>15}")
    worse = 0
    for row in rows:
        if row["name"] not in others:
            continue
        texts = []
        for scheduler in CPU_SCHEDULERS:
            other = measure(others[row["name"]][scheduler], f"least={1 << 62}") if scheduler in others[row["name"]] else {}
            if "given" not in other:
                texts.append("not compiled")
            elif other["instructions"] != row["instructions"]:
                texts.append("other instructions")
            else:
                row[scheduler] = other["given"]
                worse += is_worse(row, other["given"])
                texts.append(f"{other['given']} ({change(other['given'], row['given']):+.1f}%)")
        print(f"  {row['name']:46}{row['given']:15}" + "".join(f"{t:>24}" for t in texts) +
              f"{row['best']:15} ({change(row['best'], row['given']):+.1f}%)")
    print(f"  best is worse than one: {worse or 'never'}")


def print_times(results):
    print("\ntime of search and bound, for both objectives, without packing\n")
    print(f"  {'module':34}{'scheduled':>10}{'search':>12}{'load':>9}{'bound':>9}   must (aim)")
    with tempfile.TemporaryDirectory() as temporary:
        cases = [Case(f"scale/{n}", "gpu", "jaxlib-0.11.2", CORPUS / f"scale/{n}/sm_9.0a_gpu_after_optimizations.hlo.pb")
                 for n in ("lm_unrolled_24", "lm_unrolled_96")]
        for layers in (312, 3125):
            file = pathlib.Path(temporary) / f"step_{layers}.hlo"
            assign.unrolled_step(layers, file)
            cases.append(Case(f"training step, {layers} layers", "cpu", "jaxlib-0.11.2", file))
        for case in cases:
            row = measure(case, "search")
            results.append({"time": case.name, **row})
            must, aim = (1, 0.3) if row["instructions"] <= 20_000 else (10, 3)
            print(f"  {case.name:34}{row['instructions']:10}{row['search_s']:10.2f} s{change(row['load'], row['given_load']):8.1f}%"
                  f"{change(row['bound'], row['given_load']):8.1f}%   {must} s {verdict(row['search_s'] <= must)}"
                  f" ({aim} s {verdict(row['search_s'] <= aim)})")


def print_problems(results):
    print("\nproblems on plain numbers, made up\n")
    print(f"  {'kind':34}{'nodes':>10}{'search':>12}{'peak':>9}{'bound':>9}")
    listed = subprocess.run([MEASURE, "problems"], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        row = json.loads(line)
        results.append(row)
        print(f"  {row['problem']:34}{row['nodes']:10}{row['search_s']:10.2f} s{change(row['load'], row['given_load']):8.1f}%"
              f"{change(row['bound'], row['given_load']):8.1f}%   {'sound' if row['is_sound'] else 'NOT SOUND'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--no-fresh", action="store_true")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        cases, others = ([], {}) if options.no_fresh else fresh(folder)
        cases = [case for case in (*archived(), *cases) if options.only in case.name]
        print("temporaries of memory space 0, in bytes\n")
        rows, failures = measured(cases)
        print_rows(rows)
        print_groups(rows)
        print_heuristics(rows)
        print_loops(rows)
        if others:
            print_schedulers(rows, others)
    if not options.only:
        print_times(results)
        print_problems(results)
    (ROOT / "build/bench_order.json").write_text(json.dumps(rows + results, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
