# SPDX-License-Identifier: Apache-2.0
"""Compiles programs by JAX and compares what `stowplan.analyze` says of each Compiled with what XLA dumps of the same
compile and with memory_analysis(). Prints a JSON object with counts and all that differs.

usage: jax_equal.py SET [SET...] [--only NAME,NAME] [--platform cuda] [--topology v5e:2x2] [--keep FOLDER] [--flags FLAGS]
Sets: see all_programs.py; `random:1:50` are fifty from seed 1 on. With a topology, programs are compiled ahead of time
for TPUs, by libtpu; of the places in fast memory, which the executable does not tell, only the values are compared. On a
GPU, programs of several devices are compiled for as many as there are not; they cannot be run. What XLA dumps goes to
FOLDER, a folder a program; FLAGS are XLA's.

Needs jax and the package stowplan. A process of its own: the dump folder is a flag of XLA.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import warnings

ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(?:, page \d+)?(.*):$")
VALUE = re.compile(r" value: <\d+ ([^ ]+?)(?:\{([\d,]*)\})?(?: \(phi\))? @\d+> \(size=(\d+),offset=(\d+)\)")
# Not of the plan.
CODE = ("generated_code_size_in_bytes", "host_generated_code_size_in_bytes")


def name_of(instruction, index):
    return instruction + (f"{{{index}}}" if index else "")


def plan_of_dump(text):
    """A row an allocation: number, size, memory space, parameter, its flags, its values with sizes and offsets."""
    rows = []
    for line in text.splitlines():
        if found := ALLOCATION.match(line):
            color = re.search(r"\bcolor (\d+)", found[3])
            parameter = re.search(r"\bparameter (\d+)", found[3])
            rows.append([int(found[1]), int(found[2]), int(color[1]) if color else 0,
                         int(parameter[1]) if parameter else None, "constant" in found[3], "thread-local" in found[3],
                         "maybe-live-out" in found[3], []])
        elif found := VALUE.match(line):
            rows[-1][-1].append((name_of(found[1], found[2]), int(found[3]), int(found[4])))
        elif line.startswith("Total bytes"):
            break
    return rows


def plan_of_analysis(analysis):
    rows = []
    for a in analysis.allocations:
        values = [analysis.values[row] for row in a.values]
        rows.append([a.number, a.size, a.space, a.parameter, a.is_constant, a.is_thread_local, a.is_maybe_live_out,
                     [(v.name.removesuffix("{}"), v.size, v.offset) for v in values]])
    return rows


def without_numbers(rows):
    return collections.Counter(str([*row[1:-1], sorted(row[-1])]) for row in rows)


def compare(ours, theirs):
    """"equal", "numbered" (the same allocations under other numbers) or "different"."""
    for row in (*ours, *theirs):
        row[-1].sort()
    if ours == theirs:
        return "equal"
    return "numbered" if without_numbers(ours) == without_numbers(theirs) else "different"


def without_places(rows, space):
    """The temporaries of a memory space without the size of their block and their offsets in it."""
    for row in rows:
        if row[2] == space and row[3] is None and not any(row[4:7]):
            row[1] = 0
            row[-1] = [(name, size, 0) for name, size, _ in row[-1]]
    return rows


class Dumps:
    """XLA's -buffer-assignment.txt files in the order of compiling."""

    def __init__(self, folder, keep):
        self.folder = pathlib.Path(folder)
        self.keep = keep

    def take(self, name):
        """The report of the module, which is then deleted with all else that was dumped so far."""
        found = sorted(self.folder.glob(f"module_*.{name}.*-buffer-assignment.txt"))
        text = found[-1].read_text() if found else None
        if found and self.keep:
            self.put_away(name, found[-1].name.removesuffix("-buffer-assignment.txt"))
        for path in self.folder.rglob("*"):
            if path.is_file():
                path.unlink()
        return text

    def put_away(self, name, start):
        """Files of the module, without their prefix."""
        target = pathlib.Path(self.keep) / name.removeprefix("jit_")
        target.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob(start + "*"):
            shutil.copy(path, target / path.name.split(f".{name}.", 1)[1])


def look_at(compiled, dumps, counts, different):
    """Why there is nothing to compare, or None."""
    import stowplan

    try:
        own = stowplan.analyze(compiled, own_plan=True)
    except stowplan.Error as error:  # this JAX does not give the module
        return str(error)
    is_tpu = own.backend == "TPU"
    plans = {"own": own} if is_tpu else {"own": own, "xla": stowplan.analyze(compiled)}
    name = own.name
    text = dumps.take(name)
    if text is None:
        different.append(f"{name}: no dump")
        return None
    counts["programs"] += 1
    for whose, analysis in plans.items():
        ours, theirs = plan_of_analysis(analysis), plan_of_dump(text)
        if is_tpu:
            counts["equal_with_fast_memory"] += compare(ours, theirs) == "equal"
            fast = 3 if own.target == "tpu-v4" else 1
            ours, theirs = without_places(ours, fast), without_places(theirs, fast)
        verdict = compare(ours, theirs)
        counts[f"{whose}_{verdict}"] += 1
        if verdict != "equal":
            different.append(f"{name}: {whose} plan {verdict}")
    counts["allocations"] += len(own.allocations)
    stats = compiled.memory_analysis()
    figures = {figure.name: figure for figure in own.reconcile()}
    for field in dir(stats):
        said = getattr(stats, field)
        if field[0] == "_" or type(said) is not int or field in CODE:
            continue
        computed = figures[field].computed if field in figures else None
        counts["fields"] += 1
        if computed == said:
            counts["fields_equal"] += 1
        else:
            different.append(f"{name}: {field} is {said}, from the plan {computed}")
    return None


def main():
    args = sys.argv[1:]
    options = {}
    for name in ("--only", "--platform", "--topology", "--keep", "--flags"):
        if name in args:
            at = args.index(name)
            options[name] = args[at + 1]
            del args[at : at + 2]
    only = set(options["--only"].split(",")) if "--only" in options else None
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            JAX_PLATFORMS=options.get("--platform", "cpu"), TF_CPP_MIN_LOG_LEVEL="3", TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
            XLA_FLAGS=f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"
                      f" --xla_force_host_platform_device_count=8 --xla_gpu_autotune_level=0 {options.get('--flags', '')}")
        warnings.simplefilter("ignore")
        import jax

        import all_programs

        if options.get("--platform") == "cuda":
            jax.config.update("jax_mock_gpu_topology", "1x8x1")
        devices = None
        if "--topology" in options:
            from jax.experimental import topologies

            devices = list(topologies.get_topology_desc(platform="tpu", topology_name=options["--topology"]).devices)
        counts, different, failed = collections.Counter(), [], []
        start = time.time()
        for what in args:
            for name, lower in all_programs.programs_of(what, devices):
                if only is not None and name not in only:
                    continue
                try:
                    compiled = lower().compile()
                except Exception as error:  # this JAX does not take the program
                    failed.append(f"{name}: {type(error).__name__}: {error}"[:200])
                    continue
                if why := look_at(compiled, Dumps(folder, options.get("--keep")), counts, different):
                    failed.append(f"{name}: {why}"[:200])
                jax.clear_caches()
        json.dump({"jax": jax.__version__, "sets": args, **options, **counts, "different": different, "failed": failed,
                   "seconds": round(time.time() - start, 1)}, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()
