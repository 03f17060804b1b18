# SPDX-License-Identifier: Apache-2.0
"""stowplan check: modules with their plans, reports alone, dump directories; what it says and how it exits."""

import json
import os
import pathlib
import shutil
import unittest

from cli_case import CliCase

CORPUS = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"])
SEEDS = pathlib.Path(__file__).parents[2] / "examples" / "seeds"
STEM = "cpu_after_optimizations"

PROGRAM = """\
HloModule m, is_scheduled=true

ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}
  b = f32[4]{0} exponential(p), metadata={op_name="jit(f)/exp" source_file="f.py" source_line=4}
  ROOT r = f32[4]{0} add(a, b), metadata={op_name="jit(f)/add" source_file="f.py" source_line=5}
}
"""
PLAN = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {{}}:
 value: <0 p @0> (size=16,offset=0): f32[4]{{0}}
allocation 1: size 16, output shape is |f32[4]|, maybe-live-out:
 value: <3 r @0> (size=16,offset=0): f32[4]{{0}}
allocation 2: size 32, preallocated-temp:
 value: <1 a @0> (size=16,offset=0): f32[4]{{0}}
 value: <2 b @0> (size=16,offset={offset}): f32[4]{{0}}
"""

# Both elements of the state are always equal, and so may lie in one place.
CARRIED_TWICE = """\
HloModule m, is_scheduled=true

c {
  cp = (f32[4]{0}, f32[4]{0}) parameter(0)
  ROOT go = pred[] constant(true)
}
b {
  p = (f32[4]{0}, f32[4]{0}) parameter(0)
  x = f32[4]{0} get-tuple-element(p), index=0
  y = f32[4]{0} get-tuple-element(p), index=1
  n = f32[4]{0} negate(x)
  m = f32[4]{0} copy(n)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(n, m)
}
ENTRY main {
  a = f32[4]{0} parameter(0)
  s = f32[4]{0} negate(a)
  i = (f32[4]{0}, f32[4]{0}) tuple(s, s)
  w = (f32[4]{0}, f32[4]{0}) while(i), condition=c, body=b
  v = f32[4]{0} get-tuple-element(w), index=0
  z = f32[4]{0} get-tuple-element(w), index=1
  ROOT r = f32[4]{0} add(v, z)
}
"""


class Check(CliCase):
    def plan(self, offset):
        return [self.write(f"{STEM}.txt", PROGRAM), self.write(f"{STEM}-buffer-assignment.txt", PLAN.format(offset=offset))]

    def check(self, *words):
        return self.run_cli("check", *words)

    def test_a_sound_plan(self):
        answer = self.check("--target=cpu", *self.plan(16))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn(": sound (4 instructions, ", answer.out)

    def test_a_collision(self):
        answer = self.check("--target=cpu", *self.plan(8))
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("unsound: overwritten: r reads a at 3, but finds b there\n"
                      "  b writes bytes 8 to 16 of allocation 2 at 2  (jit(f)/exp, f.py:4)\n"
                      "  r needs a there at 3  (jit(f)/add, f.py:5)\n", answer.out)

    def test_the_program_decides_not_the_ranges(self):
        """`check` agrees with `assign`, although the ranges of equal elements overlap in one place."""
        module = self.write("m.hlo", CARRIED_TWICE)
        answer = self.run_cli("assign", "--target=cpu", "-o", self.folder / "plan", module)
        self.assertEqual(answer.code, 0, answer)
        self.assertNotIn("warning", answer.err)
        reports = sorted((self.folder / "plan").glob("*.txt"))
        answer = self.check("--target=cpu", module, *reports)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn(": sound (15 instructions, ", answer.out)
        # Without the program, nobody knows that they are equal.
        answer = self.check(*reports)
        self.assertEqual(answer.code, 2, answer)
        self.assertIn(": unchecked: cp{0} and cp{1} share bytes, and only the program tells", answer.out)
        # They are not if the body changes one of them.
        other = self.write("m.hlo", CARRIED_TWICE.replace("m = f32[4]{0} copy(n)", "m = f32[4]{0} exponential(n)"))
        answer = self.check("--target=cpu", other, *reports)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("unsound: overwritten", answer.out)
        answer = self.run_cli("assign", "--target=cpu", other)
        self.assertEqual(answer.code, 2, answer)

    def test_json(self):
        answer = self.check("--target=cpu", "--format=json", *self.plan(8))
        self.assertEqual(answer.code, 1, answer)
        page = json.loads(answer.out)
        self.assertEqual(page["schema"], "stowplan.check/2")
        finding = page["modules"][0]["findings"][0]
        self.assertEqual((finding["severity"], finding["code"]), ("unsound", "overwritten"))
        self.assertEqual((finding["allocation"], finding["begin"], finding["end"]), (2, 8, 16))
        self.assertEqual(finding["read"], {"instruction": "r", "time": 3, "op_name": "jit(f)/add", "source": "f.py:5"})
        self.assertEqual(finding["wanted"], {"instruction": "a"})

    def test_limit(self):
        whole = self.check("--target=cpu", "--limit=0", *self.plan(24))
        cut = self.check("--target=cpu", "--limit=1", *self.plan(24))
        self.assertEqual(whole.code, 1, whole)
        self.assertEqual(cut.out.count("unsound: "), 1)

    def test_reports_alone(self):
        for seed in sorted(SEEDS.glob("*.txt")):
            answer = self.check(str(seed))
            self.assertEqual(answer.code, 0, answer)
            self.assertIn("sound by the report alone", answer.out)

    def test_directories_and_protos(self):
        answer = self.check(str(CORPUS / "cpu" / "while_in_cond"))
        self.assertEqual(answer.code, 0, answer)
        answer = self.check(str(CORPUS / "cpu" / "while_in_cond" / f"{STEM}.hlo.pb"))
        self.assertEqual(answer.code, 0, answer)

    def test_a_tpus_dump(self):
        """The module a second time, without a plan; and what a SparseCore executes, which does not show the machine."""
        source = CORPUS / "oracle" / "tpu-v6e-libtpu-0.0.51"
        stage = "after_optimizations"
        for name, program in ("module_0001.jit_f.cl_7", "r4005"), ("module_0002.extracted.cl_7", "extracted"):
            for file in (source / program).iterdir():
                shutil.copy(file, self.folder / f"{name}.{file.name}")
        alone = self.check(self.folder / f"module_0002.extracted.cl_7.{stage}.hlo.pb")
        self.assertEqual(alone.code, 2)
        self.assertIn("the target machine is not known", alone.err)
        # A proto without an assignment: the message that holds it is left out.
        text = self.run_cli("print", self.folder / f"module_0001.jit_f.cl_7.{stage}.hlo.pb").out
        again = self.folder / f"module_0001.jit_f.cl_7.{stage}_after_buffer_assignment"
        again.with_name(again.name + ".txt").write_text(text)
        whole = (self.folder / f"module_0001.jit_f.cl_7.{stage}.hlo.pb").read_bytes()
        size, at, shift = 0, 1, 0
        while True:
            size |= (whole[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if whole[at - 1] < 0x80:
                break
        again.with_name(again.name + ".hlo.pb").write_bytes(whole[: at + size])
        both = self.check(self.folder)
        self.assertEqual(both.code, 0, both.err)
        self.assertEqual([line.split(" (")[0] for line in both.out.splitlines()],
                         ["module_0001.jit_f: sound", "module_0002.extracted: sound"])

    def test_what_assign_writes(self):
        module = CORPUS / "cpu" / "scan_stack" / f"{STEM}.hlo.pb"
        for policy in ("xla", "best"):
            folder = pathlib.Path(self.folder) / policy
            self.assertEqual(self.run_cli("assign", f"--policy={policy}", "-o", str(folder), str(module)).code, 0)
            shutil.copy(module, folder)
            answer = self.check(str(folder))
            self.assertEqual(answer.code, 0, answer)
            self.assertIn(": sound (", answer.out)

    def test_bad_inputs(self):
        self.assertEqual(self.check("/nonexistent").code, 2)
        self.assertEqual(self.check(self.write("m.txt", PROGRAM)).code, 2)
        self.assertEqual(self.check(self.write("x-buffer-assignment.txt", "BufferAssignment:\nallocation x\n")).code, 2)


if __name__ == "__main__":
    unittest.main()
