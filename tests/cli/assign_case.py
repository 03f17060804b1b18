# SPDX-License-Identifier: Apache-2.0
"""What the tests of stowplan assign share."""

import os
import pathlib

from cli_case import CliCase

CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "/nonexistent"))
SCHEDULED = "HloModule m, is_scheduled=true"


class AssignCase(CliCase):
    def assign(self, *words, **options):
        return self.run_cli("assign", *words, **options)

    def assert_quiet(self, answer):
        """All went well, and nothing is said but for which machine and compiler this is."""
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.err, r"\A(note: target \S+ by [^\n]*,\s+rules of \S+.*\n(      .*\n)*)?\Z")

    def refuse(self, text, *messages, words=("--target=cpu",), name="m.hlo"):
        """One clear error, and nothing is written."""
        path = self.write(name, text)
        out = self.folder / "out"
        answer = self.assign("-o", str(out), *words, path)
        self.assert_bad_use(answer, *messages)
        self.assertEqual(answer.err.count("error:"), 1, answer)
        self.assertFalse(out.exists(), "nothing is written")
        self.assertEqual(self.assign(*words, path).code, 2)
