# SPDX-License-Identifier: Apache-2.0
"""stowplan replan: reports that come back, tampered ones, and those that cannot be planned again."""

import pathlib
import re
import unittest

from cli_case import CliCase

SEEDS = pathlib.Path(__file__).parents[2] / "examples" / "seeds"

# Three temporaries; `c` takes over the place of `a`.
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 512, output shape is |f32[128]|, maybe-live-out:
 value: <4 out @0> (size=512,offset=0): f32[128]{0}
allocation 1: size 512, parameter 0, shape |f32[128]| at ShapeIndex {}:
 value: <0 p @0> (size=512,offset=0): f32[128]{0}
allocation 2: size 1024, preallocated-temp:
 value: <1 a @0> (size=512,offset=512): f32[128]{0}
 value: <2 b @0> (size=512,offset=0): f32[128]{0}
 value: <3 c @0> (size=512,offset=512): f32[128]{0}
"""
VALUES = """\

Total bytes used: 2048 (2.0KiB)

Used values:
<0 p @0>
 positions:
  p
 uses:
  a, operand 0
  b, operand 0
 from instruction: %p = f32[128]{0} parameter(0)
<1 a @0>
 positions:
  a
 uses:
  c, operand 0
 from instruction: %a = f32[128]{0} negate(%p)
<2 b @0>
 positions:
  b
 uses:
  out, operand 0
 from instruction: %b = f32[128]{0} sine(%p)
<3 c @0>
 positions:
  c
 uses:
  out, operand 1
 from instruction: %c = f32[128]{0} cosine(%a)
<4 out @0>
 positions:
  out
 uses:
  (none)
 from instruction: %out = f32[128]{0} add(%b, %c)
"""
RANGES = """\
HloLiveRange (max 5):
  InstructionSequence:
    0:p
    1:a
    2:b
    3:c
    4:out
  BufferLiveRange:
    p{}:0-5
    a{}:1-3
    b{}:2-4
    c{}:3-4
    out{}:4-5
  Live ranges at 4 (peak):
    b{}: 512 bytes (cumulative: 512 bytes)
    c{}: 512 bytes (cumulative: 1024 bytes)
    out{}: 512 bytes (cumulative: 1536 bytes)
    p{}: 512 bytes (cumulative: 2048 bytes)
"""
SMALL = ASSIGNMENT + VALUES + "\n\n" + RANGES


class Replan(CliCase):
    def replan(self, text, *words):
        return self.run_cli("replan", self.write("report.txt", text), *words)

    def tampered(self, *changes, words=("--target=cpu",)):
        text = SMALL
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.replan(text, *words)

    def assert_differs(self, answer, *facts):
        self.assertEqual(answer.code, 1, answer)
        self.assertTrue(answer.out.startswith("BufferAssignment:\n"), answer)
        for fact in facts:
            self.assertIn(fact, answer.err, answer)


class ComesBack(Replan):
    def test_seeds(self):
        seeds = sorted(SEEDS.glob("*.txt"))
        self.assertEqual(len(seeds), 5)
        for seed in seeds:
            with self.subTest(seed.name):
                answer = self.run_cli("replan", str(seed))
                self.assertEqual((answer.code, answer.err), (0, ""), answer)
                self.assertEqual(answer.out_bytes, seed.read_bytes())

    def test_small(self):
        answer = self.replan(SMALL)
        self.assertEqual((answer.code, answer.err, answer.out), (0, "", SMALL), answer)

    def test_separate_files(self):
        files = [self.write("m.x-buffer-assignment.txt", ASSIGNMENT),
                 self.write("m.x-buffer-assignment-values.txt", VALUES),
                 self.write("m.x-live-range.txt", RANGES)]
        for words in (files, files[:1], list(reversed(files))):
            answer = self.run_cli("replan", *words)
            self.assertEqual((answer.code, answer.err, answer.out), (0, "", SMALL), answer)

    def test_stats(self):
        answer = self.replan(SMALL, "--stats")
        self.assertEqual((answer.code, answer.out), (0, SMALL), answer)
        for line in ("derived: sizes, from the shapes\n",
                     "derived: live ranges, from the sequence, positions and uses\n",
                     "derived: offsets of 3 values in the heap of memory space 0\n",
                     "derived: the order of allocations, and so their numbers\n",
                     "derived: the total\n", "derived: the peak\n",
                     "taken:   which values share memory\n",
                     "0 facts differ from the report\n"):
            self.assertIn(line, answer.err)
        loop = SMALL.replace("cosine(%a)", "while(%a), condition=%d, body=%e")
        answer = self.replan(loop, "--stats")
        self.assertEqual((answer.code, answer.out), (0, loop), answer)
        self.assertIn("taken:   live ranges: the report does not say", answer.err)


# Two reducers, inside instructions: which comes first, the report shows only by their numbers.
INSIDE = """\
allocation {}: size 4, thread-local:
 value: <{} {} @0> (size=4,offset=0): f32[]
"""


class Equals(Replan):
    def report(self, first, second):
        """The small report with two thread-local allocations; the last is swapped before the temporaries."""
        text = SMALL.replace("allocation 2: size 1024", INSIDE.format(2, *first) + INSIDE.format(3, *second) +
                             "allocation 4: size 1024")
        values = "".join(f"<{number} {name} @0>\n positions:\n  {name}\n uses:\n  (none)\n"
                         f" from instruction: %{name} = f32[] parameter(0)\n" for number, name in ((5, "x"), (6, "y")))
        return text.replace("Total bytes used: 2048 (2.0KiB)", "Total bytes used: 2056 (2.0KiB)").replace(
            "\n\n\nHloLiveRange", "\n" + values + "\n\nHloLiveRange").replace(
            "add(%b, %c)\n\n\n", "add(%b, %c)\n" + values + "\n\n")

    def test_order_is_taken(self):
        x, y = (5, "x"), (6, "y")
        for first, second in ((x, y), (y, x)):
            text = self.report(first, second)
            answer = self.replan(text, "--target=cpu", "--stats")
            self.assertEqual((answer.code, answer.out), (0, text), answer)
            self.assertIn("taken:   the order of equally large allocations\n", answer.err)

    def test_larger_ones_come_first(self):
        text = self.report((6, "y"), (5, "x"))
        text = text.replace("allocation 2: size 4,", "allocation 2: size 8,").replace(
            "<6 y @0> (size=4,offset=0): f32[]", "<6 y @0> (size=8,offset=0): f64[]").replace(
            "%y = f32[]", "%y = f64[]").replace("used: 2056", "used: 2060")
        self.assert_differs(self.replan(text, "--target=cpu"), "value 6 (y) goes to allocation",
                            "the report does not say which computation calls which")


class Tampered(Replan):
    def test_size(self):
        change = ("<2 b @0> (size=512", "<2 b @0> (size=520")
        self.assert_differs(self.tampered(change),
                            "value 2 (b) takes 512 bytes by its shape, 520 by the report")
        # No machine gives such sizes; which one it was has to be said.
        self.assert_bad_use(self.tampered(change, words=()), "fit no known machine", "--target")

    def test_size_of_an_allocation(self):
        self.assert_differs(self.tampered(("allocation 2: size 1024", "allocation 2: size 1032")),
                            "allocation 2 takes 1024 bytes, 1032 by the report")

    def test_range(self):
        for old, new, fact in (("b{}:2-4", "b{}:2-3", "value 2 (b) is alive 2-4 by its uses, 2-3"),
                               ("a{}:1-3", "a{}:0-4", "value 1 (a) is alive 1-3 by its uses, 0-4")):
            self.assert_differs(self.tampered((old, new), words=()), fact)

    def test_offset(self):
        self.assert_differs(self.tampered(("offset=512", "offset=576"), words=()),
                            "value 1 (a) goes to allocation 2 at 512, in the report to 2 at 576",
                            "value 3 (c) goes to allocation 2 at 512, in the report to 2 at 576")
        self.assert_differs(
            self.tampered(("<4 out @0> (size=512,offset=0", "<4 out @0> (size=512,offset=64")),
            "value 4 (out) goes to allocation 0 at 0, in the report to 0 at 64")

    def test_figures(self):
        self.assert_differs(self.tampered(("used: 2048", "used: 2049"), words=()),
                            "all allocations take 2048 bytes, 2049 by the report")
        self.assert_differs(self.tampered(("at 4 (peak)", "at 2 (peak)"), words=()),
                            "the peak is 2048 bytes at 4, by the report 2048 at 2")

    def test_numbers(self):
        swapped = self.tampered(("allocation 1:", "allocation 9:"), words=())
        self.assert_differs(swapped, "value 0 (p) goes to allocation 1 at 0, in the report to 9 at 0")

    def test_seed(self):
        seed = (SEEDS / "seed_003.txt").read_text()
        name, start, end = re.search(r"^    (\S+)\{\}:(\d+)-(\d+)$", seed, re.M).groups()
        text = seed.replace(f"    {name}{{}}:{start}-{end}\n", f"    {name}{{}}:{start}-{start}\n")
        self.assertNotEqual(text, seed)
        self.assert_differs(self.replan(text), f"({name}) is alive {start}-{end} by its uses")


class Refused(Replan):
    def test_sizes_beyond_64_bits(self):
        huge = 2**62
        changes = [("f32[128]", f"s8[{huge}]"), ("size=512", f"size={huge}")]
        for target in ("cpu", "gpu", "tpu-v5e"):
            self.assert_bad_use(self.tampered(*changes, words=(f"--target={target}",)),
                                "do not fit in 64 bits")
        # Two of them are enough, and so is one whose shape says nothing.
        for values in (("1 a", "2 b"), ("1 a", "3 c")):
            text = SMALL
            for value in values:
                text = re.sub(rf"<{value} @0> \(size=512,(offset=\d+)\): f32\[128\]",
                              rf"<{value} @0> (size={huge},\1): s8[{huge}]", text)
            self.assert_bad_use(self.replan(text, "--target=cpu"), "do not fit in 64 bits")
        text = SMALL.replace("(size=512,offset=512): f32[128]{0}",
                             f"(size={2**63 - 1},offset=512): what")
        self.assert_bad_use(self.replan(text, "--target=cpu"), "do not fit in 64 bits")

    def test_large_sizes_that_fit(self):
        text = re.sub(r"<1 a @0> \(size=512,(offset=\d+)\): f32\[128\]",
                      rf"<1 a @0> (size={2**62},\1): s8[{2**62}]", SMALL)
        self.assert_differs(self.replan(text, "--target=cpu"), f"{2**62}")

    def test_ranges(self):
        for old, new in (("b{}:2-4", "b{}:4-2"), ("b{}:2-4", "b{}:-3-4"), ("b{}:2-4", "b{}:2-6"),
                         ("b{}:2-4", f"b{{}}:2-{2**63 - 1}"), ("b{}:2-4", f"b{{}}:{-2**63}-4")):
            shown = new.partition(":")[2]
            self.assert_bad_use(self.tampered((old, new)),
                                f"value 2 (b) is alive {shown}, which is not within 0-5")
        self.assert_bad_use(self.tampered(("    b{}:2-4\n", "")),
                            "value 2 (b) is a temporary without a live range")
        self.assert_bad_use(self.tampered(("    2:b\n", "    2:x\n")),
                            "value 2 (b) is made by no instruction of the sequence")

    def test_overlap(self):
        self.assert_bad_use(self.tampered(("offset=512", "offset=0"), words=()),
                            "the report's values 1 (a) and 2 (b) are alive at the same time, and "
                            "share bytes of allocation 2")

    def test_preset_places(self):
        text = SMALL.replace("allocation 2: size 1024,", "allocation 2: size 1024, color 1,")
        for offset in (768, 2**63 - 1):
            self.assert_bad_use(
                self.replan(text.replace("offset=512", f"offset={offset}"), "--target=tpu-v5e"),
                "value 1 (a) lies outside allocation 2")

    def test_places_of_guests(self):
        text = SMALL.replace("allocation 2: size 1024,", "allocation 2: size 1024, color 5,")
        text = re.sub(r"( value: <2 b @0>.*\n)", r"\1 reused by buffers of a different color:\n  value: <2 b @0> (color=0)\n",
                      text, count=1)
        for offset in (768, 2**63 - 1):
            self.assert_bad_use(
                self.replan(text.replace("offset=512", f"offset={offset}"), "--target=gpu"),
                "lies outside allocation 2")

    def test_allocation_without_values(self):
        self.assert_bad_use(self.tampered((" value: <4 out @0> (size=512,offset=0): f32[128]{0}\n", "")),
                            "allocation 0 has no values")

    def test_missing_parts(self):
        old_values = re.sub(r" from instruction.*\n|  \(none\)\n| \(2.0KiB\)", "", VALUES)
        for text, words in (
                (ASSIGNMENT, ("replan needs a value list", "give the -buffer-assignment-values.txt")),
                # TensorFlow 2.4 wrote no live ranges at all.
                (ASSIGNMENT + old_values, ("replan needs live ranges", "before TensorFlow 2.6", "stowplan assign")),
                (ASSIGNMENT + VALUES + "\n\nHloLiveRange not available (finalized or constructed from proto)",
                 ("replan needs an instruction sequence", "stowplan assign"))):
            self.assert_bad_use(self.replan(text, "--target=cpu"), *words)
        files = [self.write("a.txt", ASSIGNMENT), self.write("b.txt", VALUES)]
        self.assert_bad_use(self.run_cli("replan", *files, "--target=cpu"), "replan needs live ranges",
                            "give the -live-range.txt")
        self.assert_bad_use(self.run_cli("replan", self.write("c.txt", RANGES), "--target=cpu"),
                            "replan needs a buffer assignment")

    def test_words(self):
        self.assert_bad_use(self.replan("nothing"))
        self.assert_bad_use(self.replan(SMALL, "--xla-version=none"), "there is no XLA `none`")
        self.assert_bad_use(self.replan(SMALL, "--target=none"))

    def test_calls_bear_no_values(self):
        # `add` takes over the place of `dot` inside of a call, which is not over when it begins.
        module = """HloModule m, is_scheduled=true
parallel_add {
  p = f32[64,64]{1,0} parameter(0)
  q = f32[64,64]{1,0} parameter(1)
  ROOT add = f32[64,64]{1,0} add(p, q)
}
ENTRY main {
  x = f32[64,64]{1,0} parameter(0)
  y = f32[64,64]{1,0} parameter(1)
  dot = f32[64,64]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT call = f32[64,64]{1,0} call(dot, y), to_apply=parallel_add
}
"""
        plan = self.run_cli("assign", "--target=cpu", "--xla-version=jaxlib-0.4.35", self.write("m.hlo", module))
        self.assertEqual(plan.code, 0, plan)
        self.assertIn("    dot{}:2-", plan.out)
        answer = self.run_cli("replan", self.write("r.txt", plan.out))
        self.assertNotEqual(answer.code, 2, answer)
        self.assertNotIn("by its uses", answer.err)


if __name__ == "__main__":
    unittest.main()
