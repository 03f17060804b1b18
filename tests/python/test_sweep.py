# SPDX-License-Identifier: Apache-2.0
"""sweep: the same answers however it runs, and nothing lost when something dies."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, MODULE, ROOT, SEEDS, run_program
from stowplan import portable, sweep_workers

SEED_PATHS = sorted(SEEDS.glob("seed_*.txt"))


def total(r: stowplan.Analysis) -> int:
    return r.total_bytes


def name_and_total(r: stowplan.Analysis) -> tuple[str, int]:
    return r.name, r.total_bytes


LONG = 10**5000  # more digits than Python writes


def long_number(r: stowplan.Analysis) -> int:
    return LONG + r.total_bytes


def fail_on_small(r: stowplan.Analysis) -> int:
    if r.total_bytes < 1 << 20:
        raise ValueError(f"{r.total_bytes} is small")
    return r.total_bytes


def die(marks: str, times: int, r: stowplan.Analysis) -> int:
    """Kills its process the first times that it sees seed_002."""
    if r.name == "seed_002":
        seen = len(list(Path(marks).glob("death*")))
        if seen < times:
            (Path(marks) / f"death{seen}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return r.total_bytes


def mark(marks: str, r: stowplan.Analysis) -> int:
    """Leaves a trace of each call."""
    (Path(marks) / f"{r.name}.{time.monotonic_ns()}").touch()
    return r.total_bytes


def expected(path: Path) -> int:
    return json.loads(run_program("report", path, "--format=json"))["total_bytes"]


# What it answers.


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
    with pytest.raises(stowplan.Error, match="cannot go to another process"):
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


# What goes wrong.


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
    assert "SIGKILL; the system ends processes so when memory runs out" in str(error)
    assert len(result.values) == 4


# What was done stays done.


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
    assert other.notes == ["3 results of another function are not used"]
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
        with pytest.raises(stowplan.Error, match="no checkpoint"):
            stowplan.sweep(SEED_PATHS, total, checkpoint=file)
        assert file.read_text() == text


def test_a_checkpoint_belongs_to_one_sweep(tmp_path: Path):
    file = tmp_path / "done.jsonl"

    def again(r: stowplan.Analysis) -> int:
        with pytest.raises(stowplan.Error, match="another sweep"):
            stowplan.sweep(SEED_PATHS, total, checkpoint=file, workers=0)
        return 1

    assert stowplan.sweep(SEED_PATHS[:1], again, checkpoint=file, workers=0).values == [1]


# Whole programs.


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(text))
    return path


SLOW = """
    import sys, time, stowplan

    def slow(r):
        time.sleep(0.3)
        return r.total_bytes

    if __name__ == "__main__":
        result = stowplan.sweep(sys.argv[2:] * 3, slow, checkpoint=sys.argv[1], workers=2)
        print(len(result), len(result.missing), result.interrupted)
        print(sum(outcome.is_resumed for outcome in result))
        print(*result.values)
"""


def wait_for_lines(file: Path, count: int) -> None:
    for _ in range(600):
        if file.exists() and file.read_bytes().count(b"\n") > count:
            return
        time.sleep(0.05)
    raise AssertionError("the sweep does nothing")


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_goes_on(tmp_path: Path, how: signal.Signals):
    # Inputs of the same bytes and path are one for the checkpoint, so they are copied.
    paths = []
    for copy in range(3):
        for path in SEED_PATHS:
            paths.append(tmp_path / f"{path.stem}_{copy}.txt")
            paths[-1].write_bytes(path.read_bytes())
    file = tmp_path / "done.jsonl"
    words = [sys.executable, script(tmp_path, SLOW.replace(" * 3", "")), file, *paths]
    run = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for_lines(file, 3)
    workers = children_of(run.pid)
    assert len(workers) >= 2
    if how == signal.SIGINT:
        os.killpg(run.pid, how)  # as a terminal does
    else:
        os.kill(run.pid, how)
    out, err = run.communicate(timeout=60)
    for _ in range(100):
        if not any(map(is_alive, workers)):
            break
        time.sleep(0.1)
    assert not any(map(is_alive, workers))
    if how == signal.SIGINT:
        assert run.returncode == 0 and err == ""
        done, missing, interrupted = out.splitlines()[0].split()
        assert int(done) >= 3 and int(done) + int(missing) == 15 and interrupted == "True"
    kept = file.read_bytes().count(b"\n") - 1
    assert 3 <= kept < 15
    again = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = again.stdout.splitlines()
    assert lines[0] == "15 0 False"
    assert int(lines[1]) == kept  # nothing that was done is done again
    assert list(map(int, lines[2].split())) == [expected(path) for path in SEED_PATHS] * 3


def test_a_script_without_a_guard_is_told(tmp_path: Path):
    path = script(
        tmp_path,
        """
        import sys, stowplan
        def own(r):
            return r.name
        print(stowplan.sweep(sys.argv[1:], workers=2).values[0].total)
        try:
            stowplan.sweep(sys.argv[1:], own, workers=2)
        except stowplan.Error as error:
            print(error)
        """,
    )
    done = subprocess.run(
        [sys.executable, path, SEED_PATHS[0]],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.startswith(
        f"{expected(SEED_PATHS[0])}\n"
    )  # no worker needs the script for that
    assert '`if __name__ == "__main__":`' in done.stdout


def test_functions_of_a_prompt(tmp_path: Path):
    """As in a notebook: no file has the function."""
    text = """
import stowplan, os
unit = 1024
def inner(r): return r.total_bytes // unit
def outer(r): return inner(r), os.path.basename(r.name)
print(stowplan.sweep({str(SEED_PATHS[0])!r}, outer, workers=1).values)
"""
    done = subprocess.run(
        [sys.executable, "-"],
        input=text.replace("{str(SEED_PATHS[0])!r}", repr(str(SEED_PATHS[0]))),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"[({expected(SEED_PATHS[0]) // 1024}, 'seed_000')]\n"


def test_the_bar_is_for_terminals_only():
    import pty

    code = f"import stowplan; stowplan.sweep({str(SEEDS)!r}, workers=0)"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
    parent, child = pty.openpty()
    subprocess.run(command, stderr=child, check=True)
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "3 of 5" in shown and "█" in shown and "seed_002" in shown
    assert shown.endswith("\r")  # nothing of it stays
    assert max(map(len, shown.split("\r"))) < 80


def test_import_stays_light():
    code = "import stowplan, sys; print(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    heavy = {"ray", "multiprocessing", "numpy", "jax", "pandas", "IPython"}
    assert not heavy & set(modules)
    assert ROOT.exists()


@pytest.mark.parametrize("error", [EOFError, BrokenPipeError, ConnectionResetError])
def test_a_worker_ends_quietly_when_its_parent_is_gone(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pipe:
        sent = 0

        def send(self, _: object) -> None:
            self.sent += 1

        def recv(self) -> object:
            raise error

        def send_bytes(self, _: bytes) -> None:
            raise AssertionError("there is nobody to send to")

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(signal, "pthread_sigmask", lambda *_: None)
    pipe = Pipe()
    sweep_workers._serve(pipe, portable.dump(total))  # type: ignore[arg-type]
    assert pipe.sent == 1


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
        with pytest.raises(stowplan.Error, match="no checkpoint"):
            stowplan.sweep(SEED_PATHS[:1], total, checkpoint=file, workers=0)
        assert file.read_bytes() == other


def test_modules_without_plans_are_swept(tmp_path: Path):
    folder = tmp_path / "dump"
    folder.mkdir()
    for number in (1, 2):
        name = f"module_{number:04}.jit_f{number}.cpu_after_optimizations.txt"
        (folder / name).write_bytes(MODULE.read_bytes())
    result = stowplan.sweep(folder, total, workers=0)
    assert [outcome.name for outcome in result] == [f"{folder}/jit_f1", f"{folder}/jit_f2"]
    assert result.values == [stowplan.analyze(MODULE, target="cpu").total_bytes] * 2
