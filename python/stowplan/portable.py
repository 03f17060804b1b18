# SPDX-License-Identifier: Apache-2.0
"""Sends functions to other processes, and recognizes them again.

A function of a module is sent by name. A lambda, a local function or one from a notebook has no
name that another process could look up, so its code is sent, with its closure and the globals that
it names.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib
import marshal
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from . import _core
from .errors import Error


def names_in(code: CodeType) -> set[str]:
    """The globals that the code may name, including those in nested functions."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in(constant)
    return names


def _globals_of(function: FunctionType) -> dict[str, Any]:
    known = function.__globals__
    return {name: known[name] for name in sorted(names_in(function.__code__)) if name in known}


# There and back.


def _has_name(function: FunctionType) -> bool:
    """Whether another process finds it by its name."""
    module = sys.modules.get(function.__module__)
    if module is None:
        return False
    if module.__name__ == "__main__" and not os.path.exists(getattr(module, "__file__", "")):
        return False  # of a notebook or a prompt
    try:
        found: Any = functools.reduce(getattr, function.__qualname__.split("."), module)
    except AttributeError:
        return False
    return found is function


def _pack(value: Any, packed: dict[int, int], parts: list[Any]) -> tuple[str, Any]:
    """A value in a form that pickle supports. Functions without a name are added to the parts."""
    if isinstance(value, ModuleType):
        return "module", value.__name__
    if isinstance(value, functools.partial):
        inside = (value.func, list(value.args), value.keywords)
        return "partial", [_pack(part, packed, parts) for part in inside]
    if not isinstance(value, FunctionType) or _has_name(value):
        return "value", value
    if id(value) in packed:
        return "function", packed[id(value)]
    at = packed[id(value)] = len(parts)
    parts.append(None)  # itself may be among what it names
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    parts[at] = (
        marshal.dumps(value.__code__),
        value.__name__,
        value.__qualname__,
        value.__defaults__,
        value.__kwdefaults__,
        [_pack(cell, packed, parts) for cell in cells],
        {name: _pack(known, packed, parts) for name, known in _globals_of(value).items()},
    )
    return "function", at


def dump(function: Callable[..., Any]) -> bytes:
    """The function as bytes."""
    parts: list[Any] = []
    try:
        return pickle.dumps((_pack(function, {}, parts), parts))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
        raise Error(
            f"{name_of(function)} cannot go to another process: {error}\n"
            "  put it into a module, or use workers=0"
        ) from error


def _made(part: Any) -> FunctionType:
    """The function of a part, without its globals and closure."""
    code, name, qualname, defaults, keywords, cells, _ = part
    known: dict[str, Any] = {"__builtins__": builtins, "__name__": "__main__"}
    empty = tuple(CellType() for _ in cells)
    function = FunctionType(marshal.loads(code), known, name, defaults, empty)
    function.__qualname__ = qualname
    function.__kwdefaults__ = keywords
    return function


def load(data: bytes) -> Callable[..., Any]:
    """The function from these bytes."""
    packed, parts = pickle.loads(data)
    functions = [_made(part) for part in parts]

    def value_of(packed: tuple[str, Any]) -> Any:
        how, what = packed
        if how == "module":
            return importlib.import_module(what)
        if how == "partial":
            function, arguments, keywords = (value_of(part) for part in what)
            return functools.partial(function, *arguments, **keywords)
        return functions[what] if how == "function" else what

    for function, part in zip(functions, parts, strict=True):
        for cell, inside in zip(function.__closure__ or (), part[5], strict=True):
            cell.cell_contents = value_of(inside)
        function.__globals__.update({name: value_of(known) for name, known in part[6].items()})
    loaded: Callable[..., Any] = value_of(packed)
    return loaded


# Knowing it again.


def name_of(function: Callable[..., Any]) -> str:
    """The name to show."""
    inner = function.func if isinstance(function, functools.partial) else function
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    return f"{getattr(inner, '__module__', '')}.{name}"


def _word_of(value: Any) -> str:
    # Python writes no int of thousands of digits in decimal.
    is_long = type(value) is int and value.bit_length() > 2048
    return hex(value) if is_long else repr(value)


def _words_of_constant(value: Any) -> Iterator[str]:
    if isinstance(value, CodeType):
        yield from _words_of_code(value)
    elif isinstance(value, frozenset):  # its order changes from process to process
        yield from sorted(map(_word_of, value))
    elif isinstance(value, tuple):
        for part in value:
            yield from _words_of_constant(part)
    else:
        yield _word_of(value)


def _words_of_code(code: CodeType) -> Iterator[str]:
    """What it does, without where its lines are."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    # The first constant can be the docstring; a changed one costs no more than another run.
    for constant in code.co_consts:
        yield from _words_of_constant(constant)


def _words_of(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, str | int | float | bytes | None):
        yield _word_of(value)
        return
    if isinstance(value, set | frozenset):  # as above
        yield from ("set", *sorted(map(_word_of, value)))
        return
    if id(value) in seen:
        yield "again"
        return
    seen.add(id(value))
    if isinstance(value, functools.partial):
        yield "partial"
        for part in (value.func, value.args, value.keywords):
            yield from _words_of(part, seen)
    elif isinstance(value, FunctionType):
        yield f"{value.__module__}.{value.__qualname__}"
        yield from _words_of_code(value.__code__)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        for part in (value.__defaults__, value.__kwdefaults__, *cells):
            yield from _words_of(part, seen)
        for name, known in _globals_of(value).items():
            # Those of other modules are taken to be as they were.
            if getattr(known, "__module__", None) in (value.__module__, None):
                yield name
                yield from _words_of(known, seen)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}"
        for name, member in sorted(vars(value).items()):
            if isinstance(member, FunctionType):
                yield name
                yield from _words_of(member, seen)
    elif isinstance(value, list | tuple):
        yield f"{len(value)} of"
        for part in value:
            yield from _words_of(part, seen)
    elif isinstance(value, dict):
        yield f"{len(value)} pairs of"
        for pair in value.items():
            yield from (*_words_of(pair[0], seen), *_words_of(pair[1], seen))
    else:
        yield from _words_of(type(value), seen)
        try:
            yield pickle.dumps(value).hex()
        except Exception:  # it has no stable value
            yield "?"


def digest(function: Callable[..., Any]) -> str:
    """A digest that is the same for functions that do the same, and that changes with their code or
    values.

    Functions and values of its own module are followed; other modules are assumed not to change,
    except for Stowplan's version.
    """
    state = hashlib.blake2b(digest_size=16)
    versions = f"{sys.version_info.major}.{sys.version_info.minor} {_core.version()}"
    for word in (versions, *_words_of(function, set())):
        state.update(word.encode(errors="replace") + b"\0")
    return state.hexdigest()
