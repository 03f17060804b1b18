# SPDX-License-Identifier: Apache-2.0
"""A program may end while a thread of it works in Stowplan: quickly, and without a word."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
import stowplan
from conftest import CORPUS
from test_interrupt import ASSIGN, PACK

LARGE = CORPUS / "scale" / "lm_unrolled_96" / "sm_9.0a_gpu_after_optimizations.hlo.pb"
HEAD = """
import stowplan, sys, threading, time
started = threading.Event()
def run(work):
    threading.Thread(target=work, daemon=True).start()
    started.wait()
    time.sleep(float(sys.argv[1]))
"""


def body(text: str) -> str:
    """The work of test_interrupt.py in a thread."""
    lines = text.replace('print("ready", flush=True)', "started.set()").strip().splitlines()
    return "def work():\n" + "\n".join(f"    {line}" for line in lines) + "\nrun(work)\n"


ANALYZE = f"""
def work():
    started.set()
    while True:
        stowplan.analyze({str(LARGE)!r})
run(work)
"""
# Many short calls: each end of one is a place to be caught at. Some raise.
CALLS = """
r = stowplan.analyze("examples/mlp_train_step.txt", target="cpu")
def work():
    started.set()
    while True:
        r.peak_by("source")
        r.values[3]
        stowplan.diff(r, r)
        try:
            r.why("nobody")
        except stowplan.Error:
            pass
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
run(work)
"""
# The searching threads of the packer are no threads of Python.
THREADS = PACK.replace("time_limit=600", "time_limit=600, threads=3")


@pytest.mark.parametrize(
    "work",
    [body(PACK), body(THREADS), body(ASSIGN), ANALYZE, CALLS],
    ids=["pack", "threads", "assign", "analyze", "calls"],
)
def test_daemon_threads(work: str) -> None:
    assert stowplan.__version__
    for round in range(20):
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", HEAD + work, str(0.011 * round)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), f"round {round}"
        assert time.monotonic() - begin < 20
