# SPDX-License-Identifier: Apache-2.0
"""stowplan check --certificate and stowplan-recheck: certificates hold, and tampered ones do not."""

import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

from check_test import CARRIED_TWICE, PLAN, PROGRAM, STEM
from cli_case import BINARY, Answer, CliCase

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"])
RECHECK = str(pathlib.Path(os.path.realpath(BINARY)).with_name("stowplan-recheck"))
ENDING = "-buffer-assignment.txt"

# A loop that runs any number of times, and a conditional of whose branches one writes.
CONTROL = CORPUS / "cpu" / "cond_in_while" / f"{STEM}.hlo.pb"


def report_of(module):
    return pathlib.Path(re.sub(r"\.(hlo\.pb|txt)$", ENDING, str(module)))


class Recheck(CliCase):
    def recheck(self, text, *report):
        process = subprocess.run([RECHECK, "-", *map(str, report)], input=text.encode(), capture_output=True, timeout=60,
                                 check=False)
        return Answer(process)

    def certificate_of(self, *words, code=0):
        path = self.folder / "certificate"
        path.unlink(missing_ok=True)
        answer = self.run_cli("check", f"--certificate={path}", *map(str, words))
        self.assertEqual(answer.code, code, answer)
        return path.read_text() if path.exists() else None

    def small(self, offset=16):
        return [self.write(f"{STEM}.txt", PROGRAM), self.write(f"{STEM}{ENDING}", PLAN.format(offset=offset))]

    def assert_denied(self, text, words, *report):
        answer = self.recheck(text, *report)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn(words, answer.out)

    def assert_refused(self, text, words):
        answer = self.recheck(text)
        self.assertEqual((answer.code, answer.out), (2, ""), answer)
        self.assertIn(words, answer.err)

    def test_a_small_one(self):
        files = self.small()
        text = self.certificate_of("--target=cpu", *files)
        self.assertEqual(text, "stowplan-check-certificate 1\nmodule m\n"
                               "allocation 0 16\nallocation 1 16\nallocation 2 32\n"
                               "placed p 16 0 0\nplaced a 16 2 0\nplaced b 16 2 16\nplaced r 16 1 0\n"
                               "write 0\nbegin\nstep p\nstep a\nread 0\nwrite 1\nstep b\nread 0\nwrite 2\n"
                               "step r\nread 1\nread 2\nwrite 3\noutput 3\nend\ndone\n")
        answer = self.recheck(text, files[1])
        self.assertEqual((answer.code, answer.out), (0, "holds: m: 4 reads; on trust 0 writes in place and 0 copies\n"))

    def test_every_plan_of_the_corpus(self):
        """With the places compared to those of XLA's own report."""
        held = 0
        without = 0
        modules = sorted([*CORPUS.rglob("*.hlo.pb"), *CORPUS.rglob("*after_optimizations.txt")])
        for module in modules:
            report = report_of(module)
            # The plans of XLA's errors have no certificates.
            if not report.exists() or CORPUS / "errors" in module.parents:
                continue
            target = re.search(r"tpu-v\w+(?=-libtpu)", str(module))
            path = self.folder / "certificate"
            path.unlink(missing_ok=True)
            answer = self.run_cli("check", f"--certificate={path}", *([f"--target={target[0]}"] if target else []), str(module),
                                  str(report))
            if not path.exists():
                self.assertIn("no certificate, because", answer.err, module)
                without += 1
                continue
            answer = Answer(subprocess.run([RECHECK, str(path), str(report)], capture_output=True, timeout=60, check=False))
            self.assertEqual(answer.code, 0, f"{module} {answer}")
            held += 1
        # 14 modules without an order, and the doubt of docs/check.md
        self.assertEqual((held, without), (1713, 15))
        self.assertIn("1 713 of the corpus hold", (ROOT / "docs" / "check.md").read_text())

    def test_plans_of_ours(self):
        module = CORPUS / "cpu" / "scan_stack" / f"{STEM}.hlo.pb"
        for policy in ("xla", "best"):
            folder = self.folder / policy
            self.assertEqual(self.run_cli("assign", f"--policy={policy}", "-o", str(folder), str(module)).code, 0)
            shutil.copy(module, folder)
            text = self.certificate_of(folder)
            self.assertEqual(self.recheck(text, *folder.glob(f"*{ENDING}")).code, 0)

    def test_elements_that_are_always_equal(self):
        """They lie in one place; that they stay equal is proved again."""
        module = self.write("m.hlo", CARRIED_TWICE)
        self.assertEqual(self.run_cli("assign", "--target=cpu", "-o", str(self.folder / "plan"), module).code, 0)
        text = self.certificate_of("--target=cpu", module, *(self.folder / "plan").glob("*.txt"))
        answer = self.recheck(text)
        self.assertEqual(answer.code, 0, answer)
        changed = re.sub(r"\ncopy (\d+) \d+\n", r"\nwrite \1\n", text)
        self.assertNotEqual(changed, text)
        self.assert_denied(changed, "does not stay what it is said to be")

    def test_a_done_writes_when_the_operation_is_over(self):
        program = """HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  s = ((f32[4]{0}), (f32[8]{0})) all-gather-start(a), dimensions={0}
  d = (f32[8]{0}) all-gather-done(s)
  x = f32[8]{0} get-tuple-element(d), index=0
  ROOT r = f32[8]{0} negate(x)
}
"""
        plan = """BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 p @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 32, output shape is |f32[8]|, maybe-live-out:
 value: <3 r @0> (size=32,offset=0): f32[8]{0}
allocation 2: size 96, preallocated-temp:
 value: <1 a @0> (size=16,offset=0): f32[4]{0}
 value: <2 s{1,0} @0> (size=32,offset=16): f32[8]{0}
 value: <4 s{} @0> (size=16,offset=48): ((f32[4]{0}), (f32[8]{0}))
 value: <5 s{0} @0> (size=8,offset=64): (f32[4]{0})
 value: <6 s{1} @0> (size=8,offset=80): (f32[8]{0})
 value: <7 d{} @0> (size=8,offset=0): (f32[8]{0})
"""
        files = [self.write(f"{STEM}.txt", program), self.write(f"{STEM}{ENDING}", plan)]
        text = self.certificate_of("--target=cpu", *files)
        self.assertEqual(self.recheck(text).code, 0)
        self.assertEqual(text.count("step d\n"), 2)
        # In one step with what it reads, it would be written in place.
        at = text.rindex("step d\n")
        self.assert_denied(text[:at] + text[at + len("step d\n"):], "which is still read")

    def test_several_modules(self):
        for name in ("scan_stack", "while_in_cond"):
            for file in (CORPUS / "cpu" / name).glob(f"{STEM}*"):
                shutil.copy(file, self.folder / file.name.replace("cpu_", f"module_{name}.cpu_"))
        text = self.certificate_of(self.folder)
        self.assertEqual(text.count("\nmodule "), 2)
        answer = self.recheck(text)
        self.assertEqual((answer.code, answer.out.count("holds: ")), (0, 2), answer)

    def test_nothing_is_written_of_an_unsound_plan(self):
        self.assertIsNone(self.certificate_of("--target=cpu", *self.small(offset=8), code=1))
        self.assertIsNone(self.certificate_of("/nonexistent", code=2))
        files = self.small()
        answer = self.run_cli("check", "--target=cpu", "--certificate=-", "--format=json", *files)
        self.assertEqual(answer.code, 2, answer)
        answer = self.run_cli("check", "--target=cpu", "--certificate=-", *files)
        self.assertEqual(answer.code, 0, answer)
        self.assertTrue(answer.out.startswith("stowplan-check-certificate 1\n"), answer)

    def test_tampered_ones(self):
        files = self.small()
        text = self.certificate_of("--target=cpu", *files)
        for before, after, words in (
                ("placed b 16 2 16", "placed b 16 2 8", "at r: a is read, and is not there"),
                ("placed b 16 2 16", "placed b 16 2 24", "b does not fit there"),
                ("placed r 16 1 0", "placed r 16 0 0", "p is changed"),
                ("placed r 16 1 0", "placed r 16 2 16", "r is written over b, which is still read"),
                ("read 0\nwrite 1\n", "read 0\n", "a is read, and is not there"),
                ("step b\nread 0\nwrite 2\n", "", "b is read, and is not there"),
                ("step a\nread 0\nwrite 1\n", "step a\nread 0\nwrite 2\n", "a is read, and is not there"),
                ("read 0\nwrite 1\n", "read 1\nwrite 1\n", "at a: a is read, and is not there"),
                ("output 3", "output 3\noutput 3", "lies on another one"),
                ("output 3", "donate 0 3\noutput 3", "an output is not where its parameter is")):
            with self.subTest(before=before, after=after):
                self.assertEqual(text.count(before), 1, before)
                self.assert_denied(text.replace(before, after), words)
        changed = text.replace("placed b 16 2 16", "placed b 16 2 8").replace("step b\nread 0\nwrite 2\n", "")
        self.assert_denied(changed, "the report does not put b there", files[1])
        self.assert_denied(text.replace("allocation 2 32", "allocation 2 48"), "the allocations are not those", files[1])
        without = text.replace("placed b 16 2 16", "part b 16")
        self.assert_denied(without, "nothing is said about the value b", files[1])

    def test_tampered_loops_and_branches(self):
        text = self.certificate_of(CONTROL)
        self.assertEqual(self.recheck(text, report_of(CONTROL)).code, 0)
        for line in ("lose", "state", "give", "back", "head", "branch", "body", "join", "fork", "loop"):
            with self.subTest(line=line):
                lines = [at for at in re.finditer(rf"^{line}\b.*\n", text, flags=re.MULTILINE)]
                self.assertTrue(lines)
                codes = {self.recheck(text[:at.start()] + text[at.end():]).code for at in lines}
                self.assertLessEqual(codes, {0, 1, 2})
                # Without a part of a state that nobody reads, the rest still holds.
                if line not in ("state", "give"):
                    self.assertNotIn(0, codes)
                self.assertTrue(codes & {1, 2})
        # Claims about the state of a loop are proved again.
        states = re.findall(r"^state (\d+) (\d+) (\d+) (\d+) 0$", text, flags=re.MULTILINE)
        changing = [state for state in states if state[3] != "0"]
        self.assertTrue(changing)
        for state in changing:
            before = f"state {' '.join(state)} 0\n"
            self.assert_denied(text.replace(before, f"state {' '.join(state[:3])} 0 0\n"), "does not hold")

    def test_moved_values_as_the_checker_sees_them(self):
        """What the checker calls unsound when a value is moved does not hold when the certificate's value is."""
        chance = random.Random(7)
        unsound = held = 0
        for name in ("scan_stack", "while_in_cond", "lstm_train", "cond_branches", "nested_while", "mlp_train_sgd"):
            module = CORPUS / "cpu" / name / f"{STEM}.hlo.pb"
            report = report_of(module).read_text()
            text = self.certificate_of(module, report_of(module))
            values = re.findall(r"^ value: <\d+ (\S+) .*\(size=(\d+),offset=(\d+)\)", report, flags=re.MULTILINE)
            for _ in range(40):
                value, size, offset = chance.choice(values)
                place = chance.choice(values)[2]
                part = value.removesuffix("{}")
                line = re.search(rf"^placed {re.escape(part)} (\d+) (\d+) {offset}\n", text, flags=re.MULTILINE)
                if int(size) == 0 or place == offset or line is None:
                    continue
                moved = re.sub(rf"^( value: <\d+ {re.escape(value)} .*\(size={size}),offset={offset}\)", rf"\1,offset={place})",
                               report, flags=re.MULTILINE)
                checked = self.run_cli("check", str(module), self.write(f"moved{ENDING}", moved))
                changed = text.replace(line[0], f"placed {part} {line[1]} {line[2]} {place}\n")
                answer = self.recheck(changed)
                if "unsound: " in checked.out:
                    self.assertEqual(answer.code, 1, f"{name}: {part} at {place}\n{checked}{answer}")
                    unsound += 1
                else:
                    held += answer.code == 0
        self.assertEqual((unsound, held), (143, 7))

    def test_files_and_streams(self):
        for path, words in ((str(self.folder), b"cannot read"), ("/nonexistent", b"cannot read"), ("--help", b"usage:")):
            process = subprocess.run([RECHECK, path], capture_output=True, timeout=60, check=False)
            self.assertEqual((process.returncode, process.stdout), (2, b""), process)
            self.assertIn(words, process.stderr)
        text = self.certificate_of(CONTROL)
        with open("/dev/full", "wb") as full:
            process = subprocess.run([RECHECK, "-"], input=text.encode(), stdout=full, stderr=subprocess.DEVNULL, timeout=60,
                                     check=False)
        self.assertEqual(process.returncode, 2)

    def test_garbage(self):
        for text in ("", "nothing", "stowplan-check-certificate 2\n", "stowplan-check-certificate 1\n", "\0" * 1000,
                     "stowplan-check-certificate 1\nmodule m\n", "stowplan-check-certificate 1\nmodule m\nbegin\nend\n"):
            self.assert_refused(text, "error: ")
        text = self.certificate_of("--target=cpu", *self.small())
        for before, after in (("read 1", "read 9"), ("read 1", "read -1"), ("read 1", "read"), ("placed b 16 2", "placed b 16 7"),
                              ("step b", "stop b"), ("write 3", "write 99999999999999999999"), ("done\n", ""),
                              ("done\n", "done\ndone\n"), ("begin\n", ""), ("end\n", ""), ("output 3\n", "back\n")):
            with self.subTest(before=before, after=after):
                changed = text.replace(before, after)
                self.assertNotEqual(changed, text)
                self.assertIn(self.recheck(changed).code, (1, 2))
        self.assertEqual(subprocess.run([RECHECK], capture_output=True, check=False).returncode, 2)
        self.assertEqual(subprocess.run([RECHECK, "/nonexistent"], capture_output=True, check=False).returncode, 2)

    def test_cut_and_changed_at_random(self):
        chance = random.Random(3)
        text = self.certificate_of(CONTROL)
        for _ in range(150):
            cut = chance.randrange(len(text) - 1)
            self.assertIn(self.recheck(text[:cut]).code, (1, 2), cut)
        for _ in range(300):
            words = re.split(r"(\s)", text)
            for _ in range(chance.randrange(1, 4)):
                words[chance.randrange(len(words))] = chance.choice(words)
            self.assertIn(self.recheck("".join(words)).code, (0, 1, 2))


if __name__ == "__main__":
    unittest.main()
