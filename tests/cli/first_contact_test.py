#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What somebody new does: points it at anything, reads the first lines, looks for their own code."""

import json
import pathlib
import unittest

import cli_case

LOGS = pathlib.Path(__file__).parents[2] / "examples" / "oom"

# A training step whose layer is in a library. The user's lines are step.py:3 and step.py:4.
MODULE = """\
HloModule jit_step, is_scheduled=true, num_partitions=4

FileNames
1 "/home/me/step.py"
2 "/venv/lib/python3.11/site-packages/flax/linear.py"

FunctionNames
1 "step"
2 "Dense.__call__"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
2 {file_name_id=2 function_name_id=2 line=700 end_line=700 column=1 end_column=2}
3 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=1}

ENTRY main {
  w = f32[1024]{0} parameter(0), metadata={op_name="params"}
  act = f32[4096]{0} broadcast(w), dimensions={}, metadata={op_name="jit(step)/jvp(Dense)/broadcast_in_dim" stack_frame_id=2}
  sum = f32[4096]{0} cosine(act), metadata={op_name="jit(step)/jvp()/cos" stack_frame_id=3}
  grad = f32[4096]{0} multiply(sum, act), metadata={op_name="jit(step)/transpose(jvp())/mul" stack_frame_id=3}
  part = f32[1024]{0} slice(grad), slice={[0:1024]}, metadata={op_name="jit(step)/slice" stack_frame_id=3}
  ROOT new = f32[1024]{0} subtract(w, part), metadata={op_name="jit(step)/sub" stack_frame_id=3}
}
""".replace("broadcast(w), dimensions={}", "concatenate(w, w, w, w), dimensions={0}")
SOURCE = "import flax\ndef step(w):\n    act = Dense()(w)\n    return w - act\n"


class FirstContact(cli_case.CliCase):
    def module(self, name="m.txt"):
        return self.write(name, MODULE)

    def fine(self, *words, code=0):
        answer = self.run_cli(*words, cwd=self.folder)
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_a_module_a_directory(self):
        module = self.module()
        page = self.fine("explain", module, "--target=cpu").out
        self.assertEqual(self.fine(module, "--target=cpu").out, page)
        self.assertEqual(self.fine(module, "--target", "cpu", "--by", "kind").out,
                         self.fine("explain", module, "--target=cpu", "--by=kind").out)
        self.assertTrue(self.fine(str(self.folder), "--target=cpu").out.startswith("m needs "))
        self.assertIn("nothing differs", self.fine(module, self.module("n.txt"), "--target=cpu").out.lower())

    def test_a_log_and_a_dump(self):
        log = str(LOGS / "gpu_training.log")
        self.assertEqual(self.fine(log).out, self.fine("explain-oom", log).out)
        module = self.module()
        joined = self.fine(log, module, "--target=cpu", "--time-limit=500ms").out
        self.assertIn("With the dump:", joined)
        self.assertIn("With the dump:", self.fine(module, log, "--target=cpu", "--time-limit=0.5s").out)

    def test_neither(self):
        self.assert_bad_use(self.run_cli("explian"), "there is no command `explian`")
        self.assert_bad_use(self.run_cli(self.write("x.txt", "hello\n")), "x.txt")

    def test_help_comes_by_what_a_user_wants(self):
        out = self.run_cli().out
        self.assertEqual(self.run_cli().code, 0)
        self.assertLess(out.index("  explain "), out.index("  print "))
        for line in out.splitlines():
            self.assertLessEqual(len(line), 84, line)

    def test_the_headline(self):
        lines = self.fine(self.module(), "--target=cpu").out.split("\n\n")[0].splitlines()
        self.assertLessEqual(len(lines), 4)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertRegex(lines[0], r"^m needs \d+\.\dKiB \(\d+\) per device, of 4$")
        self.assertIn("step.py:", lines[1])
        self.assertEqual(json.loads(self.fine(self.module(), "--target=cpu", "--format=json").out)["headline"], lines)
        lines = self.fine(self.module(), "--target=t4").out.split("\n\n")[0].splitlines()
        self.assertIn("fits into the 15.00GiB of t4", lines[1])

    def test_whose_line_it_is(self):
        module = self.module()

        def lines(*words):
            page = json.loads(self.fine("explain", module, "--target=cpu", "--format=json", "--at=2", "--by=source", *words).out)
            return {row["name"].rpartition("/")[2]: row["own"] for row in page["partitions"]["source"]["rows"]}

        self.assertEqual(lines()["step.py:3"], 16384)
        self.assertNotIn("linear.py:700", lines())
        self.assertEqual(lines("--own=flax")["linear.py:700"], 16384)
        self.assertIn("via linear.py:700", self.fine("explain", module, "--target=cpu", "--at=2", "--by=source").out)
        self.assertIn("linear.py:700", self.fine("explain", module, "--target=cpu", "--at=2", "--by=stack").out)
        # The page with the source agrees.
        self.write("step.py", SOURCE)
        page = self.fine("explain", module, "--target=cpu", "--at=2", f"--source-root={self.folder}").out
        self.assertIn("   16.0KiB     3 |     act = Dense()(w)\n", page)
        self.assertEqual(lines(f"--source-root={self.folder}")["step.py:3"], 16384)

    def test_directories(self):
        (self.folder / "dump").mkdir()
        module = self.module("dump/module_0001.jit_step.cpu_after_optimizations.txt")
        self.assertEqual(self.fine("stats", "dump").out, self.fine("stats", module).out)
        self.assertEqual(self.fine("print", "dump").out, self.fine("print", module).out)
        self.assertEqual(self.fine("assign", "dump", "--target=cpu").out, self.fine("assign", module, "--target=cpu").out)
        self.assertIn("well-formed", self.fine("verify", "dump").out)
        (self.folder / "empty").mkdir()
        for command in ("stats", "print", "assign", "verify"):
            self.assertEqual(self.run_cli(command, str(self.folder / "empty")).code, 2)

    def test_times(self):
        module = self.module()
        for time in ("1", "1s", "500ms", "0.01m", "0.0003h"):
            self.fine("explain", module, "--target=cpu", "--advice", f"--time-limit={time}")
        for time in ("-1s", "1x", "s", "1e9h"):
            answer = self.run_cli("explain", module, "--target=cpu", "--advice", f"--time-limit={time}")
            self.assert_bad_use(answer, "--time-limit needs a time")


if __name__ == "__main__":
    unittest.main()
