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

# Donating `params` saves 4096 bytes; `x` fits no result.
STEP = """\
HloModule step, is_scheduled=true

ENTRY main {
  w = f32[1024]{0} parameter(0), metadata={op_name="params[\\'w\\']"}
  g = f32[1024]{0} parameter(1), metadata={op_name="grads[\\'w\\']"}
  x = f32[7]{0} parameter(2), metadata={op_name="x"}
  ROOT new = f32[1024]{0} subtract(w, g), metadata={op_name="jit(step)/sub" source_file="step.py" source_line=2}
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
        self.assertIn("`broadcast` of f.py:7", answer.out)
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

    def test_lines_say_what_they_free(self):
        facts = self.facts()
        (line,) = facts["lines"]
        self.assertEqual((line["source"], line["operations"], line["instructions"]), ("f.py:7", "broadcast", 1))
        self.assertEqual(line["freed"], 400_000)
        self.assertAlmostEqual(line["cost"], facts["cost"])
        self.assertNotIn("parts", line)
        self.assertEqual(facts["curve"][0]["lines"], [])
        self.assertEqual(facts["curve"][-1]["lines"], facts["lines"])

    def test_what_stands_in_the_way(self):
        page = self.fit().out
        self.assertIn("What stands in the way of less", page)
        facts = self.facts()
        kinds = {row["kind"]: row["bytes"] for row in facts["obstacles"]}
        self.assertEqual(kinds["fixed"], 4000 + 4)
        self.assertIn("working", kinds)
        self.assertIn(facts["fullest"], page)
        self.assertEqual(sum(kinds.values()), facts["bytes"])
        kept = {row["kind"]: row for row in self.facts("--use=pack")["obstacles"]}
        self.assertEqual(kept["recomputable"]["bytes"], 400_000)
        self.assertEqual((kept["recomputable"]["largest"], kept["recomputable"]["source"]), ("a", "f.py:7"))

    def test_machines(self):
        self.assertEqual(self.facts()["machine"], "cpu")
        self.assertEqual(self.facts("--machine=a100")["machine"], "a100")
        self.assertNotIn("machine", self.facts("--cost-model=plain"))
        # The cosine needs arithmetic, the broadcast only memory.
        slow, fast = (self.facts(f"--flops={rate}")["cost"] for rate in ("1G", "1P"))
        self.assertLess(slow, fast)

    def test_the_chart(self):
        self.assertEqual(self.fit("--chart=fit.html").code, 0)
        with open(f"{self.folder}/fit.html", encoding="utf-8") as file:
            page = file.read()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        self.assertEqual(data, self.facts())
        self.assertNotIn("src=", page)
        self.assertEqual(self.fit("--format=html").out, page)
        answer = self.fit("--format=html", "-o", "other.html")
        self.assertEqual((answer.code, answer.out), (0, ""))
        with open(f"{self.folder}/other.html", encoding="utf-8") as file:
            self.assertEqual(file.read(), page)

    def test_names_in_the_chart_are_only_names(self):
        self.write("evil.txt", PROGRAM.replace('op_name="jit(f)/broadcast"', 'op_name="</script><script>alert(1)//"'))
        answer = self.run_cli("fit", "evil.txt", "--target=cpu", "--chart=evil.html", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        with open(f"{self.folder}/evil.html", encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("</script>"), 2)

    def test_donation_must_be_asked_for(self):
        self.write("step.txt", STEP)
        words = ("fit", "step.txt", "--target=cpu", "--format=json")
        plain = json.loads(self.run_cli(*words, cwd=self.folder).out)
        self.assertEqual(plain["donated"], [])
        answer = json.loads(self.run_cli(*words, "--use=pack,donate", cwd=self.folder).out)
        self.assertEqual(answer["donated"], [{"argument": "params", "parameters": [0]}])
        self.assertEqual(answer["donation"], "jax.jit(f, donate_argnames=('params',))")
        self.assertEqual(answer["given_bytes"] - answer["donated_bytes"], 4096)
        self.assertEqual(answer["bytes"], answer["donated_bytes"])
        page = self.run_cli(*words[:3], "--use=pack,donate", "-o", "new.txt", cwd=self.folder).out
        self.assertIn("with donation", page)
        self.assertIn("Donated: params.", page)
        with open(f"{self.folder}/new.txt", encoding="utf-8") as file:
            self.assertIn("input_output_alias", file.readline())
        enough = self.run_cli(*words, "--use=pack,donate", "--budget=1GiB", cwd=self.folder)
        self.assertEqual(json.loads(enough.out)["donated"], [])

    def test_less_may_be_used(self):
        self.assertEqual(self.facts("--use=pack")["repeats"], [])
        self.assertEqual(self.facts("--use=order")["cost"], 0)
        self.assertEqual(self.facts("--max-cost=0%")["repeats"], [])

    def test_the_bound_holds_whatever_is_used(self):
        bound = self.facts()["bound"]
        for use in ("pack", "order", "pack,order,recompute,donate"):
            answer = self.fit(f"--use={use}", f"--budget={bound - 1}")
            self.assertEqual(answer.code, 1, answer)
            self.assertIn("cannot fit into", answer.out)

    def test_without_time_nothing_is_worse(self):
        facts = self.facts("--time-limit=0")
        self.assertLessEqual(facts["bytes"], facts["given_bytes"])
        self.assertEqual(facts["curve"][0]["cost"], 0)

    def test_wrong_use(self):
        for word in ("--budget=", "--budget=x", "--budget=-1", "--budget=99999999999999999999", "--max-cost=10",
                     "--budget=1e400", "--budget=inf", "--budget=-5GiB", "--max-cost=x%", "--max-cost=-1%", "--max-cost=%",
                     "--max-cost=nan%", "--use=magic", "--use=offload", "--use=pack,,order", "--machine=abacus",
                     "--flops=0", "--flops=x", "--flops=-1T", "--bandwidth=nan"):
            answer = self.fit(word)
            self.assertEqual(answer.code, 2, (word, answer))
            self.assertIn(word.split("=")[0], answer.err)
        for words in (("--cost-model=plain", "--machine=h100"), ("--use=donate", "-o", "new.hlo.pb")):
            self.assertEqual(self.fit(*words).code, 2, words)


if __name__ == "__main__":
    unittest.main()
