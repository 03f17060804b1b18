# SPDX-License-Identifier: Apache-2.0
"""Certificates of stowplan order: stowplan-certify accepts them, and what it accepts is true."""

import os
import pathlib
import random
import re
import subprocess
import unittest

from cli_case import BINARY, Answer, CliCase

CERTIFY = str(pathlib.Path(os.path.realpath(BINARY)).with_name("stowplan-certify"))
SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
# A loop whose body holds two large arrays at once, without need.
LOOP = ("HloModule loop, is_scheduled=true\n\n" + SUM + """\
body {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  zero = f32[] constant(0)
  one = f32[10000]{0} broadcast(x), dimensions={}
  two = f32[10000]{0} broadcast(x), dimensions={}
  first = f32[] reduce(one, zero), dimensions={0}, to_apply=sum
  second = f32[] reduce(two, zero), dimensions={0}, to_apply=sum
  both = f32[] add(first, second)
  step = s32[] constant(1)
  next = s32[] add(i, step)
  ROOT t = (s32[], f32[]) tuple(next, both)
}

condition {
  p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT less = pred[] compare(i, ten), direction=LT
}

ENTRY e {
  x = f32[] parameter(0)
  i0 = s32[] constant(0)
  i1 = s32[] copy(i0)
  x1 = f32[] copy(x)
  t = (s32[], f32[]) tuple(i1, x1)
  w = (s32[], f32[]) while(t), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
}
""")


def program(chance, count):
    """Arrays of many sizes that are added up, and the sums of the sums, in an order by chance."""
    scalars, arrays, lines = ["x"], [], []
    for k in range(count):
        kind = chance.random()
        if kind < 0.45 or not arrays:
            arrays.append((f"v{k}", 100 * chance.randrange(1, 50)))
            lines.append(f"  v{k} = f32[{arrays[-1][1]}]{{0}} broadcast({chance.choice(scalars)}), dimensions={{}}")
        elif kind < 0.8:
            name, size = arrays.pop(chance.randrange(len(arrays))) if chance.random() < 0.7 else chance.choice(arrays)
            scalars.append(f"v{k}")
            lines.append(f"  v{k} = f32[] reduce({name}, zero), dimensions={{0}}, to_apply=sum")
        else:
            name, size = chance.choice(arrays)
            arrays.append((f"v{k}", size))
            lines.append(f"  n{k} = f32[{size}]{{0}} negate({name})")
            lines.append(f"  v{k} = f32[{size}]{{0}} multiply({name}, n{k})")
    last = "x"
    for k, (name, _) in enumerate(arrays):
        lines.append(f"  w{k} = f32[] reduce({name}, zero), dimensions={{0}}, to_apply=sum")
        scalars.append(f"w{k}")
    for k, name in enumerate(scalars[1:]):
        lines.append(f"  s{k} = f32[] add({last}, {name})")
        last = f"s{k}"
    lines[-1] = lines[-1].replace("  s", "  ROOT s")
    body = "\n".join(lines)
    return (f"HloModule random, is_scheduled=true\n\n{SUM}ENTRY e {{\n  x = f32[] parameter(0)\n"
            f"  zero = f32[] constant(0)\n{body}\n}}\n")


class Section:
    """A computation of a certificate, by the words of docs/order.md alone."""

    def __init__(self, text):
        rows = [line.split() for line in text.splitlines()]
        at = {key: [[int(word) for word in row[1:]] for row in rows if row[0] == key]
              for key in ("edge", "life", "overwrite", "order", "load", "bound", "given", "limit")}
        self.inner = [int(row[1]) for row in rows if row[0] == "node"]
        self.least = [int(row[2]) for row in rows if row[0] == "node"]
        self.before = [{a for a, b in at["edge"] if b == i} for i in range(len(self.inner))]
        self.lives = at["life"]
        self.overwrites = at["overwrite"]
        self.order = at["order"][0]
        self.given, self.load, self.bound, self.limit = (at[key][0][0] for key in ("given", "load", "bound", "limit"))

    def step(self, done, node, inner):
        """The loads of the two memories while the node runs after those that are done."""
        loads = [inner[node], 0]
        left = [[t for t in life[4:] if t not in done] for life in self.lives]
        for (size, begin, lasts, capped, *touches), rest in zip(self.lives, left):
            if (begin < 0 or begin == node or begin in done) and (rest or lasts or not touches):
                loads[capped] += size
        outputs, operands = set(), set()
        for at, output, operand in self.overwrites:
            if (at == node and output not in outputs and operand not in operands and not self.lives[operand][2]
                    and left[operand] == [node]):
                outputs.add(output)
                operands.add(operand)
                loads[self.lives[operand][3]] -= min(self.lives[output][0], self.lives[operand][0])
        return loads

    def peaks(self, order):
        loads = [self.step(set(order[:k]), node, self.inner) for k, node in enumerate(order)]
        return [max(column) for column in zip(*loads)]

    def lowest(self):
        """The least peak of all orders within the limit, over all sets that can come first."""
        best = {frozenset(): 0}
        for _ in self.inner:
            following = {}
            for done, peak in best.items():
                for node in range(len(self.inner)):
                    if node in done or not self.before[node] <= done:
                        continue
                    load, capped = self.step(done, node, self.least)
                    key = done | {node}
                    if capped <= self.limit:
                        following[key] = min(following.get(key, 1 << 63), max(peak, load))
            best = following
        return min(best.values())

    def is_true(self):
        possible = all(self.before[node] <= set(self.order[:k]) for k, node in enumerate(self.order))
        return (sorted(self.order) == list(range(len(self.inner))) and possible
                and self.peaks(list(range(len(self.inner))))[0] == self.given
                and self.peaks(self.order)[0] == self.load and self.bound <= self.lowest())


class OrderCertificates(CliCase):
    def certify(self, text, *options):
        process = subprocess.run([CERTIFY, *options, "-"], input=text.encode(), capture_output=True, timeout=60, check=False)
        return Answer(process)

    def certificate_of(self, text, *options):
        path = self.folder / "certificate"
        answer = self.run_cli("order", self.write("m.txt", text), "--target=cpu", f"--certificate={path}", *options)
        self.assertIn(answer.code, (0, 1), answer)
        return path.read_text()

    def assert_not(self, text, before, after, words, code=1):
        changed, count = re.subn(before, after, text, count=1, flags=re.MULTILINE)
        self.assertEqual(count, 1, before)
        self.assertNotEqual(changed, text)
        answer = self.certify(changed)
        self.assertEqual(answer.code, code, answer)
        self.assertIn(words, answer.out + answer.err)

    def flow_certificate(self):
        chance = random.Random(5)
        for _ in range(50):
            text = self.certificate_of(program(chance, 60))
            if all(f"\n{key} " in text for key in ("witness", "flow", "back", "spared", "overwrite")):
                return text
        self.fail("no flow has all kinds of lines")

    def test_certificates_hold(self):
        chance = random.Random(1)
        searched = 0
        for count in (1, 2, 5, 10, 20, 40, 80, 160):
            answer = self.certify(self.certificate_of(program(chance, count)))
            self.assertEqual((answer.code, answer.err), (0, ""), answer)
            self.assertIn("certified: load", answer.out)
            searched += "all orders searched again" in answer.out
        self.assertGreater(searched, 0)

    def test_the_answer_is_what_is_certified(self):
        path = self.folder / "certificate"
        answer = self.run_cli("order", self.write("m.txt", LOOP), "--target=cpu", f"--certificate={path}", "--format=json")
        facts = {key: re.search(rf'"{key}": ?(\d+)', answer.out)[1] for key in ("given_load", "load", "bound")}
        text = path.read_text()
        self.assertIn(f"\nanswer {facts['given_load']} {facts['load']} {facts['bound']}\n", text)
        self.assertEqual(self.certify(text).code, 0)
        # The loop's body is better, so the entry before the search is a section of its own.
        self.assertGreater(int(facts["given_load"]), int(facts["load"]) + 39000)
        self.assertIn("e, before: load", self.certify(text).out)

    def test_streams(self):
        answer = self.run_cli("order", self.write("m.txt", LOOP), "--target=cpu", "--certificate=-")
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(self.certify(answer.out).code, 0, answer.out)
        self.assertIn("the order of instructions costs", answer.err)
        answer = self.run_cli("order", self.write("m.txt", LOOP), "--target=cpu", "--certificate=-", "-o", "-")
        self.assertEqual(answer.code, 2, answer)

    def test_damaged_flows(self):
        text = self.flow_certificate()
        self.assertEqual(self.certify(text).code, 0)
        bound = int(re.search(r"^bound (\d+)", text, re.MULTILINE)[1])
        for before, after, words in (
                (r"^back (\d+ \d+) \d+\n", "", "does not flow out"),
                (r"^back (\d+) (\d+) (\d+)", r"back \2 \1 \3", "where there is no edge"),
                (r"^flow (\d+ \d+) \d+\n", "", "flow"),
                (r"^flow (\d+ \d+) (\d+)", r"flow \1 1\2", "flow"),
                (r"^flow (\d+) \d+", r"flow \1 -1", "not needed"),
                (r"^spared (\d+ \d+) (\d+)", r"spared \1 1\2", "than its size"),
                (r"^spared \d+", "spared 0", "spared"),
                (r"^bound \d+", f"bound {bound + 1}", "e: the "),
                (r"^witness \d+", "witness 0", "e: "),
                (r"^answer (\d+) (\d+) \d+", r"answer \1 \2 1", "bound is another"),
                (r"^answer (\d+) \d+", r"answer \1 1", "load is another"),
                (r"^answer \d+", "answer 1", "given load is another"),
                (r"^load (\d+)", r"load 1\1", "the load is"),
                (r"^given (\d+)", r"given 1\1", "given order's load is"),
                (r"^order (\d+) (\d+)", r"order \1 \1", "every node once"),
                (r"^order \d+", "order", "every node once"),
                (r"^order (\d+)(.*) (\d+)$", r"order \3\2 \1", "depends on")):
            with self.subTest(before=before, after=after):
                self.assert_not(text, before, after, words)

    def test_lost_edges(self):
        """Without its edges a program has more orders, and the flow proves nothing about these."""
        text = self.flow_certificate()
        witness = int(re.search(r"^witness (\d+)", text, re.MULTILINE)[1])
        changed = re.sub(rf"^edge (\d+ {witness}|{witness} \d+)\n", "", text, flags=re.MULTILINE)
        self.assertNotEqual(changed, text)
        self.assertEqual(self.certify(changed).code, 1)

    def test_callees(self):
        text = self.certificate_of(LOOP)
        self.assertIn("\ncall ", text)
        # What a call needs at least follows from what is proved for its callee.
        head, _, entry = text.partition("\ncomputation e\n")
        bound = int(re.search(r"^bound (\d+)", head, re.MULTILINE)[1])
        weaker = re.sub(r"^bound \d+", f"bound {bound // 2}", head, flags=re.MULTILINE)
        answer = self.certify(weaker + "\ncomputation e\n" + entry)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("may not need", answer.out)

    def test_hostile_files(self):
        text = self.flow_certificate()
        for before, after, words in (
                (r"^edge (\d+) (\d+)", r"edge \2 \1", "leads back"),
                (r"^edge (\d+) (\d+)", r"edge \1 \1", "leads back"),
                (r"^edge (\d+ \d+)\n", r"edge \1\nedge \1\n", "twice"),
                (r"^edge \d+", "edge 99999999999999999999", "expected a number"),
                (r"^edge \d+", "edge -1", "no such number"),
                (r"^node \d+ \d+", "node 5 6", "less than the least"),
                (r"^life \d+", "life 9223372036854775807", "64 bits"),
                (r"^life \d+", "life -1", "negative"),
                (r"^flow (\d+ \d+) \d+", r"flow \1 -5", "negative"),
                (r"^back (\d+ \d+) \d+", r"back \1 -9223372036854775808", "negative"),
                (r"^overwrite (\d+) (\d+)", r"overwrite \1 0", "not of an output"),
                (r"^life (\d+) (\d+) 0 0 \d+", r"life \1 \2 0 0 9999", "no such number"),
                (r"^witness .*\n", "", "nothing proves"),
                (r"^given .*\n", "", "missing"),
                (r"^answer .*\n", "", "the answer is missing"),
                (r"^end\n", "", "the end is missing"),
                (r"^end\n", "end\nnode 1 1 x\n", "follows the end"),
                (r"^computation e\n", "", "no computation"),
                (r"^bound", "call 0 0\nbound", "no such number"),
                (r"^bound", "strange 1\nbound", "no line"),
                (r"^stowplan-order-certificate 1", "stowplan-order-certificate 2", "not a certificate")):
            with self.subTest(before=before, after=after):
                self.assert_not(text, before, after, words, code=2)
        for bytes_left in range(0, len(text) - 1, max(1, len(text) // 40)):
            self.assertEqual(self.certify(text[:bytes_left]).code, 2)

    def test_searches_are_limited(self):
        text = self.certificate_of(program(random.Random(3), 5)).replace("\nwitness", "\nsearch\nwitness")
        if "\nsearch" not in text:
            self.fail("no search")
        answer = self.certify(text, "--nodes=1")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("not re-proved", answer.out)

    def test_what_is_certified_is_true(self):
        """Numbers are changed at random. What is still certified holds by trying all orders."""
        chance = random.Random(7)
        accepted, denied = 0, 0
        for _ in range(25):
            text = self.certificate_of(program(chance, chance.randrange(2, 9)))
            self.assertTrue(Section(text).is_true(), text)
            lines = text.splitlines()
            if len(Section(text).inner) > 13:
                continue
            for _ in range(16):
                changed = list(lines)
                row = chance.randrange(2, len(lines))
                words = changed[row].split()
                if chance.random() < 0.15 and words[0] in ("edge", "life", "overwrite", "flow", "back", "spared"):
                    del changed[row]
                else:
                    at = chance.randrange(1, len(words)) if len(words) > 1 else 0
                    if words[at].lstrip("-").isdigit():
                        value = int(words[at])
                        words[at] = str(chance.choice([value + 1, value - 1, 0, 1, 2, 3, value * 2, -1]))
                    changed[row] = " ".join(words)
                changed = "\n".join(changed) + "\n"
                answer = self.certify(changed)
                self.assertIn(answer.code, (0, 1, 2), changed)
                denied += answer.code != 0
                if answer.code == 0:
                    accepted += changed != text
                    self.assertTrue(Section(changed).is_true(), changed)
        self.assertGreater(accepted, 10)
        self.assertGreater(denied, 100)


if __name__ == "__main__":
    unittest.main()
