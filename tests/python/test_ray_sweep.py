# SPDX-License-Identifier: Apache-2.0
"""The sweep on a local Ray: same outcomes, same checkpoint file."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, ROOT, SEEDS

RAY_PYTHON = ROOT / "build" / "ray-venv" / "bin" / "python"
pytestmark = pytest.mark.skipif(
    not RAY_PYTHON.exists(), reason="./run test --all makes build/ray-venv"
)

SCRIPT = """
    import functools, json, os, signal, sys
    from dataclasses import dataclass
    from pathlib import Path

    import stowplan

    @dataclass
    class Answer:
        name: str
        total: int

    def answer(r):
        return Answer(r.name, r.total_bytes)

    def die(marks, times, r):
        if r.name == "seed_002":
            seen = len(list(Path(marks).glob("death*")))
            if seen < times:
                (Path(marks) / f"death{seen}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return r.total_bytes

    import ray
    seeds, corpus, marks = sys.argv[1:]
    sweep = functools.partial(stowplan.sweep, backend="ray", progress=False)
    out = {}
    # A Ray of its own, started and ended.
    result = sweep(seeds, workers=2)
    assert not ray.is_initialized()
    out["summaries"] = [(o.name, o.value.total, o.value.peak) for o in result]
    # One that runs already, as a cluster does, is left running.
    ray.init(num_cpus=2, log_to_driver=False, configure_logging=False)
    file = marks + "/done.jsonl"
    out["corpus"] = [(o.name, o.value.total) for o in sweep(corpus, checkpoint=file)]
    assert ray.is_initialized()
    answers = sweep(seeds, answer).values
    assert all(isinstance(value, Answer) for value in answers)
    out["answers"] = [value.total for value in answers]
    out["dies once"] = sweep(seeds, functools.partial(die, marks, 1)).values
    kept = sweep([seeds, "missing.txt"], functools.partial(die, marks, 99), on_error="keep")
    out["errors"] = {name: type(error).__name__ for name, error in kept.errors.items()}
    out["rest"] = len(kept.values)
    try:
        sweep(["missing.txt"])
    except stowplan.MissingFileError as error:
        out["raised"] = error.__notes__[0]
    ray.shutdown()
    print(json.dumps(out))
"""


def test_ray_answers_as_processes_do(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [RAY_PYTHON, script, SEEDS, CORPUS / "gpu", tmp_path],
        env=os.environ
        | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    out = json.loads(done.stdout.splitlines()[-1])
    want = stowplan.sweep(SEEDS, workers=2)
    totals = [value.total for value in want.values]
    assert out["summaries"] == [[o.name, o.value.total, o.value.peak] for o in want]
    assert out["answers"] == out["dies once"] == totals
    assert out["errors"] == {
        os.path.join(SEEDS, "seed_002"): "WorkerDied",
        "missing.txt": "MissingFileError",
    }
    assert out["rest"] == 4
    assert out["raised"] == "the input was missing.txt"
    # What Ray has done need not be done again here.
    result = stowplan.sweep(CORPUS / "gpu", checkpoint=tmp_path / "done.jsonl", workers=1)
    assert len(result) > 40 and all(outcome.is_resumed for outcome in result)
    assert out["corpus"] == [[o.name, o.value.total] for o in result]
    here = stowplan.sweep(CORPUS / "gpu", workers=2)
    assert here.values == result.values
