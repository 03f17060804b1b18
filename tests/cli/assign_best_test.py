# SPDX-License-Identifier: Apache-2.0
"""stowplan assign --policy=best: how low plans are, and what is said of them."""

import json
import pathlib
import sys
import unittest

from assign_case import AssignCase, SCHEDULED

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit" / "report"))
import json_schema_test  # noqa: E402  (the checker of our JSON)

HOLE = SCHEDULED + """

ENTRY e {
  p = f32[1] parameter(0)
  a = f32[320] custom-call(p), custom_call_target="f"
  b = f32[256] custom-call(a), custom_call_target="f"
  c = f32[192] custom-call(a, b), custom_call_target="f"
  d = f32[448] custom-call(b, c), custom_call_target="f"
  x = f32[384] custom-call(c, d), custom_call_target="f"
  y = f32[128] custom-call(d, x), custom_call_target="f"
  z = f32[512] custom-call(x, y), custom_call_target="f"
  w = f32[256] custom-call(y, z), custom_call_target="f"
  ROOT r = f32[1] custom-call(w, z), custom_call_target="f"
}
"""


class Best(AssignCase):
    def best(self, *words, text=HOLE):
        return self.assign("--target=cpu", "--xla-version=jaxlib-0.11.2", "--policy=best", *words,
                           self.write("m.hlo", text))

    def heap(self, *words):
        answer = self.best("--format=json", *words)
        report = json.loads(answer.out)
        self.assertEqual(list(json_schema_test.complaints(report, json_schema_test.SCHEMA)), [])
        return answer, report["best"]

    def test_the_report_says_how_low_the_plan_is(self):
        answer = self.best()
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("BufferAssignment:", answer.out)
        self.assertRegex(answer.err, r"\A *space +XLA +Stowplan +bound +proof\n"
                                     r" *0 .*  optimal for what lies in it: the bound is needed at instant \d+\n\Z")
        answer, best = self.heap()
        self.assertEqual(answer.err, "")
        heap, = best["heaps"]
        self.assertEqual(heap["status"], "optimal")
        self.assertEqual(heap["bytes"], heap["bound"])
        self.assertLess(heap["bytes"], heap["xla_bytes"])
        self.assertNotIn("memory_limit", best)

    def test_the_files_have_right_figures(self):
        out = self.folder / "out"
        answer = self.best("-o", str(out))
        self.assertEqual(answer.code, 0, answer)
        strict = self.run_cli("report", "--strict", str(out))
        self.assertEqual((strict.code, strict.err), (0, ""), strict)
        heap, = self.heap()[1]["heaps"]
        assignment = next(out.glob("*-buffer-assignment.txt")).read_text()
        self.assertIn(f"size {heap['bytes']}, page 0, preallocated-temp:", assignment)

    def test_every_run_gives_the_same(self):
        self.assertEqual(self.best().out, self.best().out)

    def test_a_memory_limit_that_is_met(self):
        heap, = self.heap()[1]["heaps"]
        # What is left are the parameter and the result, 4 bytes each.
        limit = heap["bytes"] + 8
        answer, best = self.heap(f"--memory-limit={limit}")
        self.assertEqual(answer.code, 0)
        self.assertEqual(best["memory_limit"]["status"], "fits")
        answer = self.best(f"--memory-limit={limit}")
        self.assertEqual(answer.code, 0)
        self.assertIn(f"memory space 0 fits {limit / 1024:.1f}KiB ({limit}): it takes", answer.err)

    def test_a_memory_limit_that_nothing_meets(self):
        answer, best = self.heap("--memory-limit=3KiB")
        self.assertEqual(answer.code, 1)
        self.assertEqual(best["memory_limit"]["status"], "infeasible")
        self.assertEqual(best["memory_limit"]["floor"], 4044)
        answer = self.best("--memory-limit=3KiB")
        self.assertEqual(answer.code, 1)
        self.assertIn("memory space 0 does not fit 3.0KiB (3072): this plan takes", answer.err)
        self.assertIn("BufferAssignment:", answer.out)

    def test_a_time_limit(self):
        for seconds in ("0", "0.1"):
            self.assertEqual(self.best(f"--time-limit={seconds}").code, 0)

    def test_limits_that_are_none(self):
        self.assert_bad_use(self.best("--time-limit=soon"), "--time-limit needs a time, not `soon`")
        self.assert_bad_use(self.best("--memory-limit=much"), "--memory-limit needs a size, not `much`")
        path = self.write("m.hlo", HOLE)
        self.assert_bad_use(self.assign("--memory-limit=1K", path), "--memory-limit requires --policy=best")
        self.assert_bad_use(self.assign("--time-limit=1", path), "--time-limit requires --policy=best")

    def test_without_temporaries(self):
        answer = self.best(text=SCHEDULED + "\n\nENTRY e {\n  ROOT p = f32[4] parameter(0)\n}\n")
        self.assertEqual(answer.code, 0)
        self.assertIn("the program has no temporaries\n", answer.err)


if __name__ == "__main__":
    unittest.main()
