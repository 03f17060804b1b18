# SPDX-License-Identifier: Apache-2.0
"""The fields of memory_analysis(), as JAX gave them for programs of GPUs and TPUs, from Stowplan's own plans of the modules alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS

CODE = ("generated_code_size_in_bytes", "host_generated_code_size_in_bytes")
MACHINES = {"gpu": ("gpu", "jaxlib-0.11.2", 48), "tpu": ("tpu-v5e", "libtpu-0.0.51", 118)}


def figures_of(folder: Path, target: str, xla_version: str) -> tuple[dict[str, int], list[str]]:
    """What JAX said, and what is computed otherwise."""
    said: dict[str, int] = json.loads((folder / "stats.json").read_text())
    for name in CODE:
        said.pop(name)
    data = (folder / "module.pb").read_bytes()
    r = stowplan.analyze(data, target=target, xla_version=xla_version, own_plan=True)
    r._stats = said  # as those of a Compiled
    computed = {figure.name: figure.computed for figure in r.reconcile()}
    return said, [
        f"{folder.name}: {name} is {value}, from the plan {computed[name]}"
        for name, value in said.items()
        if computed[name] != value
    ]


@pytest.mark.parametrize("machine", MACHINES)
def test_all_equal(machine: str) -> None:
    target, xla_version, programs = MACHINES[machine]
    folders = sorted((CORPUS / "figures" / machine).iterdir())
    assert len(folders) == programs
    fields = 0
    wrong: list[str] = []
    for folder in folders:
        said, differing = figures_of(folder, target, xla_version)
        fields += len(said)
        wrong += differing
    print(f"{machine}: {fields - len(wrong)} of {fields} fields of {programs} programs are equal")
    assert not wrong
