# SPDX-License-Identifier: Apache-2.0
"""Inputs of all kinds, mostly bad ones: a clear error and exit code 2, never a crash."""

import gzip
import os
import random
import shutil
import subprocess
import unittest

from cli_case import MODULE, CliCase


class GoodInputs(CliCase):
    def test_standard_input_and_packed_files(self):
        expected = self.run_cli("print", self.write("m.txt", MODULE)).out
        self.assertEqual(expected, MODULE)
        self.assertEqual(self.run_cli("print", "-", stdin=MODULE.encode()).out, MODULE)
        self.assertEqual(self.run_cli("print", "-", stdin=gzip.compress(MODULE.encode())).out, MODULE)
        # The name says nothing.
        self.assertEqual(self.run_cli("print", self.write("m.pb", gzip.compress(MODULE.encode()))).out, MODULE)

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed")
    def test_zstd(self):
        packed = subprocess.run(["zstd", "-c"], input=MODULE.encode(), capture_output=True, check=True).stdout
        self.assertEqual(self.run_cli("print", "-", stdin=packed).out, MODULE)

    def test_unknown_opcodes_are_warnings(self):
        answer = self.run_cli("print", "-", stdin=b"ENTRY e {\n  ROOT x = f32[] brand-new(), shiny=true\n}\n")
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("warning:", answer.err)
        self.assertIn("brand-new()", answer.out)


class BadInputs(CliCase):
    def check(self, path, *texts, stdin=b""):
        for command in ("print", "stats"):
            self.assert_bad_use(self.run_cli(command, path, stdin=stdin), *texts)
        answer = self.run_cli("verify", path, stdin=stdin)
        self.assertEqual(answer.code, 2, answer)
        self.assertIn("error:", answer.err)

    def test_no_file(self):
        self.check(str(self.folder / "nothing"), "cannot open: No such file or directory")

    def test_empty_file(self):
        self.check(self.write("empty", b""), "the input is empty")
        self.check("-", "the input is empty")
        self.check(self.write("empty.gz", gzip.compress(b"")), "the input is empty")

    def test_directory(self):
        self.check(str(self.folder), "is a directory")

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_without_permission(self):
        path = self.write("secret", MODULE)
        os.chmod(path, 0)
        self.check(path, "Permission denied")

    def test_truncated_and_corrupt_gzip(self):
        packed = gzip.compress(MODULE.encode())
        for size in (2, 5, 12, len(packed) // 2, len(packed) - 1):
            self.check(self.write("cut.gz", packed[:size]), "gzip stream ends early")
        self.check(self.write("bad.gz", packed[:-8] + b"\0" * 8), "gzip stream is corrupt")

    def test_other_archives(self):
        self.check(self.write("m.xz", b"\xfd7zXZ\0" + b"x" * 50), "packed with xz", "xz -d")

    def test_garbage(self):
        noise = random.Random(7)
        for size in (1, 2, 3, 10, 100, 5000):
            data = bytes(noise.randrange(256) for _ in range(size))
            answer = self.run_cli("print", "-", stdin=data)
            self.assertEqual(answer.code, 2, (data, answer))
            self.assertIn("error:", answer.err)
        self.check(self.write("zeros", b"\0" * 10_000))
        self.check(self.write("ff", b"\xff" * 10_000))
        self.check(self.write("text", b"to be or not to be\n"))

    def test_huge_dimensions(self):
        text = b"ENTRY e {\n  p = f32[] parameter(0)\n  ROOT x = f32[9223372036854775807,4] broadcast(p), dimensions={}\n}\n"
        self.assert_bad_use(self.run_cli("stats", "-", stdin=text), "<stdin>:3:8:", "does not fit in 64 bits", "ROOT x")
        answer = self.run_cli("verify", "-", stdin=text)
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("does not fit in 64 bits", answer.err)
        self.check("-", stdin=b"ENTRY e {\n  ROOT p = f32[99999999999999999999] parameter(0)\n}\n")

    def test_tuples_nested_a_million_deep(self):
        deep = b"(" * 1_000_000 + b"f32[]" + b")" * 1_000_000
        self.check("-", "deep", stdin=b"ENTRY e {\n  ROOT p = " + deep + b" parameter(0)\n}\n")
        self.check("-", stdin=b"ENTRY e {\n  ROOT p = " + b"(" * 1_000_000)

    def test_tuples_nested_a_thousand_deep_are_fine(self):
        deep = b"(" * 1000 + b"f32[]" + b")" * 1000
        answer = self.run_cli("verify", "-", stdin=b"ENTRY e {\n  ROOT p = " + deep + b" parameter(0)\n}\n")
        self.assertEqual(answer.code, 0, answer)

    def test_at_most_twenty_errors(self):
        lines = "".join(f"  x{i} = f32[] negate(nothing)\n" for i in range(100))
        answer = self.run_cli("print", "-", stdin=f"ENTRY e {{\n{lines}}}\n".encode())
        self.assertEqual(answer.code, 2, answer)
        self.assertEqual(answer.err.count(" error: "), 20, answer)

    def test_every_truncation(self):
        data = MODULE.encode()
        for size in range(0, len(data), 7):
            answer = self.run_cli("print", "-", stdin=data[:size])
            self.assertIn(answer.code, (0, 2), answer)

    def test_terminals_are_safe(self):
        answer = self.run_cli("print", "-", stdin=b"ENTRY e {\n  ROOT p = \x1b[31mf32[] parameter(0)\n}\n")
        self.assertNotIn("\x1b", answer.err)


if __name__ == "__main__":
    unittest.main()
