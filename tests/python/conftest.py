# SPDX-License-Identifier: Apache-2.0
"""Where tests find their inputs, and the command line to compare with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SEEDS = ROOT / "examples" / "seeds"
MODULE = ROOT / "examples" / "mlp_train_step.txt"
PROGRAM = os.environ.get("STOWPLAN", str(ROOT / "build" / "dev" / "stowplan"))
CORPUS = Path(os.environ.get("STOWPLAN_CORPUS_DIR", ROOT / "build" / "corpus"))


def run_program(*words: str | Path, code: int = 0) -> str:
    """What the command line prints."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def in_python(page: str) -> str:
    """A page of the command line with its options as Python spells them."""
    for ours, theirs in (
        ("; --reconcile explains", "; reconcile() explains"),
        ("(--top=0", "(limit=0"),
        ("stowplan assign --policy=best ", 'stowplan.assign(r, policy="best")'),
    ):
        page = page.replace(ours, theirs)
    return page


@pytest.fixture(scope="session")
def seed() -> Path:
    """A report of a TPU, complete."""
    return SEEDS / "seed_004.txt"
