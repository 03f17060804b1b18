# SPDX-License-Identifier: Apache-2.0
"""Checks arguments, so that error messages use the caller's own names."""

from __future__ import annotations

import difflib
import itertools
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any

from .errors import ArgumentError, Error

FOREVER = 1e9  # seconds
_LARGEST = (1 << 63) - 1


def shown(value: object) -> str:
    """A value for use in a message: at most one line."""
    try:
        text = repr(value)
    except Exception:  # an int of more digits than Python writes; somebody's own __repr__
        size = f" of {value.bit_length()} bits" if isinstance(value, int) else ""
        return f"<{type(value).__qualname__}{size}>"
    return text if len(text) <= 60 else f"{text[:50]}... ({type(value).__qualname__})"


def written(value: object) -> str:
    """A value as text; in the short form of messages if it is too long for Python to write."""
    try:
        return str(value)
    except ValueError:
        return shown(value)


def whole(value: Any, name: str, wanted: str, *, least: int | None = None) -> int:
    """A whole number, possibly from NumPy. `wanted` describes it: "a number of rows, 0: all"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}={shown(value)}: expected {wanted}") from None
    if isinstance(value, bool):
        raise ArgumentError(f"{name}={value}: expected {wanted}")
    if (least is not None and number < least) or abs(number) > _LARGEST:
        raise Error(f"{name}={shown(value)}: expected {wanted}")
    return number


def rows(limit: Any) -> int:
    """The maximum number of rows on a page."""
    return whole(limit, "limit", "a number of rows, 0: all", least=0)


def seconds(value: Any, name: str = "time_limit") -> float | None:
    """Seconds, or None: no limit."""
    if value is None:
        return None
    wanted = "expected seconds, 0 or more, such as 0.5 or 60"
    if isinstance(value, bool | str | bytes):
        raise ArgumentError(f"{name}={shown(value)}: {wanted}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}={shown(value)}: {wanted}") from None
    if not number >= 0:
        raise Error(f"{name}={shown(value)}: {wanted}")
    return min(number, FOREVER)


def text(value: Any, name: str, wanted: str) -> str:
    """A str, "" for None."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}={shown(value)}: expected {wanted}, as a str")
    return encodable(value)


def encodable(value: str) -> str:
    """The same, as valid Unicode: the core takes no lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Error(f"{shown(value)} is not valid Unicode: it cannot be written as UTF-8") from None
    return value


def names(target: Any, xla_version: Any) -> dict[str, str]:
    """The machine and the release, for the core, which checks their names."""
    return {
        "target": text(target, "target", 'the name of a machine, such as "cpu" or "tpu-v5e"'),
        "xla_version": text(xla_version, "xla_version", 'a release, such as "jaxlib-0.11.2"'),
    }


def settings(
    target: Any, xla_version: Any, allow_unsound: bool = False, allow_unchecked: bool = False
) -> dict[str, Any]:
    """The same, and which unsound or unchecked plans to accept."""
    return {
        **names(target, xla_version),
        "allow_unsound": bool(allow_unsound),
        "allow_unchecked": bool(allow_unchecked),
    }


def own_code(source_root: Any, own: Any) -> dict[str, Any]:
    """Which lines are the user's own."""
    patterns = [own] if isinstance(own, str) else list(own)
    return {
        "source_root": "" if source_root is None else path(source_root, "source_root"),
        "own": [text(pattern, "own", "a pattern such as 'mylib'") for pattern in patterns],
    }


def choice(value: Any, name: str, choices: dict[str, str]) -> str:
    """One of these words, in upper or lower case; `words` has the meaning of each."""
    if isinstance(value, str) and value.lower() in choices:
        return value.lower()
    kind = Error if isinstance(value, str) else ArgumentError
    listed = ", ".join(f"{word!r} {meaning}".rstrip() for word, meaning in choices.items())
    raise kind(f"there is no {name} {shown(value)}\n  {listed}")


def path(value: Any, name: str) -> str:
    """The name of a file or directory."""
    try:
        decoded = encodable(os.fsdecode(value))
    except TypeError:
        raise ArgumentError(f"{name}={shown(value)}: expected a path") from None
    if "\0" in decoded:
        raise Error(f"{name}={shown(value)}: a path has no NUL in it")
    return decoded


def function(value: Any, name: str, wanted: str) -> Callable[..., Any]:
    """Something to call."""
    if not callable(value):
        raise ArgumentError(f"{name}={shown(value)}: expected {wanted}")
    called: Callable[..., Any] = value
    return called


_MOST_NAMES = 10_000  # comparing more takes seconds


def nearest(word: str, words: Iterable[str]) -> str:
    """ "did you mean `x`?", or empty."""
    close = difflib.get_close_matches(word.lower(), list(itertools.islice(words, _MOST_NAMES)), 1)
    return f"did you mean `{close[0]}`?" if close else ""
