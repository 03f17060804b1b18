# SPDX-License-Identifier: Apache-2.0
"""Command line, help, completion."""

import os
import pty
import re
import shutil
import subprocess
import unittest

from cli_case import BINARY, MODULE, CliCase

COMMANDS = ("print", "verify", "stats", "assign", "order", "fit", "check", "replan", "pack", "report", "explain", "explain-oom",
            "diff", "gate", "inspect", "repack", "export", "view", "completion")


class Help(CliCase):
    def test_lists_all_commands(self):
        answer = self.run_cli("--help")
        self.assertEqual(answer.code, 0)
        self.assertEqual(answer.err, "")
        groups = answer.out.split("\nUnderstand ")[1].split("\nExamples:\n")[0]
        listed = re.findall(r"^  (\S+) ", groups, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(COMMANDS), "all of them are tried here")
        self.assertEqual(answer.out, self.run_cli("-h").out)
        self.assertEqual(answer.out, self.run_cli("help").out)

    def test_each_command_has_one_with_examples(self):
        for command in COMMANDS:
            answer = self.run_cli(command, "--help")
            self.assertEqual(answer.code, 0, answer)
            self.assertTrue(answer.out.startswith(f"Usage: stowplan {command}"), answer)
            self.assertIn("\nExamples:\n", answer.out)
            self.assertIn(f"stowplan {command}", answer.out.split("Examples:")[1])
            self.assertEqual(answer.out, self.run_cli("help", command).out)

    def test_fits_a_terminal_of_eighty_columns(self):
        texts = [self.run_cli("--help").out] + [self.run_cli(c, "--help").out for c in COMMANDS]
        for text in texts:
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_version(self):
        answer = self.run_cli("--version")
        self.assertEqual(answer.code, 0)
        self.assertRegex(answer.out, r"^stowplan \d+\.\d+\.\d+\n$")


class Mistakes(CliCase):
    def test_no_command(self):
        self.assertEqual(self.run_cli().out, self.run_cli("--help").out)

    def test_unknown_command(self):
        self.assert_bad_use(self.run_cli("prnit", "x"), "no command `prnit`", "did you mean `print`?")
        self.assert_bad_use(self.run_cli("xyzzy"), "no command `xyzzy`", "stowplan --help")

    def test_unknown_option(self):
        self.assert_bad_use(self.run_cli("print", "--dialct=x", "f"), "no option `--dialct=x`",
                            "did you mean `--dialect`?")
        self.assert_bad_use(self.run_cli("stats", "--xyzzy", "f"), "no option `--xyzzy`", "stats --help")
        self.assert_bad_use(self.run_cli("--hepl"), "did you mean `--help`?")

    def test_options_without_a_value(self):
        path = self.write("m.txt", MODULE)
        for words, message in ((["print", path, "-o"], "-o needs a FILE"), (["print", "--output"], "--output needs a FILE"),
                               (["verify", path, "--limit"], "--limit needs a number"),
                               (["verify", "--limit=", path], "--limit needs a number"),
                               (["print", "--output=", path, path], "--output needs a FILE"),
                               (["view", "-o", "--target=cpu", path], "-o needs a FILE")):
            self.assert_bad_use(self.run_cli(*words, cwd=self.folder), message, f"`stowplan {words[0]} --help`")
        self.assertEqual([each.name for each in self.folder.iterdir()], ["m.txt"])

    def test_files_that_look_like_options(self):
        self.write("--limit", MODULE)
        self.write("-o", MODULE)
        answer = self.run_cli("verify", "--limit=3", "--", "--limit", "-o", "./-o", cwd=self.folder)
        self.assertEqual((answer.code, answer.out.count("well-formed")), (0, 3), answer)

    def test_missing_and_superfluous_files(self):
        for command in ("print", "verify", "stats"):
            self.assert_bad_use(self.run_cli(command), f"{command} needs a FILE")
        self.assert_bad_use(self.run_cli("stats", "a", "b"), "stats takes only one FILE")

    def test_bad_values(self):
        self.assert_bad_use(self.run_cli("stats", "--target=tpu-v5", "f"), "did you mean `tpu-v5e`?")
        self.assert_bad_use(self.run_cli("stats", "--target=abacus", "f"), "one of cpu, gpu, tpu-v2")
        self.assert_bad_use(self.run_cli("stats", "--format=xml", "f"), "one of text, json")
        self.assert_bad_use(self.run_cli("stats", "--top=many", "f"), "--top needs a number, not `many`")
        self.assert_bad_use(self.run_cli("stats", "--top=-1", "f"), "--top needs a number")
        self.assert_bad_use(self.run_cli("stats", "--target"), "--target")
        self.assert_bad_use(self.run_cli("print", "--dialect=jaxlib-0.4.3x", "f"), "no dialect", "did you mean")
        self.assert_bad_use(self.run_cli("completion", "fish"), "one of bash, zsh")

    def test_color_on_terminals_that_can(self):
        for env, has_color in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "xterm", "NO_COLOR": ""}, True),
                               ({"TERM": "dumb"}, False), ({"TERM": ""}, False), ({}, False), ({"TERM": "xterm", "COLUMNS": "20"}, True)):
            parent, child = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")} | env
            subprocess.run([BINARY, "nonsense"], stderr=child, env=environment, check=False)
            os.close(child)
            self.assertEqual(b"\x1b[" in os.read(parent, 10_000), has_color, env)
            os.close(parent)

    def test_no_color_in_a_pipe(self):
        self.assertNotIn("\x1b", self.run_cli("prnit", env={"TERM": "xterm"}).err)


class Completion(CliCase):
    def complete(self, line):
        """What bash offers for the words of `line`; the last one is being typed."""
        script = self.run_cli("completion", "bash").out
        words = line.split(" ")
        quoted = " ".join(f"'{w}'" for w in words)
        # compopt works only inside a real completion.
        program = (f"compopt() {{ :; }}\n{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _stowplan; "
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("stowplan pri"), ["print"])
        self.assertEqual(self.complete("stowplan stats --t"), ["--target=", "--top="])
        self.assertEqual(self.complete("stowplan stats --target = tpu-v6"), ["tpu-v6e"])
        self.assertEqual(self.complete("stowplan stats --format ="), ["text", "json"])
        self.assertIn("jaxlib-0.10.2", self.complete("stowplan print --dialect = jaxlib-0.1"))
        self.assertEqual(self.complete("stowplan completion "), ["bash", "zsh"])
        self.assertEqual(self.complete("stowplan print some"), [], "files are left to the shell")

    def test_bash_script_is_clean(self):
        script = self.run_cli("completion", "bash").out
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_script_is_clean(self):
        script = self.run_cli("completion", "zsh").out
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)

    def test_zsh_offers_all_commands(self):
        script = self.run_cli("completion", "zsh").out
        self.assertTrue(script.startswith("#compdef stowplan\n"))
        for command in COMMANDS:
            self.assertIn(f"'{command}:", script)
            self.assertIn(f"\n    {command})\n", script)


class Streams(CliCase):
    def test_a_full_disk_is_an_error(self):
        path = self.write("m.hlo", MODULE)
        with open("/dev/full", "wb") as full:
            process = subprocess.run([BINARY, "print", path], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"cannot write: No space left on device", process.stderr)

    def test_a_reader_that_leaves_is_no_error(self):
        lines = "".join(f"  %x{i} = f32[] constant({i})\n" for i in range(200_000))
        path = self.write("m.hlo", "HloModule m\n\nENTRY %e () -> f32[] {\n" + lines + "}\n\n")
        process = subprocess.Popen([BINARY, "print", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
