# SPDX-License-Identifier: Apache-2.0
"""stowplan pack: plans, proofs, the checker, and problems that are refused."""

import json
import unittest

from cli_case import CliCase

PROBLEM = "id,lower,upper,size\na,0,2,4\nb,2,4,4\nc,0,4,2\n"
# Needs 17 bytes, though never more than 16 are alive.
GAP = ("lower,upper,size\n2,3,2\n0,3,7\n1,2,3\n1,4,3\n1,2,3\n2,5,4\n0,1,9\n3,4,9\n4,5,12\n")


class Pack(CliCase):
    def test_plan(self):
        plan = str(self.folder / "plan.csv")
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "-o", plan)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        self.assertEqual(answer.out, "3 buffers in 6B\noptimal: 6B are alive at time 0\n")
        checked = self.run_cli("pack", self.write("p.csv", PROBLEM), f"--check={plan}")
        self.assertEqual((checked.code, checked.out), (0, "sound: 3 buffers, 6B high\n"), checked)

    def test_capacity(self):
        problem = self.write("gap.csv", GAP)
        self.assertEqual(self.run_cli("pack", problem, "--capacity=17").code, 0)
        answer = self.run_cli("pack", problem, "--capacity=16")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("infeasible: no plan fits 16B: the search has been through all plans below 17B", answer.out)

    def test_json(self):
        answer = json.loads(self.run_cli("pack", self.write("gap.csv", GAP), "--format=json").out)
        self.assertEqual((answer["status"], answer["height"], answer["bound"]), ("optimal", 17, 17))
        self.assertEqual(answer["load"], {"bytes": 16, "time": 0})
        self.assertEqual(len(answer["buffers"]), 9)

    def test_unsound_plans(self):
        problem = self.write("p.csv", PROBLEM)
        bad = self.write("bad.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,2,4,4,0\nc,0,4,2,3\n")
        answer = self.run_cli("pack", problem, f"--check={bad}")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("buffers 0 and 2 share bytes at time 0", answer.out)

    def test_refused(self):
        for text, words in (("id,lower,upper,size\nx,0,2,-1\n", "2:7: error: a size is not negative"),
                            ("nothing", "there is no column `nothing`"), ("", "there is no header")):
            answer = self.run_cli("pack", self.write("x.csv", text))
            self.assertEqual((answer.code, answer.out), (2, ""), answer)
            self.assertIn(words, answer.err)
        problem = self.write("p.csv", PROBLEM)
        for option in ("--capacity=much", "--time-limit=-1", "--time-limit=x", "--seed=x"):
            self.assertEqual(self.run_cli("pack", problem, option).code, 2)

    def test_time_limit(self):
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "--time-limit=0.01")
        self.assertEqual(answer.code, 0, answer)


if __name__ == "__main__":
    unittest.main()
