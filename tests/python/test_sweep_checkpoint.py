# SPDX-License-Identifier: Apache-2.0
"""sweep with a checkpoint: what is done is not done again, and nothing of others is touched."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stowplan
from sweeps import SEED_PATHS, die, expected, mark, name_and_total, total


LONG = 10**5000  # more digits than Python writes


def long_number(r: stowplan.Analysis) -> int:
    return LONG + r.total_bytes


def test_a_checkpoint_is_resumed(tmp_path: Path):
    file, marks = tmp_path / "done.jsonl", tmp_path / "marks"
    marks.mkdir()
    fn = functools.partial(mark, str(marks))
    first = stowplan.sweep(SEED_PATHS[:3], fn, checkpoint=file, workers=1)
    assert len(list(marks.iterdir())) == 3
    second = stowplan.sweep(SEED_PATHS, fn, checkpoint=file, workers=1)
    assert len(list(marks.iterdir())) == 5
    assert [outcome.is_resumed for outcome in second] == [True] * 3 + [False] * 2
    assert second.values[:3] == first.values
    assert second.values == [expected(path) for path in SEED_PATHS]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0] == {"schema": "stowplan.sweep/1"}
    assert [(line["input"], line["value"]) for line in lines[1:]] == [
        (outcome.name, outcome.value) for outcome in second
    ]


def test_values_of_any_kind_come_back(tmp_path: Path):
    file = tmp_path / "done.jsonl"
    for fn in (name_and_total, stowplan.summary, long_number):
        first = stowplan.sweep(SEED_PATHS[:2], fn, checkpoint=file, workers=0)
        again = stowplan.sweep(SEED_PATHS[:2], fn, checkpoint=file, workers=0)
        assert all(outcome.is_resumed for outcome in again)
        assert again.values == first.values
        assert type(again.values[0]) is type(first.values[0])
        assert str(again) == str(first) and again._repr_html_()


def test_changed_inputs_and_functions_are_done_again(tmp_path: Path):
    file, copy = tmp_path / "done.jsonl", tmp_path / "program.txt"
    copy.write_bytes(SEED_PATHS[0].read_bytes())
    inputs = [copy, SEED_PATHS[1]]
    stowplan.sweep(inputs, total, checkpoint=file, workers=0)
    copy.write_bytes(SEED_PATHS[2].read_bytes())
    changed = stowplan.sweep(inputs, total, checkpoint=file, workers=0)
    assert [outcome.is_resumed for outcome in changed] == [False, True]
    assert changed.values[0] == 524320
    factor = 2
    other = stowplan.sweep(inputs, lambda r: factor * total(r), checkpoint=file, workers=0)
    assert not any(outcome.is_resumed for outcome in other)
    assert other.notes == ["3 results of a different function are not used"]
    # Back again: nothing was lost.
    assert all(o.is_resumed for o in stowplan.sweep(inputs, total, checkpoint=file, workers=0))


def test_what_makes_a_function_another():
    from stowplan.portable import digest

    def made(factor: int):
        return lambda r: factor * r.total_bytes

    assert digest(made(2)) == digest(made(2)) != digest(made(3))
    assert digest(functools.partial(die, "a", 1)) != digest(functools.partial(die, "a", 2))
    assert digest(functools.partial(max, 1, 1)) != digest(functools.partial(max, 1))
    assert digest(functools.partial(max, [1], 2)) != digest(functools.partial(max, [1, 2]))
    assert digest(lambda r: r.name) != digest(lambda r: r.plan)
    code = (
        "import stowplan.portable as p; names = {'x', 'y', 'z'}; "
        "f = lambda r: r.name in {'a', 'b', 'c', 'd'} or r.name in names; "
    )
    words = {
        subprocess.check_output(
            [sys.executable, "-c", code + "print(p.digest(f))"],
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed in "123"
    }
    assert len(words) == 1


def test_errors_are_tried_again(tmp_path: Path):
    file = tmp_path / "done.jsonl"
    inputs = [SEED_PATHS[0], tmp_path / "late.txt"]
    first = stowplan.sweep(inputs, total, checkpoint=file, on_error="keep", workers=0)
    assert len(first.errors) == 1
    assert '"error"' in file.read_text()
    inputs[1].write_bytes(SEED_PATHS[1].read_bytes())
    assert stowplan.sweep(inputs, total, checkpoint=file, workers=0).values == [41943072, 41943040]


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path):
    file = tmp_path / "done.jsonl"
    stowplan.sweep(SEED_PATHS[:2], total, checkpoint=file, workers=0)
    whole = file.read_bytes()
    for cut in (1, 40, len(whole.splitlines()[-1])):
        file.write_bytes(whole[:-cut])
        again = stowplan.sweep(SEED_PATHS[:2], total, checkpoint=file, workers=0)
        assert [outcome.is_resumed for outcome in again] == [True, False]
        for line in file.read_text().splitlines():
            json.loads(line)


def test_other_files_are_not_touched(tmp_path: Path):
    file = tmp_path / "thesis.txt"
    for text in ("my only copy", "my only copy\n", '{"input": 1}\n'):
        file.write_text(text)
        with pytest.raises(stowplan.Error, match="not a checkpoint"):
            stowplan.sweep(SEED_PATHS, total, checkpoint=file)
        assert file.read_text() == text


def test_a_checkpoint_that_keeps_nothing():
    assert len(stowplan.sweep(SEED_PATHS[0], workers=0, checkpoint="/dev/null")) == 1


def test_a_checkpoint_belongs_to_one_sweep(tmp_path: Path):
    file = tmp_path / "done.jsonl"

    def again(r: stowplan.Analysis) -> int:
        with pytest.raises(stowplan.Error, match="another sweep"):
            stowplan.sweep(SEED_PATHS, total, checkpoint=file, workers=0)
        return 1

    assert stowplan.sweep(SEED_PATHS[:1], again, checkpoint=file, workers=0).values == [1]


def test_a_checkpoint_that_was_hardly_begun(tmp_path: Path):
    """Killed as it made the file: any part of the first line is as good as none."""
    whole = tmp_path / "whole.jsonl"
    stowplan.sweep([], total, checkpoint=whole, workers=0)
    first = whole.read_bytes()
    assert first.endswith(b"}\n")
    for length in range(len(first)):
        file = tmp_path / "cut.jsonl"
        file.write_bytes(first[:length])
        result = stowplan.sweep(SEED_PATHS[:1], total, checkpoint=file, workers=0)
        assert not result[0].is_resumed
        assert file.read_bytes().startswith(first)
        again = stowplan.sweep(SEED_PATHS[:1], total, checkpoint=file, workers=0)
        assert again[0].is_resumed
    # But what only looks like it is somebody's own.
    for other in (b'{"schema": "other"', b'{"schema": "stowplan.sweep/1" ', b"{\n", b"x"):
        file.write_bytes(other)
        if other.startswith(first.rstrip(b"}\n")):
            continue
        with pytest.raises(stowplan.Error, match="not a checkpoint"):
            stowplan.sweep(SEED_PATHS[:1], total, checkpoint=file, workers=0)
        assert file.read_bytes() == other
