# SPDX-License-Identifier: Apache-2.0
"""Looks for XLA plans that are unsound, and for sound ones that Stowplan calls unsound.

    python tests/oracle/campaign.py --stowplan build/stowplan --count 500 --keep OUT
    python tests/oracle/campaign.py --platform cuda --stowplan build/stowplan --count 500 --jobs 8 --keep OUT
    python tests/oracle/campaign.py --stowplan build/stowplan --keep OUT --minimise 17

Programs made at random from seeds are compiled by the jaxlib of this Python. The plan of each is checked, and compared
with the one that `stowplan assign` makes. Each is run, where there is a device, and its results are compared with those
of NumPy, step by step; programs that differentiate, with those of JAX, an operation at a time. So every program has two
answers: what the checker says, and what the machine did.

    checker   machine   what it is
    unsound   wrong     an error of XLA
    unsound   right     a false alarm, or an error of XLA that the inputs did not show: run again, larger, many times
    sound     wrong     an error of the checker, or of XLA's code generation

OUT/results.jsonl gets a line a program; a second run goes on where the first ended. The dumps of all that is not sound,
equal and right are kept beside it. Platforms: cpu, cuda, tpu-v5e, tpu-v6e; the latter compile ahead of time by libtpu.

Some programs are of four devices: virtual ones on the CPU, and none at all on GPUs and TPUs, for which they are only
compiled. XLA:CPU makes every collective synchronous; GPUs and TPUs have the plans in which some are under way.

A seed names a program only as long as the generator does not change. Seeds noted before gradients and asynchronous
collectives came in now give other programs.
"""

import json
import pathlib
import subprocess
import sys

from checked_runs import HERE, Run, Worker, arguments, environment, finding, target_of


def job_of(seed, platform):
    """Most programs are of one device. Some on the CPU are larger, so that its kernels are run by several threads."""
    level, devices = {6: ("hlo", 1), 7: ("hlo", 1), 8: ("jax", 4), 9: ("hlo", 4)}.get(seed % 10, ("jax", 1))
    return {"key": str(seed), "name": f"prog_{seed}_{level}{devices}", "seed": seed, "level": level, "devices": devices,
            "large": platform != "cpu" or seed % 16 == 0}


class Campaign(Run):
    script = "campaign_worker.py"

    def __init__(self, options):
        seeds = range(options.seed, options.seed + options.count)
        super().__init__(options, [job_of(s, options.platform) for s in seeds])

    def platform_of(self, jobs):
        several = jobs[0]["devices"] > 1
        return "cuda-mock" if self.options.platform == "cuda" and several else self.options.platform

    def alike(self, job, other):
        return (job["devices"] > 1) == (other["devices"] > 1)

    def confirm(self, records, jobs, folder):
        """Runs alarmed programs again, larger and more often: a race may not show the first time."""
        records = [r for r in records if r["run"] == "right"]
        again = []
        for job in jobs:
            if job["key"] in {r["key"] for r in records}:
                again += [{**job, "key": f"{job['key']}x{factor}", "factor": factor, "times": 8} for factor in (1, 3)]
        if not again:
            return
        answers = {r["key"]: r["run"] for r in Worker(self.options.platform, folder, self.script).run(again)}
        for record in records:
            record["again"] = [answers.get(f"{record['key']}x{factor}") for factor in (1, 3)]

    def remarks(self, rows):
        lines = []
        for r in rows:
            if r["run"] in ("wrong", "crash", "failed") or r["verdict"] not in ("sound", None) or "findings" in r:
                lines.append(f"  {r['key']}: {r['verdict']} {finding(r)}, run: {r['run']} {r.get('again', '')} "
                             f"{r.get('why', '')[:120]}".rstrip())
        return lines


def minimise(options):
    """In a child, with the files of the smallest program under --keep."""
    dumps = pathlib.Path(options.keep) / f"small_{options.minimise}"
    dumps.mkdir(parents=True, exist_ok=True)
    job = json.dumps(job_of(options.minimise, options.platform))
    return subprocess.run([sys.executable, str(HERE / "campaign_minimise.py"), options.platform, options.stowplan, str(dumps),
                           options.xla_version or "", target_of(options.platform), job],
                          env=environment(options.platform, dumps)).returncode


def main():
    parser = arguments(__doc__, batch=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minimise", type=int, metavar="SEED", help="make the program of this seed smaller, and print it")
    options = parser.parse_args()
    if options.minimise is not None:
        sys.exit(minimise(options))
    Campaign(options).finish()


if __name__ == "__main__":
    main()
