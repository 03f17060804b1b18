# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/explain.tar.xz from the programs in explain/: compiles them with JAX, keeps XLA's dumps and the answers.

usage: make_explain_corpus.py OUT [FOLDER/NAME...]      OUT/explain is filled; without names also OUT/explain.tar.xz

Needs jax 0.10.2 on a CPU. Nothing is run, only compiled. Each compile has a process of its own: the dump folder is a
flag of XLA, and the numbers inside a dump then do not depend on what was compiled before. corpus/README.md says what
the files mean.
"""

import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

VERSION = "0.10.2"
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "explain"
KEEP = re.compile(r"cpu_after_optimizations(\.txt|\.hlo\.pb|-buffer-assignment\.txt|-live-range\.txt"
                  r"|-memory-usage-report\.txt)$")
MARK = re.compile(r"# @([\w.]+)")


def load(path):
    spec = importlib.util.spec_from_file_location("source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# In a process of its own: compiles and prints what JAX knows.
def compile_program(path, name, is_donated):
    import jax
    from jax._src import source_info_util

    source_info_util.register_exclusion(__file__)  # the stacks begin in the program
    source = load(path)
    program = source.PROGRAMS[name] if name else dict(
        step=source.step, arguments=source.ARGUMENTS, donate=getattr(source, "DONATE", ()))
    donate = program["donate"] if is_donated else ()
    compiled = jax.jit(program["step"], donate_argnums=donate).lower(*program["arguments"]).compile()
    memory = compiled.memory_analysis()
    parameters = []
    names = program["step"].__code__.co_varnames
    for number, argument in enumerate(program["arguments"]):
        for keys, leaf in jax.tree_util.tree_flatten_with_path(argument)[0]:
            parameters.append({
                "number": len(parameters), "path": names[number] + jax.tree_util.keystr(keys), "argnum": number,
                "dtype": str(leaf.dtype), "shape": list(leaf.shape), "bytes": leaf.size * leaf.dtype.itemsize,
            })
    json.dump({
        "donate_argnums": list(program["donate"]),
        "parameters": parameters,
        "memory": {field: getattr(memory, f"{field}_size_in_bytes")
                   for field in ("temp", "argument", "output", "alias")},
    }, sys.stdout)


def dump(source, name, is_donated, folder):
    """Compiles `source` and leaves the dumps in `folder`, with the source. Returns what JAX knows."""
    folder.mkdir(parents=True)
    (folder / "source.py").write_text(source)
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(
            os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1",
            JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX=".*/",
            XLA_FLAGS=f"--xla_dump_to={scratch} --xla_dump_hlo_as_proto --xla_dump_hlo_as_text"
                      f" --xla_dump_hlo_module_re=jit_.*")
        answer = subprocess.run(
            [sys.executable, __file__, "--compile", folder / "source.py", name, str(int(is_donated))],
            env=environment, capture_output=True, text=True)
        if answer.returncode:
            raise RuntimeError(f"{folder}: {answer.stderr[-1500:]}")
        for file in sorted(pathlib.Path(scratch).iterdir()):
            found = KEEP.search(file.name)
            if found:
                target = folder / found.group()
                if target.exists():
                    raise RuntimeError(f"{folder}: compiled more than one module")
                shutil.copyfile(file, target)
    return json.loads(answer.stdout)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def marks(source):
    """The lines with a mark `# @name`."""
    lines = {}
    for number, text in enumerate(source.splitlines(), 1):
        for found in MARK.finditer(text):
            lines[found.group(1)] = number
    return lines


def program_and(path, name):
    """The program, and what stands at its end: the answer is no part of what is compiled and kept."""
    source, answer = path.read_text().split(f"\n{name} = ")
    return source + "\n", eval(answer)


def make_lines(path, out):
    source, answer = program_and(path, "ANSWER")
    dump(source, "", True, out)
    at = marks(source)
    sizes = [answer["lines"], answer.get("copies", {}), answer.get("loop_states", {}), answer["parameters"]]
    write_json(out / "expected.json", {
        "lines": [{"file": "source.py", "line": at[mark], "bytes": size} for mark, size in answer["lines"].items()],
        "unsourced": [{"what": what, "file": "source.py", "line": at[mark], "bytes": size}
                      for what, part in (("copy", "copies"), ("loop-state", "loop_states"))
                      for mark, size in answer.get(part, {}).items()],
        "parameters": [{"path": name, "bytes": size} for name, size in answer["parameters"].items()],
        "stacks": [{"lines": [at[mark] for mark in stack["lines"]], "bytes": stack["bytes"]}
                   for stack in answer.get("stacks", ())],
        "known_bytes": sum(sum(part.values()) for part in sizes),
        "rest_at_most": answer["rest_at_most"],
        "why": answer["why"],
    })


ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{[\d, ]*\}, (may|must)-alias\)")


def make_donate(path, name, out):
    source = path.read_text()
    before = dump(source, name, False, out / "before")
    after = dump(source, name, True, out / "after")
    header = (out / "after/cpu_after_optimizations.txt").read_text().splitlines()[0]
    write_json(out / "meta.json", {
        "function": name,
        "why": load(path).PROGRAMS[name]["why"],
        "donate_argnums": after["donate_argnums"],
        "parameters": after["parameters"],
        "aliases": [{"output": [int(k) for k in output.split(",") if k], "parameter": int(parameter)}
                    for output, parameter, _ in ALIAS.findall(header)],
        "before": before["memory"],
        "after": after["memory"],
    })


def version_of(source, which):
    """Lines that end in `#before` or `#after` are of one version only."""
    other = {"before": "#after", "after": "#before"}[which]
    lines = [line for line in source.splitlines() if not line.rstrip().endswith(other)]
    return "\n".join(re.sub(rf"\s*#{which}$", "", line) for line in lines) + "\n"


def make_edit(path, out):
    source, cause = program_and(path, "CAUSE")
    memory = {}
    for which in ("before", "after"):
        text = version_of(source, which)
        memory[which] = dump(text, "", True, out / which)["memory"]
    places = []
    for mark in cause.get("values", ()):
        lines = {which: marks((out / which / "source.py").read_text()).get(mark) for which in ("before", "after")}
        places.append({"file": "source.py", "before_line": lines["before"], "after_line": lines["after"]})
    write_json(out / "cause.json", {
        "edit": cause["edit"],
        "cause": cause["cause"],
        "also": cause.get("also", []),
        "places": places,
        "parameters": cause.get("parameters", []),
        "delta_bytes": cause.get("delta"),
        "why": cause["why"],
        "before": memory["before"],
        "after": memory["after"],
    })


def make_story(path, out):
    memory = dump(path.read_text(), "", True, out)["memory"]
    write_json(out / "meta.json", {"memory": memory})


def jobs():
    for path in sorted(PROGRAMS.glob("lines/*.py")):
        yield f"lines/{path.stem}", make_lines, (path,)
    for path in sorted(PROGRAMS.glob("donate/*.py")):
        for name in load(path).PROGRAMS:
            yield f"donate/{name}", make_donate, (path, name)
    for path in sorted(PROGRAMS.glob("edits/*.py")):
        yield f"edits/{path.stem}", make_edit, (path,)
    for path in sorted(PROGRAMS.glob("story/*.py")):
        yield f"story/{path.stem}", make_story, (path,)


def pack(folder, archive):
    """The same bytes for the same files: sorted, without dates and owners."""
    def plain(entry):
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry
    # Files of one kind lie together, which is what makes them small.
    files = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: (path.name, path))
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in files:
            tar.add(path, str(path.relative_to(folder.parent)), filter=plain)


def main():
    out = pathlib.Path(sys.argv[1])
    import jaxlib

    if jaxlib.__version__ != VERSION:
        sys.exit(f"wants jaxlib {VERSION}, found {jaxlib.__version__}")
    wanted = [name for name in sys.argv[2:]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = []
        for name, make, arguments in jobs():
            if not wanted or any(name.startswith(prefix) for prefix in wanted):
                folder = out / "explain" / name
                shutil.rmtree(folder, ignore_errors=True)
                running.append(pool.submit(make, *arguments, folder))
        failures = [str(job.exception()) for job in running if job.exception()]
    if failures:
        sys.exit("\n".join(failures))
    if not wanted:
        pack(out / "explain", out / "explain.tar.xz")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        compile_program(sys.argv[2], sys.argv[3], sys.argv[4] == "1")
    else:
        main()
