# SPDX-License-Identifier: Apache-2.0
"""sweep in whole programs: stopped runs, scripts, prompts, terminals, workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
import stowplan
from conftest import ROOT, SEEDS
from stowplan import portable, sweep_workers
from sweeps import SEED_PATHS, expected, total


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


class Tee:
    """What programs put in place of standard error."""

    def __init__(self, error: Exception | None = None):
        self.written: list[str] = []
        self._error = error

    def write(self, text: str):
        if self._error:
            raise self._error
        self.written.append(text)

    def flush(self):
        pass


@pytest.mark.parametrize("stream", [None, Tee(), Tee(BrokenPipeError())])
def test_standard_error_of_all_kinds(stream: Tee | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", stream)
    for progress in (None, True):
        result = stowplan.sweep(SEED_PATHS[:1], workers=0, progress=progress)
        assert len(result) == 1
        if stream is not None:
            assert bool(stream.written) == (progress is True and stream._error is None)


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
