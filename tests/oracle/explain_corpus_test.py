# SPDX-License-Identifier: Apache-2.0
"""The archive `explain` is complete, and its answers agree with XLA's reports."""

import json
import os
import pathlib
import unittest

import dump_peak

FOLDER = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "/nonexistent")) / "explain"
ENDINGS = (".txt", ".hlo.pb", "-buffer-assignment.txt", "-live-range.txt", "-memory-usage-report.txt")
CAUSES = {"new", "gone", "grown", "shrunk", "lives-longer", "lives-shorter", "sharing-lost", "sharing-won", "copy",
          "padding", "fragmentation", "peak-moved", "none"}


def folders(kind):
    return sorted((FOLDER / kind).iterdir())


def read(path):
    return json.loads(path.read_text())


class ExplainCorpus(unittest.TestCase):
    def check_dump(self, folder):
        for ending in ENDINGS:
            self.assertNotEqual((folder / f"cpu_after_optimizations{ending}").stat().st_size, 0, folder)
        self.assertTrue((folder / "source.py").is_file(), folder)

    def test_lines(self):
        self.assertEqual(len(folders("lines")), 14)
        for folder in folders("lines"):
            with self.subTest(folder.name):
                self.check_dump(folder)
                self.check_lines(folder)

    def check_lines(self, folder):
        expected, dump = read(folder / "expected.json"), dump_peak.Dump(folder)
        peak, moments = dump.peaks()
        self.assertLessEqual(expected["known_bytes"], peak)
        self.assertLessEqual(peak, expected["known_bytes"] + expected["rest_at_most"])
        for t in moments:  # the answer may not depend on which of several equal peaks one takes
            table = dump.table(t)
            for line in expected["lines"]:
                self.assertEqual(table["line", line["line"]], line["bytes"], f"line {line['line']} at {t}")
            for parameter in expected["parameters"]:
                self.assertEqual(table["parameter", parameter["path"]], parameter["bytes"], parameter)
            for what in ("copy", "loop-state"):
                found = sum(size for (kind, _), size in table.items() if kind == what and size > 64)
                self.assertEqual(found, sum(row["bytes"] for row in expected["unsourced"] if row["what"] == what))
            for stack in expected["stacks"]:
                self.assertEqual(stack["bytes"], sum(size for name, size in dump.owners(t).items()
                                                     if dump.module.stack(name) == stack["lines"]))

    def test_donate(self):
        self.assertEqual(len(folders("donate")), 26)
        for folder in folders("donate"):
            with self.subTest(folder.name):
                meta = read(folder / "meta.json")
                self.check_dump(folder / "before")
                self.check_dump(folder / "after")
                donated = {p["number"] for p in meta["parameters"] if p["argnum"] in meta["donate_argnums"]}
                self.assertTrue(donated)
                self.assertLessEqual({alias["parameter"] for alias in meta["aliases"]}, donated)
                self.assertEqual(meta["before"]["alias"], 0)
                self.assertEqual(meta["after"]["alias"], sum(meta["parameters"][alias["parameter"]]["bytes"]
                                                             for alias in meta["aliases"]))
                for which in ("before", "after"):
                    self.check_memory(folder / which, meta[which])

    def check_memory(self, folder, memory):
        """JAX's figures are sums over the allocations."""
        allocations = dump_peak.Dump(folder).allocations.values()
        parameters = sum(size for size, what in allocations if what.startswith("parameter"))
        temporaries = sum(size for size, what in allocations if "preallocated-temp" in what)
        self.assertEqual(memory["argument"], parameters, folder)
        self.assertEqual(memory["temp"], temporaries, folder)

    def test_edits(self):
        self.assertEqual(len(folders("edits")), 23)
        same = 0
        for folder in folders("edits"):
            with self.subTest(folder.name):
                cause = read(folder / "cause.json")
                self.check_dump(folder / "before")
                self.check_dump(folder / "after")
                self.assertIn(cause["cause"], CAUSES)
                self.assertLessEqual(set(cause["also"]), CAUSES - {"none"})
                before, after = (dump_peak.Dump(folder / which).peaks()[0] for which in ("before", "after"))
                self.assertEqual(cause["delta_bytes"], after - before)
                if cause["cause"] == "none":
                    same += 1
                    self.assertEqual(before, after)
                else:
                    self.assertNotEqual(before, after)
                    self.assertTrue(cause["places"] or cause["parameters"])
                    for place in cause["places"]:
                        self.assertTrue(place["before_line"] or place["after_line"])
        self.assertEqual(same, 5)

    def test_story(self):
        before, after = (dump_peak.Dump(FOLDER / "story" / which).peaks()[0] for which in ("before", "after"))
        self.check_dump(FOLDER / "story/before")
        self.check_dump(FOLDER / "story/after")
        self.assertEqual((before, after), (2426830900, 445288496))  # as docs/out-of-memory.md says


if __name__ == "__main__":
    unittest.main()
