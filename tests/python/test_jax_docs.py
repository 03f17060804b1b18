# SPDX-License-Identifier: Apache-2.0
"""Examples in docs/python-jax.md and docs/fit-jax.md run as they stand."""

from __future__ import annotations

import doctest
import pathlib

import pytest
from conftest import ROOT

jax = pytest.importorskip("jax")


def test_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    if jax.__version__ != "0.10.2":
        pytest.skip("sizes in the guide are those of JAX 0.10.2")
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs" / "python-jax.md"), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


def test_steps_that_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    if jax.__version__ != "0.10.2":
        pytest.skip("sizes in the guide are those of JAX 0.10.2")
    monkeypatch.setenv("STOWPLAN_CACHE", str(tmp_path))
    result = doctest.testfile(str(ROOT / "docs" / "fit-jax.md"), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0
