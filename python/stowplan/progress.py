# SPDX-License-Identifier: Apache-2.0
"""A line on standard error that is overwritten."""

from __future__ import annotations

import sys
from typing import Any


def _is_terminal(stream: Any) -> bool:
    """Programs may replace standard error by objects of their own, or close it."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


class Progress:
    """Shown on terminals, or as `wanted` says. Failing to show it is not an error."""

    def __init__(self, wanted: bool | None = None) -> None:
        self._stream: Any = sys.stderr
        self._is_on = _is_terminal(self._stream) if wanted is None else wanted
        self._width = 0

    def show(self, line: str) -> None:
        line = f"stowplan: {line}"[:79]
        self._write(f"\r{line:<{self._width}}")
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            self._write(f"\r{'':<{self._width}}\r")
        self._width = 0

    def _write(self, text: str) -> None:
        if not self._is_on:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (AttributeError, OSError, ValueError):
            self._is_on = False
