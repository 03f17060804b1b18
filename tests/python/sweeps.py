# SPDX-License-Identifier: Apache-2.0
"""What the tests of sweep share: inputs, and functions to ask of them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import stowplan
from conftest import SEEDS, run_program

SEED_PATHS = sorted(SEEDS.glob("seed_*.txt"))


def total(r: stowplan.Analysis) -> int:
    return r.total_bytes


def name_and_total(r: stowplan.Analysis) -> tuple[str, int]:
    return r.name, r.total_bytes


def die(marks: str, times: int, r: stowplan.Analysis) -> int:
    """Kills its process the first times that it sees seed_002."""
    if r.name == "seed_002":
        seen = len(list(Path(marks).glob("death*")))
        if seen < times:
            (Path(marks) / f"death{seen}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return r.total_bytes


def mark(marks: str, r: stowplan.Analysis) -> int:
    """Leaves a trace of each call."""
    (Path(marks) / f"{r.name}.{time.monotonic_ns()}").touch()
    return r.total_bytes


def expected(path: Path) -> int:
    return json.loads(run_program("report", path, "--format=json"))["total_bytes"]
