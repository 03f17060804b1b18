# SPDX-License-Identifier: Apache-2.0
"""stowplan explain: what the order of instructions costs, right below the headline."""

import json
import unittest

from cli_case import CliCase
from order_test import WASTEFUL


class ExplainOrder(CliCase):
    def explain(self, *words):
        answer = self.run_cli("explain", *words, "--target=cpu", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        return answer.out

    def order_of(self, file):
        return json.loads(self.explain(file, "--format=json")).get("order")

    def head_of(self, file):
        headline, head, _ = self.explain(file).split("\n\n", 2)
        self.assertLessEqual(len(headline.splitlines()), 4)
        return " ".join(head.split())

    def test_what_an_order_costs(self):
        self.write("m.txt", WASTEFUL)
        order = self.order_of("m.txt")
        self.assertEqual(order["status"], "better found")
        saved = order["given_load"] - order["load"]
        self.assertGreater(saved, 39000)
        self.assertEqual(order["load"], order["bound"])
        head = self.head_of("m.txt")
        self.assertIn(f"the order of instructions costs 39.0KiB ({saved}): temporaries and results take", head)
        self.assertIn(f"({order['bound']}) in any", head)
        # The page and the command agree.
        facts = json.loads(self.run_cli("order", "m.txt", "--target=cpu", "--format=json", cwd=self.folder).out)
        for key in ("given_load", "load", "bound"):
            self.assertEqual(order[key], facts[key])

    def test_the_best_order_costs_nothing(self):
        self.write("m.txt", WASTEFUL)
        self.assertEqual(self.run_cli("order", "m.txt", "--target=cpu", "-o", "new.txt", cwd=self.folder).code, 1)
        self.assertEqual(self.order_of("new.txt")["status"], "optimal")
        self.assertIn("no order of instructions needs less: temporaries and results take", self.head_of("new.txt"))

    def test_nothing_is_said_without_a_program(self):
        self.write("s.txt", WASTEFUL)
        answer = self.run_cli("assign", "s.txt", "--target=cpu", "-o", "reports", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        (self.folder / "alone").mkdir()
        for file in (self.folder / "reports").glob("*buffer-assignment*.txt"):
            file.rename(self.folder / "alone" / file.name)
        self.assertNotIn("order of instructions", self.explain("alone"))

    def test_separate_pages_do_not_have_it(self):
        self.write("m.txt", WASTEFUL)
        for option in ("--by=kind", "--padding", "--curve", "--value=one"):
            self.assertNotIn("order of instructions", self.explain("m.txt", option))

    def test_large_programs_are_not_searched(self):
        count = 50_001
        chain = "".join(f"  v{k + 1} = f32[] negate(v{k})\n" for k in range(count - 1))
        self.write("m.txt", f"HloModule m, is_scheduled=true\n\nENTRY e {{\n  v0 = f32[] parameter(0)\n{chain}"
                            f"  ROOT r = f32[] negate(v{count - 1})\n}}\n")
        order = self.order_of("m.txt")
        self.assertEqual(order["status"], "not searched")
        self.assertNotIn("bound", order)
        self.assertIn(f"there are {count + 1} of them; `stowplan order` looks", self.head_of("m.txt"))


if __name__ == "__main__":
    unittest.main()
