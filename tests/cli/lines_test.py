# SPDX-License-Identifier: Apache-2.0
"""No line of any command ends in blanks, but for what XLA itself writes so."""

import pathlib
import re
import unittest

from cli_case import MODULE, CliCase

ROOT = pathlib.Path(__file__).parents[2]
SEEDS = sorted((ROOT / "examples" / "seeds").glob("seed_*.txt"))
LOGS = [*sorted((ROOT / "examples" / "oom").glob("*.log")), *sorted((ROOT / "tests" / "fuzz" / "regressions" / "fuzz_oom").iterdir())]
COMMANDS = ("print", "verify", "stats", "assign", "order", "fit", "check", "replan", "pack", "report", "explain", "explain-oom",
            "diff", "gate", "inspect", "repack", "export", "view", "completion")
# A buffer of which nothing is known but its size, and one with an op_name alone.
NAMELESS = """\
RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 17.10G of 15.48G hbm. Exceeded hbm capacity by 1.62G.

  Largest program allocations in hbm:

  1. Size: 2.00G
     Allocation type: HLO temp
     ==========================

  2. Size: 1.00G
     Operator: op_type="xla::matmul" op_name="jit(step)/matmul"
     Allocation type: HLO temp
     ==========================

"""


class Lines(CliCase):
    def check(self, *words, stdin=b""):
        answer = self.run_cli(*words, stdin=stdin, cwd=self.folder)
        for line in (answer.out + answer.err).splitlines():
            self.assertFalse(line.endswith((" ", "\t")), (words, line))
        return answer

    def test_help(self):
        self.assertEqual(self.check("--help").code, 0)
        listed = re.findall(r"^  ([a-z-]+) +[a-z]", self.run_cli("--help").out.split("Understand")[1].split("Examples:")[0], re.M)
        self.assertEqual(sorted(listed), sorted(COMMANDS), "all of them are tried here")
        for command in COMMANDS:
            self.assertEqual(self.check(command, "--help").code, 0)
            self.check(command)
            self.check(command, "--nonsense")
        for shell in ("bash", "zsh"):
            self.check("completion", shell)
        self.check("report", "--dialect=list")

    def test_reports(self):
        for seed in map(str, SEEDS):
            for words in (["report"], ["report", "--reconcile"], ["report", "--sort=time"], ["check"], ["explain"], ["explain", "--by=stack"],
                          ["explain", "--by=kind"], ["explain", "--by=op_name"], ["explain", "--curve"], ["explain", "--padding"],
                          ["gate", "--budget=1KiB"], ["gate", "--budget=1KiB", "--format=markdown"], ["diff", str(SEEDS[0])],
                          ["export", "--to=collapsed"]):
                self.check(*words, seed)
        self.check("report", str(SEEDS[0].parent))
        self.check("diff", str(SEEDS[0].parent), str(SEEDS[0].parent))

    def test_modules(self):
        path = self.write("m.txt", MODULE)
        for words in (["stats"], ["verify"], ["report"], ["explain"], ["explain", "--value=ax"], ["explain", "--advice"], ["view"],
                      ["assign", "--policy=best", "--stats"], ["assign", "--dump-stage=live-ranges"]):
            target = [] if words[0] == "verify" else ["--target=cpu"]
            answer = self.check(*words, path, *target)
            self.assertEqual(answer.code, 0, words)
            if words[:1] != ["assign"]:  # there XLA's own lines are written
                self.assertLessEqual(max(map(len, [*answer.out.splitlines(), *answer.err.splitlines(), ""])), 85, words)
        csv = self.write("p.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,5\n")
        self.check("pack", csv)
        self.check("pack", csv, "--capacity=4")

    def test_logs(self):
        for log in map(str, LOGS):
            self.check("explain-oom", log)

    def test_buffers_without_shape_or_name(self):
        page = self.check("explain-oom", self.write("log", NAMELESS)).out
        self.assertIn("\n     2.00GiB  no name\n     1.00GiB  jit(step)/matmul\n\n", page)


if __name__ == "__main__":
    unittest.main()
