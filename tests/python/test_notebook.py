# SPDX-License-Identifier: Apache-2.0
"""The notebook of examples/ runs, and what it stores is what comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "examples" / "memory_of_a_training_step.ipynb"
RUNNER = ROOT / "tests" / "python" / "run_notebook.py"
# `./run test` makes the first, with --all the second too.
WITH_JAX = ROOT / "build" / "bench-venv" / "bin" / "python"
WITH_JUPYTER = ROOT / "build" / "notebook-venv" / "bin" / "python"


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [out for cell in notebook["cells"] for out in cell.get("outputs", [])]


def text_of(out: dict[str, Any]) -> str:
    text = out.get("text") or out["data"]["text/plain"]
    return "".join(text)


def check(notebook: dict[str, Any]) -> None:
    """What the notebook says of its outputs is true of them."""
    assert [out["output_type"] for out in outputs(notebook)] == [
        *("execute_result", "stream", "stream", "stream", "stream", "execute_result", "stream"),
    ]
    card, by_source, advice, donation, diff, lower, table = outputs(notebook)
    for out in (card, lower):
        html = "".join(out["data"]["text/html"])
        assert "stowplan-card" in html and "<svg" in html and "training_step.py" in html
    assert "training_step.py:19" in text_of(by_source)
    assert "donate state" in text_of(advice)
    assert "as the advice said" in text_of(donation)
    assert "activation kept for later" in text_of(diff)
    totals = [int(number) for number in re.findall(r"\((\d+)\)  .* live", text_of(table))]
    assert len(totals) == 3 and totals[0] > totals[1] > totals[2]
    saved = int(re.findall(r"-(\d+) bytes", text_of(donation))[0])
    assert totals[0] - totals[1] == saved


def run(python: Path, folder: Path, *words: str) -> dict[str, Any]:
    out = folder / "out.ipynb"
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{NOTEBOOK.parent}",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
    }
    done = subprocess.run(
        [python, "-B", RUNNER, NOTEBOOK, out, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert (folder / "view.html").stat().st_size > 100_000
    return json.loads(out.read_text("utf-8"))


def can_import(python: Path, modules: str) -> bool:
    return python.exists() and not subprocess.run([python, "-c", f"import {modules}"]).returncode


def test_what_is_stored():
    text = NOTEBOOK.read_text("utf-8")
    check(json.loads(text))
    assert not re.search(r"/tmp/|/home/|/root/|ipykernel_", text)


def test_its_cells_run(tmp_path: Path):
    if not can_import(WITH_JAX, "jax"):
        pytest.skip("./run test makes build/bench-venv, with JAX")
    check(run(WITH_JAX, tmp_path, "--plain"))
