# SPDX-License-Identifier: Apache-2.0
"""stowplan order: what it says, what it writes, and that what it writes is read again."""

import json
import unittest

from cli_case import CliCase

# Two large arrays, each reduced to a small one, both alive at once.
WASTEFUL = """\
HloModule wasteful, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  one = f32[10000]{0} broadcast(x), dimensions={}
  two = f32[10000]{0} broadcast(x), dimensions={}
  first = f32[] reduce(one, zero), dimensions={0}, to_apply=sum
  second = f32[] reduce(two, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[] add(first, second)
}
"""


class Order(CliCase):
    def setUp(self):
        super().setUp()
        self.write("m.txt", WASTEFUL)

    def order(self, *words):
        return self.run_cli("order", *words, "--target=cpu", cwd=self.folder)

    def test_a_better_order_is_a_finding(self):
        answer = self.order("m.txt")
        self.assertEqual(answer.code, 1, answer)
        first = answer.out.splitlines()[0]
        self.assertIn("the order of instructions costs", first)
        self.assertIn("optimal", answer.out)
        self.assertIn("xla_cpu_scheduler_type", answer.out)

    def test_the_new_order_is_the_best(self):
        self.assertEqual(self.order("m.txt", "-o", "new.txt").code, 1)
        answer = self.order("new.txt", "--format=json")
        self.assertEqual(answer.code, 0, answer)
        facts = json.loads(answer.out)
        self.assertEqual(facts["schema"], "stowplan.order/1")
        self.assertEqual(facts["status"], "optimal")
        self.assertEqual(facts["bytes"], facts["given_bytes"])
        old = json.loads(self.order("m.txt", "--format=json").out)
        self.assertEqual(old["bytes"], facts["bytes"])
        self.assertGreater(old["given_bytes"], facts["bytes"] + 39000)
        # It is a program like any other.
        self.assertEqual(self.run_cli("verify", "new.txt", cwd=self.folder).code, 0)

    def test_assign_plans_in_the_best_order(self):
        def total(*words):
            answer = self.run_cli("assign", "m.txt", "--target=cpu", "--format=json", *words, cwd=self.folder)
            self.assertEqual(answer.code, 0, answer)
            return sum(row["size"] for row in json.loads(answer.out)["allocations"])

        self.assertLess(total("--policy=best", "--schedule=best") + 39000, total("--policy=best"))

    def test_cycles_are_errors(self):
        for name, line in (("operands", "second = f32[] negate(r)"), ("itself", "second = f32[] negate(second)"),
                           ("control", "second = f32[] negate(first), control-predecessors={r}")):
            old = "second = f32[] reduce(two, zero), dimensions={0}, to_apply=sum"
            self.assertIn(old, WASTEFUL)
            self.write(f"{name}.txt", WASTEFUL.replace(old, line))
            answer = self.order(f"{name}.txt")
            self.assertEqual(answer.code, 2, answer)
            self.assertIn("error: there is no instruction", answer.err)

    def test_one_value_with_many_users(self):
        users = range(20_000)
        lines = ["HloModule star, is_scheduled=true", "ENTRY e {", "  x = f32[] parameter(0)",
                 "  w = f32[8]{0} broadcast(x), dimensions={}", *(f"  u{k} = f32[8]{{0}} negate(w)" for k in users),
                 f"  ROOT c = f32[160000]{{0}} concatenate({', '.join(f'u{k}' for k in users)}), dimensions={{0}}", "}"]
        self.write("star.txt", "\n".join(lines) + "\n")
        answer = self.order("star.txt")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("optimal", answer.out)

    def test_wrong_use(self):
        for how in ("x", "%", "101%", "-1%", "10"):
            answer = self.order("m.txt", f"--overlap={how}")
            self.assertEqual(answer.code, 2, answer)
            self.assertIn("--overlap is", answer.err)
        self.assertEqual(self.order("m.txt", "--overlap=25%").code, 1)
        self.assertEqual(self.order("nowhere.txt").code, 2)


if __name__ == "__main__":
    unittest.main()
