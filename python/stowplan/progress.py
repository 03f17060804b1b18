# SPDX-License-Identifier: Apache-2.0
"""One line on standard error that is written over."""

from __future__ import annotations

import sys


class Progress:
    """Shown on terminals, or as `wanted` says."""

    def __init__(self, wanted: bool | None = None) -> None:
        self._stream = sys.stderr
        self._is_on = self._stream.isatty() if wanted is None else wanted
        self._width = 0

    def show(self, line: str) -> None:
        if not self._is_on:
            return
        line = f"stowplan: {line}"[:79]
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        if not self._is_on or not self._width:
            return
        self._stream.write(f"\r{'':<{self._width}}\r")
        self._stream.flush()
        self._width = 0
