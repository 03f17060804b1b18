# SPDX-License-Identifier: Apache-2.0
"""Inputs of all kinds, mostly bad ones: a clear error and exit code 2, never a crash."""

import gzip
import os
import pathlib
import random
import shutil
import subprocess
import threading
import unittest

from cli_case import BINARY, MODULE, CliCase

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


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
        # However long their names are.
        text = b"ENTRY e {\n  ROOT x = f32[] brand-" + b"new" * 100_000 + b"()\n}\n"
        answer = self.run_cli("stats", "-", "--target=cpu", stdin=text)
        self.assertEqual(answer.code, 0, answer)
        self.assertLess(len(answer.out) + len(answer.err), 3000)


class Pipes(CliCase):
    """Pipes can be read only once, whatever their names are."""

    REPORT = (EXAMPLES / "seeds" / "seed_003.txt").read_bytes()
    LOG = (EXAMPLES / "oom" / "cpu.log").read_bytes()
    COMMANDS = (
        (MODULE.encode(), "print"), (MODULE.encode(), "verify"), (MODULE.encode(), "stats"),
        (MODULE.encode(), "assign", "--target=cpu"), (MODULE.encode(), "explain", "--target=cpu"),
        (MODULE.encode(), "explain", "--advice", "--target=cpu"), (MODULE.encode(), "gate", "--budget=1GiB", "--target=cpu"),
        (REPORT, "report"), (REPORT, "report", "--reconcile"), (REPORT, "check"), (REPORT, "replan"), (REPORT, "explain"),
        (REPORT, "export", "--to=json"), (REPORT, "diff", str(EXAMPLES / "seeds" / "seed_004.txt")),
        (REPORT, "view", "-o", "-"), (LOG, "explain-oom"), (b"id,lower,upper,size\na,0,2,4\n", "pack"),
    )

    def feed(self, data):
        """A named pipe that gives these bytes once."""
        path = self.folder / f"pipe{len(list(self.folder.iterdir()))}"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(data,), daemon=True).start()
        return str(path)

    def test_every_command_reads_a_named_pipe(self):
        for data, command, *words in self.COMMANDS:
            for bytes_ in (data, gzip.compress(data)):
                expected = self.run_cli(command, "-", *words, stdin=bytes_)
                self.assertIn(expected.code, (0, 1), expected)
                answer = self.run_cli(command, self.feed(bytes_), *words, timeout=20)
                self.assertEqual((answer.code, len(answer.out) > 0), (expected.code, True), (command, answer))

    def test_every_command_reads_dev_stdin(self):
        for data, command, *words in self.COMMANDS:
            expected = self.run_cli(command, "-", *words, stdin=data)
            answer = self.run_cli(command, "/dev/stdin", *words, stdin=data, timeout=20)
            self.assertEqual(answer.code, expected.code, (command, answer))
            # Advice names the path, where that can be given again.
            plain = [[line for line in answer.out.splitlines() if "stdin" not in line and "stowplan " not in line]
                     for answer in (answer, expected)]
            self.assertEqual(*plain)

    def test_what_a_shell_substitutes(self):
        for data in (self.REPORT, gzip.compress(self.REPORT)):
            reader, writer = os.pipe()
            self.assertEqual(os.write(writer, data), len(data), "a pipe holds all of it")
            os.close(writer)
            process = subprocess.run([BINARY, "report", f"/dev/fd/{reader}"], capture_output=True, pass_fds=[reader],
                                     timeout=20, check=False)
            os.close(reader)
            self.assertTrue(process.stdout.startswith(b"<fd %d>: 286.05MiB (299944008) in 13 " % reader), process)

    def test_files_of_one_module_and_two_inputs(self):
        answer = self.run_cli("diff", self.feed(self.REPORT), self.feed(self.REPORT), timeout=20)
        self.assertEqual(answer.code, 0, answer)
        assignment, values = self.REPORT.split(b"\n\nTotal bytes used", 1)
        pieces = self.feed(assignment + b"\n"), self.feed(b"\nTotal bytes used" + values.split(b"\nHloLiveRange")[0] + b"\n")
        answer = self.run_cli("report", *pieces, timeout=20)
        self.assertIn("13 allocations of 21 values", answer.out, answer)

    def test_a_pipe_beside_a_report_is_left_alone(self):
        path = self.write("m.cpu_after_optimizations-buffer-assignment.txt", self.REPORT)
        os.mkfifo(self.folder / "m.cpu_after_optimizations.hlo.pb")
        self.assertEqual(self.run_cli("report", path, timeout=20).code, 0)


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

    def test_directory_without_modules(self):
        self.check(str(self.folder), f"there is no module in `{self.folder}`")

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
