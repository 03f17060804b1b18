# SPDX-License-Identifier: Apache-2.0
"""The results of a sweep in a file of JSON lines: one line per input, written when it is done.

A killed run leaves at most one incomplete line, which the next run drops. Lines from a different
function, or from an input that has changed since, stay but are not used.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import pickle
from pathlib import Path
from typing import Any

from . import arguments
from .errors import Error, MissingFileError

SCHEMA = "stowplan.sweep/1"


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode() + b"\n"


# What the first line is known by.
_BEGIN = _line({"schema": SCHEMA}).rstrip(b"}\n")


# Python writes and reads longer ones in decimal only as far as it is set to.
_INT_BITS = 2048


def _is_plain(value: Any) -> bool:
    """Whether a round trip through JSON preserves the value."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return value.bit_length() <= _INT_BITS
    if type(value) is float:
        return value - value == 0  # neither infinite nor NaN
    if type(value) is list:
        return all(map(_is_plain, value))
    return type(value) is dict and all(
        type(key) is str and _is_plain(inside) for key, inside in value.items()
    )


def _encode(data: bytes) -> dict[str, Any]:
    """A pickled value: for people where JSON can hold it."""
    try:
        value = pickle.loads(data)
    except Exception:  # reported when the value is used
        value = data
    if _is_plain(value):
        return {"value": value}
    return {"pickle": base64.b64encode(data).decode()}


def _decode(line: dict[str, Any]) -> bytes:
    if "pickle" in line:
        return base64.b64decode(line["pickle"])
    return pickle.dumps(line["value"])


class Checkpoint:
    """An open file belongs to one sweep."""

    def __init__(self, path: str | os.PathLike[str], function: str, function_name: str) -> None:
        self._path = Path(arguments.path(path, "checkpoint"))
        if self._path.is_dir():
            raise Error(f"{self._path}: this is a directory; name a file in it")
        if not self._path.parent.is_dir():
            raise MissingFileError(f"{self._path.parent}: there is no such directory")
        self._function = function
        self._function_name = function_name
        self._done: dict[str, tuple[bytes, float]] = {}
        self.others = 0  # results of another function
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._lock()
            self._read()
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            os.fsync(self._file)
        except OSError as problem:
            if problem.errno != errno.EINVAL:  # a device such as /dev/null keeps nothing
                raise
        finally:
            os.close(self._file)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Error(f"{self._path}: another sweep is writing to it") from error

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].splitlines()
        # A run killed while creating the file leaves part of the first line.
        is_ours = data.startswith(_BEGIN) or _line({"schema": SCHEMA}).startswith(data)
        if not is_ours:
            raise Error(
                f"{self._path}: this is not a checkpoint of a sweep\n"
                "  name a new file; nothing was written"
            )
        if whole < len(data):  # a run was killed while writing
            os.ftruncate(self._file, whole)
        if not lines:
            self._write({"schema": SCHEMA})
        for number, text in enumerate(lines[1:], start=2):
            try:
                self._take(json.loads(text))
            except (ValueError, KeyError, TypeError) as error:
                raise Error(f"{self._path}:{number}: this line is damaged: {error}") from error

    def _take(self, line: dict[str, Any]) -> None:
        if line["function"] != self._function:
            self.others += 1
        elif "error" not in line:
            self._done[line["digest"]] = (_decode(line), float(line["seconds"]))

    def find(self, digest: str) -> tuple[bytes, float] | None:
        """The pickled value of an input and the seconds it took; None: not done, or an error."""
        return self._done.get(digest)

    def add(self, name: str, digest: str, seconds: float, data: bytes) -> None:
        """An input is done."""
        self._add(name, digest, seconds, _encode(data))

    def add_error(self, name: str, digest: str, seconds: float, error: str) -> None:
        """An input has failed; the next run tries it again."""
        self._add(name, digest, seconds, {"error": error})

    def _add(self, name: str, digest: str, seconds: float, rest: dict[str, Any]) -> None:
        line = {
            "input": name,
            "digest": digest,
            "function": self._function,
            "function_name": self._function_name,
            "seconds": round(seconds, 6),
        }
        self._write(line | rest)

    def _write(self, line: dict[str, Any]) -> None:
        data = _line(line)
        while data:  # in one piece, unless the disk is full
            data = data[os.write(self._file, data) :]
