# SPDX-License-Identifier: Apache-2.0
"""stowplan pack: plans, proofs, the checker, and problems that are refused."""

import json
import os
import pty
import subprocess
import unittest
import xml.etree.ElementTree

from cli_case import BINARY, CliCase

PROBLEM = "id,lower,upper,size\na,0,2,4\nb,2,4,4\nc,0,4,2\n"
# Needs 17 bytes, though never more than 16 are alive.
GAP = ("lower,upper,size\n2,3,2\n0,3,7\n1,2,3\n1,4,3\n1,2,3\n2,5,4\n0,1,9\n3,4,9\n4,5,12\n")


def read_terminal(parent):
    """All that was written to a terminal whose other end is closed: it may come in pieces."""
    shown = b""
    try:
        while piece := os.read(parent, 1 << 16):
            shown += piece
    except OSError:  # as Linux says that there is no more
        pass
    os.close(parent)
    return shown.decode()


class Pack(CliCase):
    def test_plan(self):
        plan = str(self.folder / "plan.csv")
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "-o", plan)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        self.assertEqual(answer.out, "3 buffers in 6B\noptimal: 6B are alive at time 0\n")
        checked = self.run_cli("pack", "--check", self.write("p.csv", PROBLEM), plan)
        self.assertEqual((checked.code, checked.out), (0, "sound: 3 buffers, 6B high\n"), checked)

    def test_capacity(self):
        problem = self.write("gap.csv", GAP)
        self.assertEqual(self.run_cli("pack", problem, "--capacity=17").code, 0)
        answer = self.run_cli("pack", problem, "--capacity=16")
        self.assertEqual(answer.code, 1, answer)
        self.assertRegex(answer.out, r"infeasible: no plan fits 16B: \d+ buffers cannot lie in less than 17B")

    def test_json(self):
        answer = json.loads(self.run_cli("pack", self.write("gap.csv", GAP), "--format=json").out)
        self.assertEqual((answer["status"], answer["height"], answer["bound"]), ("optimal", 17, 17))
        self.assertEqual(answer["load"], {"bytes": 16, "time": 0})
        self.assertEqual(len(answer["buffers"]), 9)

    def test_unsound_plans(self):
        problem = self.write("p.csv", PROBLEM)
        bad = self.write("bad.csv", "id,lower,upper,size,offset\na,0,2,4,0\nb,2,4,4,0\nc,0,4,2,3\n")
        answer = self.run_cli("pack", "--check", problem, bad)
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(answer.out, "buffers `a` and `c` share bytes at time 0\nnot sound: 3 buffers, 5B high\n")
        answer = json.loads(self.run_cli("pack", "--check", "--format=json", problem, bad).out)
        self.assertEqual((answer["sound"], len(answer["complaints"])), (False, 1))
        other = self.write("other.csv", "id,lower,upper,size,offset\na,0,2,5,0\nb,2,4,4,0\nc,0,4,2,8\n")
        self.assert_bad_use(self.run_cli("pack", "--check", problem, other), "other.csv:2:1", "this buffer has 4 bytes")
        good = self.write("good.csv", "id,offset\nc,4\nb,0\na,0\n")
        self.assertEqual(self.run_cli("pack", "--check", problem, good).code, 0)
        self.assertEqual(self.run_cli("pack", "--check", "--capacity=5", problem, good).code, 1)

    def test_refused(self):
        for text, words in (("id,lower,upper,size\nx,0,2,-1\n", "2:7: error: the size -1 is negative"),
                            ("nothing,else", "x.csv:1:1: error: this line has none of the columns"), ("id,nothing", "there is no column `nothing`"), ("", "there is no header")):
            answer = self.run_cli("pack", self.write("x.csv", text))
            self.assertEqual((answer.code, answer.out), (2, ""), answer)
            self.assertIn(words, answer.err)
        problem = self.write("p.csv", PROBLEM)
        for option in ("--capacity=much", "--time-limit=-1", "--time-limit=x", "--time-limit=nan", "--seed=x",
                       "--threads=0", "--threads=x", "--solver=magic", "--pool=fast", "--pool=:4", "--pool=a:x",
                       "--check", "--check=plan.csv", "--nothing"):
            self.assert_bad_use(self.run_cli("pack", problem, option))
        self.assert_bad_use(self.run_cli("pack", problem, problem), "takes one FILE")
        self.assert_bad_use(self.run_cli("pack"), "needs a FILE")
        self.assert_bad_use(self.run_cli("pack", problem, "-o", "-", "--svg=-"), "two things go to standard output")
        self.assert_bad_use(self.run_cli("pack", problem, "-o", "-", "--format=json"))
        self.assert_bad_use(self.run_cli("pack", "--check", problem, problem, "-o", "x"), "makes none")
        self.assert_bad_use(self.run_cli("pack", problem, "--pool=a:4", "--pool=a:5"), "`a` is there twice")
        self.assert_bad_use(self.run_cli("pack", problem, "--pool=a:4", "--capacity=4"), "their own capacities")

    def test_hostile_files_are_refused_soon(self):
        head = b"id,lower,upper,size\n"
        for content, place in ((head + b"a,0,2,-4\n", ":2:7:"), (head + b"a,0,2,9223372036854775807\n", ":2:7:"),
                               (head + b"a,0,2,92233720368547758070\n", ":2:7:"), (head + b"a,5,5,4\n", ":2:1:"),
                               (head + b"a,0,2,4\na,0,2,4\n", ":3:1:"), (head + b"a,0,2,NaN\n", ":2:7:"),
                               (head + b"a,0,2,1e5\n", ":2:7:"), (b"id," * 1000000, ":1:4:"),
                               (head + b"," * 1000000, ":2:1:"), (head + b"a\0,0,2,4", ":2:1:"),
                               (b"id,lower,upper,size,offset\na,0,2,4,0\nb,1,2,4,3\n", ":3:9:"),
                               (head + b"x" * 1000000, ":2:1:"), (b"\0" * 1000000, ":1:1:")):
            path = self.write("x.csv", content)
            answer = self.run_cli("pack", path, timeout=10)
            self.assert_bad_use(answer, "x.csv" + place)
            self.assertLess(len(answer.err), 20000)

    def test_every_column(self):
        head = "id,lower,upper,size,alignment,gaps,hint,group,apart,pools"
        problem = self.write("p.csv", head + ",offset\na,0,10,16,4,1-3@4:8 6-8,32,g,c,slow fast,-1\n"
                             "b,0,10,16,1,,-1,g,,,\nc,2,9,8,1,,-1,,a,fast,24\n")
        plan = str(self.folder / "plan.csv")
        pools = ("--pool=fast:1KiB", "--pool=slow:64")
        answer = self.run_cli("pack", problem, *pools, "-o", plan)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("fast  32B  of 1.0KiB (1024)  1 buffer\n", answer.out)
        with open(plan, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], head + ",pool,offset")
        self.assertEqual(lines[3], "c,2,9,8,1,,-1,,,fast,fast,24")
        self.assertEqual(self.run_cli("pack", "--check", problem, plan, *pools).code, 0)
        self.assert_bad_use(self.run_cli("pack", problem, "--pool=fast:1KiB"), "there is no pool `slow`")
        found = json.loads(self.run_cli("pack", problem, *pools, "--format=json").out)
        self.assertEqual([pool["name"] for pool in found["pools"]], ["fast", "slow"])
        self.assertEqual([buffer["pool"] for buffer in found["buffers"]], ["slow", "slow", "fast"])

    def test_pools_that_are_too_small(self):
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "--pool=a:3", "--pool=b:2")
        self.assertEqual((answer.code, answer.out),
                         (1, "infeasible: the pools are too small for 1 buffer that may be nowhere else\n"))
        found = json.loads(self.run_cli("pack", self.write("p.csv", PROBLEM), "--pool=a:4", "--pool=b:1", "--format=json").out)
        self.assertEqual((found["status"], found["buffers"]), ("infeasible", []))

    def test_to_standard_output(self):
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "-o", "-")
        self.assertEqual(answer.code, 0, answer)
        self.assertTrue(answer.out.startswith("id,lower,upper,size,offset\na,0,2,4,"), answer)
        self.assertIn("optimal", answer.err)

    def test_no_plan_is_written_that_does_not_fit(self):
        plan, picture = self.folder / "plan.csv", self.folder / "plan.svg"
        answer = self.run_cli("pack", self.write("gap.csv", GAP), "--capacity=16", "-o", str(plan), f"--svg={picture}")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("none is written", answer.err)
        self.assertFalse(plan.exists() or picture.exists())

    def test_picture(self):
        picture = self.folder / "plan.svg"
        problem = "id,lower,upper,size,gaps\na&<b>\\\"\xe9,0,2,4,\nb,2,9,4,4-6\nc,0,4,2,\n".encode("latin-1")
        self.assertEqual(self.run_cli("pack", self.write("p.csv", problem), f"--svg={picture}").code, 0)
        tree = xml.etree.ElementTree.parse(picture)
        titles = [element.text for element in tree.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(len(titles), 4, titles)  # b has two pieces
        self.assertTrue(any(title.startswith('a&<b>\\"\ufffd: 4B at ') for title in titles), titles)

    def test_progress_is_for_terminals(self):
        problem = self.write("gap.csv", GAP)
        self.assertEqual(self.run_cli("pack", problem).err, "")
        parent, child = pty.openpty()
        process = subprocess.run([BINARY, "pack", problem], stdout=subprocess.PIPE, stderr=child, check=True)
        os.close(child)
        shown = read_terminal(parent)
        self.assertRegex(shown, r"B, at least 1\dB, [0-9.]+ % apart, 0 s")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        self.assertIn(b"optimal", process.stdout)

    def test_time_limit(self):
        answer = self.run_cli("pack", self.write("p.csv", PROBLEM), "--time-limit=0.01")
        self.assertEqual(answer.code, 0, answer)


if __name__ == "__main__":
    unittest.main()
