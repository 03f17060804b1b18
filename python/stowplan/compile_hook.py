# SPDX-License-Identifier: Apache-2.0
"""Calls listeners when JAX compiles. Replaces one function of JAX while there are listeners. All
compiles of a process go through it, including those that the compilation cache answers.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from .errors import Error

_MODULE = "jax._src.compiler"
# By preference. The first is in all versions from 0.4.35 to 0.12; the others miss what the
# compilation cache answers.
_FUNCTIONS = ("compile_or_get_cached", "backend_compile_and_load", "backend_compile")


class Listener(Protocol):
    """An exception raised by a listener makes the compile fail."""

    def begin(self, name: str) -> None:
        """A compile begins."""

    def end(self, name: str, executable: Any, device: Any, seconds: float) -> None:
        """A compile has ended. `device` is one of its devices; None: not known."""


# Guards the two below. A compile does not hold it.
_lock = threading.RLock()
_listeners: list[Listener] = []
_replaced: list[tuple[ModuleType, str, Any]] = []


def add_listener(listener: Listener) -> None:
    """Listens from now on, to all threads. Raises Error if this JAX does not allow that."""
    with _lock:
        if not _replaced:
            _replaced.extend(_replace())
        _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    """Stops listening. After the last listener, JAX is restored."""
    with _lock:
        _listeners.remove(listener)
        if _listeners:
            return
        for module, function, original in _replaced:
            setattr(module, function, original)
        _replaced.clear()


def _replace() -> list[tuple[ModuleType, str, Any]]:
    """Replaces JAX's function by ours wherever it is imported by name."""
    try:
        compiler = importlib.import_module(_MODULE)
    except ImportError as error:
        raise Error(f"compiles cannot be listened to: {error}") from error
    for function in _FUNCTIONS:
        original = getattr(compiler, function, None)
        if original is None:
            continue
        ours = _telling(original)
        holders = [
            module
            for name, module in sorted(sys.modules.items())
            if name.startswith("jax.") and getattr(module, "__dict__", {}).get(function) is original
        ]
        for module in holders:
            setattr(module, function, ours)
        return [(module, function, original) for module in holders]
    version = importlib.import_module("jax").__version__
    raise Error(
        f"compiles cannot be listened to: JAX {version} has none of "
        f"{', '.join(_FUNCTIONS)} in {_MODULE}"
    )


def _telling(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_and_tell(*args: Any, **kwargs: Any) -> Any:
        with _lock:
            listeners = tuple(_listeners)
        name = _name_of(args, kwargs)
        for listener in listeners:
            listener.begin(name)
        start = time.perf_counter()
        executable = original(*args, **kwargs)
        seconds = time.perf_counter() - start
        for listener in listeners:
            listener.end(name, executable, _device_of(args), seconds)
        return executable

    return compile_and_tell


def _name_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The module's name, of JAX's arguments: the back end, the module, ..."""
    for arg in (*args[:2], *kwargs.values()):
        try:
            return str(arg.operation.attributes["sym_name"]).strip('"')
        except (AttributeError, KeyError):
            continue
    return "a module"


def _device_of(args: tuple[Any, ...]) -> Any:
    """A device, of JAX's arguments: one of them is an array of devices."""
    for arg in args:
        if str(getattr(arg, "dtype", "")) == "object" and arg.size:
            return arg.flat[0]
    return None
