# SPDX-License-Identifier: Apache-2.0
"""The card of a notebook: its figures are the analysis's, and names are text."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, MODULE, SEEDS

INPUTS = [
    MODULE,
    *sorted(SEEDS.glob("seed_*.txt")),
    *(CORPUS / back_end / "lm_train_scan" for back_end in ("cpu", "gpu", "tpu")),
    CORPUS / "tpu" / "zero_sized",
    CORPUS / "cpu" / "scalar_add",
    CORPUS / "scale" / "lm_unrolled_96",
    CORPUS / "scale" / "rnn_unrolled_500",
]
EMPTY = {"meta", "img", "br", "hr", "input", "link"}


class Reader(HTMLParser):
    """Tags that match, texts, and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def read(card: str) -> Reader:
    reader = Reader()
    reader.feed(card)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_figures(path: Path):
    r = stowplan.analyze(path)
    card = r._repr_html_()
    assert len(card.encode()) < 300_000
    reader = read(card)
    text = " ".join(reader.texts)
    assert f"{r.peak.bytes} bytes at t={r.peak.time}" in text
    assert f"{r.total_bytes} bytes in {len(r.allocations)} allocation" in text
    for by in ("source", "kind"):
        for row in r.peak_by(by)[:8]:
            assert row.size in text
    names = {tag for tag, _ in reader.tags}
    assert "script" not in names and "link" not in names and "img" not in names
    assert {"svg", "title", "desc", "table", "caption"} <= names or r.total_bytes == 0
    assert "http" not in card.replace("http://www.w3.org/2000/svg", "")
    assert re.search(r"url\(|@import", card) is None
    assert card == stowplan.analyze(path)._repr_html_()


def test_rectangles_lie_where_values_do():
    r = stowplan.analyze(SEEDS / "seed_004.txt")
    reader = read(r._repr_html_())
    boxes = [
        {key: float(attributes[key] or 0) for key in ("x", "y", "width", "height")}
        for tag, attributes in reader.tags
        if tag == "rect" and "class" not in attributes
    ]
    copy = r.values["copy.3"]
    moments = 19  # t=0 to 18
    assert copy.start == 13 and copy.end == 14
    want = {
        "x": 72 + 13 * 800 / moments,
        "width": 2 * 800 / moments,
        "height": copy.size * 232 / r.spaces[0].bytes,
    }
    assert any(all(abs(box[key] - want[key]) < 0.1 for key in want) for box in boxes)
    assert all(72 <= box["x"] and box["x"] + box["width"] <= 872.1 for box in boxes)
    assert all(135.9 <= box["y"] and box["y"] + box["height"] <= 368.1 for box in boxes)


def hostile(tmp_path: Path, count: int) -> Path:
    """Names that want to be more than names; so many values that they must be merged."""
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>&quot;\u202e$x^2$"
    lines = [
        f"  v{i} = f32[{1024 + i}]{{0}} broadcast(c), dimensions={{}}, metadata="
        f'{{op_name="{evil}{i}" source_file="{evil * 20}{i}" source_line={i}}}'
        for i in range(count)
    ]
    names = ", ".join(f"v{i}" for i in range(count))
    shapes = ", ".join(f"f32[{1024 + i}]{{0}}" for i in range(count))
    path = tmp_path / "evil.txt"
    path.write_text(
        "HloModule evil, is_scheduled=true\n\nENTRY e {\n  c = f32[] constant(1)\n"
        + "\n".join(lines)
        + f"\n  ROOT t = ({shapes}) tuple({names})\n}}\n"
    )
    return path


def test_names_are_text_and_the_card_stays_small(tmp_path: Path):
    for count in (3, 3000):
        card = stowplan.analyze(hostile(tmp_path, count), target="cpu")._repr_html_()
        assert len(card.encode()) < 300_000
        reader = read(card)
        assert not {"script", "img"} & {tag for tag, _ in reader.tags}
        assert not any(name.startswith("on") for _, rest in reader.tags for name in rest)
        assert "onerror=alert(2)>" in " ".join(reader.texts)
        assert "\u202e" not in card


def test_without_live_ranges(tmp_path: Path):
    source = CORPUS / "cpu" / "mlp_train_sgd"
    report = next(source.glob("*buffer-assignment.txt"))
    alone = tmp_path / "alone-buffer-assignment.txt"
    alone.write_bytes(report.read_bytes())
    r = stowplan.analyze(alone)
    if r.has_peak:
        pytest.skip("this report has live ranges")
    text = " ".join(read(r._repr_html_()).texts)
    assert f"{r.total_bytes} bytes" in text and "not known" in text


def test_without_numpy():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        f"import stowplan; print(stowplan.analyze({str(MODULE)!r})._repr_html_())"
    )
    card = subprocess.check_output([sys.executable, "-c", code], text=True)
    text = " ".join(read(card).texts)
    assert "5177904 bytes at t=33" in text and "The map needs NumPy" in text
