# SPDX-License-Identifier: Apache-2.0
"""The notebook of examples/ in a kernel of Jupyter."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_notebook import WITH_JUPYTER, can_import, check, run


def test_a_kernel_runs_it(tmp_path: Path):
    if not can_import(WITH_JUPYTER, "jax, nbclient, ipykernel"):
        pytest.skip("./run test --all makes build/notebook-venv")
    check(run(WITH_JUPYTER, tmp_path))
