# SPDX-License-Identifier: Apache-2.0
"""Examples in the guide and in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib

import pytest
from conftest import ROOT


@pytest.mark.parametrize(("name", "least"), [("python.md", 30), ("python-sweep.md", 10)])
def test_guide(monkeypatch: pytest.MonkeyPatch, name: str, least: int) -> None:
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs" / name), module_relative=False)
    assert result.attempted > least
    assert result.failed == 0


@pytest.mark.parametrize("name", ["sizes", "packing"])
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"stowplan.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
