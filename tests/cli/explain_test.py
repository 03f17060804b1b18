# SPDX-License-Identifier: Apache-2.0
"""stowplan explain: what fills the peak, on pages, in tables, as JSON; and how it fails."""

import csv
import io
import json
import os
import pathlib
import shutil
import unittest
import xml.etree.ElementTree

from cli_case import MODULE, CliCase

CORPUS = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"])
SEEDS = pathlib.Path(__file__).parents[2] / "examples" / "seeds"

# Lines of step.py and how many bytes each has made at t=4: 3 has 4096, 4 has 4096, parameters 4096.
PROGRAM = """\
HloModule step, is_scheduled=true

ENTRY main {
  w = f32[512]{0} parameter(0), metadata={op_name="params[\\'w\\']"}
  x = f32[512]{0} parameter(1), metadata={op_name="x"}
  a = f32[1024]{0} concatenate(w, x), dimensions={0}, metadata={op_name="jit(step)/jvp()/concat" source_file="step.py" source_line=2}
  b = f32[1024]{0} sine(a), metadata={op_name="jit(step)/jvp()/sin" source_file="step.py" source_line=3}
  c = f32[1024]{0} cosine(b), metadata={op_name="jit(step)/jvp()/cos" source_file="step.py" source_line=4}
  d = f32[1024]{0} multiply(b, c), metadata={op_name="jit(step)/transpose(jvp())/mul" source_file="step.py" source_line=4}
  ROOT r = f32[1]{0} slice(d), slice={[0:1]}, metadata={op_name="jit(step)/slice" source_file="step.py" source_line=5}
}
"""
SOURCE = "def step(w, x):\n    a = concat(w, x)\n    b = sin(a)\n    c = b * cos(b)\n    return c[:1]\n"


class Explain(CliCase):
    def explain(self, *words, **more):
        return self.run_cli("explain", *words, **more)

    def fine(self, *words, **more):
        answer = self.explain(*words, **more)
        self.assertEqual(answer.code, 0, answer)
        return answer

    def module(self):
        return self.write("m.txt", PROGRAM)

    def at_four(self, *words):
        return self.fine("--target=cpu", "--at=4", self.module(), *words).out

    def test_the_page(self):
        for path in (CORPUS / "cpu" / "lm_train_scan", CORPUS / "gpu" / "moe_layer", CORPUS / "tpu" / "cnn_train",
                     SEEDS / "seed_003.txt"):
            page = self.fine(str(path)).out
            for heading in ("\nLive bytes over the program\n", "\nBy source line\n", "\nBy kind\n",
                            "\nLargest values\n", "\nThe footprint of ", "\nXLA's own peak\n", "\nNext\n"):
                self.assertIn(heading, page)
            self.assertNotIn("\x1b", page)
            for line in page.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_every_page_fits_eighty_columns(self):
        path = str(CORPUS / "tpu" / "lm_train_scan_remat")
        value = json.loads(self.fine(path, "--format=json", "--by=value").out)["partitions"]["value"]["rows"][0]["value"]
        for words in (["--by=value"], ["--by=stack"], ["--by=op_name"], ["--by=parameter"], ["--by=kind"], ["--by=footprint"],
                      ["--by=source"], ["--padding"], ["--curve"], [f"--value={value}"], ["--source-root=."]):
            for line in self.fine(path, *words).out.splitlines():
                self.assertLessEqual(len(line), 80, f"{words}: {line}")

    def test_seeds(self):
        page = json.loads(self.fine("--format=json", "--space=all", str(SEEDS / "seed_003.txt")).out)
        self.assertEqual(page["schema"], "stowplan.explain/1")
        self.assertEqual((page["moment"]["bytes"], page["moment"]["time"]), (297796132, 9))
        self.assertEqual([(s["space"], s["peak"]["bytes"], s["peak"]["time"]) for s in page["spaces"]],
                         [(0, 209716256, 12), (1, 90177536, 7), (2, 8, 6)])
        self.assertEqual(page["xla"]["bytes"], 239075356)
        self.assertEqual(page["xla"]["reasons"], {"tuples": 58720232, "no_memory": 0, "padding": 508, "shared": 0})
        self.assertEqual(page["xla"]["live_then"], 297796096)
        page = json.loads(self.fine("--format=json", "--space=all", "--at=11", str(SEEDS / "seed_003.txt")).out)
        self.assertEqual(page["moment"]["bytes"], 297796096)
        page = json.loads(self.fine("--format=json", str(SEEDS / "seed_004.txt")).out)
        self.assertEqual((page["together"]["bytes"], page["together"]["time"]), (1012613120, 13))

    def test_json_tables_add_up(self):
        for path in (CORPUS / "tpu" / "lm_train_scan", CORPUS / "gpu" / "cond_in_while", SEEDS / "seed_002.txt"):
            page = json.loads(self.fine("--format=json", str(path)).out)
            self.assertEqual(len(page["partitions"]), 7)
            for by, table in page["partitions"].items():
                whole = page["moment"]["footprint"]["bytes"] if by == "footprint" else page["moment"]["bytes"]
                self.assertEqual(table["total"], whole, by)
                self.assertEqual(sum(row["own"] for row in table["rows"]), whole, by)
                for row in table["rows"]:
                    if row.get("parent", -1) >= 0:
                        self.assertLessEqual(row["total"], table["rows"][row["parent"]]["total"])
            split = dict(page["moment"]["footprint"])
            self.assertEqual(split.pop("bytes"), sum(split.values()))

    def test_known_answers(self):
        self.assertIn("what fills".capitalize(), self.at_four("--by=source"))
        table = self.at_four("--by=source")
        for row in ("4.0KiB (4096)  33.3%  step.py:3\n", "4.0KiB (4096)  33.3%  step.py:4\n",
                    "4.0KiB (4096)  33.3%  (parameters)\n", "12.0KiB (12288)         total\n"):
            self.assertIn(row, table)
        table = self.at_four("--by=op_name")
        self.assertIn("8.0KiB (8192)  66.7%  jit(step)/jvp()\n", table)
        self.assertIn("    cos\n" if "    cos\n" in table else "  cos\n", table)
        self.assertIn("2.0KiB (2048)  16.7%  params['w']\n", self.at_four("--by=parameter"))
        self.assertIn("activation kept for later\n", self.at_four("--by=kind"))
        self.assertIn("and 3 more\n", self.at_four("--by=value", "--top=1"))

    def test_a_module_alone_is_planned(self):
        answer = self.fine("--target=cpu", self.module())
        self.assertIn("the plan is Stowplan's", answer.out)
        self.assertIn("note: there is no plan", answer.err)
        # A program without the first line is a module, too.
        bare = self.write("bare.hlo", PROGRAM.split("\n\n", 1)[1])
        self.assertEqual(self.fine("--target=cpu", bare).code, 0)

    def test_a_proto_equals_the_texts(self):
        for name in ("cpu/lm_train_scan/cpu_after_optimizations", "tpu/lm_train_scan/after_optimizations"):
            proto = self.folder / "p.hlo.pb"
            shutil.copy(CORPUS / (name + ".hlo.pb"), proto)
            ours = json.loads(self.fine("--format=json", str(proto)).out)
            theirs = json.loads(self.fine("--format=json", str(CORPUS / (name + ".txt"))).out)
            self.assertEqual(ours["plan"], "given")
            for key in ("spaces", "together", "partitions"):
                self.assertEqual(ours[key], theirs[key], key)

    def test_without_live_ranges(self):
        folder = CORPUS / "cpu" / "mlp_train_sgd"
        alone = self.write("a.txt", (folder / "cpu_after_optimizations-buffer-assignment.txt").read_text())
        answer = self.fine(alone)
        self.assertIn("the peak is not known\n", answer.out)
        self.assertIn("temporaries", answer.out)
        self.assert_bad_use(self.explain(alone, "--by=kind"), "not known")
        # With the module it is.
        module = self.write("m.txt", (folder / "cpu_after_optimizations.txt").read_text())
        self.assertIn("live at the peak", self.fine("--target=cpu", alone, module).out)

    def test_why(self):
        page = self.fine("--target=cpu", "--value=b", self.module()).out
        self.assertIn("b: 4.0KiB (4096), activation kept for later\n", page)
        self.assertIn("  source    step.py:3\n", page)
        self.assertIn("  d reads it last, and keeps it alive until it finishes\n", page)
        self.assertIn("  t=4  c, step.py:4, jit(step)/jvp()/cos\n  t=5  d, step.py:4, jit(step)/transpose(jvp())/mul\n", page)
        page = json.loads(self.fine("--target=cpu", "--value=%w", "--format=json", self.module()).out)
        self.assertEqual(page["values"][0]["held_by"], "parameter")
        self.assertEqual(page["values"][0]["parameter"], "params['w']")

    def test_padding(self):
        page = self.fine(str(CORPUS / "tpu" / "cnn_train"), "--padding", "--top=1").out
        self.assertIn("12.00MiB (12582912) of 16.00MiB (75.0%)", page)
        self.assertIn("merged: f32[32,32,1024]", page)
        self.assertIn("no value has any\n", self.fine("--target=cpu", "--padding", self.module()).out)

    def test_curves(self):
        module = self.module()
        self.assertIn("^ t=", self.fine("--target=cpu", "--curve", module).out)
        table, picture = self.folder / "live.csv", self.folder / "live.svg"
        self.assertEqual(self.fine("--target=cpu", f"--curve={table}", module).out, "")
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual(max(int(row["space_0"]) for row in rows), max(int(row["all"]) for row in rows))
        peak = json.loads(self.fine("--target=cpu", "--format=json", module).out)["moment"]["bytes"]
        self.assertEqual(max(int(row["all"]) for row in rows), peak)
        self.fine("--target=cpu", f"--curve={picture}", module)
        self.assertTrue(xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg"))
        curve = json.loads(self.fine("--target=cpu", "--format=json", "--curve", module).out)["moment"]["curve"]
        self.assertEqual(max(level for _, level in curve), peak)

    def test_source_lines(self):
        self.write("step.py", SOURCE)
        page = self.at_four(f"--source-root={self.folder}")
        self.assertIn("    4.0KiB     3 |     b = sin(a)\n", page)
        self.assertIn("               2 |     a = concat(w, x)\n".replace("               2", "               2"), page)
        self.assertIn("12.0KiB (12288)  total\n", page)
        (self.folder / "empty").mkdir()
        page = self.at_four(f"--source-root={self.folder}/empty")
        self.assertRegex(page, r"Not found in\s+/\S+/empty:\s+step\.py\n")
        self.assertNotRegex(page, r"[ \t]\n")
        for words in (["explain"], ["view", "-o", str(self.folder / "x.html")]):
            answer = self.run_cli(*words, self.write("m.txt", MODULE), "--target=cpu", "--source-root=/nowhere")
            self.assert_bad_use(answer, "--source-root needs a directory, and there is none at `/nowhere`")
        self.assertFalse((self.folder / "x.html").exists())

    def test_names_do_not_lead_out_of_the_root(self):
        self.write("step.py", SOURCE)
        inside = self.folder / "inside"
        inside.mkdir()
        module = self.folder / "out.hlo"
        module.write_text(pathlib.Path(self.module()).read_text().replace("step.py", "../step.py"))
        page = self.fine("--target=cpu", f"--source-root={inside}", str(module)).out
        self.assertNotIn("sin(a)", page)
        self.assertIn("Not found in", page)

    def test_a_directory(self):
        answer = self.fine(str(CORPUS / "cpu"))
        self.assertIn("note: using the largest of 54 modules, ", answer.err)
        answer = self.fine(str(CORPUS / "cpu"), "--module=lm_train_scan_remat")
        self.assertTrue(answer.out.startswith("lm_train_scan_remat"), answer)

    def test_bad_use(self):
        module = self.module()
        target = "--target=cpu"
        self.assert_bad_use(self.explain(target, module, "--by=weight"), "--by cannot be `weight`")
        self.assert_bad_use(self.explain(target, module, "--at=soon"), "--at needs a moment")
        self.assert_bad_use(self.explain(target, module, "--at=99"), "there is no moment t=99", "t=0 to t=7")
        self.assert_bad_use(self.explain(target, module, "--at=-1"), "there is no moment")
        self.assert_bad_use(self.explain(target, module, "--space=9"), "there is no memory space `9`")
        self.assert_bad_use(self.explain(target, module, "--value=bb"), "there is no value `bb`")
        self.assert_bad_use(self.explain(target, module, "--top=many"), "--top")
        self.assert_bad_use(self.explain(target, module, "--curve=live.png"), "a .csv or an .svg")
        self.assert_bad_use(self.explain(target, module, "--by=kind", "--padding"), "give only one of them")
        self.assert_bad_use(self.explain(target, module, "--xla-version=jaxlib-9"), "there is no XLA")
        self.assert_bad_use(self.explain(module), "which machine")
        self.assert_bad_use(self.explain("/no/such/file"), "/no/such/file")
        self.assert_bad_use(self.explain(), "explain needs an INPUT")

    def test_bad_input(self):
        self.assert_bad_use(self.explain(self.write("empty.txt", "")))
        self.assert_bad_use(self.explain(self.write("noise.txt", "what is this\n")))
        self.assert_bad_use(self.explain(self.write("cut.txt", (SEEDS / "seed_003.txt").read_bytes()[:700])))
        outside = "BufferAssignment:\nallocation 0: size 16, preallocated-temp:\n" \
                  " value: <0 a @0> (size=16,offset=8): f32[4]{0}\n"
        self.assert_bad_use(self.explain(self.write("o.txt", outside)), "lies outside allocation 0")
        huge = "BufferAssignment:\nallocation 0: size 9223372036854775807, preallocated-temp:\n" \
               "allocation 1: size 1, preallocated-temp:\n"
        self.assert_bad_use(self.explain(self.write("h.txt", huge)), "do not fit in 64 bits")
        os.mkdir(self.folder / "bare")
        self.assert_bad_use(self.explain(str(self.folder / "bare")), "there is no plan in")

    def test_a_curve_that_cannot_be_written(self):
        self.assert_bad_use(self.explain("--target=cpu", "--curve=/no/such/folder/c.csv", self.module()))


if __name__ == "__main__":
    unittest.main()
