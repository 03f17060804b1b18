# SPDX-License-Identifier: Apache-2.0
"""Sizes for people: 14GiB. Units are powers of 1024, as on the command line."""

from __future__ import annotations

from . import _core
from .errors import Error


def parse_size(size: int | float | str) -> int:
    """Bytes of 4096, "512K", "16GiB", "1.5G".

    >>> parse_size("1.5GiB")
    1610612736
    """
    if isinstance(size, bool) or not isinstance(size, int | float | str):
        raise Error(f"a size is a number or a text such as '14GiB', not {size!r}")
    if isinstance(size, str):
        parsed = _core.parse_bytes(size)
        if parsed is None:
            raise Error(f"{size!r} is no size\n  such as 4096, '512MiB', '16G'")
        return parsed
    if not 0 <= size < 1 << 63:
        raise Error(f"{size!r} is no number of bytes")
    return int(size)


def format_size(size: int) -> str:
    """As on the command line: digits enough to tell, then the exact number.

    >>> format_size(1610612736)
    '1.50GiB (1610612736)'
    """
    return f"-{_core.human_bytes(-size)}" if size < 0 else _core.human_bytes(size)
