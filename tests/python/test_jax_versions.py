# SPDX-License-Identifier: Apache-2.0
"""All programs, and all tests with JAX, in several versions of it. Each has an environment of its own below build/, made
here. "newest" is the newest that a Python after this one can install, with Stowplan's own wheel for that Python.

STOWPLAN_JAX_VERSIONS="0.4.35 newest" chooses versions, STOWPLAN_JAX_SETS the programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from test_install import pythons

VERSIONS = os.environ.get("STOWPLAN_JAX_VERSIONS", "0.4.35 0.6.2 0.8.2 0.10.2 newest").split()
SETS = os.environ.get(
    "STOWPLAN_JAX_SETS", "constructs work more explain donations random:1:200"
).split()
OWN = "%d.%d" % sys.version_info[:2]
TESTS = ("jax_inputs", "jax_capture", "jax_max_batch", "jax_pytest_plugin")


@dataclass(frozen=True)
class Environment:
    """A Python with JAX and Stowplan."""

    python: Path
    variables: dict[str, str]

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, "-B", *words], capture_output=True, text=True, env=self.variables
        )


@pytest.fixture(scope="module", params=VERSIONS)
def environment(request: pytest.FixtureRequest) -> Environment:
    """With one version of JAX."""
    version = request.param
    variables = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")
    base = sys.executable
    packages = [f"jax=={version}", f"jaxlib=={version}"]
    if version == "newest":
        later = {name: path for name, path in pythons().items() if len(name) == 4 and name > OWN}
        if not later:
            pytest.skip(f"there is no later Python than {OWN}")
        base = later[min(later)]
        packages = ["jax"]
        variables.pop("PYTHONPATH", None)
    folder = ROOT / "build" / f"jax-{version}"
    made = Environment(folder / "bin" / "python", variables)
    if not (folder / "complete").exists():
        subprocess.run([base, "-m", "venv", folder], check=True)
        done = made.run("-m", "pip", "install", "--quiet", *packages, "numpy", "pytest")
        if done.returncode:
            pytest.skip(f"jax {version} cannot be installed: {done.stderr[-300:]}")
        (folder / "complete").touch()
    if version == "newest":
        done = made.run("-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT)
        assert done.returncode == 0, done.stderr
    return made


def test_all_tests(environment: Environment) -> None:
    files = [ROOT / "tests" / "python" / f"test_{name}.py" for name in TESTS]
    done = environment.run("-m", "pytest", "-q", *files)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("what", SETS)
def test_all_programs(environment: Environment, what: str) -> None:
    done = environment.run(ROOT / "tests" / "oracle" / "jax_equal.py", what)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    print(json.dumps(counts))
    assert counts["different"] == []
    assert counts["failed"] == []
    assert counts["own_equal"] == counts["xla_equal"] == counts["programs"] > 0
    assert counts["fields_equal"] == counts["fields"] >= 8 * counts["programs"]
