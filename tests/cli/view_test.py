# SPDX-License-Identifier: Apache-2.0
"""stowplan view: the data in the page against `stowplan explain` and `diff`."""

import json
import os
import pathlib
import random
import unittest

from cli_case import MODULE, CliCase
from view_bundle import NONE, Bundle

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR") or ROOT / "build" / "corpus")
SEEDS = sorted((ROOT / "examples" / "seeds").glob("*.txt"))


class View(CliCase):
    def view(self, *words):
        page = self.folder / "view.html"
        answer = self.run_cli("view", *map(str, words), "-o", str(page), timeout=300)
        self.assertEqual((answer.code, answer.out), (0, ""), answer)
        return Bundle(page.read_bytes())

    def check(self, path, chance):
        bundle = self.view(path)
        module, = bundle.modules
        header = module.header
        count = len(module.column("value.size"))
        for name, place in header["columns"].items():
            if name.startswith("value."):
                self.assertEqual(place["count"], count, name)
        for name in ("value.name", "value.op_name", "value.shape", "op.name", "op.text", "frame.file", "bracket.label"):
            self.assertTrue(all(row < len(module.strings) for row in module.column(name)), name)
        spaces = module.column("allocation.space")
        in_space = lambda value: spaces[module.column("value.allocation")[value]]
        moments = {0, header["end"], header["all_peak"]["time"], *(chance.randint(0, header["end"]) for _ in range(2))}
        for time in sorted(moments):
            explained = self.run_cli("explain", str(path), "--space=all", f"--at={time}", "--by=value", "--top=0",
                                     "--format=json", timeout=300)
            self.assertEqual(explained.code, 0, explained)
            moment = json.loads(explained.out)["moment"]
            owned = module.owned_at(time)
            self.assertEqual(sum(owned.values()), moment["bytes"], (path, time))
            self.assertEqual(module.curve_at(len(header["spaces"]), time), moment["bytes"])
            for k in range(len(header["spaces"])):
                self.assertEqual(sum(b for v, b in owned.items() if in_space(v) == k), module.curve_at(k, time))
        for k, space in enumerate(header["spaces"]):
            self.assertEqual(module.curve_at(k, space["peak"]["time"]), space["peak"]["bytes"])
            parts = dict(space["footprint"])
            self.assertEqual(parts.pop("bytes"), sum(parts.values()))
            sizes = zip(module.column("allocation.space"), module.column("allocation.size"))
            self.assertEqual(space["footprint"]["bytes"], sum(size for at, size in sizes if at == k))

    def test_seeds(self):
        self.assertEqual(len(SEEDS), 5)
        for seed in SEEDS:
            self.check(seed, random.Random(1))

    def test_programs(self):
        for name in ("cpu/lm_train_scan", "gpu/mlp_train_sgd", "tpu/collectives4", "cpu11/cnn_train"):
            with self.subTest(program=name):
                folder = CORPUS / name
                self.assertTrue(folder.is_dir(), folder)
                self.check(folder, random.Random(2))

    def test_a_module_alone(self):
        bundle = self.view(self.write("m.hlo", MODULE), "--target=cpu", "--budget=16KiB")
        self.assertEqual(bundle.header["budget"], 16384)
        module, = bundle.modules
        self.assertIn("Stowplan's plan", module.header["plan"])
        self.assertIn("multiply", [module.strings[row] for row in module.column("op.opcode")])
        peak = module.header["all_peak"]
        self.assertEqual(sum(module.owned_at(peak["time"]).values()), peak["bytes"])

    def test_loops_have_brackets(self):
        module, = self.view(CORPUS / "cpu" / "lm_train_scan").modules
        kinds = [module.header["bracket_kinds"][k] for k in module.column("bracket.kind")]
        self.assertIn("while", kinds)
        for start, end in zip(module.column("bracket.start"), module.column("bracket.end")):
            self.assertTrue(0 <= start <= end <= module.header["end"])

    def test_two_programs(self):
        story = CORPUS / "explain" / "story"
        bundle = self.view(story / "before", story / "after", f"--source-root={story / 'before'}")
        diff = bundle.header["diff"]
        before, after = (module.header["all_peak"]["bytes"] for module in bundle.modules)
        self.assertEqual(diff["change"]["peak"], after - before)
        self.assertEqual(sum(term["bytes"] for term in diff["terms"]), after - before)
        footprint = diff["footprint"]
        taken = [sum(module.column("allocation.size")) for module in bundle.modules]
        self.assertEqual([footprint["a"], footprint["b"]], taken)
        rest = sum(term["bytes"] for term in footprint["terms"])
        self.assertEqual(after - before + rest, footprint["b"] - footprint["a"])
        match = bundle.column(diff["columns"], "match")
        self.assertEqual(len(match), len(bundle.modules[0].column("value.size")))
        partners = [b for b in match if b != NONE]
        self.assertEqual(len(partners), len(set(partners)))
        self.assertTrue(any(source["file"].endswith("source.py") for source in bundle.header["sources"]))

    def test_hostile_names(self):
        for name in ("</script><script>alert(1)</script>", "\u202egnp.exe", "x" * 10000, "\"'&<!--", "\x01\x7f"):
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            text = MODULE.replace("multiply(%a, %x)", f'multiply(%a, %x), metadata={{op_name="{quoted}"}}')
            page = self.folder / "view.html"
            answer = self.run_cli("view", self.write("m.hlo", text), "--target=cpu", "-o", str(page))
            self.assertEqual(answer.code, 0, answer)
            self.assertNotIn(b"alert(1)", page.read_bytes())
            Bundle(page.read_bytes())

    def test_the_same_bytes_each_time(self):
        path = self.write("m.hlo", MODULE)
        pages = [self.run_cli("view", path, "--target=cpu", "-o", "-").out_bytes for _ in range(2)]
        self.assertEqual(pages[0], pages[1])

    def test_bad_use(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.run_cli("view", path, path, path, "--target=cpu"), "one INPUT, or two")
        self.assert_bad_use(self.run_cli("view", self.write("x", "to be"), "-o", str(self.folder / "x.html")))
        self.assert_bad_use(self.run_cli("view", path, "--target=cpu", "--budget=much"))
        self.assertFalse((self.folder / "x.html").exists())


if __name__ == "__main__":
    unittest.main()
