# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends long work, and what was found is returned."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest
import stowplan
from conftest import CORPUS, ROOT

LARGE = CORPUS / "scale" / "lm_unrolled_96" / "sm_9.0a_gpu_after_optimizations.hlo.pb"

LOG = ROOT / "examples" / "oom" / "gpu_training.log"

PACK = """
import random, stowplan
chance = random.Random(3)
starts = [chance.randrange(1000) for _ in range(3000)]
ends = [start + chance.randint(1, 200) for start in starts]
sizes = [chance.randint(1, 10**6) for _ in starts]
print("ready", flush=True)
result = stowplan.pack(sizes, starts, ends, time_limit=600)
assert result.bytes >= result.bound
"""
ADVICE = f"""
import stowplan
r = stowplan.analyze({str(LARGE)!r})
print("ready", flush=True)
result = r.advice(time_limit=600)
assert result.untried > 0
"""
# A program whose temporaries come and go as chance has it: nobody proves its plan in a minute.
ASSIGN = """
import random, stowplan
chance = random.Random(3)
events = []
for i in range(1500):
    start = chance.randrange(1000)
    size = chance.randint(1, 10**6)
    events.append((start, f"v{i} = f32[{size}]{{0}} broadcast(c), dimensions={{}}"))
    events.append((start + chance.randint(1, 200), f"u{i} = f32[1]{{0}} slice(v{i}), slice={{[0:1]}}"))
lines = [line for _, line in sorted(events, key=lambda event: event[0])]
outputs = ", ".join(f"u{i}" for i in range(1500))
shapes = ", ".join(["f32[1]{0}"] * 1500)
text = "HloModule m, is_scheduled=true\\n\\nENTRY e {\\n  c = f32[] parameter(0)\\n  " + "\\n  ".join(lines)
text += f"\\n  ROOT r = ({shapes}) tuple({outputs})\\n}}\\n"
r = stowplan.analyze(text, target="cpu")
print("ready", flush=True)
result = stowplan.assign(r, policy="best", time_limit=600)
assert result.bytes <= result.xla_bytes
"""


FIT = f"""
import stowplan
r = stowplan.analyze({str(LARGE)!r})
print("ready", flush=True)
result = r.fit(time_limit=600)
assert result.bytes <= result.given_bytes
"""

OOM = f"""
import stowplan
print("ready", flush=True)
result = stowplan.explain_oom({str(LOG)!r}, dump={str(LARGE)!r}, time_limit=600)
assert "What would save memory" in str(result)
"""


@pytest.mark.parametrize(
    "work", [PACK, ADVICE, ASSIGN, FIT, OOM], ids=["pack", "advice", "assign", "fit", "explain_oom"]
)
def test_ctrl_c(work: str) -> None:
    tail = "print('interrupted' if result.interrupted else 'ended', flush=True)\n"
    with subprocess.Popen(
        [sys.executable, "-c", work + tail], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        answer = process.stdout.readline()
        waited = time.monotonic() - begin
        assert process.wait(60) == 0
    assert answer == "interrupted\n"
    assert waited < 30


def hard() -> tuple[list[int], list[int], list[int]]:
    import random

    chance = random.Random(3)
    starts = [chance.randrange(1000) for _ in range(3000)]
    ends = [start + chance.randint(1, 200) for start in starts]
    return [chance.randint(1, 10**6) for _ in starts], starts, ends


def test_other_handlers_raise() -> None:
    def give_up(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(TimeoutError):
            stowplan.pack(*hard(), time_limit=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_run_meanwhile() -> None:
    ticks = 0
    is_over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not is_over.is_set():
            ticks += 1
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    stowplan.pack(*hard(), time_limit=1)
    is_over.set()
    thread.join()
    # With the lock held, there would be none.
    assert ticks > 20


def test_several_threads_at_once() -> None:
    r = stowplan.analyze(LARGE)
    pages = []

    def ask() -> None:
        pages.append((r.peak_by("source").page(), r.values[100].name, len(r.arrays.sizes)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pages) == 4
    assert len(set(pages)) == 1
