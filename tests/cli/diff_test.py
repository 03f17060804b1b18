# SPDX-License-Identifier: Apache-2.0
"""stowplan diff: what changed between two plans, and which edit did it."""

import json
import os
import pathlib
import random
import re
import unittest

import cli_case

CORPUS = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"])
EDITS = CORPUS / "explain" / "edits"

STEP = """\
HloModule jit_step, is_scheduled=true

ENTRY %main (w: f32[256], x: f32[64]) -> f32[256] {
  %w = f32[256]{0} parameter(0), metadata={op_name="params['w']"}
  %x = f32[64]{0} parameter(1), metadata={op_name="x"}
  %h = f32[256]{0} concatenate(%x, %x, %x, %x), dimensions={0}, metadata={op_name="jit(step)/concatenate" source_file="m.py" source_line=3}
  %g = f32[256]{0} cosine(%h), metadata={op_name="jit(step)/cos" source_file="m.py" source_line=4}
  %u = f32[256]{0} multiply(%g, %h), metadata={op_name="jit(step)/mul" source_file="m.py" source_line=5}
  ROOT %out = f32[256]{0} add(%w, %u), metadata={op_name="jit(step)/add" source_file="m.py" source_line=6}
}
"""
LARGE = STEP.replace("[256]", "[512]").replace("[64]", "[128]")


class DiffTest(cli_case.CliCase):
    def diff(self, a, b, *words, code=1):
        answer = self.run_cli("diff", *words, "--target=cpu", a, b)
        self.assertEqual(answer.code, code, answer)
        return answer

    def files(self, a=STEP, b=LARGE):
        return self.write("a.hlo", a), self.write("b.hlo", b)

    def test_the_first_line_says_it_all(self):
        a, b = self.files()
        out = self.diff(a, b).out
        first = out.splitlines()[0]
        self.assertRegex(first, r"^peak .+ -> .+, \+.*: grown: 64 -> 128 in \d+ values$")
        self.assertNotIn("\x1b", out)
        for line in out.splitlines()[1:]:
            self.assertLessEqual(len(line), 80, line)

    def test_the_same(self):
        a, b = self.files(b=STEP.replace("%h", "%fusion.7").replace("%u", "%x9"))
        out = self.diff(a, b, code=0).out
        self.assertRegex(out, r"^peak .*: nothing differs\n$")
        document = json.loads(self.diff(a, b, "--format=json", code=0).out)
        self.assertFalse(document["differs"])

    def test_json_adds_up_and_turns_round(self):
        a, b = self.files()
        there = json.loads(self.diff(a, b, "--format=json", "--top=0").out)
        back = json.loads(self.diff(b, a, "--format=json", "--top=0").out)
        self.assertEqual(there["schema"], "stowplan.diff/1")
        footprint_terms = {"dead", "fragmentation", "alignment", "without_live_range", "thread_local"}
        for one, other in zip(there["modules"][0]["spaces"], back["modules"][0]["spaces"]):
            self.assertEqual(one["peak_change"], one["peak_b"]["bytes"] - one["peak_a"]["bytes"])
            self.assertEqual(one["peak_change"], -other["peak_change"])
            peak = sum(v for k, v in one["terms"].items() if k not in footprint_terms)
            self.assertEqual(peak, one["peak_change"])
            self.assertEqual(sum(one["terms"].values()), one["footprint_change"])
            self.assertEqual(sum(c["bytes"] for c in one["causes"]), one["peak_change"])
            self.assertEqual([c["bytes"] for c in one["causes"]], [-c["bytes"] for c in other["causes"]])

    def test_by(self):
        a, b = self.files()
        for by in ("cause", "source", "op_name", "kind", "term", "value"):
            document = json.loads(self.diff(a, b, f"--by={by}", "--format=json", "--top=0").out)
            space = document["modules"][0]["spaces"][0]
            self.assertEqual(sum(c["bytes"] for c in space["causes"]), space["peak_change"])
            if by == "source":
                self.assertIn("m.py:3", [c["cause"] for c in space["causes"]])
        self.assertIn("By value", self.diff(a, b, "--by=value").out)

    def test_markdown(self):
        a, b = self.files()
        out = self.diff(a, b, "--format=markdown").out
        self.assertTrue(out.startswith("**jit\\_step**: peak "))
        self.assertIn("| change | bytes | cause | made of |", out)
        widths = {line.count("|") for line in out.splitlines() if line.startswith("|")}
        self.assertEqual(widths, {5})

    def test_top(self):
        a, b = self.files(b=LARGE.replace("multiply(%g, %h)", "multiply(%g, %g)"))
        every = json.loads(self.diff(a, b, "--format=json", "--by=value", "--top=0").out)
        one = json.loads(self.diff(a, b, "--format=json", "--by=value", "--top=1").out)
        causes = [c for c in one["modules"][0]["spaces"][0]["causes"] if c["main_term"] != "peak moved"]
        self.assertEqual(len(causes), 1)
        self.assertEqual(len(every["modules"][0]["spaces"][0]["causes"]), 4)
        self.assertIn("--top=0 shows all", self.diff(a, b, "--by=value", "--top=1").out)

    def directory(self, name, modules):
        folder = self.folder / name
        folder.mkdir()
        for file, text in modules.items():
            source = self.write("module.hlo", text)
            answer = self.run_cli("assign", "--target=cpu", "-o", str(folder), source)
            self.assertEqual(answer.code, 0, answer)
            for made in folder.glob("module-*"):
                made.rename(folder / made.name.replace("module-", file + ".cpu_after_optimizations-"))
        return str(folder)

    def test_directories_by_name_without_numbers(self):
        a = self.directory("a", {"module_0001.jit_step": STEP, "module_0002.jit_f": STEP, "module_0003.jit_old": STEP})
        b = self.directory("b", {"module_0005.jit_f": STEP, "module_0009.jit_step": LARGE, "module_0010.jit_new": STEP})
        out = self.diff(a, b).out
        self.assertRegex(out, r"(?m)^jit_f: peak .*: nothing differs$")
        self.assertRegex(out, r"(?m)^jit_step: peak .* -> .*grown: 64 -> 128")
        self.assertIn("jit_old: only in A\n", out)
        self.assertIn("jit_new: only in B\n", out)
        document = json.loads(self.diff(a, b, "--format=json").out)
        self.assertEqual((document["only_a"], document["only_b"]), (["jit_old"], ["jit_new"]))
        self.diff(a, b, "--module=jit_f", code=0)

    def test_a_directory_with_a_bad_module(self):
        a = self.directory("a", {"module_0001.jit_step": STEP, "module_0002.jit_f": STEP})
        b = self.directory("b", {"module_0001.jit_step": LARGE, "module_0002.jit_f": STEP})
        for file in pathlib.Path(b).glob("module_0002*-buffer-assignment.txt"):
            file.write_text(file.read_text().replace("offset=0", "offset=77777777"))
        answer = self.diff(a, b, code=2)
        self.assertIn("jit_step: peak", answer.out)
        self.assertNotIn("jit_f", answer.out)
        self.assertNotEqual(answer.err, "")

    def test_usage(self):
        a, b = self.files()
        for words in ([], [a], [a, b, a]):
            answer = self.run_cli("diff", *words)
            self.assertEqual(answer.code, 2)
            self.assertIn("diff takes A B", answer.err)
        for words in (["--by=nothing"], ["--format=xml"], ["--top=-1"], ["--target=abacus"]):
            self.assertEqual(self.run_cli("diff", *words, a, b).code, 2)
        help_text = self.run_cli("diff", "--help").out
        self.assertIn("stowplan diff [OPTIONS] A B", help_text)

    def test_bad_inputs(self):
        a, _ = self.files()
        empty = self.folder / "empty"
        empty.mkdir()
        broken = self.write("broken.hlo", cli_case.BROKEN)
        nothing = self.write("nothing.hlo", "")
        for bad in (str(self.folder / "missing"), str(empty), broken, nothing, self.write("n.bin", bytes(64))):
            for pair in ((a, bad), (bad, a)):
                answer = self.run_cli("diff", "--target=cpu", *pair)
                self.assertEqual(answer.code, 2, answer)
                self.assertEqual(answer.out, "")
                self.assertNotEqual(answer.err, "")

    def test_mangled_inputs(self):
        chance = random.Random(8)
        a, _ = self.files()
        for i in range(60):
            text = bytearray(STEP, "ascii")
            for _ in range(chance.randint(1, 6)):
                at = chance.randrange(len(text))
                if chance.random() < 0.5:
                    text[at] = chance.randrange(256)
                else:
                    del text[at : at + chance.randint(1, 9)]
            b = self.write("b.hlo", bytes(text))
            for pair in ((a, b), (b, a)):
                answer = self.run_cli("diff", "--target=cpu", *pair, timeout=20)
                self.assertIn(answer.code, (0, 1, 2), f"{i}: {answer}")


class MangledReportsTest(cli_case.CliCase):
    """Numbers of real reports made wrong: an answer or an error, never a crash."""

    def test_mangled_reports(self):
        chance = random.Random(15)
        good = CORPUS / "cpu" / "while_cond"
        endings = ("-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt")
        numbers = ("0", "1", "-1", "99", "4294967296", "9223372036854775807", "99999999999999999999")
        codes = []
        for i in range(60):
            folder = self.folder / str(i)
            folder.mkdir()
            for ending in endings:
                text = (good / f"cpu_after_optimizations{ending}").read_text()
                if chance.random() < 0.7:
                    places = list(re.finditer(r"\d+", text))
                    for place in sorted(chance.sample(places, 2), key=lambda m: -m.start()):
                        text = text[: place.start()] + chance.choice(numbers) + text[place.end() :]
                (folder / f"cpu_after_optimizations{ending}").write_text(text)
            for pair in ((good, folder), (folder, good)):
                answer = self.run_cli("diff", *map(str, pair), timeout=20)
                self.assertIn(answer.code, (0, 1, 2), f"{i}: {answer}")
                codes.append(answer.code)
        self.assertEqual(set(codes), {0, 1, 2})


# The words of cause.json.
TERMS = {"copy": "copies", "lives-longer": "lives longer", "lives-shorter": "lives shorter", "sharing-lost": "sharing lost",
         "sharing-won": "sharing won", "peak-moved": "peak moved"}
# cause.json has the line of the loop for what a loop stacks; diff names the line in its body that computes the slices.
# Here the largest new stacks hold the inner sine and its derivative.
THROUGH_LOOPS = {"removed_remat": ["source.py:9", "source.py:8"]}


class EditsTest(cli_case.CliCase):
    """Real dumps before and after one edit: the largest cause is the edit."""

    def causes(self, edit):
        answer = self.run_cli("diff", "--format=json", str(EDITS / edit / "before"), str(EDITS / edit / "after"))
        document = json.loads(answer.out)
        return answer.code, document["modules"][0]

    def names(self, known):
        places = [p for p in known["places"]]
        words = [f"{p['file']}:{line}" for p in places for line in (p["before_line"], p["after_line"]) if line]
        words += ["argument " + re.split(r"[\[.]", path)[0] for path in known["parameters"]]
        return words

    def test_the_true_cause_is_first(self):
        tried = 0
        for folder in sorted(EDITS.iterdir()):
            known = json.loads((folder / "cause.json").read_text())
            if known["cause"] == "none":
                continue
            with self.subTest(folder.name):
                code, module = self.causes(folder.name)
                self.assertEqual(code, 1)
                space = module["spaces"][1]
                self.assertEqual(space["peak_change"], known["delta_bytes"])
                first = space["causes"][0]
                allowed = [TERMS.get(word, word) for word in [known["cause"], *known["also"]]]
                self.assertIn(first["main_term"], allowed)
                places = [first["cause"], *(p["place"] for p in first["places"])]
                names = THROUGH_LOOPS.get(folder.name) or self.names(known)
                found = [w for w in names for p in places if re.search(re.escape(w) + r"\b", p)]
                self.assertTrue(found, f"{places} has none of {names}")
            tried += 1
        self.assertEqual(tried, 18)

    def test_no_edit_is_no_difference(self):
        tried = 0
        for folder in sorted(EDITS.glob("none_*")):
            with self.subTest(folder.name):
                code, module = self.causes(folder.name)
                self.assertEqual(code, 0)
                self.assertFalse(module["differs"])
                self.assertEqual([space["causes"] for space in module["spaces"]], [[], []])
            tried += 1
        self.assertEqual(tried, 5)


if __name__ == "__main__":
    unittest.main()
