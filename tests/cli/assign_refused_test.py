# SPDX-License-Identifier: Apache-2.0
"""stowplan assign: programs that are too much, or make no sense."""

import unittest

from assign_case import AssignCase, SCHEDULED
from wire import instruction, module, without


class Hostile(AssignCase):
    """Programs that nest or repeat without end: they take seconds, not hours. Not all can be checked, or lack no copy."""

    def plan(self, text):
        path = self.write("m.hlo", text)
        for target in ("cpu", "gpu"):
            answer = self.assign(f"--target={target}", "--allow-unchecked", "--allow-unsound", path)
            self.assertIn(answer.code, (0, 1), answer)
            self.assertLess(len(answer.out), 100_000_000)

    def nest(self, depth, line):
        """Each computation holds line(n), in which it calls the one before."""
        text = SCHEDULED + "\nf0 {\n  p0 = f32[4] parameter(0)\n  ROOT r0 = f32[4] negate(p0)\n}\n"
        for i in range(1, depth):
            text += f"f{i} {{\n  p{i} = f32[4] parameter(0)\n{line(i)}}}\n"
        return text + f"ENTRY e {{\n  p{depth} = f32[4] parameter(0)\n{line(depth)}}}\n"

    def test_calls_of_calls(self):
        self.plan(self.nest(20_000, lambda i: f"  ROOT r{i} = f32[4] call(p{i}), to_apply=f{i - 1}\n"))

    def test_calls_that_double(self):
        self.plan(self.nest(40, lambda i: f"  q{i} = f32[4] call(p{i}), to_apply=f{i - 1}\n"
                                          f"  ROOT r{i} = f32[4] call(q{i}), to_apply=f{i - 1}\n"))

    def test_fusions_of_fusions(self):
        self.plan(self.nest(20_000, lambda i: f"  ROOT r{i} = f32[4] fusion(p{i}), kind=kLoop, calls=f{i - 1}\n"))

    def test_fusions_that_double(self):
        self.plan(self.nest(60, lambda i: f"  q{i} = f32[4] fusion(p{i}), kind=kLoop, calls=f{i - 1}\n"
                                          f"  ROOT r{i} = f32[4] fusion(q{i}), kind=kLoop, calls=f{i - 1}\n"))

    def test_loops_in_loops(self):
        before = "".join(f"c{i} {{\n  cp{i} = f32[4] parameter(0)\n  ROOT k{i} = pred[] constant(true)\n}}\n"
                         for i in range(1, 1001))
        # The outermost loop needs a copy: its state is written over, and the parameter is not donated.
        text = self.nest(1000, lambda i: f"  ROOT r{i} = f32[4] while(p{i}), condition=c{i}, body=f{i - 1}\n")
        text = text.replace("while(p1000)", "while(s)").replace("  ROOT r1000 =", "  s = f32[4] copy(p1000)\n  ROOT r1000 =")
        self.plan(text.replace(SCHEDULED + "\n", SCHEDULED + "\n" + before))

    def test_loops_in_loops_that_write(self):
        before = "".join(f"c{i} {{\n  cp{i} = f32[4] parameter(0)\n  ROOT k{i} = pred[] constant(true)\n}}\n"
                         for i in range(1, 10_001))
        text = self.nest(10_000, lambda i: f"  q{i} = f32[4] negate(p{i})\n  s{i} = f32[4] copy(q{i})\n"
                                           f"  ROOT r{i} = f32[4] while(s{i}), condition=c{i}, body=f{i - 1}\n")
        self.plan(text.replace(SCHEDULED + "\n", SCHEDULED + "\n" + before))

    def test_one_computation_for_all(self):
        head = f"{SCHEDULED}\nf {{\n  p = f32[4] parameter(0)\n  c = f32[4] copy(p)\n  ROOT r = f32[4] negate(c)\n}}\n"
        calls = "".join(f"  x{i + 1} = f32[4] call(x{i}), to_apply=f\n" for i in range(100_000))
        self.plan(f"{head}ENTRY e {{\n  x0 = f32[4] parameter(0)\n{calls}  ROOT y = f32[4] copy(x100000)\n}}\n")

    def test_all_alive_at_once(self):
        count = 30_000
        lines = "  p = f32[4] parameter(0)\n" + "".join(
            f'  x{i} = f32[{i % 97 + 1}] custom-call(p), custom_call_target="f"\n' for i in range(count))
        operands = ", ".join(f"x{i}" for i in range(count))
        self.plan(f"{SCHEDULED}\nENTRY e {{\n{lines}"
                  f'  ROOT r = f32[4] custom-call({operands}), custom_call_target="g"\n}}\n')


class Malformed(AssignCase):
    def entry(self, lines, header="", before=""):
        return f"{SCHEDULED}{header}\n{before}ENTRY e {{\n{lines}\n}}\n"

    def test_aliases(self):
        two = ("  p = f32[4] parameter(0)\n  a = f32[4] negate(p)\n  b = f32[4] sine(p)\n"
               "  ROOT t = (f32[4], f32[4]) tuple(a, b)")
        self.refuse(self.entry(two, ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }"),
                    "gives away twice parameter 0")
        self.refuse(self.entry(two, ", input_output_alias={ {0}: (1, {}, may-alias) }"), "there is no parameter 1")
        self.refuse(self.entry(two, ", input_output_alias={ {2}: (0, {}, may-alias) }"), "there is no output {2}")
        self.refuse(self.entry('  p = f32[4] parameter(0)\n  ROOT r = f32[8] custom-call(p), custom_call_target="f"',
                               ", input_output_alias={ {}: (0, {}, may-alias) }"), "differ in size: f32[4] and f32[8]")
        self.refuse(self.entry('  p = f32[4] parameter(0)\n  ROOT r = f32[8] custom-call(p), custom_call_target="f", '
                               "output_to_operand_aliasing={{}: (0, {})}"), "differ: f32[8] and f32[4]")

    def test_two_memory_spaces_in_one_buffer(self):
        self.refuse(self.entry("  p = f32[4]{0:S(1)} parameter(0)\n  ROOT a = f32[4]{0} negate(p)",
                               ", input_output_alias={ {}: (0, {}, may-alias) }"),
                    "p and a must share a buffer", "memory spaces 1 and 0")

    def test_calls_in_both_ways(self):
        add = "add {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT s = f32[] add(l, r)\n}\n"
        self.refuse(self.entry("  p = f32[4] parameter(0)\n  z = f32[] parameter(1)\n"
                               "  x = f32[] reduce(p, z), dimensions={0}, to_apply=add\n"
                               "  ROOT y = f32[] call(x, z), to_apply=add", before=add),
                    "add is called both as control flow and inside an instruction")

    def test_calls_in_a_circle(self):
        own = "a {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] call(p), to_apply=a\n}\n"
        self.refuse(self.entry("  q = f32[4] parameter(0)\n  ROOT d = f32[4] call(q), to_apply=a", before=own),
                    "computation 'a' calls itself")
        # In a proto, too.
        computations = {
            1: ("a", [(1, instruction("p1", "parameter", 1, parameter=0)),
                      (2, instruction("c1", "call", 2, operands=[1], called=[2]))]),
            2: ("b", [(3, instruction("p2", "parameter", 3, parameter=0)),
                      (4, instruction("c2", "call", 4, operands=[3], called=[1]))]),
            3: ("e", [(5, instruction("p3", "parameter", 5, parameter=0)),
                      (6, instruction("c3", "call", 6, operands=[5], called=[1]))]),
        }
        schedule = {1: [1, 2], 2: [3, 4], 3: [5, 6]}
        answer = self.assign("--target=cpu", self.write("m.hlo.pb", module(computations, schedule)))
        self.assert_bad_use(answer)

    def test_schedules(self):
        rows = [(1, instruction("p", "parameter", 1, parameter=0)), (2, instruction("n", "negate", 2, operands=[1])),
                (3, instruction("s", "sine", 3, operands=[2]))]
        body = {7: ("e", rows)}

        def answer(schedule):
            return self.assign("--target=cpu", self.write("m.hlo.pb", module(body, schedule)))

        fine = answer({7: [1, 2, 3]})
        self.assert_quiet(fine)
        self.assert_bad_use(answer({7: [1, 3]}), "`n`", "the schedule does not hold it")
        self.assert_bad_use(answer({7: [2, 1, 3]}), "runs it before its operand `p`")
        self.assert_bad_use(answer({7: [1, 2, 2, 3]}), "more than once")
        self.assert_bad_use(answer({7: [1, 2, 3, 99]}))
        self.assert_bad_use(answer({8: [1, 2, 3]}))

    def test_a_called_computation_without_a_schedule(self):
        computations = {
            1: ("a", [(1, instruction("p1", "parameter", 1, parameter=0)),
                      (2, instruction("n1", "negate", 2, operands=[1]))]),
            3: ("e", [(5, instruction("p3", "parameter", 5, parameter=0)),
                      (6, instruction("c3", "call", 6, operands=[5], called=[1]))]),
        }
        answer = self.assign("--target=cpu", self.write("m.hlo.pb", module(computations, {3: [5, 6]})))
        self.assert_bad_use(answer, "`a`", "has no schedule")

    def test_sizes(self):
        huge = 1 << 62
        self.refuse(self.entry(f"  ROOT p = f32[{huge},{huge}] parameter(0)"), "does not fit in 64 bits")
        self.refuse(self.entry(f"  p = u8[{huge}] parameter(0)\n  q = u8[{huge}] parameter(1)\n"
                               f"  ROOT s = u8[{huge}] add(p, q)"), "together do not fit in 64 bits")
        self.refuse(self.entry(f"  ROOT p = u8[{(1 << 63) - 1}]{{0:T(1024)}} parameter(0)"), "64 bits",
                    words=("--target=tpu-v5e",))

    def test_tuples(self):
        deep = "(" * 20000 + "f32[]" + ")" * 20000
        self.refuse(self.entry(f"  ROOT p = {deep} parameter(0)"), "nested more than")
        wide = "  p0 = f32[] parameter(0)\n"
        wide += "".join(f"  p{i} = tuple(p{i - 1}, p{i - 1})\n" for i in range(1, 20))
        wide += "".join(f"  c{i} = copy(p19)\n" for i in range(3000))
        self.refuse(self.entry(wide), "the tuples of the program, written out")
        # Deep, and deeper with each instruction: few parts, but long indices.
        steep = "  p0 = f32[] parameter(0)\n" + "".join(f"  p{i} = tuple(p{i - 1})\n" for i in range(1, 1500))
        self.refuse(self.entry(steep), "the tuples of the program, written out")

    def test_loops(self):
        def loop(body, condition, shape="f32[4]"):
            before = (f"b {{\n  bp = f32[4] parameter(0)\n  ROOT bn = {body}\n}}\n"
                      f"c {{\n  cp = f32[4] parameter(0)\n  ROOT k = {condition}\n}}\n")
            return self.entry(f"  p = f32[4] parameter(0)\n  ROOT w = {shape} while(p), condition=c, body=b",
                              before=before)
        negate = "f32[4] negate(bp)"
        yes = "pred[] constant(true)"
        self.refuse(loop('f32[8] custom-call(bp), custom_call_target="f"', yes), "the result of the body `b`")
        self.refuse(loop(negate, "s32[] constant(1)"), "does not return pred[] but s32[]")
        self.assert_bad_use(self.assign("--target=cpu", self.write("m.hlo", loop(negate, yes, "f32[8]"))), "differ")
        # Well formed, but the loop writes over a parameter that is not donated.
        self.refuse(loop(negate, yes), "no plan for this program is sound")
        answer = self.assign("--target=cpu", "--allow-unsound", self.write("m.hlo", loop(negate, yes)))
        self.assertEqual(answer.code, 1, answer)

    def test_slices_that_cannot_lie_side_by_side(self):
        lines = ("  p = f32[1024]{0:T(1024)} parameter(0)\n  a = f32[1024]{0:T(1024)S(1)} tan(p)\n"
                 '  w = f32[2048]{0:T(1024)S(1)} custom-call(a, a), custom_call_target="ConcatBitcast"\n'
                 "  ROOT r = f32[2048]{0:T(1024)} copy(w)")
        self.refuse(self.entry(lines), "no place was found for the slices of w side by side", "--preset=REPORT",
                    "unsound: slices-apart: the slices of w do not lie side by side in its place: a is elsewhere",
                    words=("--target=tpu-v5e",))

    def test_slices_do_not_hide_that_a_copy_is_missing(self):
        loop = ("body {\n  q = f32[1024]{0:T(1024)} parameter(0)\n  ROOT n = f32[1024]{0:T(1024)} negate(q)\n}\n"
                "cond {\n  c = f32[1024]{0:T(1024)} parameter(0)\n  ROOT k = pred[] constant(true)\n}\n")
        slices = ("  p = f32[2048]{0:T(1024)} parameter(0)\n  z = f32[1024]{0:T(1024)} parameter(1)\n"
                  "  high = f32[1024]{0:T(1024)S(1)} slice(p), slice={[1024:2048]}\n"
                  "  low = f32[1024]{0:T(1024)S(1)} slice(p), slice={[0:1024]}\n"
                  "  w = f32[2048]{0:T(1024)S(1)} custom-call(high, low), custom_call_target=\"ConcatBitcast\"\n"
                  "  r = f32[2048]{0:T(1024)} copy(w)\n")
        fine = slices + "  ROOT t = (f32[2048]{0:T(1024)}, f32[1024]{0:T(1024)}) tuple(r, z)"
        self.assertEqual(self.assign("--target=tpu-v5e", self.write("m.hlo", self.entry(fine))).code, 0)
        unsound = slices + ("  x = f32[1024]{0:T(1024)} while(z), condition=cond, body=body\n"
                            "  ROOT t = (f32[2048]{0:T(1024)}, f32[1024]{0:T(1024)}) tuple(r, x)")
        self.refuse(self.entry(unsound, before=loop), "parameter z is not donated, but is overwritten by q",
                    "no plan for this program is sound", words=("--target=tpu-v5e",))

    def test_updates_of_another_shape(self):
        self.refuse(self.entry("  p = f32[4] parameter(0)\n  i = s32[] parameter(1)\n  u = f32[1] parameter(2)\n"
                               "  ROOT r = f32[8] dynamic-update-slice(p, u, i)"), "differ: f32[8] and f32[4]")


if __name__ == "__main__":
    unittest.main()
