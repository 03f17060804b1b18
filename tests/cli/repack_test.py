# SPDX-License-Identifier: Apache-2.0
"""stowplan repack: what it says, what it writes, and what it refuses."""

import json
import os
import pathlib
import unittest
import zlib

from cli_case import CliCase

SEEDS = pathlib.Path(__file__).parents[1] / "fuzz" / "seeds" / "fuzz_executable"
EXECUTABLES = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"]) / "executables"


class Repack(CliCase):
    def temporaries(self, path):
        answer = self.run_cli("inspect", "--format=json", str(path))
        self.assertEqual(answer.code, 0, answer)
        rows = {row["kind"]: row["bytes"] for row in json.loads(answer.out)["allocations"]}
        return rows["temporaries"]

    def test_writes_a_lower_plan(self):
        new = self.folder / "new.bin"
        answer = self.run_cli("repack", str(EXECUTABLES / "cpu-0.11.2" / "conv.bin"), "-o", str(new))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("128.0KiB (131072) of temporaries instead of 172.0KiB (176128)", answer.out)
        self.assertEqual(self.temporaries(new), 131072)
        checked = self.run_cli("check", str(new))
        self.assertEqual(checked.code, 0, checked)
        self.assertIn("sound", checked.out)

    def test_an_entry_of_the_cache_stays_one(self):
        entry = b"\0\0\0\x07" + (EXECUTABLES / "cpu-0.11.2" / "conv.bin").read_bytes()
        new = self.folder / "new"
        answer = self.run_cli("repack", self.write("jit_f-cache", zlib.compress(entry)), "-o", str(new))
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(zlib.decompress(new.read_bytes())[:4], b"\0\0\0\x07")
        self.assertEqual(self.temporaries(new), 131072)

    def test_nothing_is_written_if_nothing_is_lower(self):
        packed = EXECUTABLES / "cpu-0.11.2" / "constant.bin"
        answer = self.run_cli("repack", str(packed), "--format=json", "-o", str(self.folder / "none"))
        self.assertEqual(answer.code, 0, answer)
        # Nothing lower was found, so nothing is written.
        self.assertFalse(json.loads(answer.out)["is_rewritten"])
        self.assertFalse((self.folder / "none").exists())

    def test_a_pickle_is_read_but_not_written(self):
        answer = self.run_cli("repack", str(EXECUTABLES / "cpu-0.11.2" / "mlp.pickle"))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("pickle", answer.out)

    def test_a_module_that_cannot_be_read_is_refused(self):
        answer = self.run_cli("repack", str(SEEDS / "straight.bin"), "--format=json")
        self.assertEqual(answer.code, 0, answer)
        report = json.loads(answer.out)
        self.assertFalse(report["is_rewritten"])
        self.assertEqual(len(report["refusals"]), 1)

    def test_what_is_no_executable(self):
        self.assert_bad_use(self.run_cli("repack", self.write("m.txt", "HloModule m\n")), "not a serialized executable")


if __name__ == "__main__":
    unittest.main()
