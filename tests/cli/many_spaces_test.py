# SPDX-License-Identifier: Apache-2.0
"""Programs with thousands of memory spaces: what is said of each costs no more than it has."""

import json
import os
import subprocess
import unittest

from cli_case import BINARY, CliCase

FEW = 3000
MANY = 12000


def program(count, opcode):
    """A chain of instructions, each in a memory space of its own."""
    lines = ["HloModule many, is_scheduled=true", "", "ENTRY main {", "  a.0 = f32[64]{0} parameter(0)"]
    for i in range(1, count):
        metadata = f'metadata={{op_name="{opcode}{i}"}}'
        lines.append(f"  a.{i} = f32[64]{{0:S({i})}} {opcode}(a.{i - 1}), {metadata}")
    lines.append(f"  ROOT r = f32[64]{{0}} {opcode}(a.{count - 1})")
    return "\n".join([*lines, "}", ""])


class ManySpaces(CliCase):
    def setUp(self):
        super().setUp()
        for count in (FEW, MANY):
            for opcode in ("negate", "exponential"):
                self.write(f"{opcode}{count}.txt", program(count, opcode))

    def seconds(self, words):
        """Of the processor: others that run at the same time do not count."""
        with open(self.folder / "out", "wb") as out:
            process = subprocess.Popen([BINARY, *words, "--target=tpu-v5e"], cwd=self.folder, stdout=out,
                                       stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(process.returncode, (0, 1), words)
        return usage.ru_utime

    def test_time_is_linear(self):
        for words in (["view", "negate@.txt", "-o", "x.html"],
                      ["view", "negate@.txt", "exponential@.txt", "-o", "x.html"],
                      ["explain", "negate@.txt", "--format=json"],
                      ["export", "negate@.txt", "--to=perfetto"],
                      ["diff", "negate@.txt", "negate@.txt"],
                      ["diff", "negate@.txt", "exponential@.txt", "--format=json"],
                      ["gate", "negate@.txt", "exponential@.txt", "--max-growth=0"],
                      ["assign", "negate@.txt", "-o", "plan"]):
            with self.subTest(" ".join(words)):
                few, many = (self.seconds([word.replace("@", str(count)) for word in words])
                             for count in (FEW, MANY))
                # Four times the program; with the square it would be sixteen.
                self.assertLess(many, 9 * few + 0.2)

    def test_each_space_is_there(self):
        answer = self.run_cli("explain", f"negate{FEW}.txt", "--format=json", "--target=tpu-v5e", cwd=self.folder)
        self.assertEqual(answer.code, 0, answer)
        spaces = json.loads(answer.out)["spaces"]
        self.assertEqual([space["space"] for space in spaces], list(range(FEW)))
        for space in spaces[1:]:  # one value each
            footprint = space["footprint"]
            self.assertGreaterEqual(footprint["bytes"], 256)
            self.assertEqual((space["peak"]["bytes"], footprint["live"]), (footprint["bytes"],) * 2, space)


if __name__ == "__main__":
    unittest.main()
