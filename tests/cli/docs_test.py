# SPDX-License-Identifier: Apache-2.0
"""What the documents show is what the program prints."""

import os
import pathlib
import re
import subprocess
import unittest

from cli_case import BINARY, CliCase

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```\n\$ (.*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def is_shown(shown, printed):
    """Whether the lines are those printed; a line of `...` stands for any number of them."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    return re.fullmatch(pattern, printed) is not None


class Documents(CliCase):
    def check(self, document, least):
        blocks = BLOCK.findall((ROOT / document).read_text())
        self.assertGreaterEqual(len(blocks), least)
        for command, shown in blocks:
            with self.subTest(document=document, command=command):
                line = re.sub(r"(?:build/)?stowplan ", f"'{BINARY}' ", command)
                self.assertNotEqual(line, command)
                line = line.replace("build/corpus", os.environ["STOWPLAN_CORPUS_DIR"])
                process = subprocess.run(line, shell=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                printed = process.stdout.decode()
                self.assertTrue(is_shown(shown, printed), f"shown:\n{shown}\nprinted:\n{printed}")

    def test_readme(self):
        self.check("README.md", 4)

    def test_commands(self):
        self.check("docs/commands.md", 3)

    def test_pack(self):
        self.check("docs/pack.md", 3)

    def test_report(self):
        self.check("docs/report.md", 2)

    def test_explain(self):
        self.check("docs/explain.md", 3)

    def test_out_of_memory(self):
        self.check("docs/out-of-memory.md", 6)

    def test_explain_oom(self):
        self.check("docs/explain-oom.md", 3)

    def test_diff(self):
        self.check("docs/diff.md", 2)

    def test_advice(self):
        self.check("docs/advice.md", 1)

    def test_best(self):
        self.check("docs/best.md", 1)

    def test_export(self):
        self.check("docs/export.md", 2)

    def test_other_text_is_not_taken(self):
        self.assertTrue(is_shown("a\n...\nd\n", "a\nb\nc\nd\n"))
        self.assertFalse(is_shown("a\n...\nd\n", "a\nb\nc\nd\ne\n"))
        self.assertFalse(is_shown("a\n", "b\n"))


if __name__ == "__main__":
    unittest.main()
