# SPDX-License-Identifier: Apache-2.0
"""Looks for XLA plans that are unsound, and for sound ones that Stowplan calls unsound.

    python tests/oracle/campaign.py --stowplan build/stowplan --count 500 --keep OUT
    python tests/oracle/campaign.py --platform cuda --stowplan build/stowplan --count 500 --jobs 8 --keep OUT
    python tests/oracle/campaign.py --stowplan build/stowplan --keep OUT --minimise 17

Programs made at random from seeds are compiled by the jaxlib of this Python. The plan of each is checked, and compared
with the one that `stowplan assign` makes. Each is run, where there is a device, and its results are compared with those
of NumPy, step by step. So every program has two answers: what the checker says, and what the machine did.

    checker   machine   what it is
    unsound   wrong     an error of XLA
    unsound   right     a false alarm, or an error of XLA that the inputs did not show: run again, larger, many times
    sound     wrong     an error of the checker, or of XLA's code generation

OUT/results.jsonl gets a line a program; a second run goes on where the first ended. The dumps of all that is not sound,
equal and right are kept beside it. Platforms: cpu, cuda, tpu-v5e, tpu-v6e; the latter compile ahead of time by libtpu.
"""

import argparse
import collections
import json
import os
import pathlib
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


def job_of(seed, platform):
    """Most programs are of one device. Some on the CPU are larger, so that its kernels are run by several threads."""
    level, devices = {6: ("hlo", 1), 7: ("hlo", 1), 8: ("jax", 4), 9: ("hlo", 4)}.get(seed % 10, ("jax", 1))
    return {"key": str(seed), "seed": seed, "level": level, "devices": devices, "large": platform != "cpu" or seed % 16 == 0}


def environment(platform, dumps):
    flags = [f"--xla_dump_to={dumps}", "--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto",
             "--xla_dump_hlo_module_re=.*prog_.*", "--xla_force_host_platform_device_count=4"]
    if platform.startswith("cuda"):
        flags.append("--xla_gpu_autotune_level=0")
    own = {"XLA_FLAGS": " ".join(flags + [os.environ.get("XLA_FLAGS", "")]), "TF_CPP_MIN_LOG_LEVEL": "3",
           "JAX_PLATFORMS": "cuda,cpu" if platform.startswith("cuda") else "cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
           "TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "PYTHONDONTWRITEBYTECODE": "1",
           "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
           "JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX": ".*/"}
    return {**os.environ, **own}


class Worker:
    """Compiles and runs jobs in child processes; one that dies or hangs costs only the program it was at."""

    def __init__(self, platform, folder):
        self.platform = platform
        self.folder = pathlib.Path(folder)
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
                records.append({"key": lost["key"], "name": f"prog_{lost['seed']}_{lost['level']}{lost['devices']}", "features": [],
                                "run": "crash", "why": end[-600:]})
                left.remove(lost)
            elif left and not done:
                records += [{"key": j["key"], "name": "", "features": [], "run": "no worker", "why": end[-600:]} for j in left]
                break
        return records

    def child(self, jobs, log):
        """What it said at its end."""
        errors = self.folder / "stderr"
        with errors.open("wb") as stderr:
            process = subprocess.Popen([sys.executable, str(HERE / "campaign_worker.py"), str(log)], stdin=subprocess.PIPE,
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


class Campaign:
    def __init__(self, options):
        self.options = options
        self.keep = pathlib.Path(options.keep)
        self.keep.mkdir(parents=True, exist_ok=True)
        self.results = self.keep / "results.jsonl"
        self.lock = threading.Lock()
        self.records = {}
        if self.results.exists():
            for line in self.results.read_text().splitlines():
                row = json.loads(line)
                self.records[row["key"]] = row
        self.left = [job_of(s, options.platform) for s in range(options.seed, options.seed + options.count)]
        self.left = [j for j in self.left if j["key"] not in self.records]

    def take(self):
        with self.lock:
            several = bool(self.left) and self.left[0]["devices"] > 1
            batch = [j for j in self.left if (j["devices"] > 1) == several][: self.options.batch]
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
        platform = self.options.platform
        dumps = folder / "dumps"
        dumps.mkdir()
        worker = Worker("cuda-mock" if platform == "cuda" and jobs[0]["devices"] > 1 else platform, folder)
        records = worker.run(jobs)
        checker = Checker(self.options.stowplan, self.options.xla_version or worker.version, target_of(platform))
        verdicts = checker.verdicts(dumps)
        for record in records:
            record["version"] = worker.version
            look_at(record, dumps, verdicts, checker, self.keep)
        self.confirm([r for r in records if r["verdict"] == "unsound" and r["run"] == "right"], jobs, folder)
        return records

    def confirm(self, records, jobs, folder):
        """Runs alarmed programs again, larger and more often: a race may not show the first time."""
        again = []
        for job in jobs:
            if job["key"] in {r["key"] for r in records}:
                again += [{**job, "key": f"{job['key']}x{factor}", "factor": factor, "times": 8} for factor in (1, 3)]
        if not again:
            return
        answers = {r["key"]: r["run"] for r in Worker(self.options.platform, folder).run(again)}
        for record in records:
            record["again"] = [answers.get(f"{record['key']}x{factor}") for factor in (1, 3)]

    def summary(self):
        wanted = {str(s) for s in range(self.options.seed, self.options.seed + self.options.count)}
        rows = [r for k, r in self.records.items() if k in wanted]
        lines = [f"{len(rows)} programs, {self.options.platform}, {', '.join(sorted({str(r.get('version')) for r in rows}))}"]
        pairs = collections.Counter((str(r["verdict"]), r["run"]) for r in rows)
        lines += [f"  {count:6} {verdict:10} {run}" for (verdict, run), count in sorted(pairs.items())]
        plans = collections.Counter(str(r["assign"]).split(":")[0] for r in rows)
        lines.append("  plans: " + ", ".join(f"{count} {what}" for what, count in sorted(plans.items())))
        for r in sorted(rows, key=lambda r: int(r["key"])):
            if r["run"] in ("wrong", "crash", "failed") or r["verdict"] not in ("sound", None) or "findings" in r:
                code = r.get("findings", [{}])[0].get("code", r.get("reason", ""))
                lines.append(f"  {r['key']}: {r['verdict']} {code}, run: {r['run']} {r.get('again', '')} {r.get('why', '')[:120]}".rstrip())
        return "\n".join(lines)


def target_of(platform):
    return {"cuda": "gpu"}.get(platform, platform)


def minimise(options):
    """In a child, with the files of the smallest program under --keep."""
    dumps = pathlib.Path(options.keep) / f"small_{options.minimise}"
    dumps.mkdir(parents=True, exist_ok=True)
    job = json.dumps(job_of(options.minimise, options.platform))
    return subprocess.run([sys.executable, str(HERE / "campaign_minimise.py"), options.platform, options.stowplan, str(dumps),
                           options.xla_version or "", target_of(options.platform), job],
                          env=environment(options.platform, dumps)).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="cpu", choices=["cpu", "cuda", "tpu-v5e", "tpu-v6e"])
    parser.add_argument("--stowplan", default=str(HERE.parents[1] / "build" / "stowplan"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--keep", required=True)
    parser.add_argument("--scratch", help="folder for dumps under way; memory is best")
    parser.add_argument("--xla-version", help="for stowplan assign; by default that of this jaxlib or libtpu")
    parser.add_argument("--minimise", type=int, metavar="SEED", help="make the program of this seed smaller, and print it")
    options = parser.parse_args()
    options.stowplan = str(pathlib.Path(options.stowplan).resolve())
    if options.minimise is not None:
        sys.exit(minimise(options))
    campaign = Campaign(options)
    threads = [threading.Thread(target=campaign.work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = campaign.summary()
    (campaign.keep / "summary.txt").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
