# SPDX-License-Identifier: Apache-2.0
"""stowplan assign: files like XLA's, settings that are found or asked for, and programs that are refused."""

import json
import os
import pathlib
import re
import sys
import unittest

from cli_case import MODULE, CliCase

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit" / "report"))
import json_schema_test  # noqa: E402  (the checker of our JSON)

CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "/nonexistent"))
ENDINGS = ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt",
           "-memory-usage-report.txt")
STAGES = ("orders", "calls", "schedule", "values", "aliases", "live-ranges")

SCHEDULED = "HloModule m, is_scheduled=true"

TPU = """\
HloModule fast, is_scheduled=true

ENTRY %main (p: f32[1024]) -> f32[1024] {
  %p = f32[1024]{0:T(1024)} parameter(0)
  %x = f32[1024]{0:T(1024)S(1)} tan(%p)
  ROOT %r = f32[1024]{0:T(1024)} negate(%x)
}

"""


# The wire format of protocol buffers, as far as a module needs it.

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return n, at


def fields(data):
    """(number, value, the field's bytes) of a message; values are numbers or bytes."""
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            width = 8 if key & 7 == 1 else 4
            value, at = data[at:at + width], at + width
        yield key >> 3, value, data[begin:at]


def without(data, number):
    return b"".join(raw for n, _, raw in fields(data) if n != number)


def change(data, number, how):
    """The message with how(value) in place of each of these fields; None drops it."""
    out = b""
    for n, value, raw in fields(data):
        if n != number:
            out += raw
        elif (new := how(value)) is not None:
            out += field(n, new)
    return out


SHAPE = field(2, 11) + field(3, 4) + field(5, field(1, 0))  # f32[4]{0}


def instruction(name, opcode, number, operands=(), called=(), parameter=None):
    out = field(1, name) + field(2, opcode) + field(3, SHAPE) + field(35, number)
    out += b"".join(field(36, o) for o in operands) + b"".join(field(38, c) for c in called)
    return out + (field(9, parameter) if parameter is not None else b"")


def module(computations, schedule):
    """computations: {id: (name, [(instruction id, bytes)])}; the last one is the entry."""
    out = field(1, "m")
    for number, (name, instructions) in computations.items():
        body = b"".join(field(2, row) for _, row in instructions)
        out += field(3, field(1, name) + body + field(5, number) + field(6, instructions[-1][0]))
    entry = list(computations)[-1]
    out += field(2, computations[entry][0]) + field(6, entry)
    rows = b"".join(field(1, field(1, c) + field(2, b"".join(field(1, i) for i in order)))
                    for c, order in schedule.items())
    return field(1, out + field(7, rows))


class AssignCase(CliCase):
    def assign(self, *words, **options):
        return self.run_cli("assign", *words, **options)

    def assert_quiet(self, answer):
        """All went well, and nothing is said but for which machine and compiler this is."""
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.err, r"\A(note: target \S+ by .*, rules of \S+.*\n)?\Z")

    def refuse(self, text, *messages, words=("--target=cpu",), name="m.hlo"):
        """One clear error, and nothing is written."""
        path = self.write(name, text)
        out = self.folder / "out"
        answer = self.assign("-o", str(out), *words, path)
        self.assert_bad_use(answer, *messages)
        self.assertEqual(answer.err.count("error:"), 1, answer)
        self.assertFalse(out.exists(), "nothing is written")
        self.assertEqual(self.assign(*words, path).code, 2)


@unittest.skipUnless(CORPUS.exists(), "no corpus")
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
        if "color 1" in preset.read_text() and "@1>" in preset.read_text():
            self.assert_bad_use(answer, "the program has no elsewhere", "of the same program")

    def test_without_the_schedules_entries(self):
        _, path = self.sample("cpu", "cond_in_while")
        data = pathlib.Path(path).read_bytes()
        orders = []
        change(data, 1, lambda m: change(m, 7, lambda s: change(s, 1, orders.append)))
        self.assertGreater(len(orders), 3)

        def cut(lost):
            # Without the order of one computation.
            return change(data, 1, lambda m: change(m, 7, lambda s: change(
                s, 1, lambda row: None if row == lost else row)))

        codes = [self.assign("--target=cpu", self.write("cut.hlo.pb", cut(row))) for row in orders]
        refused = [answer for answer in codes if answer.code != 0]
        self.assertGreater(len(refused), 3)  # some are of reducers, which need no order
        for answer in refused:
            self.assert_bad_use(answer, "has no schedule")


class Settings(AssignCase):
    def test_the_target_is_asked_for(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.assign(path), "does not show for which machine", "--target=cpu, gpu")
        self.assert_bad_use(self.assign(self.write("t.hlo", TPU)), "not of which generation", "tpu-v5e")

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

    def test_unknown_names_are_guessed(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.assign("--target=tpu-v5", path), "did you mean `tpu-v5e`?")
        self.assert_bad_use(self.assign("--target=cpu", "--xla-version=jaxlib-0.11.3", path),
                            "no XLA `jaxlib-0.11.3`", "did you mean `jaxlib-0.11.2`?")
        self.assert_bad_use(self.assign("--target=cpu", "--xla-version=xyzzy", path), "no XLA `xyzzy`",
                            "--dialect=list")
        self.assert_bad_use(self.assign("--target=cpu", "--dialect=jaxlib-0.11.3", path), "no dialect",
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

    def test_without_a_preset_it_says_so(self):
        path = self.write("t.hlo", TPU)
        answer = self.assign("--target=tpu-v5e", path)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("note: nothing says where XLA put the 1 values in memory space 1", answer.err)
        self.assertIn("--preset=REPORT", answer.err)
        answer = self.assign("--target=tpu-v5e", self.write("plain.hlo", TPU.replace("S(1)", "")))
        self.assert_quiet(answer)

    def test_options_that_do_not_go_together(self):
        path = self.write("m.hlo", MODULE)
        folder = str(self.folder / "out")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--format=json", "-o", folder, path), "leave one")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--dump-stage=values", "-o", folder, path), "leave one")
        self.assert_bad_use(self.run_cli("assign", "--target=cpu", "--preset=nothing", path), "--preset is for TPUs")
        self.assertFalse((self.folder / "out").exists())

    def test_a_schedule_that_was_made_up_is_told(self):
        path = self.write("m.hlo", MODULE.replace(", is_scheduled=true", ""))
        answer = self.run_cli("assign", "--target=cpu", path)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("note: the module has no schedule; planned for the order `", answer.err)

    def test_a_missing_copy_is_told(self):
        text = """HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, may-alias) }

ENTRY %e (p: f32[8], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%p, %q)
}
"""
        answer = self.run_cli("assign", "--target=cpu", self.write("swap.hlo", text))
        self.assertIn("warning: p must share a place with q", answer.err)

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
        self.assert_bad_use(answer, "the preset places x outside of its block")
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
HOLE = SCHEDULED + """

ENTRY e {
  p = f32[1] parameter(0)
  a = f32[320] custom-call(p), custom_call_target="f"
  b = f32[256] custom-call(a), custom_call_target="f"
  c = f32[192] custom-call(a, b), custom_call_target="f"
  d = f32[448] custom-call(b, c), custom_call_target="f"
  x = f32[384] custom-call(c, d), custom_call_target="f"
  y = f32[128] custom-call(d, x), custom_call_target="f"
  z = f32[512] custom-call(x, y), custom_call_target="f"
  w = f32[256] custom-call(y, z), custom_call_target="f"
  ROOT r = f32[1] custom-call(w, z), custom_call_target="f"
}
"""


class Best(AssignCase):
    def best(self, *words, text=HOLE):
        return self.assign("--target=cpu", "--xla-version=jaxlib-0.11.2", "--policy=best", *words,
                           self.write("m.hlo", text))

    def heap(self, *words):
        answer = self.best("--format=json", *words)
        report = json.loads(answer.out)
        self.assertEqual(list(json_schema_test.complaints(report, json_schema_test.SCHEMA)), [])
        return answer, report["best"]

    def test_the_report_says_how_low_the_plan_is(self):
        answer = self.best()
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("BufferAssignment:", answer.out)
        self.assertRegex(answer.err, r"\A *space +XLA +Stowplan +bound +proof\n"
                                     r" *0 .*  optimal for what lies in it: the bound is needed at instant \d+\n\Z")
        answer, best = self.heap()
        self.assertEqual(answer.err, "")
        heap, = best["heaps"]
        self.assertEqual(heap["status"], "optimal")
        self.assertEqual(heap["bytes"], heap["bound"])
        self.assertLess(heap["bytes"], heap["xla_bytes"])
        self.assertNotIn("memory_limit", best)

    def test_the_files_have_right_figures(self):
        out = self.folder / "out"
        answer = self.best("-o", str(out))
        self.assertEqual(answer.code, 0, answer)
        strict = self.run_cli("report", "--strict", str(out))
        self.assertEqual((strict.code, strict.err), (0, ""), strict)
        heap, = self.heap()[1]["heaps"]
        assignment = next(out.glob("*-buffer-assignment.txt")).read_text()
        self.assertIn(f"size {heap['bytes']}, page 0, preallocated-temp:", assignment)

    def test_every_run_gives_the_same(self):
        self.assertEqual(self.best().out, self.best().out)

    def test_a_memory_limit_that_is_met(self):
        heap, = self.heap()[1]["heaps"]
        # What is left are the parameter and the result, 4 bytes each.
        limit = heap["bytes"] + 8
        answer, best = self.heap(f"--memory-limit={limit}")
        self.assertEqual(answer.code, 0)
        self.assertEqual(best["memory_limit"]["status"], "fits")
        answer = self.best(f"--memory-limit={limit}")
        self.assertEqual(answer.code, 0)
        self.assertIn(f"memory space 0 fits {limit / 1024:.1f}KiB ({limit}): it takes", answer.err)

    def test_a_memory_limit_that_nothing_meets(self):
        answer, best = self.heap("--memory-limit=3KiB")
        self.assertEqual(answer.code, 1)
        self.assertEqual(best["memory_limit"]["status"], "infeasible")
        self.assertGreater(best["memory_limit"]["floor"], 3072)
        answer = self.best("--memory-limit=3KiB")
        self.assertEqual(answer.code, 1)
        self.assertIn("memory space 0 does not fit 3.0KiB (3072): this plan takes", answer.err)
        self.assertIn("BufferAssignment:", answer.out)

    def test_a_time_limit(self):
        for seconds in ("0", "0.1"):
            self.assertEqual(self.best(f"--time-limit={seconds}").code, 0)

    def test_limits_that_are_none(self):
        self.assert_bad_use(self.best("--time-limit=soon"), "--time-limit wants seconds, not `soon`")
        self.assert_bad_use(self.best("--memory-limit=much"), "--memory-limit wants a size, not `much`")
        path = self.write("m.hlo", HOLE)
        self.assert_bad_use(self.assign("--memory-limit=1K", path), "--memory-limit is for --policy=best")
        self.assert_bad_use(self.assign("--time-limit=1", path), "--time-limit is for --policy=best")

    def test_without_temporaries(self):
        answer = self.best(text=SCHEDULED + "\n\nENTRY e {\n  ROOT p = f32[4] parameter(0)\n}\n")
        self.assertEqual(answer.code, 0)
        self.assertIn("the program has no temporaries\n", answer.err)


class Hostile(AssignCase):
    """Programs that are fine, but nest or repeat without end: they take seconds, not hours."""

    def plan(self, text):
        path = self.write("m.hlo", text)
        for target in ("cpu", "gpu"):
            answer = self.assign(f"--target={target}", path)
            self.assertEqual(answer.code, 0, answer)
            self.assertLess(len(answer.out), 100_000_000)

    def nest(self, depth, line):
        """Each computation holds line(n), in which it calls the one before."""
        text = SCHEDULED + "\nf0 {\n  p0 = f32[4] parameter(0)\n  ROOT r0 = f32[4] negate(p0)\n}\n"
        for i in range(1, depth):
            text += f"f{i} {{\n  p{i} = f32[4] parameter(0)\n{line(i)}}}\n"
        return text + f"ENTRY e {{\n  p{depth} = f32[4] parameter(0)\n{line(depth)}}}\n"

    def test_calls_of_calls(self):
        self.plan(self.nest(20_000, lambda i: f"  ROOT r{i} = f32[4] call(p{i}), to_apply=f{i - 1}\n"))

    def test_calls_that_double(self):
        self.plan(self.nest(40, lambda i: f"  q{i} = f32[4] call(p{i}), to_apply=f{i - 1}\n"
                                          f"  ROOT r{i} = f32[4] call(q{i}), to_apply=f{i - 1}\n"))

    def test_fusions_of_fusions(self):
        self.plan(self.nest(20_000, lambda i: f"  ROOT r{i} = f32[4] fusion(p{i}), kind=kLoop, calls=f{i - 1}\n"))

    def test_fusions_that_double(self):
        self.plan(self.nest(60, lambda i: f"  q{i} = f32[4] fusion(p{i}), kind=kLoop, calls=f{i - 1}\n"
                                          f"  ROOT r{i} = f32[4] fusion(q{i}), kind=kLoop, calls=f{i - 1}\n"))

    def test_loops_in_loops(self):
        before = "".join(f"c{i} {{\n  cp{i} = f32[4] parameter(0)\n  ROOT k{i} = pred[] constant(true)\n}}\n"
                         for i in range(1, 1001))
        text = self.nest(1000, lambda i: f"  ROOT r{i} = f32[4] while(p{i}), condition=c{i}, body=f{i - 1}\n")
        self.plan(text.replace(SCHEDULED + "\n", SCHEDULED + "\n" + before))

    def test_all_alive_at_once(self):
        count = 30_000
        lines = "  p = f32[4] parameter(0)\n" + "".join(
            f'  x{i} = f32[{i % 97 + 1}] custom-call(p), custom_call_target="f"\n' for i in range(count))
        operands = ", ".join(f"x{i}" for i in range(count))
        self.plan(f"{SCHEDULED}\nENTRY e {{\n{lines}"
                  f'  ROOT r = f32[4] custom-call({operands}), custom_call_target="g"\n}}\n')


class Malformed(AssignCase):
    def entry(self, lines, header="", before=""):
        return f"{SCHEDULED}{header}\n{before}ENTRY e {{\n{lines}\n}}\n"

    def test_aliases(self):
        two = ("  p = f32[4] parameter(0)\n  a = f32[4] negate(p)\n  b = f32[4] sine(p)\n"
               "  ROOT t = (f32[4], f32[4]) tuple(a, b)")
        self.refuse(self.entry(two, ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }"),
                    "gives away twice parameter 0")
        self.refuse(self.entry(two, ", input_output_alias={ {0}: (1, {}, may-alias) }"), "there is no parameter 1")
        self.refuse(self.entry(two, ", input_output_alias={ {2}: (0, {}, may-alias) }"), "there is no output {2}")
        self.refuse(self.entry('  p = f32[4] parameter(0)\n  ROOT r = f32[8] custom-call(p), custom_call_target="f"',
                               ", input_output_alias={ {}: (0, {}, may-alias) }"), "differ in size: f32[4] and f32[8]")
        self.refuse(self.entry('  p = f32[4] parameter(0)\n  ROOT r = f32[8] custom-call(p), custom_call_target="f", '
                               "output_to_operand_aliasing={{}: (0, {})}"), "differ: f32[8] and f32[4]")

    def test_two_memory_spaces_in_one_buffer(self):
        self.refuse(self.entry("  p = f32[4]{0:S(1)} parameter(0)\n  ROOT a = f32[4]{0} negate(p)",
                               ", input_output_alias={ {}: (0, {}, may-alias) }"),
                    "p and a must share a buffer", "memory spaces 1 and 0")

    def test_calls_in_both_ways(self):
        add = "add {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT s = f32[] add(l, r)\n}\n"
        self.refuse(self.entry("  p = f32[4] parameter(0)\n  z = f32[] parameter(1)\n"
                               "  x = f32[] reduce(p, z), dimensions={0}, to_apply=add\n"
                               "  ROOT y = f32[] call(x, z), to_apply=add", before=add),
                    "add is called both as control flow and inside an instruction")

    def test_calls_in_a_circle(self):
        own = "a {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] call(p), to_apply=a\n}\n"
        self.refuse(self.entry("  q = f32[4] parameter(0)\n  ROOT d = f32[4] call(q), to_apply=a", before=own),
                    "no computation 'a'")
        # Only a proto can close the circle.
        computations = {
            1: ("a", [(1, instruction("p1", "parameter", 1, parameter=0)),
                      (2, instruction("c1", "call", 2, operands=[1], called=[2]))]),
            2: ("b", [(3, instruction("p2", "parameter", 3, parameter=0)),
                      (4, instruction("c2", "call", 4, operands=[3], called=[1]))]),
            3: ("e", [(5, instruction("p3", "parameter", 5, parameter=0)),
                      (6, instruction("c3", "call", 6, operands=[5], called=[1]))]),
        }
        schedule = {1: [1, 2], 2: [3, 4], 3: [5, 6]}
        answer = self.assign("--target=cpu", self.write("m.hlo.pb", module(computations, schedule)))
        self.assert_bad_use(answer)

    def test_schedules(self):
        rows = [(1, instruction("p", "parameter", 1, parameter=0)), (2, instruction("n", "negate", 2, operands=[1])),
                (3, instruction("s", "sine", 3, operands=[2]))]
        body = {7: ("e", rows)}

        def answer(schedule):
            return self.assign("--target=cpu", self.write("m.hlo.pb", module(body, schedule)))

        fine = answer({7: [1, 2, 3]})
        self.assert_quiet(fine)
        self.assert_bad_use(answer({7: [1, 3]}), "`n`", "the schedule does not hold it")
        self.assert_bad_use(answer({7: [2, 1, 3]}), "runs it before its operand `p`")
        self.assert_bad_use(answer({7: [1, 2, 2, 3]}), "more than once")
        self.assert_bad_use(answer({7: [1, 2, 3, 99]}))
        self.assert_bad_use(answer({8: [1, 2, 3]}))

    def test_a_called_computation_without_a_schedule(self):
        computations = {
            1: ("a", [(1, instruction("p1", "parameter", 1, parameter=0)),
                      (2, instruction("n1", "negate", 2, operands=[1]))]),
            3: ("e", [(5, instruction("p3", "parameter", 5, parameter=0)),
                      (6, instruction("c3", "call", 6, operands=[5], called=[1]))]),
        }
        answer = self.assign("--target=cpu", self.write("m.hlo.pb", module(computations, {3: [5, 6]})))
        self.assert_bad_use(answer, "`a`", "has no schedule")

    def test_sizes(self):
        huge = 1 << 62
        self.refuse(self.entry(f"  ROOT p = f32[{huge},{huge}] parameter(0)"), "does not fit in 64 bits")
        self.refuse(self.entry(f"  p = u8[{huge}] parameter(0)\n  q = u8[{huge}] parameter(1)\n"
                               f"  ROOT s = u8[{huge}] add(p, q)"), "together do not fit in 64 bits")
        self.refuse(self.entry(f"  ROOT p = u8[{(1 << 63) - 1}]{{0:T(1024)}} parameter(0)"), "64 bits",
                    words=("--target=tpu-v5e",))

    def test_tuples(self):
        deep = "(" * 20000 + "f32[]" + ")" * 20000
        self.refuse(self.entry(f"  ROOT p = {deep} parameter(0)"), "nested more than")
        wide = "  p0 = f32[] parameter(0)\n"
        wide += "".join(f"  p{i} = tuple(p{i - 1}, p{i - 1})\n" for i in range(1, 20))
        wide += "".join(f"  c{i} = copy(p19)\n" for i in range(3000))
        self.refuse(self.entry(wide), "the tuples of the program, written out")
        # Deep, and deeper with each instruction: few parts, but long indices.
        steep = "  p0 = f32[] parameter(0)\n" + "".join(f"  p{i} = tuple(p{i - 1})\n" for i in range(1, 1500))
        self.refuse(self.entry(steep), "the tuples of the program, written out")

    def test_loops(self):
        def loop(body, condition, shape="f32[4]"):
            before = (f"b {{\n  bp = f32[4] parameter(0)\n  ROOT bn = {body}\n}}\n"
                      f"c {{\n  cp = f32[4] parameter(0)\n  ROOT k = {condition}\n}}\n")
            return self.entry(f"  p = f32[4] parameter(0)\n  ROOT w = {shape} while(p), condition=c, body=b",
                              before=before)
        negate = "f32[4] negate(bp)"
        yes = "pred[] constant(true)"
        self.refuse(loop('f32[8] custom-call(bp), custom_call_target="f"', yes), "the result of the body `b`")
        self.refuse(loop(negate, "s32[] constant(1)"), "does not return pred[] but s32[]")
        self.assert_bad_use(self.assign("--target=cpu", self.write("m.hlo", loop(negate, yes, "f32[8]"))), "differ")
        self.assertEqual(self.assign("--target=cpu", self.write("m.hlo", loop(negate, yes))).code, 0)

    def test_updates_of_another_shape(self):
        self.refuse(self.entry("  p = f32[4] parameter(0)\n  i = s32[] parameter(1)\n  u = f32[1] parameter(2)\n"
                               "  ROOT r = f32[8] dynamic-update-slice(p, u, i)"), "differ: f32[8] and f32[4]")


if __name__ == "__main__":
    unittest.main()
