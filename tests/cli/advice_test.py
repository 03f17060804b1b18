# SPDX-License-Identifier: Apache-2.0
"""stowplan explain --advice: what would save memory, each tried; and how it fails."""

import json
import os
import pathlib
import unittest

from cli_case import CliCase

CORPUS = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"])

# Donating `params` saves 4096 bytes. `x` fits no result.
PROGRAM = """\
HloModule step, is_scheduled=true

ENTRY main {
  w = f32[1024]{0} parameter(0), metadata={op_name="params[\\'w\\']"}
  g = f32[1024]{0} parameter(1), metadata={op_name="grads[\\'w\\']"}
  x = f32[7]{0} parameter(2), metadata={op_name="x"}
  ROOT new = f32[1024]{0} subtract(w, g), metadata={op_name="jit(step)/sub" source_file="step.py" source_line=2}
}
"""


class Advice(CliCase):
    def advice(self, *words, **more):
        return self.run_cli("explain", "--advice", *words, **more)

    def fine(self, *words, **more):
        answer = self.advice(*words, **more)
        self.assertEqual(answer.code, 0, answer)
        return answer

    def module(self):
        return self.write("m.txt", PROGRAM)

    def test_the_page(self):
        page = self.fine("--target=cpu", self.module()).out
        self.assertIn("1. saves 4.0KiB (4096)\n   donate params\n", page)
        self.assertIn("donate_argnames=('params',)", page)
        self.assertIn("donate_argnums=(0,)", page)
        self.assertIn("params['w'] becomes the result", page)
        self.assertNotIn("\x1b", page)
        self.assertNotIn("f32[7]", page)

    def test_refused(self):
        page = self.fine("--target=cpu", "--refused", self.module()).out
        self.assertIn("  x: no output is f32[7]\n", page)

    def test_json(self):
        answer = json.loads(self.fine("--target=cpu", "--format=json", self.module()).out)
        self.assertEqual(answer["schema"], "stowplan.advice/1")
        first = answer["advice"][0]
        self.assertEqual(first["saved_bytes"], 4096)
        self.assertEqual(first["edits"], [{"kind": "donate", "parameters": [0]}])
        self.assertEqual(first["after"]["alias_bytes"], 4096)
        self.assertEqual(answer["before"]["bytes"] - first["after"]["bytes"], 4096)
        rules = {donation["argument"]: [r["rule"] for r in donation["refused"]] for donation in answer["donations"]}
        self.assertEqual(rules, {"params": [], "grads": [], "x": ["shape"]})

    def test_every_page_fits_eighty_columns(self):
        for path in (CORPUS / "cpu" / "lm_train_scan", CORPUS / "gpu" / "moe_layer", CORPUS / "tpu" / "cnn_train",
                     CORPUS / "explain" / "donate" / "adam" / "before"):
            page = self.fine("--refused", "--time-limit=20", str(path)).out
            for line in page.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_savings_fall(self):
        answer = json.loads(self.fine("--format=json", str(CORPUS / "explain" / "donate" / "adam" / "before")).out)
        saved = [advice["saved_bytes"] for advice in answer["advice"]]
        self.assertEqual(saved, sorted(saved, reverse=True))
        # Weights and state together are what JAX makes of donating both.
        together = answer["together"]
        meta = json.loads((CORPUS / "explain" / "donate" / "adam" / "meta.json").read_text())
        self.assertEqual(together["after"]["temp_bytes"], meta["after"]["temp"])
        self.assertEqual(together["after"]["alias_bytes"], meta["after"]["alias"])
        self.assertIn("donate_argnums=(0, 1)", together["how"])

    def test_time_limit(self):
        largest = max((CORPUS / "scale").rglob("*.hlo.pb"), key=lambda path: path.stat().st_size)
        answer = json.loads(self.fine("--format=json", "--time-limit=0", str(largest), timeout=120).out)
        self.assertEqual(answer["tried"], 0)
        # 103 edits, packing, and what `fit` finds.
        self.assertEqual(answer["untried"], 105)

    def test_wrong_use(self):
        for words in (["--time-limit=soon", self.module()], ["--by=kind", self.module()]):
            self.assertEqual(self.advice("--target=cpu", *words).code, 2)
        answer = self.run_cli("explain", "--refused", self.module())
        self.assertEqual(answer.code, 2)
        self.assertIn("--advice", answer.err)
        seed = pathlib.Path(__file__).parents[2] / "examples" / "seeds" / "seed_000.txt"
        answer = self.advice(str(seed))
        self.assertEqual(answer.code, 2)
        self.assertIn("needs the program", answer.err)


if __name__ == "__main__":
    unittest.main()
