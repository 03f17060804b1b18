# SPDX-License-Identifier: Apache-2.0
"""What the tests of stowplan report share."""

import os
import pathlib
import re

from cli_case import CliCase

SEEDS = sorted((pathlib.Path(__file__).parents[2] / "examples" / "seeds").glob("seed_*.txt"))
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "/nonexistent"))
STAGE = "cpu_after_optimizations"
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}, output shape is |f32[4]|:
 value: <0 p @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 36, preallocated-temp:
 value: <1 a @0> (size=16,offset=0): f32[4]{0}
 value: <2 b @0> (size=16,offset=0): f32[4]{0}
 value: <3 c @0> (size=4,offset=32): f32[]
"""
LIVE_RANGES = """\
HloLiveRange (max 4):
  InstructionSequence:
    0:p
    1:c
    2:a
    3:b
  BufferLiveRange:
    p{}:0-4
    a{}:2-3
    b{}:3-4
    c{}:3-4
  Live ranges at 3 (peak):
    a{}: 16 bytes (cumulative: 16 bytes)
    b{}: 16 bytes (cumulative: 32 bytes)
    p{}: 16 bytes (cumulative: 48 bytes)
    c{}: 4 bytes (cumulative: 52 bytes)
  Stack trace breakdown for peak usage: 52 bytes
    main (100.0%, total: 52 bytes, current: 52 bytes, remaining: 0 bytes)
"""


def exact(cell):
    """The bytes in "1.50GiB (1610612736)" or "512B"."""
    cell = re.sub(r"S\(\d+\)", "", cell)
    match = re.search(r"\((\d+)\)", cell)
    return int(match[1] if match else re.search(r"(\d+)B", cell)[1])


class ReportCase(CliCase):
    def report(self, *words, **options):
        return self.run_cli("report", *words, **options)

    def page(self, *words):
        answer = self.report(*words)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        return answer.out

    def section(self, page, title):
        """The lines under a heading."""
        lines = page.split(f"\n{title}", 1)[1].split("\n\n")[0].splitlines()[1:]
        self.assertTrue(lines, page)
        return lines

    def dump(self, name, *, assignment=ASSIGNMENT, live=LIVE_RANGES, folder=None):
        folder = folder or self.folder / "dump"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.{STAGE}-buffer-assignment.txt").write_text(assignment)
        if live is not None:
            (folder / f"{name}.{STAGE}-live-range.txt").write_text(live)
        return str(folder)
