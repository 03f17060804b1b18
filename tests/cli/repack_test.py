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
        low = EXECUTABLES / "cpu-0.11.2" / "fft.bin"
        answer = self.run_cli("repack", str(low), "--format=json", "-o", str(self.folder / "none"))
        self.assertEqual(answer.code, 0, answer)
        # Nothing lower was found, so nothing is written.
        self.assertFalse(json.loads(answer.out)["is_rewritten"])
        self.assertFalse((self.folder / "none").exists())

    def test_values_are_computed_again(self):
        new = self.folder / "new.bin"
        mlp = str(EXECUTABLES / "cpu-0.11.2" / "mlp.bin")
        answer = self.run_cli("repack", mlp, "--max-cost=50%", "--format=json", "-o", str(new))
        self.assertEqual(answer.code, 0, answer)
        report = json.loads(answer.out)
        self.assertGreater(report["copied_thunks"], 0)
        self.assertTrue(report["repeats"][0]["source"].startswith("executables.py:"), report)
        self.assertEqual(self.temporaries(new), report["temporaries_after"])
        checked = self.run_cli("check", str(new))
        self.assertEqual(checked.code, 0, checked)
        once = json.loads(self.run_cli("repack", mlp, "--format=json").out)
        self.assertLess(report["temporaries_after"], once["temporaries_after"])

    def test_a_budget(self):
        mlp = str(EXECUTABLES / "cpu-0.11.2" / "mlp.bin")
        once = json.loads(self.run_cli("repack", mlp, "--format=json").out)
        enough = once["other_bytes"] + once["temporaries_after"]
        answer = self.run_cli("repack", mlp, f"--budget={enough - 1}")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("run once more", answer.out)
        self.assertIn("which fits into", answer.out)
        answer = self.run_cli("repack", mlp, "--budget=1KiB")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("does not fit into", answer.out)
        for option in ("--budget=much", "--max-cost=5", "--max-cost=-1%"):
            self.assert_bad_use(self.run_cli("repack", mlp, option), option.split("=")[1])

    def cache(self):
        folder = self.folder / "cache"
        folder.mkdir()
        for name in ("conv", "fft"):
            entry = b"\0\0\0\x07" + (EXECUTABLES / "cpu-0.11.2" / f"{name}.bin").read_bytes()
            (folder / f"jit_{name}-cache").write_bytes(zlib.compress(entry))
        (folder / "jit_conv-atime").write_bytes(b"12345678")
        (folder / "jit_bad-cache").write_bytes((folder / "jit_conv-cache").read_bytes()[:5000])
        return folder

    def test_a_whole_cache_goes_to_a_folder(self):
        cache, new = self.cache(), self.folder / "new"
        before = {path.name: path.read_bytes() for path in cache.iterdir()}
        answer = self.run_cli("repack", str(cache), "-o", str(new))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("1 of 2 entries are lower", answer.out)
        self.assertEqual({path.name: path.read_bytes() for path in cache.iterdir()}, before)
        after = {path.name: path.read_bytes() for path in new.iterdir()}
        self.assertEqual(after.keys(), before.keys())
        changed = [name for name in before if after[name] != before[name]]
        self.assertEqual(changed, ["jit_conv-cache"])
        self.assertEqual(self.temporaries(new / "jit_conv-cache"), 131072)

    def test_a_cache_is_changed_only_if_that_is_asked_for(self):
        cache = self.cache()
        before = {path.name: path.read_bytes() for path in cache.iterdir()}
        answer = self.run_cli("repack", str(cache), "--format=json")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual({path.name: path.read_bytes() for path in cache.iterdir()}, before)
        lower = [row["name"] for row in json.loads(answer.out)["entries"] if row.get("is_rewritten")]
        self.assertEqual(lower, ["jit_conv-cache"])
        answer = self.run_cli("repack", str(cache), "--in-place")
        self.assertEqual(answer.code, 0, answer)
        after = {path.name: path.read_bytes() for path in cache.iterdir()}
        self.assertEqual([name for name in before if after[name] != before[name]], lower)
        self.assert_bad_use(self.run_cli("repack", str(cache), "--in-place", "-o", "x"), "--in-place")

    def test_a_folder_without_executables(self):
        (self.folder / "empty").mkdir()
        self.assert_bad_use(self.run_cli("repack", str(self.folder / "empty")), "no file")

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
