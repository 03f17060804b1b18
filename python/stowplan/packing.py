# SPDX-License-Identifier: Apache-2.0
"""pack: dynamic storage allocation for plain buffers, without programs."""

from __future__ import annotations

import operator
import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, arguments
from .errors import ArgumentError, Error
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
    capacity: int | None = None  # bytes that should suffice; None: not given

    @property
    def is_optimal(self) -> bool:
        return self.bytes == self.bound

    @property
    def fits(self) -> bool | None:
        """Whether the plan is within the capacity; None: there is none."""
        return None if self.capacity is None else self.bytes <= self.capacity

    def __repr__(self) -> str:
        return f"<stowplan.PackResult: {self}>"

    def __str__(self) -> str:
        buffers = "1 buffer" if len(self.offsets) == 1 else f"{len(self.offsets)} buffers"
        how = "optimal" if self.is_optimal else f"no plan is below {format_size(self.bound)}"
        words = f"{buffers} in {format_size(self.bytes)}: {how}"
        if self.capacity is None:
            return words
        capacity = format_size(self.capacity)
        if self.fits:
            return f"{words}; it fits {capacity}"
        return f"{words}; it does not fit {capacity}, " + (
            "nor does any other plan"
            if self.bound > self.capacity
            else "and whether another plan does is not decided"
        )


def _is_array(x: object) -> bool:
    # Another thread may be about to import it.
    kind = getattr(sys.modules.get("numpy"), "ndarray", None)
    return kind is not None and isinstance(x, kind)


def _numbers(x: Any, what: str) -> Any:
    """64-bit integers in one piece."""
    if _is_array(x):
        import numpy

        if x.ndim != 1 or not numpy.issubdtype(x.dtype, numpy.integer):
            raise ArgumentError(f"{what} is a row of whole numbers, not {x.ndim}-d {x.dtype}")
        if x.dtype == numpy.uint64 and len(x) and int(x.max()) >= 1 << 63:
            raise Error(f"{what} has numbers that do not fit in 64 bits")
        return numpy.ascontiguousarray(x, dtype=numpy.int64)
    wanted = f"{what} is a row of whole numbers that fit in 64 bits"
    if isinstance(x, str | bytes | bytearray | dict | set | frozenset):
        raise ArgumentError(f"{wanted}, not {arguments.shown(x)}")
    try:
        return array("q", x)
    except TypeError as error:
        raise ArgumentError(f"{wanted}: {error}") from error
    except OverflowError as error:
        raise Error(f"{wanted}: {error}") from error


def _alignments(x: Any) -> Any:
    """One for all buffers, or one per buffer."""
    try:
        return _numbers([operator.index(x)], "alignment")
    except TypeError:
        return _numbers(x, "alignment")


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
    """Chooses offsets for buffers, so that no two that are alive at once overlap, in little memory.

    Buffer i has `sizes[i]` bytes and is alive from `starts[i]` to just before `ends[i]`. The live
    ranges of an Analysis include their last moment, so pass `ends + 1` for them. Each offset is a
    multiple of `alignment`. With a `capacity`, looks for a plan that fits, or a proof that there is
    none. With a `time_limit`, searches for that many seconds; without, the search ends by itself,
    always with the same plan. Ctrl-C ends it too: the best plan so far is returned.

    >>> pack([4, 4, 8], [0, 2, 4], [3, 5, 6]).bytes
    12
    """
    bytes_there = None if capacity is None else parse_size(capacity)
    packed = _core.pack(
        _numbers(sizes, "sizes"),
        _numbers(starts, "starts"),
        _numbers(ends, "ends"),
        _alignments(alignment),
        bytes_there,
        arguments.whole(seed, "seed", "a number, 0 or more", least=0),
        arguments.whole(threads, "threads", "a number from 1 to 1024", least=1),
        arguments.seconds(time_limit),
    )
    return PackResult(
        offsets=packed.offsets if _is_array(sizes) else packed.offset_list,
        bytes=packed.bytes,
        bound=packed.bound,
        load=packed.load,
        load_time=packed.load_time,
        status=packed.status,
        interrupted=packed.is_interrupted,
        capacity=bytes_there,
    )
