# SPDX-License-Identifier: Apache-2.0
"""stowplan report: files and directories, whole, cut off and changed."""

import csv
import io
import json
import os
import pathlib
import pty
import random
import re
import shutil
import subprocess
import unittest

from cli_case import BINARY, MODULE
from report_case import ASSIGNMENT, CORPUS, LIVE_RANGES, ReportCase, SEEDS, STAGE, exact


class Inputs(ReportCase):
    def test_bad_files(self):
        self.assert_bad_use(self.report("/nonexistent"), "No such file or directory")
        self.assert_bad_use(self.report(), "needs an INPUT")
        self.assert_bad_use(self.report(self.write("empty.txt", "")), "empty")
        self.assert_bad_use(self.report(self.write("x.txt", "to be or not to be\n")), "not one of XLA's memory reports")
        self.assert_bad_use(self.report(self.write("m.txt", MODULE)), "which machine", "--target=cpu")
        self.assert_bad_use(self.report(self.write("junk", b"\x7fELF\0\1\2")), "neither text nor one of XLA's protos")
        self.assert_bad_use(self.report(self.write("zeros", b"\0" * 5000)))
        self.assert_bad_use(self.report(self.write("l.txt", LIVE_RANGES)), "no buffer assignment among the files")

    def test_options_for_another_format_are_refused(self):
        seed = str(SEEDS[3])
        for option, form in (("--part=usage", "xla"), ("--table=values", "csv"), ("--allocation=3", "minimalloc"),
                             ("--dialect=jaxlib-0.6.0", "xla")):
            self.assert_bad_use(self.report(seed, option), f"requires --format={form}")
        self.assertEqual(self.report(seed, "--part=usage", "--format=xla").code, 0)

    def test_commands_for_modules_know_reports(self):
        values = self.write("v.txt", "\nTotal bytes used: 52 (52B)\n\nUsed values:\n")
        for path in (str(SEEDS[3]), values, self.write("l.txt", LIVE_RANGES), self.write("u.txt", "Memory Space: x (color=0)\n")):
            for command in ("print", "stats", "verify", "assign"):
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
                    self.assertRegex(answer.err, r"<stdin>:\d+:\d+: error: .*|complete: |not one of XLA's", (seed, size))
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

    def test_all_dumps_are_consistent(self):
        modules = 0
        for archive in sorted(CORPUS.iterdir()):
            # Packing problems; executables; dumps with programs and answers beside them, which --strict minds.
            if not archive.is_dir() or archive.name in ("idealloc", "executables", "explain", "donate", "figures"):
                continue
            answer = self.report("--strict", "--format=json", str(archive))
            self.assertEqual(answer.code, 0, answer.err[:1000])
            modules += len(json.loads(answer.out)["modules"])
        self.assertEqual(modules, 1317)

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
        self.assert_bad_use(self.report(dump, "--module=zzz"), "no module", "one of jit_small, jit_large, jit_other")
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
        for text in ("notes.txt: warning: is not a dump file", "latest: warning: is a broken link",
                     "pipe: warning: is not a regular file", "live-range.txt: warning: has no buffer assignment beside it",
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

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_directories_that_may_not_be_read(self):
        dump = pathlib.Path(self.make())
        (dump / "closed").mkdir(mode=0)
        self.addCleanup((dump / "closed").chmod, 0o700)
        answer = self.report(str(dump))
        self.assertEqual((answer.code, len(self.rows(answer.out))), (0, 4), answer)
        self.assertIn("closed: warning: cannot be read: Permission denied", answer.err)
        for command in ("report", "explain", "check", "view"):
            self.assert_bad_use(self.run_cli(command, str(dump / "closed"), cwd=self.folder), "cannot read the directory: Permission denied")

    def test_an_empty_file_is_called_empty(self):
        empty = self.write("x.txt", "")
        for command in ("report", "explain", "check", "view"):
            self.assert_bad_use(self.run_cli(command, empty, cwd=self.folder), "the file is empty")

    def test_files_of_several_modules(self):
        dump = self.make()
        answer = self.report(*(str(path) for path in pathlib.Path(dump).iterdir()))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertEqual(len(self.rows(answer.out)), 4)
        self.assertEqual(self.rows(self.page(*map(str, SEEDS)))[0].split("/")[-1], "seed_004")

    def test_nine_hundred_modules(self):
        for i in range(900):
            self.dump(f"module_{i:04}.jit_f{i}")
        page = self.page(str(self.folder / "dump"))
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
