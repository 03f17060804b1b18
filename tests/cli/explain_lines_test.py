# SPDX-License-Identifier: Apache-2.0
"""stowplan explain on programs whose answers are known: so many bytes for this line, worked out by hand."""

import itertools
import json
import os
import pathlib
import unittest

from cli_case import CliCase

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR") or ROOT / "build" / "corpus")
PROGRAMS = sorted((CORPUS / "explain" / "lines").iterdir())
# expected.json has the line of the instruction that XLA allocates for, which for what a loop stacks or unstacks is that of
# the loop. explain looks through the loop: a stack belongs to the line in the body that computes its slices, and a slice
# of a parameter to the parameter.
STACK, H = 4 * 8 * 2048 * 256, 4 * 2048 * 256
THROUGH_LOOPS = {
    "scan_stacked": {
        "source.py:8": 2 * STACK + H,  # the inputs of the products and of the sines; this turn's product
        "source.py:13": 4 * 8 * 256 * 256 + H + 4,  # zeros for the gradient of ws, the carried h, the counter
        "source.py:14": H,
        "(copies of parameters)": 4 * 256 * 256,  # this turn's part of ws
        "(parameters)": 4 * 8 * 256 * 256 + H,
    },
}


class Lines(CliCase):
    def partition(self, folder, by):
        answer = self.run_cli("explain", str(folder), f"--by={by}", "--top=0", "--space=all", "--format=json")
        self.assertEqual(answer.code, 0, answer)
        return json.loads(answer.out)["partitions"][by]

    def test_lines(self):
        self.assertEqual(len(PROGRAMS), 14)
        for folder in PROGRAMS:
            with self.subTest(program=folder.name):
                expected = json.loads((folder / "expected.json").read_text())
                if folder.name in THROUGH_LOOPS:
                    self.check_through_loops(folder, expected, THROUGH_LOOPS[folder.name])
                else:
                    self.check(folder, expected)

    def check_through_loops(self, folder, expected, lines):
        self.assertEqual(sum(lines.values()), expected["known_bytes"], "the same bytes in other rows")
        found = {row["name"]: row["own"] for row in self.partition(folder, "source")["rows"]}
        for line, known in lines.items():
            self.assertTrue(known <= found.get(line, 0) <= known + expected["rest_at_most"], (line, known, found))

    def check(self, folder, expected):
        rest = expected["rest_at_most"]
        partition = self.partition(folder, "source")
        lines, total = {row["name"]: row["own"] for row in partition["rows"]}, partition["total"]
        self.assertTrue(expected["known_bytes"] <= total <= expected["known_bytes"] + rest, total)
        # What the compiler copies has no line of its own and belongs to the line of what is copied.
        moved = [row["bytes"] for row in expected["unsourced"]]
        sums = {sum(some) for k in range(len(moved) + 1) for some in itertools.combinations(moved, k)}
        for line in expected["lines"]:
            more = lines.get(f"{line['file']}:{line['line']}", 0) - line["bytes"]
            self.assertTrue(any(0 <= more - bytes_moved <= rest for bytes_moved in sums), (line, more))
        known = sum(line["bytes"] for line in expected["lines"]) + sum(moved)
        found = sum(own for name, own in lines.items() if name.startswith("source.py:"))
        self.assertTrue(known <= found <= known + rest, (known, found))

    def test_parameters(self):
        for folder in PROGRAMS:
            with self.subTest(program=folder.name):
                owned, paths = {}, []
                for row in self.partition(folder, "parameter")["rows"]:
                    parent = row.get("parent", -1)
                    paths.append((paths[parent] if parent >= 0 else "") + row["name"])
                    owned[paths[-1]] = row["own"]
                for parameter in json.loads((folder / "expected.json").read_text())["parameters"]:
                    self.assertEqual(owned.get(parameter["path"]), parameter["bytes"], parameter)


if __name__ == "__main__":
    unittest.main()
