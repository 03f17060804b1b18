# SPDX-License-Identifier: Apache-2.0
"""stowplan report: pages, lists, formats, dialects, and inputs of all kinds."""

import csv
import gzip
import io
import json
import re
import unittest

from report_case import ASSIGNMENT, CORPUS, LIVE_RANGES, ReportCase, SEEDS, STAGE, exact


class Page(ReportCase):
    def test_seeds_are_there(self):
        self.assertEqual(len(SEEDS), 5)

    def test_seed_3(self):
        page = self.page(str(SEEDS[3]))
        self.assertTrue(page.startswith("seed_003: 286.05MiB (299944008) in 13 allocations of 21 values, TPU\n"), page)
        self.assertRegex(page, r"S\(0\) HBM +11 +200\.05MiB \(209766464\) +69\.9%")
        self.assertRegex(page, r"S\(1\) VMEM +86\.00MiB \(90177536\) +100\.0% +at t=7 fusion\.12")
        self.assertRegex(page, r"together +284\.00MiB \(297796132\) +99\.3% +at t=9 fusion\.10")
        self.assertRegex(page, r"XLA's list +228\.00MiB \(239075356\) +at t=11 fusion")
        self.assertRegex(page, r"allocation 10 +S\(0\) HBM +48\.0KiB \(49184\) +544B +98\.9%")
        self.assertLessEqual(max(map(len, page.splitlines())), 100)

    def test_seed_4(self):
        page = self.page(str(SEEDS[4]))
        self.assertIn("965.70MiB (1012613120)", page)
        self.assertIn("jit(conv_general_dilated)/jit(main)/conv_general_dilated[...]  .../flax/linen/linear.py:663", page)
        self.assertLessEqual(max(map(len, page.splitlines())), 100)

    def test_sums_are_what_they_claim(self):
        for seed in SEEDS:
            for limit in ("1", "3", "0"):
                page = self.page(str(seed), f"--limit={limit}")
                total = exact(page.splitlines()[0])
                spaces = kinds = 0
                for line in self.section(page, "Where it goes"):
                    if line.startswith("    "):
                        kinds += exact(line)
                    elif not line.startswith("  total"):
                        spaces += exact(line)
                    else:
                        self.assertEqual(exact(line), total)
                self.assertEqual((spaces, kinds), (total, total), page)
                allocations = self.section(page, "Allocations, largest first")[1:]
                self.assertEqual(sum(map(exact, allocations)), total, page)
                heading = re.search(r"\n(Live at the peak, [^\n]*)", page)[1]
                rows = [l for l in self.section(page, "Live at the peak") if re.search(r"\d%", l)]
                self.assertEqual(sum(exact(re.match(r" *\S+( \(\d+\))?", r)[0]) for r in rows),
                                 exact(heading.split(": ")[1]), page)

    def test_order_of_values(self):
        by_size = self.page(str(SEEDS[4]), "--sort=size", "--limit=3")
        self.assertIn("\nValues, largest first\n", by_size)
        self.assertRegex(by_size, r"\(340787200\) +peak +copy\.3 ")
        self.assertIn("and 15 more", by_size)
        self.assertRegex(self.page(str(SEEDS[4]), "--sort=time"), r"order of execution\n[^\n]*\n[^\n]*Arg_0\.1 ")
        self.assertRegex(self.page(str(SEEDS[4]), "--sort=name"), r"Values by name\n[^\n]*\n[^\n]*Arg_0\.1 ")

    def test_small_ones_can_be_left_out(self):
        page = self.page(str(SEEDS[3]), "--min-size=1M", "--limit=0")
        self.assertNotIn("p0.1", page)
        self.assertIn("and 7 more", page)
        for size in ("512MiB", "16G", "4096", "1.5GiB", "16k", "1B"):
            self.page(str(SEEDS[3]), "--min-size", size)
        for size in ("", "big", "-1", "5Q", "16GiBs", "1e30"):
            self.assert_bad_use(self.report(str(SEEDS[3]), f"--min-size={size}"))

    def test_target_names_the_spaces(self):
        self.assertIn("S(1) collective", self.page(str(SEEDS[3]), "--target=gpu"))
        self.assertIn("TPU (v5e)", self.page(str(SEEDS[3]), "--target=tpu-v5e"))
        self.assert_bad_use(self.report(str(SEEDS[3]), "--target=npu"))

    def test_without_live_ranges(self):
        page = self.page(self.write("a.txt", ASSIGNMENT))
        self.assertIn("not known: no file has the live ranges", page)
        self.assertIn("\nValues, largest first\n", page)

    def test_shared_bytes_count_once(self):
        page = self.page(self.dump("module_0000.f"))
        self.assertRegex(page, r"true peak +36B +69\.2% +at t=3 b")
        self.assertIn("shares 16B with others", page)

    def test_to_a_file(self):
        path = self.folder / "page.txt"
        answer = self.report(str(SEEDS[0]), "-o", str(path))
        self.assertEqual((answer.code, answer.out), (0, ""))
        self.assertEqual(path.read_text(), self.page(str(SEEDS[0])))

    def test_names_cannot_command_a_terminal(self):
        text = ASSIGNMENT.replace("<1 a @0>", "<1 \x1b[31ma @0>")
        self.assertNotIn("\x1b", self.report("-", stdin=text.encode()).out)

    def test_help(self):
        answer = self.report("--help")
        self.assertEqual(answer.code, 0)
        for word in ("--module", "--limit", "--min-size", "--sort", "--format", "--dialect", "--strict", "--reconcile"):
            self.assertIn(word, answer.out)
        self.assertLessEqual(max(map(len, answer.out.splitlines())), 85)


class Reconcile(ReportCase):
    def test_steps_lead_to_the_true_peak(self):
        page = self.page(str(SEEDS[3]), "--reconcile")
        for line in (r"Total bytes used +286\.05MiB \(299944008\) +as said", r"temp_size_in_bytes +TPU: only the program",
                     r"\+ elements of tuples +\+56\.00MiB \(58720232\)", r"= live at 11 +284\.00MiB \(297796096\)",
                     r"= true peak +284\.00MiB \(297796132\)"):
            self.assertRegex(page, line)
        self.assertLessEqual(max(map(len, page.splitlines())), 100)

    def test_by_source_line(self):
        for seed, rows, first in ((4, 2, "linear.py:663"), (2, 3, "parameters")):
            page = self.page(str(SEEDS[seed]))
            lines = page.split("\nThe same by source line")[1].splitlines()[1:]
            self.assertEqual(len(lines), rows, page)
            self.assertIn(first, lines[0])
            peak = exact(re.search(r"Live at the peak, [^:]*: (.*) of", page)[1])
            self.assertEqual(sum(map(exact, lines)), peak)
        limited = self.page(str(SEEDS[2]), "--limit=1").split("\nThe same by source line")[1].splitlines()[1:]
        self.assertEqual(sum(map(exact, limited)), 524320)
        self.assertIn("and 2 more", limited[1])
        self.assertNotIn("source line", self.page(str(SEEDS[3])))

    def test_heaps_without_values(self):
        text = ASSIGNMENT + "allocation 2: size 1024, color 1, preallocated-temp:\n"
        page = self.page(self.write("a.txt", text), self.write("l.txt", LIVE_RANGES))
        self.assertRegex(page, r"allocation 2 +S\(1\) +1\.0KiB \(1024\) +0B +100\.0% +holds no values\n")

    def test_wrong_figures_stand_beside_the_right_ones(self):
        text = SEEDS[3].read_text().replace("Total bytes used: 299944008", "Total bytes used: 299944009")
        answer = self.report("--reconcile", self.write("wrong.txt", text))
        self.assertEqual(answer.code, 0)
        self.assertRegex(answer.out, r"Total bytes used +286\.05MiB \(299944008\) +said: 286\.05MiB \(299944009\)")


class Xla(ReportCase):
    def test_seeds_come_back(self):
        for seed in SEEDS:
            answer = self.report("--format=xla", str(seed))
            self.assertEqual((answer.code, answer.err), (0, ""))
            self.assertEqual(answer.out_bytes, seed.read_bytes())
            self.assertEqual(self.report("--format=xla", "-", stdin=seed.read_bytes()).out_bytes, seed.read_bytes())
            packed = self.write("seed.txt.gz", gzip.compress(seed.read_bytes()))
            self.assertEqual(self.report("--format=xla", packed).out_bytes, seed.read_bytes())

    def test_several_files(self):
        dump = self.dump("module_0000.f")
        files = [f"{dump}/module_0000.f.{STAGE}-{kind}.txt" for kind in ("live-range", "buffer-assignment")]
        self.assertEqual(self.page("--format=xla", *files), ASSIGNMENT + "\n\n" + LIVE_RANGES)
        self.assertEqual(self.page("--format=xla", dump), ASSIGNMENT + "\n\n" + LIVE_RANGES)
        self.assertEqual(self.page("--format=xla", files[1]), ASSIGNMENT, "only what was asked for")
        self.assertEqual(self.page("--format=xla", "--part=live-range", dump), LIVE_RANGES)
        self.assertIn("Memory Space: default (color=0)", self.page("--format=xla", "--part=usage", dump))

    def test_facts_that_cannot_be_true_are_findings(self):
        text = SEEDS[3].read_text()
        for old, new, why in (("allocation 5: ", "allocation 6: ", "numbered from 0; this is number 5"),
                              ("(size=58720256,offset=0): f32[4096,3584]{1,0:T(8,128)S(1)}", "(size=99999999999,offset=0): f32[4096,3584]{1,0:T(8,128)S(1)}",
                               "ends at 99999999999, beyond the 90177536 bytes"),
                              ("p4.10 @0> (size=58720256", "p4.10 @0> (size=58720255", "end at 58720255, 1 bytes before"),
                              ("    fusion.10{}:9-11\n", "    fusion.10{}:11-9\n", "ends before it begins"),
                              ("    fusion.10{}:9-11\n", "    fusion.10{}:9-16\n", "not within the schedule, 0-15"),
                              ("    fusion.10{}:9-11\n", "", "has no live range"),
                              ("    fusion.10{}:9-11\n", "    fusion.10{}:9-11\n    spare{}:1-2\n", "in no allocation")):
            self.assertIn(old, text)
            changed = text.replace(old, new, 1)
            answer = self.report("--strict", "-", stdin=changed.encode())
            self.assertEqual(answer.code, 1, answer)
            found = [line for line in answer.err.splitlines() if why in line]
            self.assertEqual(len(found), 1, answer.err)
            number = int(re.match(r"<stdin>:(\d+):", found[0])[1])
            place = new.strip().splitlines()[-1].split(" (")[0] if new else "<34 fusion.10 @0> (size="
            line = changed.splitlines()[number - 1]
            self.assertTrue(place in line or why.startswith("end at") and "parameter 4" in line, (place, line))
        colors = text.replace("<39 copy-start{0} @1>", "<39 copy-start{0} @0>")
        self.assertIn("has color 0, but its allocation has 1", self.report("-", stdin=colors.encode()).err)

    def test_lines_too_many_or_too_few_are_named_alone(self):
        lines = SEEDS[3].read_text().splitlines(keepends=True)
        row = lines.index("    fusion.10: 14680064 bytes\n")
        missing = self.report("--format=xla", "--strict", self.write("m.txt", "".join(lines[:row] + lines[row + 1:])))
        self.assertEqual((missing.code, missing.out), (1, "".join(lines)))
        self.assertRegex(missing.err, rf"^[^\n]*m\.txt:{row + 1}:1: warning: computed, before this:     fusion\.10: ")
        self.assertEqual(missing.err.count("warning:"), 1, missing.err)
        extra = self.report("--format=xla", "--strict",
                            self.write("m.txt", "".join(lines[:row] + ["    spare: 1 bytes\n"] + lines[row:])))
        self.assertEqual((extra.code, extra.out), (1, "".join(lines)))
        self.assertRegex(extra.err, rf"m\.txt:{row + 1}:1: warning: computed: no such line")
        self.assertEqual(extra.err.count("warning:"), 1, extra.err)

    def test_wrong_figures_are_findings(self):
        text = SEEDS[0].read_text()
        wrong = self.write("wrong.txt", text.replace("Total bytes used: 41943072", "Total bytes used: 41943073"))
        answer = self.report("--format=xla", wrong)
        self.assertEqual(answer.code, 0)
        self.assertEqual(answer.out, text, "what is written follows the computation")
        self.assertRegex(answer.err, r"wrong\.txt:15:\d+: warning: ")
        strict = self.report("--format=xla", "--strict", wrong)
        self.assertEqual((strict.code, strict.out), (1, text))
        self.assertEqual(self.report("--strict", wrong).code, 1)
        self.assertEqual(self.report("--strict", str(SEEDS[0])).code, 0)

    def test_what_is_written_is_read(self):
        """All that one can write as one text comes back, with right figures."""
        dump = self.dump("module_0000.f")
        inputs = [[str(seed)] for seed in SEEDS] + [[dump], ["--target=cpu", str(SEEDS[0].parents[1] / "mlp_train_step.txt")]]
        for words in inputs:
            with self.subTest(words=words):
                written = self.report("--format=xla", *words)
                self.assertEqual(written.code, 0, written)
                text = written.out
                path = self.write("back.txt", text)
                answer = self.report("--strict", path)
                self.assertEqual((answer.code, answer.err), (0, ""), answer)
                self.assertEqual(self.page("--format=xla", path), text)

    def test_dialects(self):
        names = [line.split()[0] for line in self.page("--dialect=list").splitlines()]
        self.assertEqual((names[0], names[-1]), ("tf-2.2", "jaxlib-0.11.2"))
        self.assert_bad_use(self.report("--format=xla", "--dialect=jaxlib-0.7.x", str(SEEDS[0])), "did you mean")
        self.assert_bad_use(self.report("--dialect=jaxlib-0.7.2", str(SEEDS[0])), "--format=xla")

    def test_to_another_dialect_and_back(self):
        seed = str(SEEDS[0])
        self.assertEqual(self.page("--format=xla", "--dialect=jaxlib-0.7.2", seed), SEEDS[0].read_text())
        newer = self.page("--format=xla", "--dialect=jaxlib-0.10.2", seed)
        self.assertIn(" uses:\n  (none)\n", newer)
        parts = {part: self.page("--format=xla", "--dialect=jaxlib-0.10.2", f"--part={part}", seed)
                 for part in ("assignment", "values", "live-range")}
        # In one text, live ranges come after two blank lines, as in XLA's own combined file.
        self.assertEqual(parts["assignment"] + parts["values"] + "\n\n" + parts["live-range"], newer)
        self.assertEqual(self.page("--format=xla", self.write("newer.txt", newer)), newer)
        paths = [self.write(f"{name}.txt", text) for name, text in parts.items()]
        self.assertEqual(self.page("--format=xla", "--dialect=jaxlib-0.7.2", *paths), SEEDS[0].read_text())

    def test_to_an_older_dialect(self):
        answer = self.report("--format=xla", "--dialect=tf-2.11", str(SEEDS[0]))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("    slice_convert_fusion: 5242880 bytes\n", answer.out)
        self.assertIn(" from instruction:%self.1", answer.out)
        self.assertNotIn("Stack trace", answer.out)
        self.assertIn("the texts of instructions stay as they are", answer.err)

    def test_what_a_dialect_wants_and_the_input_lacks(self):
        self.assert_bad_use(self.report("--format=xla", "--dialect=tf-2.8", str(SEEDS[0])), "addresses of the allocations")
        self.assert_bad_use(self.report("--format=xla", "--dialect=jaxlib-0.8.2", str(SEEDS[3])), "the stack tree")
        path = self.write("a.txt", ASSIGNMENT)
        self.assert_bad_use(self.report("--format=xla", "--dialect=jaxlib-0.8.2", path), "the value list, the live ranges")
        self.assert_bad_use(self.report("--format=xla", "--part=values", path), "the value list")
        self.assertIn(", page 0", self.page("--format=xla", "--dialect=jaxlib-0.11.2", path))


class OtherFormats(ReportCase):
    def test_json(self):
        report = json.loads(self.page("--format=json", str(SEEDS[3])))
        self.assertEqual(report["schema"], "stowplan.report/1")
        summary = report["summary"]
        self.assertEqual(summary["peak"], {"bytes": 297796132, "time": 9})
        self.assertEqual(summary["printed_peak"], {"bytes": 239075356, "time": 11, "values": 9})
        self.assertEqual(sum(summary["kinds"].values()), summary["bytes"])
        self.assertEqual([(s["color"], s["name"]) for s in summary["spaces"]], [(0, "HBM"), (1, "VMEM"), (2, "sync flags")])
        self.assertEqual(summary["loads"][12], {"bytes": 90177536, "time": 7})

    def test_json_of_a_part(self):
        report = json.loads(self.page("--format=json", self.write("l.txt", LIVE_RANGES)))
        self.assertEqual(report["live_ranges"]["end"], 4)
        self.assertNotIn("summary", report)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.page("--format=csv", str(SEEDS[3])))))
        self.assertEqual(sum(int(row["size"]) for row in rows), 299944008)
        self.assertEqual(len(self.page("--format=csv", "--table=values", str(SEEDS[3])).splitlines()), 22)
        self.assert_bad_use(self.report("--format=csv", "--table=tree", str(SEEDS[3])), "nothing for the table", "it has: ")

    def test_minimalloc(self):
        rows = list(csv.DictReader(io.StringIO(self.page("--format=minimalloc", str(SEEDS[4])))))
        self.assertEqual(max(int(row["offset"]) + int(row["size"]) for row in rows), 677019648)
        rows = list(csv.DictReader(io.StringIO(self.page("--format=minimalloc", "--allocation=5", str(SEEDS[4])))))
        self.assertEqual([row["size"] for row in rows], ["81920", "66560"])
        self.assert_bad_use(self.report("--format=minimalloc", "--allocation=99", str(SEEDS[4])), "no allocation 99")
        self.assert_bad_use(self.report("--format=minimalloc", self.write("a.txt", ASSIGNMENT)), "live ranges")
        self.assert_bad_use(self.report("--format=minimalloc", str(SEEDS[0])), "no allocation of temporaries")

    def test_a_proto_needs_the_module(self):
        self.assert_bad_use(self.report("--format=proto", str(SEEDS[3])), "give the module's .hlo.pb")

    def test_proto(self):
        folder = CORPUS / "cpu" / "fori"
        answer = self.report("--format=proto", str(folder))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertGreater(len(answer.out_bytes), 100)


if __name__ == "__main__":
    unittest.main()
