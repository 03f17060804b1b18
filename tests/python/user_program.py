# SPDX-License-Identifier: Apache-2.0
"""A program as a user writes it, with all types said: mypy must agree, and it runs."""

import sys
from collections.abc import Sequence
from pathlib import Path

import stowplan


def largest(r: stowplan.Analysis, count: int) -> list[stowplan.Value]:
    return sorted(r.values, key=lambda value: value.size, reverse=True)[:count]


def by_source(r: stowplan.Analysis) -> dict[str, int]:
    rows: Sequence[stowplan.Row] = r.peak_by("source")
    return {row.name: row.bytes for row in rows}


def main(path: str) -> int:
    try:
        r: stowplan.Analysis = stowplan.analyze(Path(path), target="cpu")
    except stowplan.ParseError as error:
        print(error.file, error.line, error.column, error.offset)
        return 2
    peak: stowplan.Peak = r.peak
    instruction: str = peak.instruction
    names: list[str] = [value.name for value in largest(r, 3)]
    print(r.name, peak.bytes, instruction, names, by_source(r))
    starts = r.arrays.starts
    print(int(starts.max()), len(r.live_ranges), r.curve().bytes.max())
    moment: stowplan.Moment = r.at(peak.time)
    table: stowplan.Table = moment.by("kind")
    best: stowplan.PlanResult = stowplan.assign(r, policy="best", time_limit=0.1)
    checked: stowplan.CheckResult = stowplan.check(best)
    difference: stowplan.DiffResult = stowplan.diff(r, best)
    advice: stowplan.AdviceList = r.advice(time_limit=1)
    saved: int = sum(piece.saved for piece in advice)
    packed = stowplan.pack([4, 4], [0, 1], [2, 3], alignment=4)
    offsets: list[int] = list(packed.offsets)
    print(len(table), best.bytes, checked.verdict, difference.change, saved >= 0, offsets)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
