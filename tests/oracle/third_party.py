# SPDX-License-Identifier: Apache-2.0
"""Checks the plans that XLA makes of programs of third-party libraries: nobody wrote them with Stowplan in mind.

    python tests/oracle/third_party.py --stowplan build/stowplan --keep OUT
    python tests/oracle/third_party.py --platform tpu-v5e --stowplan build/stowplan --keep OUT --only '^flax|^haiku'

The programs are listed in libraries/*_programs.py: models, train steps, solvers and samplers at small sizes, with
parameters drawn at random. Only the libraries are needed; those not installed are left out:

    pip install flax dm-haiku equinox diffrax numpyro optax jraph distrax blackjax lineax optimistix jaxopt 'transformers<5'

Each program is compiled by the jaxlib of this Python, ahead of time for a TPU; its plan is checked, and compared with
the one that `stowplan assign` makes. One called unsound is run, where there is a device, against the same operations one
by one, each compiled alone.

OUT/results.jsonl gets a line a program; a second run goes on where the first ended. OUT/summary.txt is what is printed
at the end. The dumps of all that is not sound and equal are kept beside them.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from campaign import HERE, Checker, Worker, look_at, target_of

SCRIPT = "third_party_worker.py"


def programs(only):
    done = subprocess.run(
        [sys.executable, str(HERE / SCRIPT)],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    return [
        {"key": key, "name": "prog_" + re.sub(r"\W", "_", key)}
        for key in json.loads(done.stdout)
        if re.search(only, key)
    ]


class Run:
    def __init__(self, options):
        self.options = options
        self.keep = pathlib.Path(options.keep)
        self.keep.mkdir(parents=True, exist_ok=True)
        self.results = self.keep / "results.jsonl"
        self.lock = threading.Lock()
        self.records = {}
        if self.results.exists():
            rows = [json.loads(line) for line in self.results.read_text().splitlines()]
            self.records = {row["key"]: row for row in rows}
        self.wanted = programs(options.only)
        self.left = [j for j in self.wanted if j["key"] not in self.records]

    def take(self):
        with self.lock:
            batch, self.left = self.left[: self.options.batch], self.left[self.options.batch :]
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
        worker = Worker(platform, folder, SCRIPT)
        records = worker.run(jobs)
        checker = Checker(self.options.stowplan, self.options.xla_version or worker.version, target_of(platform))
        verdicts = checker.verdicts(dumps)
        for record in records:
            record["version"] = worker.version
            look_at(record, dumps, verdicts, checker, self.keep)
        self.confirm([r for r in records if r["verdict"] == "unsound"], folder)
        return records

    def confirm(self, records, folder):
        """Runs those called unsound."""
        jobs = [{"key": r["key"], "name": r["name"], "times": self.options.times} for r in records]
        answers = {r["key"]: r for r in Worker(self.options.platform, folder, SCRIPT).run(jobs)} if jobs else {}
        for record in records:
            record.update({k: v for k, v in answers[record["key"]].items() if k in ("run", "why", "shares")})

    def summary(self):
        rows = [self.records[j["key"]] for j in self.wanted if j["key"] in self.records]
        lines = [
            f"{len(rows)} programs, {self.options.platform}, {', '.join(sorted({str(r['version']) for r in rows}))}"
        ]
        verdicts = collections.Counter(str(r["verdict"]) if r["verdict"] else r["run"] for r in rows)
        lines.append("  verdicts: " + ", ".join(f"{count} {what}" for what, count in sorted(verdicts.items())))
        plans = collections.Counter(str(r["assign"]).split(":")[0] for r in rows if r["assign"])
        lines.append("  plans: " + ", ".join(f"{count} {what}" for what, count in sorted(plans.items())))
        libraries = collections.Counter(r["key"].split("/")[0] for r in rows if r["verdict"])
        lines.append("  libraries: " + ", ".join(f"{count} {what}" for what, count in sorted(libraries.items())))
        for r in rows:
            if r["verdict"] != "sound" or "findings" in r or not str(r["assign"]).startswith("equal"):
                code = r.get("findings", [{}])[0].get("code", r.get("reason", ""))
                lines.append(
                    f"  {r['key']}: {r['verdict']} {code}, plan: {str(r['assign'])[:120]}, run: {r['run']} {r.get('why', '')[:120]}".rstrip()
                )
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="cpu", choices=["cpu", "cuda", "tpu-v5e", "tpu-v6e"])
    parser.add_argument("--stowplan", default=str(HERE.parents[1] / "build" / "stowplan"))
    parser.add_argument("--only", default="", help="regular expression for the names LIBRARY/PROGRAM")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--times", type=int, default=3, help="how often a program called unsound is run")
    parser.add_argument("--keep", required=True)
    parser.add_argument("--scratch", help="folder for dumps under way; memory is best")
    parser.add_argument("--xla-version", help="for stowplan assign; by default that of this jaxlib or libtpu")
    options = parser.parse_args()
    options.stowplan = str(pathlib.Path(options.stowplan).resolve())
    run = Run(options)
    threads = [threading.Thread(target=run.work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = run.summary()
    (run.keep / "summary.txt").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
