# SPDX-License-Identifier: Apache-2.0
"""Turns the inputs of `sweep` into tasks: one per module, with a name and a digest."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pickle
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _core
from .analysis import Analysis
from .errors import Error
from .inputs import _is_text, check_object

_TEXT_NAME = re.compile(rb"\s*HloModule[ \t]+([^\s,{]+)")


def module_name(data: bytes) -> str:
    """The name at the beginning of a module, text or proto; empty: there is none.

    Naming a task must not require reading the whole module.
    """
    found = _TEXT_NAME.match(data)
    if found is not None:
        return found[1].decode(errors="replace")
    # HloModuleProto begins with its name, HloProto with the module: each is field 1.
    for _ in range(2):
        size, at = 0, 1
        while at < min(len(data), 10) and data[:1] == b"\x0a":
            byte = data[at]
            size |= (byte & 0x7F) << (7 * (at - 1))
            at += 1
            if byte < 0x80:
                break
        data = data[at : at + size]
        if data.isascii() and data.decode("ascii", "replace").isprintable():
            return data.decode()
    return ""


@dataclass(frozen=True, slots=True)
class Task:
    """An input that `analyze` takes."""

    index: int
    name: str  # no two tasks have the same
    digest: str  # of the bytes; of files: of their sizes and times
    data: bytes  # the input, pickled


def tasks_of(inputs: Any) -> list[Task]:
    """One for each module, in the order of the inputs."""
    tasks: list[Task] = []
    counts: dict[str, int] = {}
    for name, x in _named(inputs):
        for own_name, part in _modules_of(name, x):
            counts[own_name] = count = counts.get(own_name, 0) + 1
            unique = own_name if count == 1 else f"{own_name} #{count}"
            tasks.append(_task(len(tasks), unique, part))
    return tasks


def _named(inputs: Any) -> list[tuple[str | None, Any]]:
    if isinstance(inputs, Mapping):
        return [(str(name), x) for name, x in inputs.items()]
    if isinstance(inputs, str | bytes | bytearray | os.PathLike):
        return [(None, inputs)]
    if isinstance(inputs, Iterable):
        return [(None, x) for x in inputs]
    return [(None, inputs)]


def _modules_of(name: str | None, x: Any) -> list[tuple[str, Any]]:
    """A directory may have many modules; anything else is one."""
    if isinstance(x, os.PathLike) or (isinstance(x, str) and not _is_text(x)):
        path = os.fspath(x)
        if os.path.isdir(path):
            try:
                found = _core.find_modules(path)
            except Error:  # whoever loads it will say why
                found = []
            if found:
                return [(os.path.join(name or path, module), paths) for module, paths in found]
        return [(name or path, path)]
    if isinstance(x, list | tuple) and x:
        return [(name or os.fsdecode(x[0]), [os.fsdecode(path) for path in x])]
    if isinstance(x, str):
        return [(name or module_name(x.encode()) or "<text>", x)]
    if isinstance(x, bytes | bytearray | memoryview):
        data = bytes(x)
        return [(name or module_name(data) or f"<{len(data)} bytes>", data)]
    sent = _to_send(x)
    return [(name or _name_of(sent if isinstance(sent, Sent) else x), sent)]


def _name_of(x: Any) -> str:
    name = x.extracted.name if isinstance(x, Sent) else getattr(x, "name", None)
    return name if isinstance(name, str) else f"<{type(x).__qualname__}>"


def _to_send(x: Any) -> Any:
    """A program in memory, in a form that can be sent to a process."""
    if isinstance(x, Analysis):
        raise Error(
            f"{x.name}: an Analysis cannot be sent to another process\n"
            "  give what it was made from: a path, bytes, or a Compiled of JAX"
        )
    for method in ("as_serialized_hlo_module_proto", "SerializeToString"):
        if hasattr(x, method):
            return getattr(x, method)()
    check_object(x)
    from . import jax_inputs

    return Sent(dataclasses.replace(jax_inputs.extract(x)))


@dataclass(frozen=True, slots=True)
class Sent:
    """A program of JAX, without JAX; `analyze` takes it."""

    extracted: Any


def _task(index: int, name: str, x: Any) -> Task:
    data = pickle.dumps(x)
    state = hashlib.blake2b(digest_size=16)
    if isinstance(x, str) and not _is_text(x):
        x = [x]
    if isinstance(x, list):
        for path in x:
            state.update(os.path.abspath(path).encode(errors="replace") + b"\0")
            try:
                status = os.stat(path)
                state.update(f"{status.st_size} {status.st_mtime_ns}".encode())
            except (OSError, ValueError):
                state.update(b"missing")
    else:
        state.update(data)
    return Task(index, name, state.hexdigest(), data)
