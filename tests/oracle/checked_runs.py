# SPDX-License-Identifier: Apache-2.0
"""What campaign.py and third_party.py share: programs are compiled in child processes, in batches; `stowplan` looks at
what the children dumped; each program gets a line in a file, so that a second run goes on where the first ended.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 240  # for one program
ENDING = "after_optimizations.hlo.pb"
REPORT = "-buffer-assignment.txt"
USES = "\nUsed values:\n"
# What goes on beside the instructions that follow, copies between memories apart.
STARTED = re.compile(r" ((?!copy)[a-z-]+-start)\(")

# Without these, collective-permute is the only collective that libtpu makes asynchronous.
ASYNCHRONOUS = ("--xla_enable_async_all_gather=true --xla_enable_async_all_reduce=true "
                "--xla_tpu_enable_async_all_to_all=true --xla_tpu_enable_async_collective_fusion=false")


def environment(platform, dumps):
    flags = [f"--xla_dump_to={dumps}", "--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto",
             "--xla_dump_hlo_module_re=.*prog_.*", "--xla_force_host_platform_device_count=4"]
    if platform.startswith("cuda"):
        flags.append("--xla_gpu_autotune_level=0")
    own = {"XLA_FLAGS": " ".join(flags + [os.environ.get("XLA_FLAGS", "")]), "TF_CPP_MIN_LOG_LEVEL": "3",
           "JAX_PLATFORMS": "cuda,cpu" if platform.startswith("cuda") else "cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
           "TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "PYTHONDONTWRITEBYTECODE": "1",
           "LIBTPU_INIT_ARGS": os.environ.get("LIBTPU_INIT_ARGS", ASYNCHRONOUS), "OMP_NUM_THREADS": "1",
           "OPENBLAS_NUM_THREADS": "1", "JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX": ".*/"}
    return {**os.environ, **own}


class Worker:
    """Compiles and runs jobs in child processes; one that dies or hangs costs only the program it was at."""

    def __init__(self, platform, folder, script):
        self.platform = platform
        self.folder = pathlib.Path(folder)
        self.script = HERE / script
        self.version = None

    def run(self, jobs):
        """A record a job."""
        records = []
        left = list(jobs)
        while left:
            log = self.folder / "log.jsonl"
            log.unlink(missing_ok=True)
            end = self.child(left, log)
            begun, done = None, {}
            for line in log.read_text().splitlines() if log.exists() else []:
                row = json.loads(line)
                begun = row.get("begin", begun)
                self.version = row.get("version", self.version)
                if "key" in row:
                    done[row["key"]] = row
            records += done.values()
            left = [j for j in left if j["key"] not in done]
            if left and begun is not None and begun not in done:
                lost = next(j for j in left if j["key"] == begun)
                records.append({"key": lost["key"], "name": lost["name"], "features": [], "run": "crash", "why": end[-600:]})
                left.remove(lost)
            elif left and not done:
                records += [{"key": j["key"], "name": "", "features": [], "run": "no worker", "why": end[-600:]} for j in left]
                break
        return records

    def child(self, jobs, log):
        """What it said at its end."""
        errors = self.folder / "stderr"
        with errors.open("wb") as stderr:
            process = subprocess.Popen([sys.executable, str(self.script), str(log)], stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True,
                                       env=environment(self.platform, self.folder / "dumps"))
            try:
                process.stdin.write(json.dumps({"platform": self.platform, "jobs": jobs}).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass
            size, waited = -1, 0
            while True:
                try:
                    process.wait(timeout=5)
                    break
                except subprocess.TimeoutExpired:
                    now = log.stat().st_size if log.exists() else 0
                    waited = 0 if now != size else waited + 5
                    size = now
                    if waited >= PATIENCE_S:
                        os.killpg(process.pid, signal.SIGKILL)
                        process.wait()
                        return "no answer in time"
        return f"exit code {process.returncode}: " + errors.read_text(errors="replace")


class Checker:
    def __init__(self, binary, version, target):
        self.binary = binary
        self.options = [f"--xla-version={version}"] if version else []
        self.options += [f"--target={target}"] if target else []

    def verdicts(self, dumps):
        """By the name of the module's files."""
        done = subprocess.run([self.binary, "check", "--format=json", "--limit=3", str(dumps)], capture_output=True, text=True)
        try:
            modules = json.loads(done.stdout)["modules"]
        except (json.JSONDecodeError, KeyError):
            return {}
        return {m["module"]: m for m in modules}

    def assigned(self, module, out):
        """Whether the plan that Stowplan makes is XLA's, byte for byte; where not, why."""
        done = subprocess.run([self.binary, "assign", *self.options, "-o", str(out), str(module)], capture_output=True, text=True)
        name = module.name.removesuffix(".hlo.pb") + REPORT
        theirs = module.with_name(name)
        ours = pathlib.Path(out) / name
        if done.returncode < 0:
            return f"crash: {-done.returncode}"
        if not ours.exists():
            return ("refused: " + done.stderr.strip())[:300]
        ours, theirs = ours.read_text(), theirs.read_text()
        if ours == theirs:
            return "equal"
        # Older releases list the uses of a value in an order that no file tells.
        return "equal but for uses" if ours.split(USES)[0] == theirs.split(USES)[0] else "differs"


def look_at(record, dumps, verdicts, checker, keep):
    """Adds what Stowplan says; keeps the files of what is remarkable."""
    found = sorted(dumps.glob(f"module_*{record['name']}.*{ENDING}")) if record["name"] else []
    record["verdict"] = record["assign"] = None
    if found:
        module = found[-1]
        short = module.name.split(f"{record['name']}.")[0] + record["name"]
        said = verdicts.get(short)
        record["verdict"] = said["verdict"] if said else "no verdict"
        if said and said["findings"]:
            record["findings"] = [{"code": f["code"], "message": f["message"][:300]} for f in said["findings"]]
        if said and said.get("reason"):
            record["reason"] = said["reason"][:300]
        text = module.with_name(module.name.removesuffix(".hlo.pb") + ".txt").read_text()
        record["started"] = sorted(set(STARTED.findall(text)))
        with tempfile.TemporaryDirectory() as out:
            record["assign"] = checker.assigned(module, out)
    dull = (record["verdict"] == "sound" and "findings" not in record and str(record["assign"]).startswith("equal")
            and record["run"] in ("right", "not run"))
    if keep and not dull and record["run"] != "no compile" and record["name"]:
        target = pathlib.Path(keep) / record["name"]
        target.mkdir(parents=True, exist_ok=True)
        for path in dumps.glob(f"module_*{record['name']}.*"):
            if "_optimizations" in path.name:
                shutil.copy(path, target / path.name)


def target_of(platform):
    return {"cuda": "gpu"}.get(platform, platform)


class Run:
    """Of all the jobs wanted. Who derives from it says which jobs those are, and what is done about an alarm."""

    script = None

    def __init__(self, options, wanted):
        self.options = options
        self.keep = pathlib.Path(options.keep)
        self.keep.mkdir(parents=True, exist_ok=True)
        self.results = self.keep / "results.jsonl"
        self.lock = threading.Lock()
        self.records = {}
        if self.results.exists():
            rows = [json.loads(line) for line in self.results.read_text().splitlines()]
            self.records = {row["key"]: row for row in rows}
        self.wanted = wanted
        self.left = [j for j in wanted if j["key"] not in self.records]

    def platform_of(self, jobs):
        return self.options.platform

    def alike(self, job, other):
        """Whether one child can do both."""
        return True

    def confirm(self, records, jobs, folder):
        """Runs what was called unsound, to learn more."""
        raise NotImplementedError

    def remarks(self, rows):
        """Lines of the summary, by program."""
        raise NotImplementedError

    def take(self):
        with self.lock:
            batch = [j for j in self.left if self.alike(j, self.left[0])][: self.options.batch]
            taken = {j["key"] for j in batch}
            self.left = [j for j in self.left if j["key"] not in taken]
            return batch

    def work(self):
        while batch := self.take():
            with tempfile.TemporaryDirectory(dir=self.options.scratch) as folder:
                records = self.batch(batch, pathlib.Path(folder))
            with self.lock, self.results.open("a") as out:
                for record in records:
                    self.records[record["key"]] = record
                    out.write(json.dumps(record) + "\n")
                print(f"{len(self.records)} done, {len(self.left)} left", file=sys.stderr, flush=True)

    def batch(self, jobs, folder):
        dumps = folder / "dumps"
        dumps.mkdir()
        worker = Worker(self.platform_of(jobs), folder, self.script)
        records = worker.run(jobs)
        checker = Checker(self.options.stowplan, self.options.xla_version or worker.version,
                          target_of(self.options.platform))
        verdicts = checker.verdicts(dumps)
        for record in records:
            record["version"] = worker.version
            look_at(record, dumps, verdicts, checker, self.keep)
        self.confirm([r for r in records if r["verdict"] == "unsound"], jobs, folder)
        return records

    def summary(self):
        rows = [self.records[j["key"]] for j in self.wanted if j["key"] in self.records]
        versions = ", ".join(sorted({str(r.get("version")) for r in rows}))
        lines = [f"{len(rows)} programs, {self.options.platform}, {versions}"]
        pairs = collections.Counter((str(r["verdict"]), r["run"]) for r in rows)
        lines += [f"  {count:6} {verdict:10} {run}" for (verdict, run), count in sorted(pairs.items())]
        plans = collections.Counter(str(r["assign"]).split(":")[0] for r in rows)
        lines.append("  plans: " + ", ".join(f"{count} {what}" for what, count in sorted(plans.items())))
        started = collections.Counter(name for r in rows for name in r.get("started", []))
        if started:
            lines.append("  programs with " + ", ".join(f"{name}: {count}" for name, count in sorted(started.items())))
        return "\n".join(lines + self.remarks(rows))

    def finish(self):
        """Does all that is left, and prints the summary."""
        threads = [threading.Thread(target=self.work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        text = self.summary()
        (self.keep / "summary.txt").write_text(text + "\n")
        print(text)


def finding(record):
    """The first, in short."""
    return record.get("findings", [{}])[0].get("code", record.get("reason", ""))


def absolute(path):
    return str(pathlib.Path(path).resolve())


def arguments(description, batch):
    """A parser with the options that all runs have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="cpu", choices=["cpu", "cuda", "tpu-v5e", "tpu-v6e"])
    parser.add_argument("--stowplan", default=str(HERE.parents[1] / "build" / "stowplan"), type=absolute)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--keep", required=True)
    parser.add_argument("--scratch", help="folder for dumps under way; memory is best")
    parser.add_argument("--xla-version", help="for stowplan assign; by default that of this jaxlib or libtpu")
    return parser
