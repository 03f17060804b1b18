# SPDX-License-Identifier: Apache-2.0
"""Cards on pages of their own, for a browser: card_pages.py [--target=T] FOLDER INPUT...

Prints what they have to show, as JSON: an object an input. The page <n>.html has the card of input
n, and <n>.frame.html what `show()` puts into a notebook.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import stowplan
from stowplan.show import frame_of

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>card</title><body>{}</body>'


def facts(r: stowplan.Analysis, card: str) -> dict[str, object]:
    return {
        "name": r.name,
        "size": len(card.encode()),
        "peak": [r.peak.bytes, r.peak.time, r.peak.instruction],
        "total": r.total_bytes,
        "allocations": len(r.allocations),
        "values": len(r.values),
        "source": [[row.name, row.size] for row in r.peak_by("source")],
        "kind": [[row.name, row.size] for row in r.peak_by("kind")],
        "spaces": [[space.bytes, space.peak] for space in r.spaces],
        "notes": r.notes,
    }


def main() -> None:
    words = sys.argv[1:]
    target = words.pop(0).removeprefix("--target=") if words[0].startswith("--") else None
    folder, *inputs = words
    Path(folder).mkdir(parents=True, exist_ok=True)
    rows = []
    for number, name in enumerate(inputs):
        r = stowplan.analyze(name, target=target)
        card = r._repr_html_()
        rows.append(facts(r, card))
        (Path(folder) / f"{number}.html").write_text(PAGE.format(card), "utf-8")
        (Path(folder) / f"{number}.frame.html").write_text(PAGE.format(frame_of(r.html())), "utf-8")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
