# SPDX-License-Identifier: Apache-2.0
"""stowplan fit: what it says about budgets, and what it refuses."""

import json
import unittest

from cli_case import CliCase

# `a` is read at the start and at the end; in between, much memory is needed.
PROGRAM = """\
HloModule late, is_scheduled=true

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  a = f32[100,1000]{1,0} broadcast(x), dimensions={1}, metadata={op_name="jit(f)/broadcast" source_file="f.py" source_line=7}
  b = f32[100,1000]{1,0} negate(a)
  s = f32[] reduce(b, zero), dimensions={0,1}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(s), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100,1000]{1,0} broadcast(t), dimensions={}
  v = f32[100,1000]{1,0} add(a, u)
  ROOT w = f32[] reduce(v, zero), dimensions={0,1}, to_apply=sum
}
"""


class Fit(CliCase):
    def setUp(self):
        super().setUp()
        self.write("m.txt", PROGRAM)

    def fit(self, *words):
        return self.run_cli("fit", "m.txt", *words, "--target=cpu", cwd=self.folder)

    def facts(self, *words):
        return json.loads(self.fit("--format=json", *words).out)

    def test_the_page_names_the_line(self):
        answer = self.fit()
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("broadcast of f.py:7", answer.out)
        self.assertIn("with recomputation", answer.out)
        self.assertIn("No order and no recomputation needs less than", answer.out)

    def test_the_curve_falls(self):
        facts = self.facts()
        self.assertEqual(facts["schema"], "stowplan.fit/1")
        curve = facts["curve"]
        self.assertEqual(curve[0]["cost"], 0)
        for one, next_one in zip(curve, curve[1:]):
            self.assertLess(one["cost"], next_one["cost"])
            self.assertGreater(one["bytes"], next_one["bytes"])
        self.assertLess(facts["bytes"], facts["given_bytes"] - 390_000)
        self.assertEqual([row["instruction"] for row in facts["repeats"]], ["a"])

    def test_budgets(self):
        facts = self.facts()
        fits = self.fit(f"--budget={facts['bytes']}")
        self.assertEqual(fits.code, 0, fits)
        self.assertIn("fits into", fits.out)
        enough = self.facts("--budget=1GiB")
        self.assertEqual((enough["cost"], enough["fits"]), (0, True))
        proved = self.fit(f"--budget={facts['bound'] - 1}")
        self.assertEqual(proved.code, 1, proved)
        self.assertIn("cannot fit into", proved.out)
        self.assertIn("`wide` runs", proved.out)

    def test_the_changed_module_is_written(self):
        old = self.facts("-o", "new.txt")
        with open(f"{self.folder}/new.txt", encoding="utf-8") as file:
            self.assertIn("a.remat = ", file.read())
        self.assertEqual(self.run_cli("verify", "new.txt", cwd=self.folder).code, 0)
        answer = self.run_cli("fit", "new.txt", "--format=json", "--target=cpu", cwd=self.folder)
        self.assertEqual(json.loads(answer.out)["given_bytes"], old["bytes"])

    def test_less_may_be_used(self):
        self.assertEqual(self.facts("--use=pack")["repeats"], [])
        self.assertEqual(self.facts("--use=order")["cost"], 0)
        self.assertEqual(self.facts("--max-cost=0%")["repeats"], [])

    def test_without_time_nothing_is_worse(self):
        facts = self.facts("--time-limit=0")
        self.assertLessEqual(facts["bytes"], facts["given_bytes"])
        self.assertEqual(facts["curve"][0]["cost"], 0)

    def test_wrong_use(self):
        for word in ("--budget=", "--budget=x", "--budget=-1", "--budget=99999999999999999999", "--max-cost=10",
                     "--max-cost=x%", "--max-cost=-1%", "--max-cost=%", "--max-cost=nan%", "--use=magic"):
            answer = self.fit(word)
            self.assertEqual(answer.code, 2, (word, answer))
            self.assertIn(word.split("=")[0], answer.err)


if __name__ == "__main__":
    unittest.main()
