# SPDX-License-Identifier: Apache-2.0
"""The packer."""

from __future__ import annotations

import random
import sys
import types

import numpy
import pytest
import stowplan


def is_plan(sizes: list[int], starts: list[int], ends: list[int], offsets: list[int]) -> bool:
    """Whether no two that are alive at once overlap: by looking at all pairs."""
    for i in range(len(sizes)):
        for j in range(i):
            alive = starts[i] < ends[j] and starts[j] < ends[i]
            apart = offsets[i] + sizes[i] <= offsets[j] or offsets[j] + sizes[j] <= offsets[i]
            if alive and not apart:
                return False
    return True


def problem(count: int, seed: int) -> tuple[list[int], list[int], list[int]]:
    chance = random.Random(seed)
    starts = [chance.randrange(100) for _ in range(count)]
    ends = [start + chance.randint(1, 30) for start in starts]
    return [chance.randint(1, 1000) for _ in range(count)], starts, ends


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alignment", [1, 64])
def test_plans(seed: int, alignment: int) -> None:
    sizes, starts, ends = problem(60, seed)
    result = stowplan.pack(sizes, starts, ends, alignment=alignment)
    offsets = list(result.offsets)
    assert is_plan(sizes, starts, ends, offsets)
    assert all(offset % alignment == 0 for offset in offsets)
    assert result.bytes == max(o + s for o, s in zip(offsets, sizes, strict=True))
    load = max(
        sum(size for size, a, b in zip(sizes, starts, ends, strict=True) if a <= time < b)
        for time in starts
    )
    assert load == result.load <= result.bound <= result.bytes
    assert result.is_optimal == (result.bytes == result.bound)
    assert stowplan.pack(sizes, starts, ends, alignment=alignment) == result


def test_arrays_in_arrays_out() -> None:
    sizes, starts, ends = problem(50, 1)
    listed = stowplan.pack(sizes, starts, ends)
    assert isinstance(listed.offsets, list)
    for dtype in (numpy.int64, numpy.int32, numpy.uint64):
        arrays = [numpy.array(column, dtype=dtype) for column in (sizes, starts, ends)]
        packed = stowplan.pack(*arrays)
        assert isinstance(packed.offsets, numpy.ndarray)
        assert not packed.offsets.flags.owndata
        assert packed.offsets.tolist() == listed.offsets
    every_other = numpy.array(sizes)[::2]
    stowplan.pack(every_other, starts[::2], ends[::2])


def test_alignments_one_by_one() -> None:
    result = stowplan.pack([3, 5, 7], [0, 0, 0], [9, 9, 9], alignment=[1, 8, 4])
    assert [o % a for o, a in zip(result.offsets, [1, 8, 4], strict=True)] == [0, 0, 0]


def test_capacity() -> None:
    sizes, starts, ends = [4, 4, 8], [0, 2, 4], [3, 5, 6]
    assert stowplan.pack(sizes, starts, ends, capacity=12).fits
    small = stowplan.pack(sizes, starts, ends, capacity=11)
    assert (small.status, small.fits) == ("infeasible", False)
    assert stowplan.pack(sizes, starts, ends, capacity="1KiB").fits is True
    assert stowplan.pack(sizes, starts, ends).fits is None
    assert repr(stowplan.pack([1] * 500, [0] * 500, [1] * 500)) == (
        "<stowplan.PackResult: 500 buffers in 500B: optimal>"
    )
    assert str(small) == ("3 buffers in 12B: optimal; it does not fit 11B, nor does any other plan")


def test_nothing_to_pack() -> None:
    result = stowplan.pack([], [], [])
    assert (list(result.offsets), result.bytes, result.is_optimal) == ([], 0, True)


@pytest.mark.parametrize(
    ("sizes", "starts", "ends"),
    [
        ([1, 2], [0], [1]),
        ([-1], [0], [1]),
        ([1], [5], [2]),
        ([1 << 63], [0], [1]),
        (["x"], [0], [1]),
        ([1.5], [0], [1]),
        ([(1 << 63) - 1, (1 << 63) - 1], [0, 0], [1, 1]),
        (numpy.zeros((2, 2), dtype=int), [0], [1]),
        (numpy.array([1.5]), [0], [1]),
    ],
)
def test_mistakes(sizes: object, starts: object, ends: object) -> None:
    with pytest.raises(stowplan.Error):
        stowplan.pack(sizes, starts, ends)  # type: ignore[arg-type]


@pytest.mark.parametrize("alignment", [0, -4, [1, 2], 1 << 62])
def test_bad_alignments(alignment: int) -> None:
    with pytest.raises(stowplan.Error):
        stowplan.pack([1, 2, 3], [0, 0, 0], [1, 1, 1], alignment=alignment)


def test_while_another_thread_imports_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is among the modules then, with nothing in it yet."""
    monkeypatch.setitem(sys.modules, "numpy", types.ModuleType("numpy"))
    assert stowplan.pack([4, 4, 8], [0, 2, 4], [3, 5, 6]).bytes == 12
