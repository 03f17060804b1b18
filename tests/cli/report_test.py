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
        self.assertIn("not known: no file tells the live ranges", page)
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
        for line in (r"Total bytes used +286\.05MiB \(299944008\) +as said", r"temp_size_in_bytes +86\.05MiB \(90226728\)",
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
        self.assertEqual(self.page("--format=xla", *files), ASSIGNMENT + LIVE_RANGES)
        self.assertEqual(self.page("--format=xla", dump), ASSIGNMENT + LIVE_RANGES)
        self.assertEqual(self.page("--format=xla", files[1]), ASSIGNMENT, "only what was asked for")
        self.assertEqual(self.page("--format=xla", "--part=live-range", dump), LIVE_RANGES)
        self.assertIn("Memory Space: default (color=0)", self.page("--format=xla", "--part=usage", dump))

    def test_facts_that_cannot_be_true_are_findings(self):
        text = SEEDS[3].read_text()
        for old, new, why in (("allocation 5: ", "allocation 6: ", "numbered from 0; this is number 5"),
                              ("(size=58720256,offset=0): f32[4096,3584]{1,0:T(8,128)S(1)}", "(size=99999999999,offset=0): f32[4096,3584]{1,0:T(8,128)S(1)}",
                               "ends at 99999999999, behind the 90177536 bytes"),
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
        self.assertIn("is of color 0, its allocation of 1", self.report("-", stdin=colors.encode()).err)

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

    def test_dialects(self):
        names = [line.split()[0] for line in self.page("--dialect=list").splitlines()]
        self.assertEqual((names[0], names[-1]), ("tf-2.2", "jaxlib-0.11.2"))
        self.assert_bad_use(self.report("--format=xla", "--dialect=jaxlib-0.7.3", str(SEEDS[0])), "did you mean")
        self.assert_bad_use(self.report("--dialect=jaxlib-0.7.2", str(SEEDS[0])), "--format=xla")

    def test_to_another_dialect_and_back(self):
        seed = str(SEEDS[0])
        self.assertEqual(self.page("--format=xla", "--dialect=jaxlib-0.7.2", seed), SEEDS[0].read_text())
        newer = self.page("--format=xla", "--dialect=jaxlib-0.10.2", seed)
        self.assertIn(" uses:\n  (none)\n", newer)
        parts = {part: self.page("--format=xla", "--dialect=jaxlib-0.10.2", f"--part={part}", seed)
                 for part in ("assignment", "values", "live-range")}
        self.assertEqual("".join(parts.values()), newer)
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

    @unittest.skipUnless((CORPUS / "cpu" / "fori").exists(), "the corpus is not unpacked")
    def test_proto(self):
        folder = CORPUS / "cpu" / "fori"
        answer = self.report("--format=proto", str(folder))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertGreater(len(answer.out_bytes), 100)


class Inputs(ReportCase):
    def test_bad_files(self):
        self.assert_bad_use(self.report("/nonexistent"), "No such file or directory")
        self.assert_bad_use(self.report(), "needs an INPUT")
        self.assert_bad_use(self.report(self.write("empty.txt", "")), "empty")
        self.assert_bad_use(self.report(self.write("x.txt", "to be or not to be\n")), "none of XLA's memory reports")
        self.assert_bad_use(self.report(self.write("m.txt", MODULE)), "has no memory report")
        self.assert_bad_use(self.report(self.write("zeros", b"\0" * 5000)))
        self.assert_bad_use(self.report(self.write("l.txt", LIVE_RANGES)), "no buffer assignment among the files")

    def test_commands_for_modules_know_reports(self):
        values = self.write("v.txt", "\nTotal bytes used: 52 (52B)\n\nUsed values:\n")
        for path in (str(SEEDS[3]), values, self.write("l.txt", LIVE_RANGES), self.write("u.txt", "Memory Space: x (color=0)\n")):
            for command in ("print", "stats", "verify"):
                answer = self.run_cli(command, path)
                self.assertEqual((answer.code, answer.err.count("error:")), (2, 1), answer)
                self.assertIn("`stowplan report` reads it", answer.err)

    def test_mutated_seeds(self):
        rng = random.Random(4)
        formats = ((), ("--reconcile",), ("--format=json",), ("--format=minimalloc",), ("--sort=time",), ("--format=xla", "--dialect=jaxlib-0.6.0"))
        for seed in SEEDS * 12:
            data = bytearray(seed.read_bytes())
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(data))
                data[at:at + rng.randint(0, 4)] = bytes(rng.choices(b" {}()<>,:=0123456789ab[]/\n\t%@-\xff", k=rng.randint(0, 4)))
            for words in formats:
                answer = self.report("-", *words, stdin=bytes(data))
                self.assertIn(answer.code, (0, 2), (words, data, answer))
                self.assertTrue(answer.code == 0 or "error:" in answer.err, answer)

    def test_long_names_of_operations(self):
        text = SEEDS[4].read_text()
        name = "jit(conv_general_dilated)/jit(main)/conv_general_dilated["
        self.assertIn(name, text)
        for before, after in ((20, 0), (200, 0), (100_000, 0), (0, 200), (200, 100_000)):
            long = "jit(f)/" + "very_" * before + "long/conv[" + "x" * after + "]["
            page = self.page(self.write("long.txt", text.replace(name, long)))
            self.assertIn("long/conv[...]", page)
            self.assertLess(max(map(len, page.splitlines())), 110)

    def test_shapes_are_cut_behind_their_dimensions(self):
        self.assertIn(" f32[32,513,5120]{2,1,0:T(8,...  S(0)", self.page(str(SEEDS[4])))

    def test_errors_have_places(self):
        path = self.write("a.txt", ASSIGNMENT.replace("size=16,offset=0): f32[4]{0}\nallocation 1", "size=x\nallocation 1"))
        self.assert_bad_use(self.report(path), "a.txt:3:", "error:")

    def test_a_file_that_was_cut_off_says_what_is_complete(self):
        data = SEEDS[3].read_bytes()
        for size, complete in ((700, "4 allocations of the assignment"),
                               (3000, "the assignment (13 allocations), 3 values of the value list"),
                               (8300, "the value list (21 values), 14 instructions of the instruction sequence")):
            self.assert_bad_use(self.report(self.write("cut.txt", data[:size])), "cut off", complete, "cut.txt:")

    def test_every_truncation_has_an_answer(self):
        for seed in SEEDS:
            data = seed.read_bytes()
            # Between two lines a part may be complete, and then its file looks so too: an assignment that holds the
            # output, live ranges without the tree that they have since 2025-07.
            first_values = data.index(b"\n\nTotal bytes")
            whole = {m.end() for m in re.finditer(rb"\n(?=  Stack trace)", data)}
            whole |= {m.end() for m in re.finditer(rb"\n", data[:first_values + 1]) if b"output shape" in data[:m.start()]}
            for size in sorted({*range(1, len(data), 97), *(m.end() for m in re.finditer(rb"\n", data[:-1]))}):
                answer = self.report("-", stdin=data[:size])
                if answer.code == 2:
                    self.assertRegex(answer.err, r"<stdin>:\d+:\d+: error: .*|complete: |none of XLA's", (seed, size))
                    continue
                self.assertEqual(answer.code, 0, answer)
                if size not in whole:
                    self.assertLess(size, first_values + 2, (seed, size, answer))
                    self.assertIn("may be cut off; complete: ", answer.err, (seed, size))
                    self.assertEqual(self.report("-", "--strict", stdin=data[:size]).code, 1)

    def test_files_that_end_between_two_lines(self):
        for seed, end, why in ((3, b"Total bytes", "the value list is missing"),
                               (2, b"\nTotal bytes", "the value list is missing"),
                               (1, b"allocation 0", "there is no allocation"),
                               (0, b" value: <16 ", "allocation 0 has no values"),
                               (3, b"<34 fusion.10 @0>\n positions", " of the assignment are not listed"),
                               (3, b"\nHloLiveRange", "the live ranges are missing"),
                               (3, b"    fusion.12: ", "the next line should be `    fusion.12: 14680064 bytes`"),
                               (0, b"      \xe2\x94\x9c", "the stack tree lacks ")):
            data = SEEDS[seed].read_bytes()
            answer = self.report("-", stdin=data[:data.index(end)])
            self.assert_bad_use(answer, "the file ends too early: ", why, "it was cut off; complete: ")

    def test_an_assignment_that_lacks_values_of_its_list(self):
        values = "\nTotal bytes used: 52 (52B)\n\nUsed values:\n" + "".join(
            f"<{n} {name} @0>\n positions:\n  {name}\n uses:\n  (none)\n from instruction: %{name} = x()\n"
            for n, name in enumerate("pabc"))
        paths = [self.write("a.txt", ASSIGNMENT), self.write("v.txt", values)]
        self.page(*paths)
        short = ASSIGNMENT[:ASSIGNMENT.index(" value: <3")]
        self.assert_bad_use(self.report(self.write("a.txt", short), paths[1]), "1 value of the value list", "a.txt:7:1")

    def test_files_of_one_module(self):
        paths = [self.write("a.txt", ASSIGNMENT), self.write("l.txt", LIVE_RANGES)]
        self.assertIn("at t=3 b", self.page(*paths))
        self.assertIn("at t=3 b", self.page(*reversed(paths)))

    def test_files_beside_it_are_read_too(self):
        dump = self.dump("module_0000.f")
        self.dump("module_0001.g", live="garbage\n")
        page = self.page(f"{dump}/module_0000.f.{STAGE}-buffer-assignment.txt")
        self.assertTrue(page.startswith("module_0000.f: 52B in 2 allocations of 4 values, CPU\n"), page)
        self.assertIn("at t=3 b", page)
        answer = self.report(f"{dump}/module_0001.g.{STAGE}-buffer-assignment.txt")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("-live-range.txt:1:1: warning:", answer.err)
        # Named itself, it is an error.
        self.assert_bad_use(self.report(*(str(p) for p in sorted(pathlib.Path(dump).glob("module_0001*")))), "live-range")

    @unittest.skipUnless((CORPUS / "cpu" / "fori").exists(), "the corpus is not unpacked")
    def test_proto_and_text_agree(self):
        folder = self.folder / "alone"
        folder.mkdir()
        shutil.copy(CORPUS / "cpu" / "fori" / f"{STAGE}.hlo.pb", folder)
        from_proto = self.page(str(folder / f"{STAGE}.hlo.pb"))
        from_text = self.page(str(CORPUS / "cpu" / "fori"))
        title = "\nWhere it goes"
        self.assertEqual(self.section(from_proto, "Where it goes"), self.section(from_text, "Where it goes"), title)
        self.assertEqual(self.section(from_proto, "Allocations, largest first"),
                         self.section(from_text, "Allocations, largest first"))
        self.assertIn("programs_dev.py:", from_text)


class Directories(ReportCase):
    def rows(self, page):
        return [line.split()[-1] for line in page.split("\n\n")[1].splitlines()[1:]]

    def test_seeds(self):
        page = self.page(str(SEEDS[0].parent))
        self.assertEqual(self.rows(page), ["seed_004", "seed_003", "seed_000", "seed_001", "seed_002", "total"])
        self.assertTrue(page.startswith("5 modules in "), page)
        sizes = [exact(line) for line in page.splitlines()[3:9]]
        self.assertEqual(sum(sizes[:-1]), sizes[-1])

    @unittest.skipUnless(CORPUS.is_dir(), "the corpus is not unpacked")
    def test_all_dumps_are_consistent(self):
        modules = 0
        for archive in sorted(CORPUS.iterdir()):
            # Packing problems; dumps with programs and answers beside them, which --strict minds.
            if not archive.is_dir() or archive.name in ("idealloc", "explain"):
                continue
            answer = self.report("--strict", "--format=json", str(archive))
            self.assertEqual(answer.code, 0, answer.err[:1000])
            modules += len(json.loads(answer.out)["modules"])
        self.assertGreaterEqual(modules, 400)

    def make(self):
        self.dump("module_0001.jit_small")
        self.dump("module_0002.jit_large", assignment=ASSIGNMENT.replace("size 36,", "size 180,"))
        return self.dump("module_0003.jit_other", live=None)

    def test_list(self):
        dump = self.make()
        page = self.page(dump)
        self.assertEqual(self.rows(page), ["module_0002.jit_large", "module_0001.jit_small", "module_0003.jit_other", "total"])
        self.assertRegex(page, r"52B +69\.2% +not known +module_0003")
        self.assertEqual(self.rows(self.page(dump, "--sort=time"))[0], "module_0001.jit_small")
        self.assertEqual(self.rows(self.page(dump, "--sort=name"))[0], "module_0002.jit_large")
        self.assertEqual(self.rows(self.page(dump, "--sort=peak"))[-2], "module_0003.jit_other")
        limited = self.page(dump, "--limit=1")
        self.assertIn("and 2 more", limited)
        self.assertIn("104B", limited)
        self.assertEqual(self.rows(self.page(dump, "--min-size=100"))[0], "module_0002.jit_large")

    def test_as_json_and_csv(self):
        dump = self.make()
        listed = json.loads(self.page("--format=json", dump))
        self.assertEqual(listed["schema"], "stowplan.modules/1")
        self.assertEqual([m["name"] for m in listed["modules"]][0], "module_0002.jit_large")
        self.assertEqual(listed["modules"][0]["kinds"]["temporaries"], 180)
        rows = list(csv.DictReader(io.StringIO(self.page("--format=csv", dump))))
        self.assertEqual([int(row["bytes"]) for row in rows], [196, 52, 52])
        self.assertEqual(rows[2]["peak_bytes"], "")

    def test_one_module_of_it(self):
        dump = self.make()
        self.assertTrue(self.page(dump, "--module=large").startswith("module_0002.jit_large: 196B"))
        self.assertTrue(self.page(dump, "--module=jit_small").startswith("module_0001.jit_small: "))
        self.assertEqual(len(self.rows(self.page(dump, "--module=l"))), 3, "those with it in their names")
        self.assert_bad_use(self.report(dump, "--module=jti_small"), "no module", "did you mean `jit_small`")
        self.assert_bad_use(self.report(dump, "--module=smlal"), "no module", "did you mean `small`")
        self.assert_bad_use(self.report(dump, "--reconcile"), "3 modules", "--module=NAME")
        self.assert_bad_use(self.report(dump, "--format=xla"), "--module=NAME")

    def test_a_directory_of_one_module(self):
        self.assertTrue(self.page(self.dump("module_0001.f")).startswith("module_0001.f: 52B"))

    def test_what_else_lies_there(self):
        dump = pathlib.Path(self.make())
        for name, text in (("notes.txt", "buy milk\n"), (f"module_0004.x.{STAGE}-live-range.txt", LIVE_RANGES),
                           (f"module_0005.y.{STAGE}-buffer-assignment.txt", ""), ("module_0006.z.before_optimizations.txt", MODULE),
                           (f"module_0007.b.{STAGE}-buffer-assignment.txt", "BufferAssignment:\nnonsense\n"),
                           (f"module_0001.jit_small.{STAGE}-memory-usage-report.txt", "Memory Space: nonsense\n"),
                           ("module_0001.jit_small.ir-with-opt.ll", "define\n")):
            (dump / name).write_text(text)
        (dump / "module_0001.jit_small").mkdir()
        (dump / "module_0001.jit_small" / "topology.pb").write_bytes(b"\1\2")
        (dump / "latest").symlink_to("nowhere")
        os.mkfifo(dump / "pipe")
        answer = self.report(str(dump))
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(len(self.rows(answer.out)), 4, "the others are still there")
        lines = answer.err.splitlines()
        self.assertEqual(len(lines), 8, "a line each")
        for text in ("notes.txt: warning: is no file of a dump", "latest: warning: is a link to no file",
                     "pipe: warning: is no regular file", "live-range.txt: warning: has no buffer assignment beside it",
                     "module_0005.y.cpu_after_optimizations-buffer-assignment.txt: warning: is empty",
                     "module_0006.z: warning: has no buffer assignment", "module_0007.b.cpu_after_optimizations-buffer-assignment.txt:2:1: warning:",
                     "module_0001.jit_small.cpu_after_optimizations-memory-usage-report.txt:1:"):
            self.assertIn(text, answer.err)
        self.assertEqual(self.report("--strict", str(dump)).code, 1)
        self.assertEqual(self.report(str(dump), "--module=small").err.count("warning:"), 1)

    def test_a_directory_without_reports(self):
        self.assert_bad_use(self.report(str(self.folder)), "no memory report", "--xla_dump_to")
        self.write("notes.txt", "buy milk\n")
        self.assert_bad_use(self.report(str(self.folder)), "no memory report", "notes.txt")

    def test_files_of_several_modules(self):
        dump = self.make()
        answer = self.report(*(str(path) for path in pathlib.Path(dump).iterdir()))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertEqual(len(self.rows(answer.out)), 4)
        self.assertEqual(self.rows(self.page(*map(str, SEEDS)))[0].split("/")[-1], "seed_004")

    def test_nine_hundred_modules(self):
        for i in range(900):
            self.dump(f"module_{i:04}.jit_f{i}")
        start = time.monotonic()
        page = self.page(str(self.folder / "dump"))
        self.assertLess(time.monotonic() - start, 10)
        self.assertTrue(page.startswith("900 modules in "))
        # How far it is, on a terminal only.
        parent, child = pty.openpty()
        process = subprocess.run([BINARY, "report", str(self.folder / "dump")], stdout=subprocess.PIPE, stderr=child, check=True)
        os.close(child)
        self.assertEqual(process.stdout.decode(), page)
        self.assertIn(b"/900] module_0", os.read(parent, 10_000))
        os.close(parent)


if __name__ == "__main__":
    unittest.main()
