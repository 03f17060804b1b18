# SPDX-License-Identifier: Apache-2.0
"""explain_oom: exceptions as frameworks raise them, and texts."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, ROOT, run_program

LOGS = ROOT / "examples" / "oom"
NAMES = sorted(path.name for path in LOGS.glob("*.log"))
SHORT = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes."


class JaxRuntimeError(RuntimeError):
    """As JAX names it; Stowplan must not need JAX to know it."""


class XlaRuntimeError(RuntimeError):
    """As older JAX names it."""


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.mark.parametrize("name", NAMES)
def test_same_as_the_command_line(name: str) -> None:
    report = stowplan.explain_oom(LOGS / name)
    page = run_program("explain-oom", LOGS / name)
    # What to do next is said in Python, and incidents are counted as Python counts.
    page, commands = page.split("\nNext\n")
    page = re.sub(
        r"(?m)^(  [* ] )( *\d+)(\. line )", lambda m: f"{m[1]}{int(m[2]) - 1:>2}{m[3]}", page
    ).replace("--incident=N", "incident=N")
    assert str(report).startswith(page)
    words = str(report).removeprefix(page)
    assert "stowplan explain" in commands and "stowplan explain" not in words
    assert "stowplan.analyze" in words
    assert report.to_json() == run_program("explain-oom", LOGS / name, "--format=json")
    assert report.causes and report.fixes and report.headline
    assert report == stowplan.explain_oom((LOGS / name).read_bytes())
    assert report == stowplan.explain_oom(str(LOGS / name))


def test_typed_and_frozen() -> None:
    report = stowplan.explain_oom(LOGS / "gpu_training.log")
    assert report.incident.backend == "GPU"
    assert report.framework == "JAX"
    assert report.causes[0].kind == "pool-small"
    assert report.fixes[0].how == ("XLA_PYTHON_CLIENT_MEM_FRACTION=.95",)
    assert report.fixes[0].is_enough
    assert report.buffers[0].source_line == 161
    assert report.lack == stowplan.OomSize(1688460800)
    assert str(report.lack) == "1.57GiB (1688460800)"
    assert str(report.buffers[0].size) == "3.07GiB"
    assert int(report.incident.limit or 0) == 18 << 30
    figures = {figure.name: figure.size.bytes for figure in report.figures}
    assert figures["wanted"] - figures["free"] == figures["lacking"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.chosen = 1  # type: ignore[misc]
    assert repr(report) == "<stowplan.OomReport GPU: pool-small, pool-full, temporaries>"
    assert report._repr_html_().startswith("<pre>out of memory on a GPU\n")
    assert json.loads(report.to_json())["schema"] == "stowplan.oom/1"


@pytest.mark.parametrize("kind", [JaxRuntimeError, XlaRuntimeError, RuntimeError, ValueError])
def test_exceptions(kind: type[Exception]) -> None:
    report = stowplan.explain_oom(raised(kind(SHORT)))
    assert report.incident.requested == stowplan.OomSize(6291456)
    assert report.incident.count == 1
    assert report.raised_at.endswith("in raised")
    assert Path(__file__).name in report.raised_at
    # One that was never raised has no place.
    assert stowplan.explain_oom(kind(SHORT)).raised_at == ""


def test_long_message() -> None:
    message = (LOGS / "tpu_padding.log").read_text().split("XlaRuntimeError: ")[1]
    report = stowplan.explain_oom(raised(XlaRuntimeError(message)))
    assert report.causes[0].kind == "padding"
    assert report.buffers == stowplan.explain_oom(LOGS / "tpu_padding.log").buffers


def test_chains() -> None:
    def chained(inner: BaseException) -> BaseException:
        try:
            try:
                raise inner
            except BaseException as error:
                raise RuntimeError("the step failed") from error
        except RuntimeError as error:
            return error

    assert stowplan.explain_oom(chained(JaxRuntimeError(SHORT))).incident.kind == "buffer"
    try:
        try:
            raise JaxRuntimeError(SHORT)
        except JaxRuntimeError:
            raise KeyError("while cleaning up")  # noqa: B904
    except KeyError as error:
        assert stowplan.explain_oom(error).incident.kind == "buffer"
    group = ExceptionGroup("workers", [ValueError("no"), JaxRuntimeError(SHORT)])
    assert stowplan.explain_oom(raised(group)).incident.kind == "buffer"
    noted = RuntimeError("worker 3 died")
    noted.add_note(SHORT)
    assert stowplan.explain_oom(noted).incident.kind == "buffer"


def test_several_incidents() -> None:
    text = (LOGS / "tpu_kernel.log").read_text() + (LOGS / "gpu_training.log").read_text()
    report = stowplan.explain_oom(text)
    assert [incident.kind for incident in report.incidents] == ["scoped", "buffer"]
    assert report.chosen == 1
    first = stowplan.explain_oom(text, incident=0)
    assert first.causes[0].kind == "kernel"
    with pytest.raises(stowplan.Error, match="there is no incident 2"):
        stowplan.explain_oom(text, incident=2)


@pytest.mark.parametrize("text", ["", "all is well", b"\xff\x00\x1b[", "loss\n" * 1000])
def test_nothing_to_explain(text: str | bytes) -> None:
    with pytest.raises(stowplan.Error, match="nothing in it says that memory ran out"):
        stowplan.explain_oom(text)


def test_other_exceptions() -> None:
    with pytest.raises(stowplan.Error, match="nothing in it"):
        stowplan.explain_oom(raised(ValueError("shapes do not match")))
    with pytest.raises(FileNotFoundError):
        stowplan.explain_oom(Path("no/such/log"))


def test_bytes_that_are_no_text() -> None:
    report = stowplan.explain_oom(SHORT.encode() + b' op_name="\xff\xfe\x1b[31m"')
    assert "\x1b" not in str(report)


def test_dump() -> None:
    before = CORPUS / "explain" / "story" / "before"
    report = stowplan.explain_oom(LOGS / "cpu_story.log", dump=before)
    assert report.dump is not None
    assert report.dump["is_same"]
    assert report.dump["advice"][0]["saved_bytes"] > 0
    assert "donate_argnames=('params',)" in str(report)
    assert stowplan.explain_oom(LOGS / "cpu_story.log").dump is None
    with pytest.raises(stowplan.Error):
        stowplan.explain_oom(LOGS / "cpu_story.log", dump="no/such/dump")


def test_nothing_else_is_imported() -> None:
    code = (
        "import stowplan, sys; stowplan.explain_oom('Out of memory allocating 5000 bytes.');"
        "print([name for name in ('jax', 'numpy', 'pandas', 'IPython') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_real_one() -> None:
    jax = pytest.importorskip("jax")
    # More than a process can address: where memory is overcommitted, less would be granted.
    zeros = jax.jit(lambda: jax.numpy.zeros(1 << 48, "int8"))
    with pytest.raises(Exception, match="RESOURCE_EXHAUSTED") as caught:
        zeros().block_until_ready()
    report = stowplan.explain_oom(caught.value)
    assert report.incident.requested == stowplan.OomSize(1 << 48)
    assert report.incident.backend == "CPU"
    assert report.framework == "JAX"
    assert "test_a_real_one" in report.raised_at


@pytest.mark.parametrize(
    "x",
    [
        raised(MemoryError()),
        raised(ExceptionGroup("loaders", [MemoryError()])),
        'Traceback (most recent call last):\n  File "a.py", line 1\nMemoryError\n',
    ],
)
def test_memory_error_of_python(x: BaseException | str) -> None:
    with pytest.raises(stowplan.Error, match="Python ran out of host memory"):
        stowplan.explain_oom(x)


def test_a_library_of_cpus_failed() -> None:
    """As JAX 0.10.2 raises it when YNNPACK has no memory."""
    error = raised(RuntimeError("INTERNAL: YNNPACK operation failed: error"))
    for x in (error, f"allocate of <5> failed.\n{error}\n"):
        with pytest.raises(stowplan.Error, match="YNNPACK, XLA's library for CPUs, failed"):
            stowplan.explain_oom(x)


def test_source_lines_are_no_log() -> None:
    def fail() -> None:
        raise ValueError("no")  # RESOURCE_EXHAUSTED: Out of memory allocating 5000 bytes.

    with pytest.raises(ValueError) as caught:
        fail()
    with pytest.raises(stowplan.Error, match="nothing in it"):
        stowplan.explain_oom(caught.value)
    # With another cause, and through the same line.
    caught.value.add_note(SHORT)
    assert stowplan.explain_oom(caught.value).incident.requested == stowplan.OomSize(6291456)


def test_a_log_that_is_not_there() -> None:
    for path in ("no/such/file", "train.log", "train of monday.txt"):
        with pytest.raises(stowplan.MissingFileError, match=path):
            stowplan.explain_oom(path)
    with pytest.raises(stowplan.MissingFileError):
        stowplan.explain_oom(Path("no/such/log"))
    with pytest.raises(stowplan.Error, match="nothing in it"):
        stowplan.explain_oom("loss and/or accuracy")
    assert stowplan.explain_oom(f"{SHORT} at jit(f)/dot").incident.kind == "buffer"


@pytest.mark.parametrize("x", [7, None, [SHORT], 1 << 40, MemoryError])
def test_wrong_types(x: object) -> None:
    with pytest.raises(stowplan.Error, match="takes an exception, the text of a log, or its path"):
        stowplan.explain_oom(x)  # type: ignore[arg-type]


def test_raised_at_is_no_line_of_the_standard_library() -> None:
    def work() -> None:
        raise JaxRuntimeError(SHORT)

    with ThreadPoolExecutor(1) as pool, pytest.raises(JaxRuntimeError) as caught:
        pool.submit(work).result()
    assert stowplan.explain_oom(caught.value).raised_at.endswith("in work")
    # Raised by the library itself: the line that called it.
    future: Future[None] = Future()
    future.set_exception(JaxRuntimeError(SHORT))
    with pytest.raises(JaxRuntimeError) as caught:
        future.result()
    where = stowplan.explain_oom(caught.value).raised_at
    assert where.endswith("in test_raised_at_is_no_line_of_the_standard_library")
