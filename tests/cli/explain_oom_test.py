# SPDX-License-Identifier: Apache-2.0
"""stowplan explain-oom: logs in, causes and fixes out."""

import gzip
import json
import os
import pathlib
import unittest

import cli_case

STORY = pathlib.Path(os.environ["STOWPLAN_CORPUS_DIR"]) / "explain" / "story"
LOGS = pathlib.Path(__file__).parents[2] / "examples" / "oom"
GIB = 1 << 30

# Of each log: the kinds of its first causes, and words of its first fix.
FIRST = {
    "cpu": (["host"], "donate_argnums"),
    "cpu_story": (["host"], "donate_argnums"),
    "gpu_async": (["other-process"], "nvidia-smi"),
    "gpu_fragmented": (["pool-fragmented", "pool-small"], "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"),
    "gpu_other_process": (["other-process"], "nvidia-smi"),
    "gpu_training": (["pool-small", "pool-full", "temporaries", "same-buffers", "rematerialization"], "MEM_FRACTION=.95"),
    "host": (["host"], "mmap_mode"),
    "message_in_json": (["one-buffer"], "x.to(torch.bfloat16)"),
    "tpu_kernel": (["kernel"], "BlockSpec"),
    "tpu_load": (["pool-fragmented"], "compile() first"),
    "tpu_padding": (["padding", "one-buffer", "temporaries"], "with 20,8388608 last"),
    "tpu_training": (["outputs", "temporaries", "arguments"], "donate_argnums=(0,)"),
}


class ExplainOomTest(cli_case.CliCase):
    def explain(self, *words, stdin=b""):
        answer = self.run_cli("explain-oom", *map(str, words), stdin=stdin)
        self.assertEqual(answer.code, 0, answer)
        return answer.out

    def document(self, *words, stdin=b""):
        return json.loads(self.explain(*words, "--format=json", stdin=stdin))

    def test_every_example(self):
        self.assertEqual({path.stem for path in LOGS.glob("*.log")}, set(FIRST))
        for name, (causes, fix) in FIRST.items():
            with self.subTest(name):
                document = self.document(LOGS / f"{name}.log")
                self.assertEqual(document["schema"], "stowplan.oom/1")
                explanation = document["incidents"][document["chosen"]]["explanation"]
                kinds = [cause["kind"] for cause in explanation["causes"]]
                self.assertEqual(kinds[: len(causes)], causes)
                self.assertIn(fix, "\n".join(explanation["fixes"][0]["how"]))
                for each in explanation["fixes"]:
                    self.assertTrue(each["how"])
                    if each["is_enough"]:
                        self.assertGreaterEqual(each["saves"]["bytes"], explanation["lack"]["bytes"])
                    self.assertIn(each["cause"], kinds)

    def test_pages_fit(self):
        for name in FIRST:
            page = self.explain(LOGS / f"{name}.log")
            for line in page.splitlines():
                # What is to be typed is not broken.
                if not line.startswith(("       ", "    stowplan explain-oom")):
                    self.assertLessEqual(len(line), 80, line)
            for title in ("The figures", "Why", "What helps", "Next"):
                self.assertIn(f"\n{title}\n", page)

    def test_the_sum(self):
        incident = self.document(LOGS / "gpu_training.log")["incidents"][0]
        figures = {row["name"]: row["size"]["bytes"] for row in incident["explanation"]["figures"]}
        self.assertEqual(figures["wanted"] - figures["free"], figures["lacking"])
        self.assertEqual(figures["there is"] - figures["in use"], figures["free"])
        self.assertEqual(incident["buffers"][0]["source_line"], 161)
        page = self.explain(LOGS / "gpu_training.log", "--top=2")
        self.assertIn("Largest buffers, 2 of the 10", page)
        self.assertIn("model.py:161", page)
        self.assertIn("Largest buffers, 10 of the 10", self.explain(LOGS / "gpu_training.log", "--top=0"))

    def test_where_the_log_comes_from(self):
        text = (LOGS / "tpu_padding.log").read_bytes()
        page = self.explain(LOGS / "tpu_padding.log").replace(str(LOGS / "tpu_padding.log"), "")
        self.assertEqual(self.explain("-", stdin=text).splitlines()[:30], page.splitlines()[:30])
        self.assertEqual(self.document("-", stdin=gzip.compress(text)), self.document("-", stdin=text))

    def test_several(self):
        log = self.write("log", b"".join((LOGS / f"{name}.log").read_bytes() for name in ("tpu_kernel", "gpu_training", "host")))
        document = self.document(log)
        self.assertEqual([row["kind"] for row in document["incidents"]], ["scoped", "buffer", "host", "host"])
        # 184 GiB are most.
        self.assertEqual(document["chosen"], 3)
        page = self.explain(log)
        self.assertIn("All 4 incidents in this log", page)
        self.assertIn("--incident=N", page)
        self.assertIn("blockwise.3", self.explain(log, "--incident=1"))
        for number in ("0", "5", "x"):
            self.assert_bad_use(self.run_cli("explain-oom", log, f"--incident={number}"))

    def test_nothing_to_explain(self):
        for text in (b"", b"loss 1.0\n", b"\x00\xff" * 1000, b"RESOURCE_EXHAUSTED: quota of requests\n"):
            self.assert_bad_use(self.run_cli("explain-oom", "-", stdin=text), "nothing in <stdin> says that memory ran out")
        warning = b"Can't reduce memory use below 1.00GiB by rematerialization; only reduced to 2.00GiB\n"
        self.assert_bad_use(self.run_cli("explain-oom", "-", stdin=warning), "rematerialization did not reach its goal")
        self.assert_bad_use(self.run_cli("explain-oom", str(self.folder / "no")))
        self.assert_bad_use(self.run_cli("explain-oom", str(self.folder)))

    def test_a_warning_is_no_failure(self):
        text = b"Allocation of 2516582400 exceeds 10% of free system memory.\n"
        self.assertIn("A warning, not a failure", self.explain("-", stdin=text))

    def test_dump_of_the_same_program(self):
        page = self.explain(LOGS / "cpu_story.log", f"--dump={STORY / 'before'}")
        self.assertIn("The figures in the log match this plan.", page)
        self.assertIn("source.py:32", page)
        self.assertIn("donate_argnames=('params',)", page)
        document = self.document(LOGS / "cpu_story.log", f"--dump={STORY / 'before'}")["dump"]
        self.assertTrue(document["is_same"])
        # The layers of a scan, computed again; then donation.
        first, second = document["advice"][:2]
        self.assertGreater(first["saved_bytes"], 1 << 30)
        self.assertEqual(second["saved_bytes"], 12588992)

    def test_dump_of_another_program(self):
        page = self.explain(LOGS / "gpu_training.log", f"--dump={STORY / 'after'}")
        self.assertIn("do not match this plan", page)
        self.assertIn("differs", page)
        self.assertIn("0 of 10", page)
        self.assert_bad_use(self.run_cli("explain-oom", str(LOGS / "cpu.log"), f"--dump={self.folder}"), "there is no plan")
        self.assert_bad_use(self.run_cli("explain-oom", str(LOGS / "cpu.log"), "--dump=no/such"))

    def test_dump_from_standard_input(self):
        files = [path for path in (STORY / "before").iterdir() if path.name.endswith("buffer-assignment.txt")]
        self.assertEqual(len(files), 1)
        dump = self.document(LOGS / "cpu_story.log", "--dump=-", stdin=files[0].read_bytes())["dump"]
        self.assertEqual(dump["module"], "<stdin>")
        self.assertTrue(dump["is_same"])
        log = (LOGS / "cpu_story.log").read_bytes()
        self.assert_bad_use(self.run_cli("explain-oom", "-", "--dump=-", stdin=log), "cannot both be standard input")

    def test_unknown_machines_and_releases(self):
        log, dump = str(LOGS / "cpu_story.log"), f"--dump={STORY / 'before'}"
        self.assert_bad_use(self.run_cli("explain-oom", log, dump, "--target=abacus"), "one of cpu, gpu, tpu-v2")
        for words in (["explain-oom", log, dump], ["explain", str(STORY / "before")], ["view", str(STORY / "before")],
                      ["export", str(STORY / "before"), "--to=csv"], ["replan", str(STORY / "before")]):
            with self.subTest(words[0]):
                answer = self.run_cli(*words, "--xla-version=2099", cwd=self.folder)
                self.assert_bad_use(answer, "there is no XLA `2099`", "one of tf-2.2, ", ", jaxlib-0.11.2")
                answer = self.run_cli(*words, "--xla-version=jaxlib-0.11.x", cwd=self.folder)
                self.assert_bad_use(answer, "did you mean `jaxlib-0.1")

    def test_buffers_are_found(self):
        dump = STORY / "before"
        values = json.loads(self.run_cli("explain", str(dump), "--by=value", "--top=0", "--format=json").out)
        rows = [row for row in values["partitions"]["value"]["rows"] if row.get("size", 0) > 1 << 20][:12]
        self.assertEqual(len(rows), 12)
        lines = ["RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1948490424 bytes.", "Peak buffers:"]
        for number, row in enumerate(rows, 1):
            lines += [f"Buffer {number}:", f"Size: {row['size'] / (1 << 20):.2f}MiB"]
            if row.get("op_name"):
                lines.append(f'Operator: op_name="{row["op_name"]}"')
            lines += [f"Shape: {row['shape'].split('{')[0]}", "=========================="]
        document = self.document("-", f"--dump={dump}", stdin="\n".join(lines).encode())["dump"]
        self.assertEqual(len(document["buffers"]), len(rows))
        for match, row in zip(document["buffers"], rows, strict=True):
            self.assertNotEqual(match["matched_by"], "nothing", row)
            self.assertEqual(match["bytes"], row["size"])
        # No value stands for two buffers.
        self.assertEqual(len({match["value"] for match in document["buffers"]}), len(rows))

    def test_module_of_the_log(self):
        named = self.write("log", "Out of memory while trying to allocate 5 bytes. [executable_name='jit_step']\n")
        answer = self.run_cli("explain-oom", named, f"--dump={STORY}")
        self.assertEqual(answer.code, 0, answer)

    def test_names_command_no_terminal(self):
        text = b'Out of memory while trying to allocate 5 bytes. [executable_name=\'jit_\x1b]0;x\x07\x9b\']\nPeak buffers:\nBuffer 1:\nSize: 5B\nOperator: op_name="\x1b[31mred\xff"\n'
        page = self.run_cli("explain-oom", "-", stdin=text)
        self.assertEqual(page.code, 0)
        self.assertNotIn(b"\x1b", page.out_bytes)
        self.assertNotIn(b"\x07", page.out_bytes)
        json.loads(self.run_cli("explain-oom", "-", "--format=json", stdin=text).out)

    def test_long_log(self):
        line = b"2026-03-04 10:11:12.000004: I xla/bfc_allocator.cc:1088] InUse at 7f2a40000000 of size 4096 next 3\n"
        text = line * 200_000 + (LOGS / "gpu_training.log").read_bytes()
        incident = self.document("-", stdin=text)["incidents"][0]
        self.assertEqual(incident["line"], 200_003)


if __name__ == "__main__":
    unittest.main()
