# SPDX-License-Identifier: Apache-2.0
"""Verdicts: no plan leaves unless it is sound, by whichever door; and unchecked is not sound."""

import json
import unittest

from assign_case import AssignCase, SCHEDULED

# The loop writes over a parameter that is not donated: a copy is missing.
UNSOUND = f"""{SCHEDULED}
body {{
  a = f32[4] parameter(0)
  ROOT n = f32[4] negate(a)
}}
cond {{
  b = f32[4] parameter(0)
  ROOT k = pred[] constant(true)
}}
ENTRY e {{
  x = f32[4] parameter(0)
  ROOT w = f32[4] while(x), condition=cond, body=body
}}
"""

# Written out it has 2 ** 60 calls.
TOO_LONG = SCHEDULED + "\nf0 {\n  p0 = f32[4] parameter(0)\n  ROOT r0 = f32[4] negate(p0)\n}\n" + "".join(
    f"{'ENTRY ' if i == 60 else ''}f{i} {{\n  p{i} = f32[4] parameter(0)\n"
    f"  q{i} = f32[4] call(p{i}), to_apply=f{i - 1}\n  ROOT r{i} = f32[4] call(q{i}), to_apply=f{i - 1}\n}}\n"
    for i in range(1, 61))

# Every command that plans a module that has no plan.
DOORS = (
    ("assign",),
    ("report",),
    ("report", "--format=xla"),
    ("report", "--format=json"),
    ("report", "--format=csv"),
    ("explain",),
    ("explain", "--by=kind"),
    ("export", "--to=json"),
    ("gate", "--budget=1GiB"),
    ("view", "-o", "-"),
    ("view", "-o", "-", "--policy=best"),
)


class Doors(AssignCase):
    def assert_closed(self, text, flag, *messages):
        path = self.write("m.hlo", text)
        for command, *words in DOORS:
            with self.subTest(command=command, words=words):
                answer = self.run_cli(command, *words, "--target=cpu", path)
                self.assert_bad_use(answer, *messages, flag)
                answer = self.run_cli(command, *words, "--target=cpu", flag, path)
                self.assertNotEqual(answer.code, 2, answer)
                self.assertTrue(answer.out, answer)
        self.assert_bad_use(self.run_cli("diff", "--target=cpu", path, path), *messages)

    def test_an_unsound_plan(self):
        self.assert_closed(UNSOUND, "--allow-unsound", "no plan for this program is sound")

    def test_a_plan_that_cannot_be_checked(self):
        self.assert_closed(TOO_LONG, "--allow-unchecked", "the plan could not be checked")


class Unchecked(AssignCase):
    """What `assign` could not check, `check` does not call sound."""

    def setUp(self):
        super().setUp()
        self.path = self.write("m.hlo", TOO_LONG)

    def test_assign_says_so(self):
        answer = self.assign("--target=cpu", "--allow-unchecked", self.path)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("the plan is unchecked", answer.err)
        answer = self.assign("--target=cpu", "--allow-unchecked", "--format=json", self.path)
        page = json.loads(answer.out)
        self.assertEqual(page["verdict"], "unchecked")
        self.assertTrue(page["reason"])

    def test_check_gives_no_verdict(self):
        out = self.folder / "out"
        self.assertEqual(self.assign("--target=cpu", "--allow-unchecked", "-o", str(out), self.path).code, 1)
        files = sorted(str(file) for file in out.iterdir())
        answer = self.run_cli("check", "--target=cpu", self.path, *files)
        self.assertEqual(answer.code, 2, answer)
        self.assertRegex(answer.out, r"m: unchecked: .* instructions; the limit is")
        self.assertNotIn("sound", answer.out)
        answer = self.run_cli("check", "--target=cpu", "--format=json", self.path, *files)
        self.assertEqual(answer.code, 2, answer)
        (module,) = json.loads(answer.out)["modules"]
        self.assertEqual(module["verdict"], "unchecked")
        self.assertIn("the limit is", module["reason"])

    def test_a_report_without_live_ranges(self):
        out = self.folder / "out"
        self.assertEqual(self.assign("--target=cpu", "--allow-unchecked", "-o", str(out), self.path).code, 1)
        (assignment,) = out.glob("*-buffer-assignment.txt")
        alone = self.write("alone.txt", assignment.read_bytes())
        answer = self.run_cli("check", alone)
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("alone: unchecked: there is neither a program nor live ranges", answer.out)


if __name__ == "__main__":
    unittest.main()
