# SPDX-License-Identifier: Apache-2.0
"""stowplan view DIR: a page for each module, and index.html, which lists them."""

import json
import os
import pathlib
import shutil
import unittest

from cli_case import MODULE, CliCase
from view_bundle import Bundle

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR") or ROOT / "build" / "corpus")
SEEDS = ROOT / "examples" / "seeds"
MOST_STEPS = 240


class ViewIndex(CliCase):
    def setUp(self):
        super().setUp()
        self.dump = self.folder / "dump"
        self.out = self.folder / "out"

    def add(self, source, name):
        target = self.dump / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def add_seeds(self):
        for seed in SEEDS.glob("seed_*.txt"):
            self.add(seed, seed.name)

    def index_of(self, *words):
        answer = self.run_cli("view", str(self.dump), "-o", f"{self.out}/", *words, timeout=300)
        self.assertEqual((answer.code, answer.out), (0, ""), answer)
        return Bundle((self.out / "index.html").read_bytes()).header, answer

    def check(self, header):
        """Rows, pages and `stowplan report` say the same."""
        self.assertEqual((header["schema"], header["modules"]), ("stowplan.view/1", []))
        rows = header["index"]
        files = [row["file"] for row in rows]
        self.assertEqual(len(files), len(set(files)))
        self.assertEqual(sorted([*files, "index.html"]), sorted(os.listdir(self.out)))
        self.assertEqual([row["bytes"] for row in rows], sorted((row["bytes"] for row in rows), reverse=True))
        for row in rows:
            self.assertRegex(row["file"], r"^[A-Za-z0-9][\w.-]*\.html$")
            page = Bundle((self.out / row["file"]).read_bytes())
            self.assertEqual((page.header["home"], page.header["title"]), ("index.html", row["name"]))
            module = page.modules[0]
            self.assertEqual(row["peak"], module.header["all_peak"]["bytes"])
            self.assertEqual(row["end"], module.header["end"])
            self.assertEqual(row["values"], len(module.column("value.size")))
            self.assertEqual(row["bytes"], sum(module.column("allocation.size")))
            main = [k for k, space in enumerate(module.header["spaces"]) if space["color"] == 0]
            sizes = zip(module.column("allocation.space"), module.column("allocation.size"))
            self.assertEqual(row["main_bytes"], sum(size for at, size in sizes if at in main))
            self.assertLessEqual(len(row["curve"]), MOST_STEPS)
            self.assertEqual(max(bytes_ for _, bytes_ in row["curve"]), row["peak"])
            times = [time for time, _ in row["curve"]]
            self.assertEqual(times, sorted(set(times)))
            # No moment is drawn lower than it is.
            for time in {0, row["end"], module.header["all_peak"]["time"], *times}:
                level = [bytes_ for begin, bytes_ in row["curve"] if begin <= time][-1:] or [0]
                self.assertGreaterEqual(level[0], module.curve_at(len(module.header["spaces"]), time))
        return rows

    def test_as_the_report_lists_them(self):
        self.add_seeds()
        header, answer = self.index_of()
        rows = self.check(header)
        listed = json.loads(self.run_cli("report", str(self.dump), "--format=json").out)["modules"]
        self.assertEqual([(row["name"], row["bytes"], row["peak"]) for row in rows],
                         [(row["name"], row["bytes"], row["peak"]["bytes"]) for row in listed])
        self.assertEqual(header["title"], str(self.dump))
        self.assertEqual(header["problems"], [])
        self.assertIn(f"{self.out / 'index.html'} of 5 modules", answer.err)

    def test_of_all_back_ends(self):
        for back_end in ("cpu", "gpu", "tpu"):
            shutil.copytree(CORPUS / back_end / "lm_train_unrolled_small", self.dump / back_end)
        header, _ = self.index_of("--budget=16MiB")
        rows = self.check(header)
        self.assertEqual(header["budget"], 16 << 20)
        self.assertEqual({row["backend"].lower() for row in rows}, {"cpu", "gpu", "tpu"})
        # So long that they have to be thinned.
        self.assertTrue(any(row["end"] > 2 * MOST_STEPS for row in rows))

    def test_what_cannot_be_read_is_listed(self):
        self.add_seeds()
        self.add(SEEDS / "seed_003.txt", "whole-buffer-assignment.txt")
        text = (SEEDS / "seed_003.txt").read_bytes()
        bad = self.dump / "module_0007.jit_cut.cpu_after_optimizations-buffer-assignment.txt"
        bad.write_bytes(text[:text.index(b"allocation 3") + 14])
        untimed = self.dump / "module_0006.jit_untimed.cpu_after_optimizations-buffer-assignment.txt"
        untimed.write_bytes(text[:text.index(b"allocation 3")])
        empty = self.dump / "module_0008.jit_empty.cpu_after_optimizations-buffer-assignment.txt"
        empty.write_bytes(b"")
        header, answer = self.index_of()
        self.check(header)
        reasons = {problem["name"]: problem["reason"] for problem in header["problems"]}
        self.assertIn(bad.name, reasons.pop("module_0007.jit_cut"))
        self.assertIn("does not say when its values are alive", reasons.pop("module_0006.jit_untimed"))
        self.assertEqual(reasons.pop(str(empty)), "is empty")
        self.assertEqual(reasons, {})
        self.assertIn("module_0007.jit_cut: warning:", answer.err)

    def test_names(self):
        names = ("a/step", "b/step", "a_step", "A_STEP", "index", "-rf", ".hidden", "<b>&\"'", "\u202egnp", "x" * 200)
        for name in names:
            self.add(SEEDS / "seed_003.txt", f"{name}.txt")
        header, _ = self.index_of()
        rows = self.check(header)
        self.assertEqual(len(rows), len(names))
        self.assertEqual(len({row["file"].lower() for row in rows}), len(names))

    def test_without_a_name_for_it(self):
        self.add_seeds()
        answer = self.run_cli("view", "dump", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("view/index.html of 5 modules", answer.err)
        self.assertTrue((self.folder / "view" / "seed_003.html").is_file())
        answer = self.run_cli("view", "dump", "--module=seed_003", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("view.html", answer.err)
        self.assertEqual(Bundle((self.folder / "view.html").read_bytes()).header["title"], "seed_003")
        # A name without an ending is a folder's when there are several.
        answer = self.run_cli("view", "dump", "-o", "pages", cwd=self.folder)
        self.assertTrue((self.folder / "pages" / "index.html").is_file(), answer)

    def test_one_page_of_many(self):
        self.add_seeds()
        page = self.folder / "x.html"
        answer = self.run_cli("view", str(self.dump), "-o", str(page))
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.err, r"using the largest of \d+ modules, seed_004")
        self.assertIn("-o FOLDER/", answer.err)
        header = Bundle(page.read_bytes()).header
        self.assertEqual(header["title"], "seed_004")
        self.assertNotIn("home", header)

    def test_one_module_in_a_folder(self):
        self.add(SEEDS / "seed_003.txt", "seed_003.txt")
        self.assertEqual(len(self.check(self.index_of()[0])), 1)
        answer = self.run_cli("view", self.write("m.hlo", MODULE), "--target=cpu", "-o", f"{self.folder}/one/")
        self.assertEqual(answer.code, 0, answer)
        row, = Bundle((self.folder / "one" / "index.html").read_bytes()).header["index"]
        self.assertIn("Stowplan's plan", row["plan"])

    def test_the_same_bytes_each_time(self):
        self.add_seeds()
        self.index_of()
        first = {path.name: path.read_bytes() for path in self.out.iterdir()}
        self.index_of()
        self.assertEqual(first, {path.name: path.read_bytes() for path in self.out.iterdir()})

    def test_nothing_half_written(self):
        self.add_seeds()
        view = lambda: self.run_cli("view", str(self.dump), "-o", f"{self.out}/")
        # A page that cannot be written: no index.
        (self.out / "seed_002.html").mkdir(parents=True)
        self.assert_bad_use(view(), "seed_002.html")
        self.assertFalse((self.out / "index.html").exists())
        self.assertEqual([path for path in self.out.iterdir() if not path.name.endswith(".html")], [])
        # Another's index.html stays, and no page is put beside it.
        shutil.rmtree(self.out)
        self.out.mkdir()
        (self.out / "index.html").write_text("<p>mine</p>")
        self.assert_bad_use(view(), "not written by `stowplan view`")
        self.assertEqual(os.listdir(self.out), ["index.html"])
        # So does any other file that a page would take the place of, whatever it is.
        for make in (lambda path: path.write_text("<p>mine</p>"), lambda path: path.mkdir(), os.mkfifo):
            shutil.rmtree(self.out)
            self.out.mkdir()
            make(self.out / "seed_001.html")
            (self.out / "notes.txt").write_text("mine")
            self.assert_bad_use(view(), "seed_001.html", "not written by `stowplan view`", "a different folder with -o")
            self.assertEqual(sorted(os.listdir(self.out)), ["notes.txt", "seed_001.html"])
        (self.out / "seed_001.html").unlink()
        # Its own pages are written again, beside what is another's.
        self.assertEqual(view().code, 0)
        self.assertEqual(view().code, 0)
        self.assertEqual((self.out / "notes.txt").read_text(), "mine")
        # view.html, which nobody named.
        (self.folder / "view.html").write_text("<p>mine</p>")
        seed = str(SEEDS / "seed_003.txt")
        self.assert_bad_use(self.run_cli("view", seed, cwd=self.folder), "view.html", "a different file with -o")
        self.assertEqual((self.folder / "view.html").read_text(), "<p>mine</p>")
        self.assertEqual(self.run_cli("view", seed, "-o", "view.html", cwd=self.folder).code, 0)
        self.assertEqual(self.run_cli("view", seed, cwd=self.folder).code, 0)
        # A folder that cannot be made.
        file = self.write("file", "x")
        self.assert_bad_use(self.run_cli("view", str(self.dump), "-o", f"{file}/pages/"), "pages")

    def make_two(self):
        """Two dumps: a module that grew, one that is the same, one that is new and one that is gone."""
        for side, numbers, grown in (("a", (1, 2, 3), "seed_003"), ("b", (7, 8, 9), "seed_004")):
            files = zip(numbers, ("jit_step", "jit_same", f"jit_only_{side}"), (grown, "seed_000", "seed_002"))
            for number, name, seed in files:
                self.add(SEEDS / f"{seed}.txt",
                         f"../{side}/module_{number:04}.{name}.cpu_after_optimizations-buffer-assignment.txt")
        return str(self.folder / "a"), str(self.folder / "b")

    def test_all_modules_of_two(self):
        self.dump.mkdir()
        a, b = self.make_two()
        answer = self.run_cli("view", a, b, "-o", f"{self.out}/")
        self.assertEqual((answer.code, answer.out), (0, ""), answer)
        self.assertIn("index.html of 4 modules", answer.err)
        header = Bundle((self.out / "index.html").read_bytes()).header
        self.assertEqual(header["compared"], [a, b])
        rows = {row["name"]: row for row in header["index"]}
        diff = json.loads(self.run_cli("diff", a, b, "--format=json").out)
        self.assertEqual({name for name, row in rows.items() if row.get("only") == "A"}, set(diff["only_a"]))
        self.assertEqual({name for name, row in rows.items() if row.get("only") == "B"}, set(diff["only_b"]))
        self.assertEqual({name for name, row in rows.items() if "only" not in row},
                         {module["module"] for module in diff["modules"]})
        # Largest change first.
        changes = [abs(row["bytes"] - row.get("base_bytes", 0)) for row in header["index"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertEqual((header["index"][0]["name"], header["index"][-1]["name"]), ("jit_step", "jit_same"))
        sizes = {name: sum(Bundle((self.out / row["file"]).read_bytes()).modules[-1].column("allocation.size"))
                 for name, row in rows.items()}
        self.assertEqual(sizes, {name: row["bytes"] for name, row in rows.items()})
        page = Bundle((self.out / rows["jit_step"]["file"]).read_bytes())
        self.assertEqual((page.header["home"], len(page.modules)), ("index.html", 2))
        self.assertEqual(sum(page.modules[0].column("allocation.size")), rows["jit_step"]["base_bytes"])
        self.assertIsNotNone(page.header["diff"])
        alone = Bundle((self.out / rows["jit_only_a"]["file"]).read_bytes())
        self.assertEqual(len(alone.modules), 1)

    def test_pages_of_two(self):
        self.dump.mkdir()
        a, b = self.make_two()
        # Without a name it is a folder; with a file's, one page of the largest.
        self.assertEqual(self.run_cli("view", a, b, cwd=self.folder).code, 0)
        self.assertTrue((self.folder / "view" / "jit_step.html").is_file())
        answer = self.run_cli("view", a, b, "-o", "x.html", cwd=self.folder)
        self.assertIn("-o FOLDER/ compares all modules", answer.err)
        self.assertEqual(len(Bundle((self.folder / "x.html").read_bytes()).modules), 2)
        # One of each is a page, whatever it is called.
        answer = self.run_cli("view", a, b, "--module=step", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        self.assertEqual(len(Bundle((self.folder / "view.html").read_bytes()).modules), 2)
        seed = (SEEDS / "seed_003.txt").read_bytes()
        answer = self.run_cli("view", "-", str(SEEDS / "seed_004.txt"), "-o", "y.html", cwd=self.folder, stdin=seed)
        self.assertEqual(answer.code, 0, answer)
        for words in (("diff", "-", "-"), ("gate", "-", "-"), ("view", "-", "-")):
            self.assert_bad_use(self.run_cli(*words, stdin=seed), "both inputs are standard input")
        # What cannot be read is listed.
        bad = self.folder / "b" / "module_0008.jit_same.cpu_after_optimizations-buffer-assignment.txt"
        bad.write_bytes(seed[:seed.index(b"allocation 3") + 14])
        answer = self.run_cli("view", a, b, "-o", f"{self.out}/")
        self.assertEqual(answer.code, 0, answer)
        header = Bundle((self.out / "index.html").read_bytes()).header
        self.assertEqual([problem["name"] for problem in header["problems"]], ["jit_same"])
        self.assertEqual(len(header["index"]), 3)

    def test_bad_use(self):
        self.dump.mkdir()
        self.assert_bad_use(self.run_cli("view", str(self.dump), "-o", f"{self.out}/"), "there is no plan in")
        for name in ("a", "b"):
            (self.dump / f"module_0001.{name}.cpu_after_optimizations-buffer-assignment.txt").write_text("to be")
        self.assert_bad_use(self.run_cli("view", str(self.dump), "-o", f"{self.out}/"), "no module could be shown")
        self.assertFalse(self.out.exists())
        seed = str(SEEDS / "seed_003.txt")
        self.assert_bad_use(self.run_cli("view", seed, str(self.folder / "none"), "-o", f"{self.out}/"), "none")
        self.assert_bad_use(self.run_cli("view", "-", "-", "-o", f"{self.out}/"), "both inputs are standard input")
        self.add_seeds()
        self.assert_bad_use(self.run_cli("view", str(self.dump), "--module=step", "-o", f"{self.out}/"), "no module")


if __name__ == "__main__":
    unittest.main()
