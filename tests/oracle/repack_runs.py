# SPDX-License-Identifier: Apache-2.0
"""Repacks programs, loads them, and compares their results bit by bit with the originals'.

    python tests/oracle/repack_runs.py OUT.jsonl --sets=constructs,work,more,libraries
    python tests/oracle/repack_runs.py OUT.jsonl --sets=libraries --only='^flax' --max-cost=0.2

Sets are those of all_programs.py; `libraries` are the programs of third_party.py. The package must be on the path.
OUT.jsonl gets a line a program; a second run goes on where the first ended. At the end: how many are refused and why,
how many are lower, and the geometric mean of what is left of temporaries where they are at least 1 MB. The exit code is
1 if a result differs.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import sys
import time
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
warnings.simplefilter("ignore")

import jax
import stowplan

import all_programs

LARGE = 1_000_000


def library_programs():
    import third_party_worker

    for name in third_party_worker.names():
        library, program = name.split("/", 1)

        def lowered(library=library, program=program):
            made = third_party_worker.listed(f"{library}_programs")[program]()
            return jax.jit(made.function, donate_argnums=made.donate).lower(*made.args)

        yield name, lowered


def listed(sets):
    for each in sets.split(","):
        programs = library_programs() if each == "libraries" else all_programs.programs_of(each)
        for name, lowered in programs:
            yield f"{each}/{name}", lowered


def measured(lowered, max_cost):
    begin = time.perf_counter()
    compiled = lowered().compile()
    compile_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    better = stowplan.repack(compiled, max_cost=max_cost, verify=True)
    report = better.report
    row = {
        "before": report.temporaries_before,
        "after": report.temporaries_after,
        "copies": report.copied_thunks,
        "is_rewritten": report.is_rewritten,
        "refusals": list(report.refusals),
        "compile_s": round(compile_seconds, 2),
        "repack_s": round(time.perf_counter() - begin, 2),
    }
    if report.is_rewritten and better.memory_analysis().temp_size_in_bytes != report.temporaries_after:
        row["refusals"].append("the loaded program has other temporaries")
        row["is_wrong"] = True
    if any("results differ" in refusal for refusal in report.refusals):
        row["is_wrong"] = True
    return row


def kind_of(refusal):
    """The same words for the same reason."""
    return re.sub(r"`[^`]*`", "`...`", re.sub(r"\d+", "N", refusal))[:110]


def is_refused(row):
    """Not rewritten at all, for another reason than that an order did not help."""
    reasons = [r for r in row["refusals"] if not r.startswith(("another order", "computing values"))]
    return not row["is_rewritten"] and bool(reasons)


def summary(rows):
    fine = [row for row in rows if "error" not in row]
    refused = [row for row in fine if is_refused(row)]
    large = [row for row in fine if row["before"] >= LARGE]
    lines = [
        f"jax {jax.__version__}: {len(fine)} programs, {len(refused)} refused, "
        f"{sum(row['is_rewritten'] for row in fine)} lower, all equal: "
        f"{not any(row.get('is_wrong') for row in fine)}; {len(rows) - len(fine)} could not be compiled here"
    ]
    if large:
        mean = statistics.geometric_mean(row["after"] / row["before"] for row in large)
        lines.append(f"{len(large)} with at least 1 MB of temporaries: geometric mean {mean:.4f}")
    reasons = collections.Counter(kind_of(r) for row in refused for r in row["refusals"][:1])
    lines += [f"  {count} refused: {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sets", default="constructs,work,more,libraries")
    parser.add_argument("--only", default="")
    parser.add_argument("--max-cost", type=float, default=None)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    done = {row["name"] for row in rows}
    with options.out.open("a") as out:
        for name, lowered in listed(options.sets):
            if name in done or not re.search(options.only, name):
                continue
            try:
                row = {"name": name, **measured(lowered, options.max_cost)}
            except Exception as error:  # noqa: BLE001, a program that this release or machine cannot compile
                row = {"name": name, "error": str(error)[:300]}
            rows.append(row)
            print(json.dumps(row), file=out, flush=True)
    print(summary(rows))
    return 1 if any(row.get("is_wrong") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
