# SPDX-License-Identifier: Apache-2.0
"""Directories of modules without plans: which one is meant, what is shown of them, what is said."""

import json
import pathlib
import shutil
import unittest

from cli_case import MODULE, CliCase
from view_bundle import Bundle

SEEDS = pathlib.Path(__file__).parents[2] / "examples" / "seeds"
STAGE = "cpu_after_optimizations"
LOG = "Out of memory while trying to allocate 5 bytes. [executable_name='jit_small']\n"


def program(size):
    return MODULE.replace("1000", str(size))


class Programs(CliCase):
    def add(self, name, text, folder="dump"):
        (self.folder / folder).mkdir(exist_ok=True)
        self.write(f"{folder}/{name}.txt", text)

    def add_plan(self, name, seed, folder="dump"):
        (self.folder / folder).mkdir(exist_ok=True)
        shutil.copy(SEEDS / f"{seed}.txt", self.folder / folder / f"{name}.{STAGE}-buffer-assignment.txt")

    def run_here(self, *words):
        return self.run_cli(*words, cwd=self.folder)

    def explained(self, *words):
        answer = self.run_here("explain", *words, "--format=json")
        self.assertEqual(answer.code, 0, answer)
        return json.loads(answer.out)["module"]

    def bundle(self, path):
        return Bundle((self.folder / path).read_bytes())

    def test_the_name_itself_is_more_than_a_part(self):
        self.add_plan("module_0001.jit_steps_big", "seed_003")
        self.add(f"module_0002.jit_step.{STAGE}", MODULE)
        for name in ("jit_step", "step"):
            self.assertEqual(self.explained("dump", f"--module={name}"), "module_0002.jit_step")
        # Otherwise those with a plan come first.
        for words in ([], ["--module=ste"], ["--module=steps"]):
            self.assertEqual(self.explained("dump", *words), "module_0001.jit_steps_big")

    def test_up_to_a_dot(self):
        self.add_plan("module_0001.jit_steps_big", "seed_003")
        self.add("module_0002.jit_step.v5e.after_optimizations", MODULE)
        self.assertEqual(self.explained("dump", "--module=step", "--target=cpu"), "module_0002.jit_step.v5e")
        self.add_plan("module_0003.jit_step", "seed_004")
        self.assertEqual(self.explained("dump", "--module=step"), "module_0003.jit_step")

    def test_index_of_programs(self):
        for number, size in enumerate((1000, 3000)):
            self.add(f"module_{number:04}.jit_{size}.{STAGE}", program(size))
        self.add("whole", program(2000))
        (self.folder / "dump" / "sub").mkdir()
        self.write(f"dump/sub/{STAGE}.txt", program(4000))
        self.write(f"dump/{STAGE}.txt", program(5000))
        self.write("dump/empty.txt", "")  # a stray file that says nothing is no problem
        self.write("dump/notes.txt", "to do\n")
        for output in ([], ["-o", "pages/"]):
            with self.subTest(output):
                answer = self.run_here("view", "dump", "--target=cpu", *output)
                self.assertEqual((answer.code, answer.out), (0, ""), answer)
                header = self.bundle("pages/index.html" if output else "view/index.html").header
                self.assertEqual(len(header["index"]), 5)
                # What is shown is no problem.
                self.assertEqual([each["name"] for each in header["problems"]], ["dump/notes.txt"])
                self.assertNotIn("has no buffer assignment", answer.err)
        answer = self.run_here("view", "dump", "--target=cpu", "-o", "x.html")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("-o FOLDER/ writes a page for each", answer.err)

    def test_index_of_two(self):
        for folder in ("a", "b"):
            for name in ("f", "g"):
                self.add(name, MODULE, folder)
        answer = self.run_here("view", "a", "b", "--target=cpu", "-o", "pages/")
        self.assertEqual(answer.code, 0, answer)
        self.assertNotIn("warning", answer.err)
        header = self.bundle("pages/index.html").header
        self.assertEqual((len(header["index"]), header["problems"]), (2, []))

    def test_programs_left_out_are_listed(self):
        self.add_plan("module_0001.jit_f", "seed_003")
        self.add(f"module_0002.jit_g.{STAGE}", MODULE)
        answer = self.run_here("view", "dump", "-o", "pages/")
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual([each["name"] for each in self.bundle("pages/index.html").header["problems"]],
                         ["dump/module_0002.jit_g"])

    def test_largest_pair(self):
        """The largest of each side on its own would be f beside g."""
        for folder, f, g in (("a", 4000, 3000), ("b", 1000, 5000)):
            self.add("f", program(f), folder)
            self.add("g", program(g), folder)
        self.add("only", program(9000), "b")
        answer = self.run_here("view", "a", "b", "--target=cpu", "-o", "x.html")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("showing the largest of 2 pairs of modules, g with", answer.err)
        page = self.bundle("x.html")
        self.assertEqual([module.header["name"] for module in page.modules], ["g", "g"])
        # The same of plans that are there.
        for folder, f, g in (("c", "seed_004", "seed_002"), ("d", "seed_003", "seed_004")):
            self.add_plan("module_0001.f", f, folder)
            self.add_plan("module_0002.g", g, folder)
        answer = self.run_here("view", "c", "d", "-o", "y.html")
        self.assertEqual(answer.code, 0, answer)
        names = {module.header["name"] for module in self.bundle("y.html").modules}
        self.assertEqual(len(names), 1, names)

    def test_module_of_the_log(self):
        self.add(f"module_0001.jit_small.{STAGE}", program(1000))
        self.add(f"module_0002.jit_big.{STAGE}", program(9000))
        self.write("log", LOG)
        for more in ((), ("module_0003.jit_plan", "seed_003")):
            if more:
                self.add_plan(*more)
            answer = self.run_here("explain-oom", "log", "--dump=dump", "--format=json")
            self.assertEqual(answer.code, 0, answer)
            self.assertEqual(json.loads(answer.out)["dump"]["module"], "module_0001.jit_small")

    def test_why_none_can_be_planned(self):
        self.add("a", MODULE)
        self.add("b", MODULE)
        for words in (["explain", "dump"], ["view", "dump", "-o", "x.html"], ["view", "dump", "-o", "pages/"], ["report", "dump"]):
            answer = self.run_here(*words)
            self.assert_bad_use(answer, "does not show which machine", "give --target=cpu")
            self.assertRegex(answer.err, "none of the |no module could be shown|none can be planned")
            self.assertNotIn("has no plan", answer.err)
        self.assertIn("none of the 2 modules", self.run_here("explain", "dump").err)

    def test_skipped_are_counted(self):
        self.add("a", MODULE)
        self.add("b", "HloModule x\nENTRY e { ROOT a = f32[2] bad(\n")
        self.add("c", program(2000))
        answer = self.run_here("explain", "dump", "--target=cpu")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("using the largest of 3 modules, c with", answer.err)
        self.assertIn("(1 skipped", answer.err)

    def test_report_plans_one(self):
        path = self.write(f"module_0001.jit_f.{STAGE}.txt", MODULE)
        # Of hand-written text that begins with no header as well.
        bare = self.write("bare.hlo", MODULE.split("\n", 1)[1])
        for words in ([path], [bare, "--target=cpu"], ["-", "--target=cpu"]):
            answer = self.run_cli("report", *words, stdin=MODULE.encode())
            self.assertEqual(answer.code, 0, answer)
            self.assertIn("note: there is no plan, so one is made as XLA does", answer.err)
            self.assertIn("\n  the plan is Stowplan's, made by XLA's rules\n", answer.out)
            self.assertRegex(answer.out, r"\n  total +\d+ +11\.7KiB \(12004\)")
        page = self.run_cli("report", path, "--reconcile").out
        self.assertIn("the plan is Stowplan's", page)
        self.assertNotIn("as said", page, "nobody said anything")
        report = json.loads(self.run_cli("report", path, "--format=json").out)
        self.assertEqual((report["plan"], report["total_bytes"]), ("made", 12004))
        # What `assign` writes, and by the rules that are asked for.
        for version in ("jaxlib-0.11.2", "jaxlib-0.4.30"):
            words = (path, f"--xla-version={version}")
            mine = self.run_cli("report", "--format=xla", "--part=assignment", *words)
            self.assertEqual(mine.code, 0, mine)
            self.assertTrue(self.run_cli("assign", *words).out.startswith(mine.out), version)
        self.assert_bad_use(self.run_cli("report", path, "--xla-version=jaxlib-0.11.3x"), "jaxlib-0.11.3x")

    def test_report_lists_what_it_plans(self):
        self.add(f"module_0001.jit_f.{STAGE}", program(1000))
        self.add(f"module_0002.jit_g.{STAGE}", program(3000))
        self.add(f"module_0003.jit_h.{STAGE}", "HloModule x\nENTRY e { ROOT a = f32[2] bad(\n")
        answer = self.run_here("report", "dump")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("note: no module has a plan, so each is planned as XLA does", answer.err)
        self.assertRegex(answer.err, r"jit_h\..*: warning:")
        self.assertRegex(answer.out, r"35\.2KiB \(36004\) .* module_0002\.jit_g\n.*11\.7KiB \(12004\) .* module_0001\.jit_f\n")
        self.assertEqual(self.run_here("report", "--strict", "dump").code, 1, "one is left out")
        listed = json.loads(self.run_here("report", "--format=json", "dump").out)
        self.assertEqual([row["plan"] for row in listed["modules"]], ["made", "made"])
        self.assertTrue(self.run_here("report", "dump", "--module=f").out.startswith("module_0001.jit_f: 11.7KiB"))
        # Beside plans that are there, others are left out, unless they are asked for.
        self.add_plan("module_0004.jit_plan", "seed_003")
        answer = self.run_here("report", "dump")
        self.assertTrue(answer.out.startswith("module_0004.jit_plan: 286.05MiB"), answer)
        self.assertEqual(answer.err.count("has no buffer assignment"), 3, answer)
        self.assertTrue(self.run_here("report", "dump", "--module=f").out.startswith("module_0001.jit_f: 11.7KiB"))

    def test_check_says_what_it_needs(self):
        path = self.write("alone.txt", MODULE)
        bare = self.write("bare.hlo", MODULE.split("\n", 1)[1])
        self.add(f"module_0001.jit_f.{STAGE}", MODULE)
        for words in ([path], [bare], ["dump"], ["-"]):
            answer = self.run_cli("check", *words, cwd=self.folder, stdin=MODULE.encode())
            self.assert_bad_use(answer, "no plan", "`stowplan assign` makes and checks one", "--xla_dump_to=DIR")
        # Beside others it is said that it is not checked.
        self.add_plan("module_0002.jit_g", "seed_003")
        answer = self.run_here("check", "dump")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("dump/module_0001.jit_f: warning: has no buffer assignment", answer.err)
        # A file that is broken is no module without a plan.
        self.assert_bad_use(self.run_cli("check", self.write("x.hlo.pb", b"\x0a\xff")), "x.hlo.pb:", "error:")


if __name__ == "__main__":
    unittest.main()
