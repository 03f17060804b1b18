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

import collections
import json
import os
import re
import subprocess
import sys

from checked_runs import HERE, Run, Worker, arguments, finding

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


class Libraries(Run):
    script = SCRIPT

    def confirm(self, records, jobs, folder):
        jobs = [{"key": r["key"], "name": r["name"], "times": self.options.times} for r in records]
        answers = {r["key"]: r for r in Worker(self.options.platform, folder, SCRIPT).run(jobs)} if jobs else {}
        for record in records:
            record.update({k: v for k, v in answers[record["key"]].items() if k in ("run", "why", "shares")})

    def remarks(self, rows):
        libraries = collections.Counter(r["key"].split("/")[0] for r in rows if r["verdict"])
        lines = ["  libraries: " + ", ".join(f"{count} {what}" for what, count in sorted(libraries.items()))]
        for r in rows:
            if r["verdict"] != "sound" or "findings" in r or not str(r["assign"]).startswith("equal"):
                lines.append(f"  {r['key']}: {r['verdict']} {finding(r)}, plan: {str(r['assign'])[:120]}, "
                             f"run: {r['run']} {r.get('why', '')[:120]}".rstrip())
        return lines


def main():
    parser = arguments(__doc__, batch=10)
    parser.add_argument("--only", default="", help="regular expression for the names LIBRARY/PROGRAM")
    parser.add_argument("--times", type=int, default=3, help="how often a program called unsound is run")
    options = parser.parse_args()
    Libraries(options, programs(options.only)).finish()


if __name__ == "__main__":
    main()
