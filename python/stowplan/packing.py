# SPDX-License-Identifier: Apache-2.0
"""pack: storage allocation as numbers, without programs."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import Error
from .sizes import format_size, parse_size

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PackResult:
    """Offsets, and what is proved about them."""

    offsets: list[int] | NDArray[numpy.int64]  # an array where one was given
    bytes: int  # the end of the highest buffer
    bound: int  # no plan is lower than this
    load: int  # bytes that are alive at once
    load_time: int
    status: str  # "optimal", "feasible", "infeasible", "undecided"
    interrupted: bool  # Ctrl-C ended the search

    @property
    def is_optimal(self) -> bool:
        return self.bytes == self.bound

    @property
    def fits(self) -> bool:
        """Whether the plan is within the capacity, if there is one."""
        return self.status in ("optimal", "feasible")

    def __str__(self) -> str:
        how = "optimal" if self.is_optimal else f"no plan is below {format_size(self.bound)}"
        return f"{len(self.offsets)} buffers in {format_size(self.bytes)}, {self.status}: {how}"


def _is_array(x: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)


def _numbers(x: Any, what: str) -> Any:
    """64-bit integers in one piece."""
    if _is_array(x):
        import numpy

        if x.ndim != 1 or not numpy.issubdtype(x.dtype, numpy.integer):
            raise Error(f"{what} is a row of whole numbers, not {x.ndim}-d {x.dtype}")
        if x.dtype == numpy.uint64 and len(x) and int(x.max()) >= 1 << 63:
            raise Error(f"{what} has numbers that do not fit in 64 bits")
        return numpy.ascontiguousarray(x, dtype=numpy.int64)
    try:
        return array("q", x)
    except (TypeError, OverflowError) as error:
        raise Error(f"{what} is a row of whole numbers that fit in 64 bits: {error}") from error


def pack(
    sizes: Iterable[int],
    starts: Iterable[int],
    ends: Iterable[int],
    *,
    alignment: int | Iterable[int] = 1,
    capacity: int | str | None = None,
    time_limit: float | None = None,
    seed: int = 1,
    threads: int = 1,
) -> PackResult:
    """Offsets for buffers, so that no two that are alive at once overlap, in little memory.

    Buffer i has `sizes[i]` bytes and is alive from `starts[i]` until before `ends[i]`; its offset
    is a multiple of `alignment`. With a `capacity`, looks for a plan that fits, or a proof that
    there is none. With a `time_limit` in seconds the search goes on for so long; without, it ends
    by itself, always with the same plan. Ctrl-C ends it too: the best so far is returned.

    >>> pack([4, 4, 8], [0, 2, 4], [3, 5, 6]).bytes
    12
    """
    alignments: Iterable[int] = [alignment] if isinstance(alignment, int) else alignment
    packed = _core.pack(
        _numbers(sizes, "sizes"),
        _numbers(starts, "starts"),
        _numbers(ends, "ends"),
        _numbers(alignments, "alignment"),
        None if capacity is None else parse_size(capacity),
        seed,
        threads,
        time_limit,
    )
    return PackResult(
        offsets=packed.offsets if _is_array(sizes) else packed.offset_list,
        bytes=packed.bytes,
        bound=packed.bound,
        load=packed.load,
        load_time=packed.load_time,
        status=packed.status,
        interrupted=packed.is_interrupted,
    )
