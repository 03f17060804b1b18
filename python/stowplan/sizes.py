# SPDX-License-Identifier: Apache-2.0
"""Readable sizes such as 14GiB. Units are powers of 1024, as on the command line."""

from __future__ import annotations

import operator

from . import _core, arguments
from .errors import ArgumentError, Error


def parse_size(size: int | float | str) -> int:
    """The bytes of a size such as 4096, "512K", "16GiB" or "1.5G".

    >>> parse_size("1.5GiB")
    1610612736
    """
    if isinstance(size, str):
        parsed = _core.parse_bytes(arguments.encodable(size))
        if parsed is None:
            raise Error(f"{arguments.shown(size)} is not a size\n  such as 4096, '512MiB', '16G'")
        return parsed
    try:
        number = size if isinstance(size, float) else operator.index(size)
    except TypeError:
        number = None
    if number is None or isinstance(size, bool):
        raise ArgumentError(
            f"a size is a number or a text such as '14GiB', not {arguments.shown(size)}"
        )
    if not 0 <= number < 1 << 63:
        raise Error(f"{arguments.shown(size)} is not a number of bytes")
    return int(number)


def format_size(size: int) -> str:
    """A size as on the command line: rounded, then exact.

    >>> format_size(1610612736)
    '1.50GiB (1610612736)'
    """
    number = arguments.whole(size, "size", "a number of bytes")
    return f"-{_core.human_bytes(-number)}" if number < 0 else _core.human_bytes(number)
