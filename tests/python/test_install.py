# SPDX-License-Identifier: Apache-2.0
"""`pip install .` and wheels, in fresh virtual environments, with each Python at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import MODULE, ROOT, SEEDS

# Runs in the fresh environment: nothing but Stowplan and Python are there.
PROGRAM = f"""
import subprocess, sys, stowplan
assert {str(ROOT)!r} not in stowplan.__file__, stowplan.__file__
r = stowplan.analyze({str(SEEDS / "seed_004.txt")!r})
page = subprocess.run(["stowplan", "report", {str(SEEDS / "seed_004.txt")!r}], check=True, capture_output=True)
again = subprocess.run([sys.executable, "-m", "stowplan", "report", {str(SEEDS / "seed_004.txt")!r}],
                       check=True, capture_output=True)
words = r.page().replace("; reconcile() explains", "; --reconcile explains")  # options as each spells them
assert words.encode() == page.stdout == again.stdout
assert r.peak.bytes == 1012613120
assert "numpy" not in sys.modules
best = stowplan.assign({str(MODULE)!r}, policy="best")
assert stowplan.check(best) and best.saved > 0
assert stowplan.pack([4, 4, 8], [0, 2, 4], [3, 5, 6]).bytes == 12
try:
    stowplan.analyze(b"HloModule m\\nENTRY e {{")
except stowplan.ParseError as error:
    assert error.line
else:
    raise AssertionError
print(stowplan.__version__)
"""


def pythons() -> dict[str, str]:
    """Interpreters by version: "3.12"; those on the PATH, and those of pyenv."""
    candidates = [shutil.which(f"python3.{minor}") for minor in range(11, 16)] + [sys.executable]
    if shutil.which("pyenv"):
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False)
        versions = Path(done.stdout.strip()) / "versions"
        candidates += [str(path) for path in sorted(versions.glob("3.*/bin/python3"))]
    found: dict[str, str] = {}
    for candidate in candidates:
        if candidate is None:
            continue
        done = subprocess.run(
            [candidate, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        version = done.stdout.strip()
        if done.returncode == 0 and int(version.split(".")[1]) >= 11:
            found.setdefault(version, candidate)
    return found


def environment(python: str, folder: Path) -> Path:
    subprocess.run([python, "-m", "venv", folder], check=True)
    return folder / "bin"


def pip(scripts: Path, *words: object) -> None:
    done = subprocess.run(
        [scripts / "pip", "--disable-pip-version-check", "--quiet", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def try_out(scripts: Path, folder: Path, program: str) -> None:
    """The program in the environment, and nothing of the one that tests it."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    clean["PATH"] = f"{scripts}{os.pathsep}{clean['PATH']}"
    clean["JAX_PLATFORMS"] = "cpu"
    subprocess.run([scripts / "python", "-c", program], check=True, cwd=folder, env=clean)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment in which Stowplan was installed."""
    scripts = environment(sys.executable, tmp_path_factory.mktemp("fresh") / "venv")
    pip(scripts, "install", ".")
    return scripts


def test_pip_install(fresh: Path, tmp_path: Path) -> None:
    try_out(fresh, tmp_path, PROGRAM)


STEP = """
import jax.numpy as jnp

def step(params, batch):
    def loss(params):
        hidden = jnp.tanh(batch @ params["w"])
        return jnp.mean((hidden @ params["v"]) ** 2)
    gradients = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

params = {"w": jnp.ones((256, 512)), "v": jnp.ones((512, 8))}
batch = jnp.ones((1024, 256))
"""
CHECKS = """
assert {"params", "['w']", "batch"} <= {row.name for row in r.peak_by("parameter")}
assert r.peak_by("parameter").bytes == r.peak.bytes
assert r.reconcile().differing == [], r.reconcile().differing
assert os.path.getsize("view.html") > 100_000
print(r.plan, len(r.reconcile().equal), r.notes)
"""


def test_readme(fresh: Path, tmp_path: Path) -> None:
    """The snippet of the README, with a step to take."""
    pip(fresh, "install", "jax")
    text = (ROOT / "README.md").read_text()
    snippet = text[text.index("## In Python") :].split("```python\n")[1].split("```")[0]
    head, tail = snippet.split("\n", 1)
    try_out(fresh, tmp_path, f"import os\n{head}\n{STEP}\n{tail}\n{CHECKS}")


def test_stable_abi(tmp_path: Path) -> None:
    """A wheel that is made with 3.12 serves all that follow."""
    others = {version: path for version, path in pythons().items() if version != "3.11"}
    if "3.12" not in others:
        pytest.skip("there is no Python 3.12")
    scripts = environment(others["3.12"], tmp_path / "builder")
    pip(scripts, "wheel", "--no-deps", "--wheel-dir", tmp_path / "wheels", ".")
    (wheel,) = (tmp_path / "wheels").iterdir()
    assert "-cp312-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "stowplan/_core.abi3.so" in names
    assert "stowplan/_core.pyi" in names
    assert "stowplan/py.typed" in names
    assert any(name.endswith(".data/scripts/stowplan") for name in names)
    # Neither headers nor libraries.
    assert not [name for name in names if name.endswith((".h", ".a", ".cmake"))]
    for version, python in others.items():
        scripts = environment(python, tmp_path / version)
        pip(scripts, "install", wheel)
        try_out(scripts, tmp_path, PROGRAM)
