# SPDX-License-Identifier: Apache-2.0
"""stowplan gate: budgets, growth, lock files, and what CI reads."""

import json
import os
import pathlib
import unittest
import xml.etree.ElementTree

import cli_case
from diff_test import EDITS, LARGE, STEP

# h, g, u or out, and both parameters: 256 numbers each, x 64.
PEAK = 4 * (256 * 3 + 64)


class GateTest(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.a = self.write("a.hlo", STEP)
        self.b = self.write("b.hlo", LARGE)
        document = json.loads(self.gate(self.a, "--budget=1", "--of=peak", "--format=json", code=1).out)
        self.peak = document["checks"][0]["bytes"]
        document = json.loads(self.gate(self.b, "--budget=1", "--of=peak", "--format=json", code=1).out)
        self.large = document["checks"][0]["bytes"]

    def gate(self, *words, code):
        answer = self.run_cli("gate", "--target=cpu", *words)
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_the_figures(self):
        self.assertEqual(self.peak, PEAK)
        self.assertEqual(self.large, 2 * PEAK)

    def test_budget(self):
        self.gate(self.a, f"--budget={self.peak}", "--of=peak", code=0)
        out = self.gate(self.a, f"--budget={self.peak - 1}", "--of=peak", code=1).out
        self.assertIn("gate failed: 1 of 1 check", out)
        self.assertIn("FAIL  jit_step S(0)", out)
        self.assertIn("by 1B", out)
        self.gate(self.a, "--budget=16GiB", "--budget=all:1KiB", code=1)
        self.gate(self.a, "--budget=0:1KiB", code=1)
        self.gate(self.a, "--budget=all:1 kib", code=1)
        self.assertIn("0 checks", self.gate(self.a, "--budget=7:1KiB", code=0).out)
        # Noise is no excuse for a budget.
        self.gate(self.a, self.a, f"--budget={self.peak - 1}", "--tolerance=50%", code=1)

    def test_a_budget_is_for_what_must_be_free(self):
        check = json.loads(self.gate(self.a, "--budget=1", "--format=json", code=1).out)["checks"][0]
        self.assertEqual(check["figure"], "footprint")
        self.assertGreaterEqual(check["bytes"], self.peak)
        footprint = json.loads(self.run_cli("explain", "--target=cpu", "--format=json", self.a).out)["moment"]["footprint"]
        self.assertEqual(check["bytes"], footprint["bytes"])
        self.gate(self.a, f"--budget={footprint['bytes']}", code=0)
        self.gate(self.a, f"--budget={footprint['bytes'] - 1}", code=1)
        # Growth is measured at the peak, in the same call.
        rows = json.loads(self.gate(self.a, self.b, "--budget=1GiB", "--format=json", code=1).out)["checks"]
        self.assertEqual({row["rule"]: row["figure"] for row in rows}, {"budget": "footprint", "growth": "peak"})

    def test_growth(self):
        self.gate(self.a, self.a, code=0)
        out = self.gate(self.a, self.b, code=1).out
        self.assertIn("grown: 64 -> 128", out)
        self.gate(self.b, self.a, code=0)
        self.gate(self.a, self.b, "--max-growth=100%", code=0)
        self.gate(self.a, self.b, "--max-growth=99.9999%", code=1)
        self.gate(self.a, self.b, f"--max-growth={self.peak}", code=0)
        self.gate(self.a, self.b, f"--max-growth={self.peak - 1}", code=1)
        self.gate(self.a, self.b, "--max-growth=1%", f"--tolerance={self.peak}", code=0)
        self.gate(self.a, self.b, "--of=footprint", code=1)

    def test_lock(self):
        lock = self.folder / "memory.lock"
        self.assertIn("--update", self.gate(self.a, f"--lock={lock}", code=2).err)
        self.gate(self.a, f"--lock={lock}", "--update", code=0)
        text = lock.read_text()
        self.assertEqual(text.splitlines()[2:], [f"{PEAK} 0 jit_step"])
        self.gate(self.a, f"--lock={lock}", code=0)
        self.gate(self.b, f"--lock={lock}", code=1)
        self.assertEqual(lock.read_text(), text)
        self.gate(self.b, f"--lock={lock}", "--max-growth=100%", code=0)
        self.gate(self.b, f"--lock={lock}", "--update", code=0)
        self.gate(self.b, f"--lock={lock}", code=0)
        # Less than it may: said, but no breach.
        self.assertIn("--update would lock it", self.gate(self.a, f"--lock={lock}", code=0).out)
        # Nothing but the file is left.
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["a.hlo", "b.hlo", "memory.lock"])
        self.assertIn("a different figure", self.gate(self.a, f"--lock={lock}", "--of=footprint", code=2).err)

    def test_a_module_that_is_not_locked(self):
        lock = self.write("memory.lock", "# stowplan lock 1: peak\n5 0 jit_other\n")
        out = self.gate(self.a, f"--lock={lock}", code=1).out
        self.assertIn("is not in the lock file", out)
        self.assertIn("no longer exists", out)

    def test_bad_locks(self):
        for text in (b"", b"nonsense", b"# stowplan lock 1: peak\nx\n", b"# stowplan lock 1: peak\n1 0 f\n1 0 f\n",
                     b"# stowplan lock 1: peak\n99999999999999999999 0 f\n", bytes(range(256))):
            lock = self.write("memory.lock", text)
            answer = self.gate(self.a, f"--lock={lock}", code=2)
            self.assertEqual(answer.out, "")
        self.gate(self.a, f"--lock={self.folder}", code=2)
        self.gate(self.a, f"--lock={self.folder}/no/such/folder", "--update", code=2)

    def test_usage(self):
        for words in ([self.a], [self.a, "--budget=nothing"], [self.a, "--budget=x:1GiB"], [self.a, "--max-growth=1%"],
                      [self.a, "--tolerance=1%"], [self.a, self.b, "--max-growth=-1%"], [self.a, self.b, "--tolerance=much"],
                      [self.a, "--update"], [self.a, self.b, "--update", "--lock=x"], [], [self.a, self.b, self.a],
                      [self.a, "--budget=1GiB", "--of=nothing"], ["missing", "--budget=1GiB"],
                      ["missing", self.a], [self.a, "missing"]):
            answer = self.run_cli("gate", "--target=cpu", *words)
            self.assertEqual(answer.code, 2, f"{words}: {answer}")
            self.assertEqual(answer.out, "")
        self.assertIn("[BASE] INPUT", self.run_cli("gate", "--help").out)

    def test_markdown(self):
        out = self.gate(self.a, self.b, "--format=markdown", code=1).out
        self.assertTrue(out.startswith("**Memory gate failed: 1 of 1 check**"))
        self.assertIn("| ❌ | jit\\_step |", out)
        self.assertIn("grown: 64 -> 128", out)

    def test_junit(self):
        for words, code, failures in (((self.a, self.b), 1, 1), ((self.a, self.a), 0, 0)):
            tree = xml.etree.ElementTree.fromstring(self.gate(*words, "--format=junit", code=code).out)
            suite = tree.find("testsuite")
            self.assertEqual((tree.tag, suite.get("tests"), suite.get("failures")), ("testsuites", "1", str(failures)))
            case = suite.find("testcase")
            self.assertEqual(case.get("classname"), "jit_step")
            self.assertEqual(len(case.findall("failure")), failures)
            if failures:
                self.assertIn("grown: 64 -> 128", case.find("failure").text)

    def test_junit_of_odd_names(self):
        odd = STEP.replace("m.py", 'a<&>.py').replace('op_name="x"', 'op_name="\u00fc]]>&"')
        a = self.write("a.hlo", odd)
        b = self.write("b.hlo", odd.replace("[256]", "[512]").replace("[64]", "[128]"))
        out = self.gate(a, b, "--format=junit", "--top=0", code=1).out
        xml.etree.ElementTree.fromstring(out)
        broken = self.write("b.hlo", LARGE.replace("m.py", "m\x01\\.py").encode() .replace(b"params", b"pa\xff\xe2\x82ms"))
        answer = self.run_cli("gate", "--target=cpu", a, broken, "--format=junit")
        if answer.code == 1:
            xml.etree.ElementTree.fromstring(answer.out)
        self.assertIn(answer.code, (1, 2), answer)

    def test_json(self):
        document = json.loads(self.gate(self.a, self.b, "--format=json", code=1).out)
        self.assertEqual(document["schema"], "stowplan.gate/1")
        self.assertFalse(document["passed"])
        check = document["checks"][0]
        self.assertEqual((check["rule"], check["outcome"], check["base"], check["bytes"]),
                         ("growth", "breach", PEAK, 2 * PEAK))
        self.assertEqual(check["causes"][0]["cause"], "64 -> 128")


class RegressionsTest(cli_case.CliCase):
    """Real dumps before and after one edit."""

    def test_regressions_trip_and_noise_does_not(self):
        tripped = passed = 0
        for folder in sorted(EDITS.iterdir()):
            known = json.loads((folder / "cause.json").read_text())
            with self.subTest(folder.name):
                answer = self.run_cli("gate", str(folder / "before"), str(folder / "after"), "--max-growth=1%",
                                      "--format=json")
                self.assertEqual(answer.code, 1 if known["delta_bytes"] > 0 else 0, answer)
                document = json.loads(answer.out)
                if known["delta_bytes"] > 0:
                    self.assertEqual(document["checks"][0]["bytes"] - document["checks"][0]["base"], known["delta_bytes"])
                    self.assertTrue(document["checks"][0]["causes"])
                    tripped += 1
                else:
                    passed += 1
        self.assertEqual((tripped, passed), (16, 7))


if __name__ == "__main__":
    unittest.main()
