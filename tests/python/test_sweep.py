# SPDX-License-Identifier: Apache-2.0
"""sweep: the same answers however it runs, and nothing lost when something dies."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, MODULE, run_program
from sweeps import SEED_PATHS, die, expected, name_and_total, total


def fail_on_small(r: stowplan.Analysis) -> int:
    if r.total_bytes < 1 << 20:
        raise ValueError(f"{r.total_bytes} is small")
    return r.total_bytes


def test_summaries_in_order_whatever_the_workers():
    want = [stowplan.analyze(path) for path in SEED_PATHS]
    for workers in (0, 1, 2):
        result = stowplan.sweep(SEED_PATHS, workers=workers)
        assert [outcome.name for outcome in result] == list(map(str, SEED_PATHS))
        assert [(v.module, v.total, v.peak) for v in result.values] == [
            (r.name, r.total_bytes, r.peak.bytes) for r in want
        ]
        assert not result.errors and not result.interrupted and not result.missing
        assert all(outcome.seconds > 0 and not outcome.is_resumed for outcome in result)


def test_a_directory_stands_for_its_modules():
    result = stowplan.sweep(CORPUS / "tpu", name_and_total, workers=2)
    listed = json.loads(run_program("report", CORPUS / "tpu", "--format=json"))["modules"]
    assert len(result) == len(listed) > 40
    assert sorted(map(tuple, result.values)) == sorted(
        (row["name"], row["bytes"]) for row in listed
    )
    assert result[0].name == os.path.join(CORPUS / "tpu", result[0].value[0])


def test_all_kinds_of_inputs():
    text = MODULE.read_text()
    inputs = [MODULE, str(MODULE), text, text.encode(), [str(SEED_PATHS[0])]]
    result = stowplan.sweep(inputs, total, workers=2)
    assert len({*result.values[:4]}) == 1
    assert result[1].name == f"{MODULE} #2"  # no two names are the same
    assert result[3].name.startswith("jit_mlp_train_sgd")
    named = stowplan.sweep({"small": SEED_PATHS[2], "text": text}, total, workers=0)
    assert [outcome.name for outcome in named] == ["small", "text"]
    assert named["small"].value == named.values[0] == 524320
    assert len(stowplan.sweep(str(MODULE), total, workers=0)) == 1
    assert len(stowplan.sweep([], total)) == 0
    with pytest.raises(stowplan.Error, match="cannot be sent to another process"):
        stowplan.sweep([stowplan.analyze(MODULE)])


def test_functions_without_a_name_go_too():
    factor = 3

    def helper(x: int) -> int:
        return x * factor

    def with_closure(r: stowplan.Analysis) -> int:
        return helper(r.total_bytes)

    want = [3 * expected(path) for path in SEED_PATHS[:2]]
    assert stowplan.sweep(SEED_PATHS[:2], with_closure, workers=2).values == want
    assert stowplan.sweep(SEED_PATHS[:2], lambda r: 3 * total(r), workers=1).values == want
    lock = open(os.devnull)  # noqa: SIM115
    with lock, pytest.raises(stowplan.Error, match="workers=0"):
        stowplan.sweep(SEED_PATHS[:1], lambda r: lock.name, workers=1)


def test_as_text_and_pandas():
    result = stowplan.sweep([*SEED_PATHS[:2], "missing.txt"], workers=0, on_error="keep")
    assert "3 outcomes, 1 of them errors" in str(result)
    assert "40.00MiB (41943072) live" in str(result)
    assert "missing.txt: missing.txt: there is no such file" in str(result)
    frame = result.to_pandas()
    assert list(frame["total"][:2]) == [41943072, 41943040]
    assert frame["error"][2] is result[2].error
    assert "<table>" in result._repr_html_()


def test_errors_are_kept_with_the_name_of_the_input(tmp_path: Path):
    bad = tmp_path / "bad.hlo"
    bad.write_text("HloModule bad\n\nENTRY main {\n  ROOT x = f32[2] nonsense(y)\n}\n")
    result = stowplan.sweep([SEED_PATHS[0], bad, SEED_PATHS[1]], total, on_error="keep", workers=2)
    assert [outcome.error is None for outcome in result] == [True, False, True]
    error = result.errors[str(bad)]
    assert isinstance(error, stowplan.ParseError) and error.line == 4
    assert f"the input was {bad}" in error.__notes__
    assert len(result.values) == 2


def test_the_first_error_in_order_is_raised():
    for workers in (0, 2):
        with pytest.raises(ValueError, match="524320 is small") as info:
            stowplan.sweep(SEED_PATHS, fail_on_small, workers=workers)
        assert f"the input was {SEED_PATHS[2]}" in info.value.__notes__
        assert "fail_on_small" in info.value.__notes__[1]


def test_values_that_cannot_be_sent():
    result = stowplan.sweep(SEED_PATHS[:1], lambda r: (x for x in [r.name]), on_error="keep")
    assert "generator" in str(result[0].error)


def test_wrong_words():
    for settings in ({"on_error": "ignore"}, {"backend": "slurm"}, {"workers": -1}):
        with pytest.raises(stowplan.Error):
            stowplan.sweep([MODULE], **settings)


def test_a_dead_worker_is_replaced_and_its_input_tried_again(tmp_path: Path):
    want = [expected(path) for path in SEED_PATHS]
    once = stowplan.sweep(SEED_PATHS, functools.partial(die, str(tmp_path), 1), workers=2)
    assert once.values == want
    assert len(list(tmp_path.iterdir())) == 1


def test_an_input_that_kills_workers_is_an_error(tmp_path: Path):
    fn = functools.partial(die, str(tmp_path), 99)
    result = stowplan.sweep(SEED_PATHS, fn, workers=2, on_error="keep")
    assert len(list(tmp_path.iterdir())) == 2
    assert list(result.errors) == [str(SEED_PATHS[2])]
    error = result.errors[str(SEED_PATHS[2])]
    assert isinstance(error, stowplan.WorkerDied)
    assert "SIGKILL; the system does that when memory runs out" in str(error)
    assert len(result.values) == 4


def peak_rows(r: stowplan.Analysis) -> stowplan.Table:
    return r.peak_by("kind")


def whole(r: stowplan.Analysis) -> stowplan.Analysis:
    return r


@pytest.mark.parametrize("workers", [0, 1])
def test_tables_are_answers_and_plans_are_not(workers: int) -> None:
    result = stowplan.sweep(SEED_PATHS[:1], peak_rows, workers=workers)
    assert str(result.values[0]) == str(stowplan.analyze(SEED_PATHS[0]).peak_by("kind"))
    assert repr(result) == "<stowplan.SweepResult: 1 outcome>"
    with pytest.raises(stowplan.Error, match=r"what fn returned \(of type Analysis\) cannot"):
        stowplan.sweep(SEED_PATHS[:1], whole, workers=workers)


def test_modules_without_plans_are_swept(tmp_path: Path):
    folder = tmp_path / "dump"
    folder.mkdir()
    for number in (1, 2):
        name = f"module_{number:04}.jit_f{number}.cpu_after_optimizations.txt"
        (folder / name).write_bytes(MODULE.read_bytes())
    result = stowplan.sweep(folder, total, workers=0)
    assert [outcome.name for outcome in result] == [f"{folder}/jit_f1", f"{folder}/jit_f2"]
    assert result.values == [stowplan.analyze(MODULE, target="cpu").total_bytes] * 2
