# SPDX-License-Identifier: Apache-2.0
"""stowplan inspect: what it says about serialized executables, and about what is none."""

import json
import pathlib
import unittest
import zlib

from cli_case import CliCase

SEEDS = pathlib.Path(__file__).parents[1] / "fuzz" / "seeds" / "fuzz_executable"


class Inspect(CliCase):
    def test_the_page_names_thunks_and_allocations(self):
        answer = self.run_cli("inspect", str(SEEDS / "straight.bin"))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("module made, for the CPU", answer.out)
        self.assertIn("4 thunks with 9 slices of memory\n", answer.out)
        self.assertRegex(answer.out, r"\n  kernel +3 +7 slices  may move, and run again\n")
        self.assertRegex(answer.out, r"\n  custom-call +1 +2 slices  keeps its place")
        self.assertRegex(answer.out, r"\n  temporaries +1 +256B\n")
        self.assertIn("memory can be laid out anew", answer.out)

    def test_json_has_the_same(self):
        answer = self.run_cli("inspect", str(SEEDS / "loop.bin"), "--format=json")
        self.assertEqual(answer.code, 0, answer)
        page = json.loads(answer.out)
        self.assertEqual(page["platform"], "cpu")
        self.assertEqual(page["sequences"], 5)
        self.assertEqual({row["kind"]: row["count"] for row in page["thunks"]}, {"kernel": 7, "while": 2})
        self.assertEqual(page["obstacles"], [])

    def test_an_entry_of_the_cache(self):
        entry = b"\0\0\0\x07" + (SEEDS / "straight.bin").read_bytes()
        answer = self.run_cli("inspect", self.write("jit_f-cache", zlib.compress(entry)))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("zlib > entry of JAX's compilation cache > executable and options > result", answer.out)

    def test_what_is_no_executable(self):
        for content in ("HloModule m\n", b"\x80\x04.", b"", (SEEDS / "loop.bin").read_bytes()[:100]):
            self.assert_bad_use(self.run_cli("inspect", self.write("file", content)), "not a serialized executable")


if __name__ == "__main__":
    unittest.main()
