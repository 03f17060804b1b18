# SPDX-License-Identifier: Apache-2.0
"""stowplan assign: files like XLA's, and settings that are found or asked for."""

import json
import os
import pathlib
import re
import sys
import unittest

from assign_case import AssignCase, CORPUS
from cli_case import MODULE
from wire import change, module, without

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit" / "report"))
import json_schema_test  # noqa: E402  (the checker of our JSON)

ENDINGS = ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt",
           "-memory-usage-report.txt")
STAGES = ("orders", "calls", "schedule", "values", "aliases", "live-ranges")
TPU = """\
HloModule fast, is_scheduled=true

ENTRY %main (p: f32[1024]) -> f32[1024] {
  %p = f32[1024]{0:T(1024)} parameter(0)
  %x = f32[1024]{0:T(1024)S(1)} tan(%p)
  ROOT %r = f32[1024]{0:T(1024)} negate(%x)
}

"""


class Dumps(AssignCase):
    """What lies beside a module tells how it was planned and printed."""

    def test_order_and_release_come_from_the_report(self):
        folder = CORPUS / "frameworks" / "cpu-tf-2.15" / "loop"
        text = folder / "cpu_after_optimizations.txt"
        self.assertNotIn("is_scheduled", text.read_text())
        answer = self.assign(str(text))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("rules of tf-2.15, as the report beside the module", answer.err)
        self.assertIn("in the order of the report", " ".join(answer.err.split()))
        theirs = (folder / "cpu_after_optimizations-buffer-assignment.txt").read_text()
        sequence = re.compile(r"  InstructionSequence:\n(?:    .*\n)+")
        self.assertEqual(sequence.search(answer.out)[0], sequence.search(theirs)[0])
        # Alone, it has no order.
        alone = self.assign(self.write("cpu_after_optimizations.txt", text.read_bytes()))
        self.assertIn("the module has no schedule, so it is planned in the order `", " ".join(alone.err.split()))

    def test_protos_print_like_the_text_beside(self):
        folder = CORPUS / "frameworks" / "cpu-torch_xla-2.9-spmd" / "mlp"
        text = (folder / "cpu_after_optimizations.txt").read_text()
        self.assertIn("allow_spmd_sharding_propagation_to_output={true}", text)
        proto = folder / "cpu_after_optimizations.hlo.pb"
        self.assertEqual(self.run_cli("print", str(proto)).out, text)
        alone = self.write("cpu_after_optimizations.hlo.pb", proto.read_bytes())
        self.assertNotIn("allow_spmd", self.run_cli("print", str(alone)).out)


class Files(AssignCase):
    def sample(self, archive, program):
        """A module of the corpus without XLA's answer, in a folder of its own."""
        source = next((CORPUS / archive / program).glob("*.hlo.pb"))
        self.write(source.name, without(source.read_bytes(), 3))
        return source, str(self.folder / source.name)

    def check(self, archive, program, *words):
        source, path = self.sample(archive, program)
        out = self.folder / "out"
        answer = self.assign("-o", str(out), *words, path)
        self.assert_quiet(answer)
        self.assertEqual(answer.out, "")
        stem = source.name.removesuffix(".hlo.pb")
        self.assertEqual(sorted(os.listdir(out)), sorted(stem + ending for ending in ENDINGS))
        for ending in ENDINGS:
            theirs = (source.parent / (stem + ending)).read_text()
            ours = (out / (stem + ending)).read_text()
            if ending.endswith("values.txt"):  # the order of uses is history
                theirs, ours = sorted(theirs.splitlines()), sorted(ours.splitlines())
            self.assertEqual(ours, theirs, program + ending)

    def test_equal_xlas_on_cpus(self):
        self.check("cpu", "big_tuple", "--xla-version=jaxlib-0.10.2")
        self.check("cpu", "cnn_train", "--target=cpu", "--xla-version=jaxlib-0.10.2")

    def test_equal_xlas_on_gpus(self):
        self.check("gpu", "cond_in_while", "--target=gpu", "--xla-version=jaxlib-0.11.2")

    def test_equal_xlas_on_tpus_with_a_preset(self):
        program = CORPUS / "tpu" / "cnn_train"
        preset = program / "after_optimizations-buffer-assignment.txt"
        self.check("tpu", "cnn_train", "--target=tpu-v5e", f"--preset={preset}")
        # Or from the file that holds the answer beside the program.
        self.check("tpu", "cnn_train", "--target=tpu-v5e",
                   f"--preset={program / 'after_optimizations.hlo.pb'}")

    def test_a_preset_of_another_program_is_refused(self):
        _, path = self.sample("tpu", "cnn_train")
        preset = CORPUS / "tpu" / "big_tuple" / "after_optimizations-buffer-assignment.txt"
        other = re.sub(r"<(\d+) \S+", r"<\1 elsewhere", preset.read_text())
        other = self.write("other-buffer-assignment.txt", other)
        answer = self.assign("--target=tpu-v5e", f"--preset={other}", path)
        self.assertIn("@1>", preset.read_text())
        self.assert_bad_use(answer, "the program has no elsewhere", "of the same program")

    def test_without_the_schedules_entries(self):
        _, path = self.sample("cpu", "cond_in_while")
        data = pathlib.Path(path).read_bytes()
        orders = []
        change(data, 1, lambda m: change(m, 7, lambda s: change(s, 1, orders.append)))
        self.assertEqual(len(orders), 7)

        def cut(lost):
            # Without the order of one computation.
            return change(data, 1, lambda m: change(m, 7, lambda s: change(
                s, 1, lambda row: None if row == lost else row)))

        codes = [self.assign("--target=cpu", self.write("cut.hlo.pb", cut(row))) for row in orders]
        refused = [answer for answer in codes if answer.code != 0]
        self.assertEqual(len(refused), 5)  # some are of reducers, which need no order
        for answer in refused:
            self.assert_bad_use(answer, "has no schedule")


class Settings(AssignCase):
    def test_the_target_is_asked_for(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.assign(path), "does not show which machine", "--target=cpu, gpu")
        self.assert_bad_use(self.assign(self.write("t.hlo", TPU)), "of unknown generation", "tpu-v5e")

    def test_the_target_is_found(self):
        path = self.write("module_0001.jit_f.cpu_after_optimizations.txt", MODULE)
        answer = self.assign(path)
        self.assert_quiet(answer)
        self.assertIn("note: target cpu by the file's name, rules of jaxlib-", answer.err)
        path = self.write("module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt", MODULE)
        self.assertIn("target gpu by the file's name", self.assign(path).err)
        self.assertIn("target cpu by the command line", self.assign("--target=cpu", path).err)
        told = self.assign("--target=cpu", "--xla-version=jaxlib-0.11.2", path)
        self.assertEqual((told.code, told.err), (0, ""), "nothing was found, so nothing is told")
        v4 = TPU.replace("S(1)", "S(3)")
        answer = self.assign(self.write("v4.hlo", v4))
        self.assertIn("target tpu-v4 by memory space 3 in its layouts", answer.err)

    def test_the_version_is_found_by_how_a_text_is_written(self):
        path = self.write("m.hlo", MODULE)
        for dialect in ("tf-2.8", "jaxlib-0.4.13", "jaxlib-0.5.0"):
            text = self.run_cli("print", f"--dialect={dialect}", path).out
            answer = self.assign("--target=cpu", self.write("dialect.hlo", text))
            self.assertIn(f"rules of {dialect}, the newest that fits", " ".join(answer.err.split()))
        self.assertIn("rules of jaxlib-0.11.2, the newest that fits",
                      " ".join(self.assign("--target=cpu", path).err.split()))

    def test_unknown_names_are_guessed(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.assign("--target=tpu-v5", path), "did you mean `tpu-v5e`?")
        self.assert_bad_use(self.assign("--target=cpu", "--xla-version=jaxlib-0.11.x", path),
                            "no XLA `jaxlib-0.11.x`", "did you mean `jaxlib-0.11.2`?")
        self.assert_bad_use(self.assign("--target=cpu", "--xla-version=xyzzy", path), "no XLA `xyzzy`",
                            "jaxlib-0.11.2", "libtpu-0.0.51")
        self.assert_bad_use(self.assign("--target=cpu", "--dialect=jaxlib-0.11.x", path), "no dialect",
                            "did you mean `jaxlib-0.11.2`?")
        self.assert_bad_use(self.assign("--dump-stage=value", path), "did you mean `values`?")
        self.assert_bad_use(self.assign("--policy=bets", path), "best")
        self.assert_bad_use(self.assign("--target=cpu", str(self.folder / "nowhere.hlo")), "nowhere.hlo")

    def test_versions_differ_in_rules_and_in_words(self):
        text = MODULE.replace("1000", "3")
        path = self.write("m.hlo", text)
        new = self.assign("--target=cpu", "--xla-version=jaxlib-0.11.2", path).out
        old = self.assign("--target=cpu", "--xla-version=jaxlib-0.4.30", path).out
        self.assertIn(", page 0", new)
        self.assertNotIn(", page 0", old)
        mixed = self.assign("--target=cpu", "--xla-version=jaxlib-0.4.30", "--dialect=jaxlib-0.11.2", path).out
        self.assertIn(", page 0", mixed)

    def test_versions_in_between_are_those_before(self):
        path = self.write("m.hlo", MODULE)
        plan = lambda version: self.assign("--target=cpu", f"--xla-version={version}", path)
        for between, known in (("jaxlib-0.4.38", "jaxlib-0.4.35"), ("jaxlib-0.6.2", "jaxlib-0.6.0"),
                               ("jaxlib-0.12.3", "jaxlib-0.12.0"), ("libtpu-0.0.40", "libtpu-0.0.32.1")):
            self.assertEqual(plan(between).out, plan(known).out)
            self.assertEqual(plan(between).code, 0)
        for other in ("jaxlib-0.4.12", "jaxlib-0.10", "jaxlib-0.10.2.", "jaxlib-", "jax-0.10.2"):
            self.assert_bad_use(plan(other), f"no XLA `{other}`")

    def test_operands_have_shapes_in_reports_until_jaxlib_0_5(self):
        path = self.write("m.hlo", MODULE)
        for version, has_shapes in (("jaxlib-0.4.30", True), ("jaxlib-0.5.0", True), ("jaxlib-0.6.0", False)):
            lines = [line for line in self.assign("--target=cpu", f"--xla-version={version}", path).out.splitlines()
                     if line.startswith(" from instruction") and "%" in line.partition("(")[2]]
            self.assertTrue(lines, version)
            for line in lines:
                self.assertEqual("[" in line.partition("(")[2].partition(" %")[0], has_shapes, line)

    def test_without_a_preset_it_says_so(self):
        path = self.write("t.hlo", TPU)
        answer = self.assign("--target=tpu-v5e", path)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("note: it is not known where XLA put the 1 values in memory space 1", answer.err)
        self.assertIn("--preset=REPORT", answer.err)
        answer = self.assign("--target=tpu-v5e", self.write("plain.hlo", TPU.replace("S(1)", "")))
        self.assert_quiet(answer)

    def test_options_that_do_not_go_together(self):
        path = self.write("m.hlo", MODULE)
        folder = str(self.folder / "out")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--format=json", "-o", folder, path), "cannot be combined")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--dump-stage=values", "-o", folder, path), "cannot be combined")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--preset=nothing", path), "--preset is for TPUs")
        self.assertFalse((self.folder / "out").exists())

    def test_a_schedule_that_was_made_up_is_told(self):
        path = self.write("m.hlo", MODULE.replace(", is_scheduled=true", ""))
        answer = self.run_cli("assign", "--target=cpu", path)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("note: the module has no schedule, so it is planned in the order `", answer.err)

    def test_a_missing_copy_is_told(self):
        text = """HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, may-alias) }

ENTRY %e (p: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%p, %q)
}
"""
        path = self.write("swap.hlo", text)
        out = self.folder / "out"
        answer = self.run_cli("assign", "--target=cpu", "-o", str(out), path)
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("warning: p must share a place with q", answer.err)
        self.assertIn("no plan for this program is sound", answer.err)
        self.assertFalse(out.exists(), "nothing is written")
        # On demand, with the exit code of a finding.
        answer = self.run_cli("assign", "--target=cpu", "--allow-unsound", "-o", str(out), path)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("unsound: ", answer.err)
        self.assertEqual(len(list(out.iterdir())), 4)

    def test_a_preset_without_the_block_is_refused(self):
        report = self.write("r.txt", "BufferAssignment:\nallocation 0: size 4096, parameter 0, shape |f32[1024]| at "
                            "ShapeIndex {}:\n value: <0 p @0> (size=4096,offset=0): f32[1024]{0:T(1024)}\n")
        answer = self.run_cli("assign", "--target=tpu-v5e", f"--preset={report}", self.write("t.hlo", TPU))
        self.assert_bad_use(answer, "the report has no block of memory space 1")

    def test_a_preset_outside_of_its_block_is_refused(self):
        path = self.write("t.hlo", TPU)
        preset = self.write("t-buffer-assignment.txt", (
            "BufferAssignment:\nallocation 0: size 8192, color 1, page 0, preallocated-temp:\n"
            " value: <1 x @1> (size=4096,offset=6144): f32[1024]{0:T(1024)S(1)}\n"))
        out = self.folder / "out"
        answer = self.assign("--target=tpu-v5e", f"--preset={preset}", "-o", str(out), path)
        self.assert_bad_use(answer, "the preset places x outside its block")
        self.assertFalse(out.exists())


class Output(AssignCase):
    def test_combined_on_standard_output(self):
        path = self.write("cpu_after_optimizations.txt", MODULE)
        answer = self.assign(path)
        self.assert_quiet(answer)
        self.assertTrue(answer.out.startswith("BufferAssignment:\nallocation 0: size 4000"), answer)
        for part in ("\nTotal bytes used: ", "\nUsed values:\n", "\nHloLiveRange (max 6):\n"):
            self.assertIn(part, answer.out)
        self.assertEqual(self.assign("--target=cpu", "-", stdin=MODULE.encode()).code, 0)
        # It is a report like any other.
        report = self.run_cli("report", "-", stdin=answer.out.encode())
        self.assertEqual((report.code, report.err), (0, ""), report)

    def test_files_are_named_after_the_module(self):
        out = self.folder / "deep" / "er"
        for name, stem in (("a.b.hlo", "a.b"), ("c.txt", "c"), ("d", "d")):
            answer = self.assign("--target=cpu", "-o", str(out), self.write(name, MODULE))
            self.assertEqual((answer.code, answer.out), (0, ""), answer)
            for ending in ENDINGS:
                self.assertTrue((out / (stem + ending)).exists(), name + ending)
        self.assert_bad_use(self.assign("--target=cpu", "-o", "/dev/null/x", self.write("m.hlo", MODULE)),
                            "cannot make the directory")

    def test_stages(self):
        path = self.write("m.hlo", MODULE)
        for stage in STAGES:
            answer = self.assign("--target=cpu", f"--dump-stage={stage}", path)
            self.assert_quiet(answer)
            self.assertIn("main" if stage == "calls" else "z", answer.out, stage)
        self.assertEqual(len({self.assign("--target=cpu", f"--dump-stage={s}", path).out for s in STAGES}), 6)

    def test_stats_go_to_standard_error(self):
        path = self.write("m.hlo", MODULE)
        plain = self.assign("--target=cpu", path)
        answer = self.assign("--target=cpu", "--stats", path)
        self.assertEqual(answer.out, plain.out)
        self.assert_quiet(plain)
        for stage in ("read", "verify", *STAGES, "assign", "check", "report", "write"):
            self.assertRegex(answer.err, rf"(?m)^ *{stage}\b")

    def test_json(self):
        for text, target in ((MODULE, "cpu"), (TPU, "tpu-v5e")):
            answer = self.assign(f"--target={target}", "--format=json", self.write("m.hlo", text))
            self.assertEqual(answer.code, 0, answer)
            found = list(json_schema_test.complaints(json.loads(answer.out), json_schema_test.SCHEMA))
            self.assertEqual(found, [])

    def test_programs_without_an_order_get_one(self):
        path = self.write("m.hlo", MODULE.replace(", is_scheduled=true", ""))
        answer = self.assign("--target=cpu", "--stats", path)
        self.assertEqual(answer.code, 0, answer)
        for name in ("post-order", "depth-first", "list"):
            self.assertRegex(answer.err, rf"schedule {name}: peak \S+ \(\d+\)")
            one = self.assign("--target=cpu", f"--schedule={name}", "--stats", path)
            self.assertEqual(one.err.count(": peak "), 1, one)
        self.assert_bad_use(self.assign("--target=cpu", "--schedule=lst", path), "did you mean `list`?")

    def test_help(self):
        answer = self.assign("--help")
        self.assertEqual(answer.code, 0)
        for option in ("--output", "--target", "--xla-version", "--policy", "--dialect", "--preset",
                       "--dump-stage", "--stats"):
            self.assertIn(option, answer.out)


# Each is read by the next two; XLA's orders leave a hole.


if __name__ == "__main__":
    unittest.main()
