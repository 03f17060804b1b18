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


class Lines(CliCase):
    def partition(self, folder, by):
        answer = self.run_cli("explain", str(folder), f"--by={by}", "--top=0", "--space=all", "--format=json")
        self.assertEqual(answer.code, 0, answer)
        return json.loads(answer.out)["partitions"][by]

    def test_lines(self):
        self.assertEqual(len(PROGRAMS), 14)
        for folder in PROGRAMS:
            with self.subTest(program=folder.name):
                self.check(folder, json.loads((folder / "expected.json").read_text()))

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
