# SPDX-License-Identifier: Apache-2.0
"""Runs the stowplan binary ($STOWPLAN) the way a user does."""

import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("STOWPLAN") or str(pathlib.Path(__file__).parents[2] / "build" / "stowplan")

MODULE = """\
HloModule axpy, is_scheduled=true, entry_computation_layout={(f32[1000]{0}, f32[1000]{0})->f32[1000]{0}}

ENTRY %main (x: f32[1000], y: f32[1000]) -> f32[1000] {
  %x = f32[1000]{0} parameter(0)
  %y = f32[1000]{0} parameter(1)
  %two = f32[] constant(2)
  %a = f32[1000]{0} broadcast(%two), dimensions={}
  %ax = f32[1000]{0} multiply(%a, %x)
  ROOT %z = f32[1000]{0} add(%ax, %y)
}

"""

BROKEN = """\
ENTRY e {
  t = (f32[4], s32[]) parameter(0)
  a = f32[5] get-tuple-element(t), index=0
  ROOT b = s32[] get-tuple-element(t), index=2
}
"""


class Answer:
    def __init__(self, process):
        self.code = process.returncode
        self.out_bytes = process.stdout
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out[:2000]}\nstderr: {self.err[:2000]}"


class CliCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_cli(self, *words, stdin=b"", env=None, timeout=60, cwd=None):
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        environment.update(env or {})
        process = subprocess.run([BINARY, *words], input=stdin, capture_output=True, timeout=timeout,
                                 env=environment, cwd=cwd, check=False)
        return Answer(process)

    def assert_bad_use(self, answer, *texts):
        """Exit code 2, nothing on standard output, and a message that holds the texts."""
        self.assertEqual(answer.code, 2, answer)
        self.assertEqual(answer.out, "", answer)
        self.assertIn("error:", answer.err, answer)
        for text in texts:
            self.assertIn(text, answer.err, answer)
