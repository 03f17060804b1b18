# SPDX-License-Identifier: Apache-2.0
"""Turns the argument of explain_oom into the text of a log."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from types import TracebackType

from . import arguments
from .errors import ArgumentError, Error, MissingFileError

# The standard library, and Stowplan where it is not installed.
_NOT_THE_USERS = tuple(os.path.dirname(path) + os.sep for path in (os.__file__, __file__))


def _is_users(path: str) -> bool:
    if {"site-packages", "dist-packages"} & set(Path(path).parts):
        return False
    return not path.startswith(("<frozen ", *_NOT_THE_USERS))


def line_of(trace: TracebackType | None) -> str:
    """The innermost line that belongs to no installed package."""
    found = ""
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        if _is_users(code.co_filename):
            found = f"{code.co_filename}:{line} in {code.co_name}"
    return found


def _format(error: BaseException) -> str:
    """With causes, contexts, groups and notes, but without source lines, whose comments and strings
    must not be mistaken for a log.
    """
    whole = traceback.TracebackException.from_exception(error)
    todo: list[traceback.TracebackException | None] = [whole]
    seen: set[int] = set()
    while todo:
        part = todo.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [
                traceback.FrameSummary(
                    frame.filename, frame.lineno, frame.name, lookup_line=False, line=""
                )
                for frame in part.stack
            ]
        )
        todo += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
    return "".join(whole.format())


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(arguments.path(path, "exc_or_text")).read_bytes()
    except FileNotFoundError as error:
        raise MissingFileError(f"{os.fspath(path)}: there is no such file") from error
    except IsADirectoryError as error:
        raise Error(
            f"{os.fspath(path)}: this is a directory, not a log\n  give a dump as dump="
        ) from error


def text_of(x: BaseException | str | bytes | os.PathLike[str]) -> bytes:
    """Everything that was written, as one text."""
    if isinstance(x, BaseException):
        return _format(x).encode("utf-8", "replace")
    if isinstance(x, os.PathLike):
        return _read(x)
    if isinstance(x, str):
        if "\n" not in x and len(x) < 4096 and os.path.exists(x):
            return _read(x)
        return x.encode("utf-8", "replace")
    if not isinstance(x, bytes | bytearray | memoryview):
        kind = type(x).__qualname__
        raise ArgumentError(
            f"explain_oom takes an exception, the text of a log, or its path; not a value of {kind}"
        )
    return bytes(x)


NOTHING = "nothing in it says that memory ran out"
_MEMORY_ERROR = re.compile(r"[\s|]*[\w.]*MemoryError(:.*)?")


def better_error(x: BaseException | str | bytes | os.PathLike[str], text: bytes) -> Error | None:
    """A better error for a text in which the core found nothing; None: there is none."""
    if isinstance(x, str) and "\n" not in x:
        is_path = x.endswith((".log", ".txt")) or ("/" in x and not re.search(r"\s", x))
        if is_path and not os.path.exists(x):
            return MissingFileError(f"{x}: there is no such file")
    if b"YNNPACK operation failed" in text:
        return Error(
            "YNNPACK, XLA's library for CPUs, failed, as it also does for lack of memory\n"
            "  lines such as `allocate of <5> failed.` on standard error show that it was memory,\n"
            "  which the library takes outside XLA's plan; a smaller batch helps"
        )
    lines = text.decode("utf-8", "replace").rstrip().splitlines()
    if not isinstance(x, BaseException):
        lines = lines[-1:]  # a log is about how it ended
    if not any(_MEMORY_ERROR.fullmatch(line) for line in lines):
        return None
    return Error(
        "Python ran out of host memory: a MemoryError, without figures to explain\n"
        "  no device and no plan of XLA is involved: look at what the process itself holds\n"
        "  (data sets, copies of arrays), and at its limit (ulimit -v, the container's)"
    )
