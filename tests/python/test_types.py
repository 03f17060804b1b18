# SPDX-License-Identifier: Apache-2.0
"""Types and style, as the tools see them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stowplan
from conftest import MODULE, ROOT

PACKAGE = Path(stowplan.__file__).parent
PROGRAM = Path(__file__).with_name("user_program.py")


def run(*words: object) -> None:
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_package_is_typed() -> None:
    pytest.importorskip("mypy")
    assert (PACKAGE / "py.typed").exists()
    assert "class Plan" in (PACKAGE / "_core.pyi").read_text()
    run("-m", "mypy", "--strict", "--cache-dir", os.devnull, "-p", "stowplan")


def test_user_program() -> None:
    pytest.importorskip("mypy")
    run("-m", "mypy", "--strict", "--cache-dir", os.devnull, PROGRAM)
    run(PROGRAM, MODULE)


def test_style() -> None:
    pytest.importorskip("ruff")
    run("-m", "ruff", "check", "--no-cache", "python")
    run("-m", "ruff", "format", "--no-cache", "--check", "python", "tests/python")


def test_public_names() -> None:
    for name in stowplan.__all__:
        thing = getattr(stowplan, name)
        assert thing.__doc__, name
    with pytest.raises(AttributeError):
        importlib.import_module("stowplan").no_such_name  # noqa: B018
