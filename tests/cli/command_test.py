# SPDX-License-Identifier: Apache-2.0
"""What the commands answer."""

import json
import os
import pathlib
import stat
import unittest

from cli_case import BROKEN, MODULE, CliCase


class Print(CliCase):
    def test_is_exact(self):
        answer = self.run_cli("print", self.write("m.txt", MODULE))
        self.assertEqual((answer.code, answer.out, answer.err), (0, MODULE, ""))

    def test_in_another_dialect(self):
        answer = self.run_cli("print", "--dialect=jaxlib-0.4.35", self.write("m.txt", MODULE))
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("\n  ax = f32[1000]{0} multiply(a, x)\n", answer.out)
        self.assertTrue(answer.out.endswith("\n} // main\n\n"), answer)

    def test_list_of_dialects(self):
        answer = self.run_cli("print", "--dialect=list")
        self.assertEqual(answer.code, 0)
        names = [line.split()[0] for line in answer.out.splitlines()]
        self.assertIn("jaxlib-0.10.2", names)
        for name in names:
            self.assertEqual(self.run_cli("print", f"--dialect={name}", "-", stdin=MODULE.encode()).code, 0, name)

    def test_to_a_file(self):
        path = self.folder / "out.txt"
        answer = self.run_cli("print", "-o", str(path), self.write("m.txt", MODULE))
        self.assertEqual((answer.code, answer.out), (0, ""))
        self.assertEqual(path.read_text(), MODULE)
        self.assertEqual(sorted(os.listdir(self.folder)), ["m.txt", "out.txt"], "no temporary file is left")

    def test_over_its_own_input(self):
        path = self.write("m.txt", MODULE.replace("  ", "\t"))
        self.assertEqual(self.run_cli("print", f"--output={path}", path).code, 0)
        self.assertEqual(pathlib.Path(path).read_text("utf-8"), MODULE)

    def test_a_file_keeps_its_mode_and_a_link_its_target(self):
        target = self.write("target", "old")
        os.chmod(target, 0o640)
        link = self.folder / "link"
        link.symlink_to(target)
        self.assertEqual(self.run_cli("print", "-o", str(link), "-", stdin=MODULE.encode()).code, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(pathlib.Path(target).read_text("utf-8"), MODULE)
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640)

    def test_to_a_device(self):
        self.assertEqual(self.run_cli("print", "-o", "/dev/null", "-", stdin=MODULE.encode()).code, 0)
        self.assert_bad_use(self.run_cli("print", "-o", "/dev/full", "-", stdin=MODULE.encode()), "No space left")

    def test_a_bad_input_leaves_the_file_alone(self):
        path = self.write("out.txt", "old")
        self.assert_bad_use(self.run_cli("print", "-o", path, "-", stdin=b"ENTRY e { x = "))
        self.assertEqual(pathlib.Path(path).read_text("utf-8"), "old")
        self.assertEqual(os.listdir(self.folder), ["out.txt"])

    def test_into_a_folder_that_is_not_there(self):
        self.assert_bad_use(self.run_cli("print", "-o", str(self.folder / "no" / "x"), "-", stdin=MODULE.encode()),
                            "cannot write: No such file or directory")


class Verify(CliCase):
    def test_well_formed(self):
        path = self.write("m.txt", MODULE)
        answer = self.run_cli("verify", path)
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertEqual(answer.out, f"{path}: well-formed (1 computation, 6 instructions)\n")

    def test_complaints(self):
        path = self.write("broken.hlo", BROKEN)
        answer = self.run_cli("verify", path)
        self.assertEqual(answer.code, 1, answer)
        self.assertEqual(answer.out, f"{path}: 2 complaints\n")
        self.assertIn(f"{path}:3:3: error: `a`", answer.err)
        self.assertIn(f"{path}:4:8: error: `b`", answer.err)

    def test_several_files_worst_code(self):
        good, bad = self.write("m.txt", MODULE), self.write("broken.hlo", BROKEN)
        self.assertEqual(self.run_cli("verify", good, bad).code, 1)
        answer = self.run_cli("verify", good, bad, "/nonexistent")
        self.assertEqual(answer.code, 2)
        self.assertEqual(len(answer.out.splitlines()), 3)

    def test_limit(self):
        lines = "".join(f"  x{i} = f32[5] get-tuple-element(t), index=0\n" for i in range(30))
        text = "ENTRY e {\n  t = (f32[4]) parameter(0)\n" + lines + "}\n"
        answer = self.run_cli("verify", "-", stdin=text.encode())
        self.assertEqual(answer.err.count(" error: "), 20)
        self.assertIn("... and 10 more errors", answer.err)
        self.assertIn("<stdin>: 30 complaints", answer.out)
        self.assertEqual(self.run_cli("verify", "--limit=0", "-", stdin=text.encode()).err.count(" error: "), 30)
        self.assertEqual(self.run_cli("verify", "--limit=3", "-", stdin=text.encode()).err.count(" error: "), 3)


class Stats(CliCase):
    def test_text(self):
        answer = self.run_cli("stats", self.write("m.txt", MODULE))
        self.assertEqual((answer.code, answer.err), (0, ""))
        self.assertIn("module axpy, entry main, scheduled", answer.out)
        self.assertRegex(answer.out, r"instructions +6\n")
        self.assertRegex(answer.out, r"parameters +2 +7\.8KiB \(8000\)\n")
        self.assertRegex(answer.out, r"total +19\.5KiB \(20004\)\n")
        self.assertRegex(answer.out, r"\n +2 +parameter\n")

    def test_json(self):
        answer = self.run_cli("stats", "--format=json", self.write("m.txt", MODULE))
        numbers = json.loads(answer.out)
        self.assertEqual(numbers["module"], "axpy")
        self.assertEqual(numbers["instructions"], 6)
        self.assertEqual(numbers["parameter_bytes"], 8000)
        self.assertEqual(numbers["total_bytes"], 20004)
        self.assertEqual(numbers["types"], [{"type": "f32", "arrays": 6, "bytes": 20004}])
        self.assertEqual(numbers["opcodes"][0], {"opcode": "parameter", "count": 2})
        self.assertEqual(numbers["largest_shapes"][0]["shape"], "f32[1000]{0}")

    def test_targets_and_top(self):
        path = self.write("m.txt", MODULE)
        sizes = [json.loads(self.run_cli("stats", "--format=json", f"--target={t}", path).out)["total_bytes"]
                 for t in ("cpu", "gpu", "tpu-v2", "tpu-v7x")]
        # Arrays without tiles are padded to 1024 elements.
        self.assertEqual(sizes, [20004, 20004, 6 * 4096, 6 * 4096])
        numbers = json.loads(self.run_cli("stats", "--format", "json", "--top", "1", path).out)
        self.assertEqual(len(numbers["largest_shapes"]), 1)


if __name__ == "__main__":
    unittest.main()
