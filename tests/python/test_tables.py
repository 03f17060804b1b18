# SPDX-License-Identifier: Apache-2.0
"""Arrays, frames, HTML."""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path

import numpy
import pytest
import stowplan


def test_arrays_are_views(seed: Path) -> None:
    r = stowplan.analyze(seed)
    arrays = r.arrays
    for name in ("allocations", "offsets", "sizes", "colors", "starts", "ends"):
        array = getattr(arrays, name)
        assert array.dtype == numpy.int64
        assert len(array) == len(r.values)
        assert not array.flags.owndata
        assert not array.flags.writeable
        again = getattr(r.arrays, name)
        assert array.__array_interface__["data"] == again.__array_interface__["data"]
    value = r.values["copy.3"]
    assert arrays.sizes[value.row] == value.size
    assert arrays.starts[value.row] == value.start
    assert arrays.ends[value.row] == value.end
    # The memory lives as long as the views.
    sizes = arrays.sizes.tolist()
    kept = arrays.sizes
    del r, arrays, array, again
    gc.collect()
    assert kept.tolist() == sizes


def test_live_ranges(seed: Path) -> None:
    r = stowplan.analyze(seed)
    ranges = r.live_ranges
    assert len(ranges) == int((r.arrays.starts >= 0).sum())
    assert ranges[0].name == r.values[ranges[0].value].name
    assert ranges.values.tolist() == [x.value for x in ranges]
    assert ranges.starts.tolist() == [x.start for x in ranges]
    assert ranges.ends.tolist() == [x.end for x in ranges]
    assert not ranges.starts.flags.owndata
    live = sum(x.size for x in ranges if x.start <= 13 <= x.end)
    assert live >= r.peak.bytes


def test_frames(seed: Path) -> None:
    pandas = pytest.importorskip("pandas")
    r = stowplan.analyze(seed)
    for table in (r.values, r.allocations, r.live_ranges, r.peak_by("kind"), r.at(), r.curve()):
        frame = table.to_pandas()
        assert isinstance(frame, pandas.DataFrame)
        assert len(frame) > 0
    assert r.values.to_pandas()["size"].sum() == r.arrays.sizes.sum()
    assert r.allocations.to_pandas()["size"].sum() == r.total_bytes
    assert r.peak_by("source").to_pandas()["own"].sum() == r.peak.bytes


def test_html_is_escaped(seed: Path) -> None:
    r = stowplan.analyze(seed)
    for table in (r.values, r.peak_by("op_name"), r.at(), r):
        text = table._repr_html_()
        assert "<script" not in text
    rows = stowplan.Rows(1, lambda _: stowplan.LiveRange(0, "<b>&", 0, 1, 2), stowplan.LiveRange)
    assert "&lt;b&gt;&amp;" in rows._repr_html_()


def test_notebooks_show_trees_and_what_is_left_out() -> None:
    rows = tuple(
        stowplan.Row(f"r{n}", n - 1 if n else None, n % 3, 1, 1, 1, False, None) for n in range(25)
    )
    table = stowplan.Table("op_name", 0, 0, 25, rows, lambda limit: "")
    text = table._repr_html_()
    assert "<td>\u2003\u2003r2</td>" in text and "<td>r3</td>" in text
    assert text.endswith("<p>and 5 more</p>")
    assert "more" not in stowplan.Table("op_name", 0, 0, 20, rows[:20], str)._repr_html_()


def test_names_of_many_values_are_asked_quickly(seed: Path) -> None:
    """`in` says no without looking for what was meant."""
    made: list[int] = []
    rows = stowplan.Rows(10**9, made.append, stowplan.Value, lambda name: None)
    assert "copy.3" not in rows and 3 not in rows
    assert made == []
    values = stowplan.analyze(seed).values
    assert "copy.3" in values and values[3] in values


def test_slices_and_repr(seed: Path) -> None:
    r = stowplan.analyze(seed)
    assert [value.row for value in r.values[2:5]] == [2, 3, 4]
    assert repr(r.values) == f"<{len(r.values)} rows of Value>"
    assert "seed_004" in repr(r)
    assert repr(r.peak_by("kind")).startswith("<")
    assert repr(r.curve()).endswith(f"at most {stowplan.format_size(r.peak.bytes)}>")
    assert len(repr(r.peak)) < 300


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("14GiB", 14 << 30),
        ("14 GiB", 14 << 30),
        (" 14 gb ", 14 << 30),
        ("2 b", 2),
        ("512K", 512 << 10),
        (4096, 4096),
        ("1.5G", 3 << 29),
        ("1e3", 1000),
        (0, 0),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_sizes(text: int | str, size: int) -> None:
    assert stowplan.parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", " ", "many", "-1", "1e", "1 2", "3 q", -1, True, 1 << 63, float("nan")]
)
def test_no_sizes(text: object) -> None:
    with pytest.raises(stowplan.Error):
        stowplan.parse_size(text)  # type: ignore[arg-type]


def test_format() -> None:
    assert stowplan.format_size(1610612736) == "1.50GiB (1610612736)"
    assert stowplan.format_size(-512) == "-512B"


def test_rows_by_name(seed: Path) -> None:
    values = stowplan.analyze(seed).values
    assert "copy.3" in values
    assert "nobody" not in values
    assert values[0] in values
    assert 0 not in values


def test_tables_and_moments_travel(seed: Path) -> None:
    """They say the same in another process, which has no plan."""
    r = stowplan.analyze(seed)
    table = pickle.loads(pickle.dumps(r.peak_by("source", space=0)))
    same = r.peak_by("source", space=0)
    assert (table.by, table.time, table.space, table.bytes) == ("source", same.time, 0, same.bytes)
    assert table.rows == same.rows
    assert str(table) == str(same) and table.page(0) == same.page(0)
    again = pickle.loads(pickle.dumps(table))
    assert str(again) == str(same)

    moment = pickle.loads(pickle.dumps(r.at()))
    assert repr(moment) == repr(r.at()) and str(moment) == str(r.at())
    assert list(moment.shares) == list(r.at().shares)
    for by in ("value", "source", "stack", "op_name", "parameter", "kind", "footprint"):
        assert moment.by(by).rows == r.at().by(by).rows
    with pytest.raises(stowplan.Error, match="cannot be split by `luck`"):
        moment.by("luck")

    values = pickle.loads(pickle.dumps(r.values))
    assert list(values) == list(r.values)
    assert values["copy.3"] == r.values["copy.3"]
    assert "copy.3" in values and "nobody" not in values


def test_frames_say_what_they_need(seed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for rows in (stowplan.analyze(seed).curve(), stowplan.sweep([seed], workers=0)):
        with pytest.raises(ImportError, match="to_pandas\\(\\) needs pandas: pip install"):
            rows.to_pandas()
