# SPDX-License-Identifier: Apache-2.0
"""stowplan export: each file is read by a reader of its own, and its bytes add up to the peak."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import export_readers as readers
from cli_case import MODULE, CliCase

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR") or ROOT / "build" / "corpus")
SEEDS = sorted((ROOT / "examples" / "seeds").glob("*.txt"))
FORMATS = ("pprof", "perfetto", "speedscope", "collapsed", "csv", "json")
# Programs with loops, donation, collectives, several memory spaces, many values, and values that share bytes at the peak.
PROGRAMS = ("big_tuple", "cnn_train", "collectives4", "lm_train_scan", "lm_train_scan_remat", "lm_train_unrolled_12",
            "mlp_train_sgd", "sort_argsort")


class ExportCase(CliCase):
    def export(self, path, to, *options):
        answer = self.run_cli("export", str(path), f"--to={to}", *options, timeout=300)
        self.assertEqual(answer.code, 0, answer)
        return answer.out_bytes

    def explain(self, path, *options):
        answer = self.run_cli("explain", str(path), "--format=json", *options, timeout=300)
        self.assertEqual(answer.code, 0, answer)
        return json.loads(answer.out)

    def check_sums(self, path, *options):
        """Every format against `stowplan explain`, for one memory space and moment."""
        moment = self.explain(path, *options)["moment"]
        total = moment["bytes"]
        for stacks in ("source", "op_name"):
            more = (*options, f"--stacks={stacks}")
            samples = readers.read_pprof(self.export(path, "pprof", *more))
            self.assertEqual(sum(count for _, count, _ in samples), total)
            scoped = readers.read_speedscope(self.export(path, "speedscope", *more))
            self.assertEqual(sum(count for _, count in scoped), total)
            lines = readers.read_collapsed(self.export(path, "collapsed", *more))
            self.assertEqual(sum(count for _, count in lines), total)
            self.assertEqual([count for _, count in lines], [count for _, count, _ in samples])
            self.assertEqual([count for _, count in lines], [count for _, count in scoped])
            # The three have the same stacks; two of them with the value as its own frame.
            for (stack, _, _), (frames, _), (texts, _) in zip(samples, scoped, lines):
                self.assertEqual(len(stack) + 1, len(frames))
                self.assertEqual(len(stack) + 1, len(texts))
        rows = readers.read_csv(self.export(path, "csv", *options))
        self.assertEqual(sum(int(row["bytes"]) for row in rows), total)
        self.assertEqual(sum(int(row["is_live"]) for row in rows if row["bytes"] != "0"), len(samples))
        file = readers.read_json(self.export(path, "json", *options))
        self.assertEqual(file["moment"]["bytes"], total)
        self.assertEqual(file["moment"]["time"], moment["time"])
        self.assertEqual(sum(value["bytes"] for value in file["values"]), total)
        self.assertEqual([value["value"] for value in file["values"]], [row["name"] for row in rows])
        self.check_trace(path, total, moment["time"], *options)
        return samples, rows

    def check_trace(self, path, total, time, *options):
        trace = readers.read_trace(self.export(path, "perfetto", "--top=0", *options))
        self.assertEqual(trace["moment"]["args"]["bytes"], total)
        self.assertEqual(trace["moment"]["ts"], time)
        values = [span for span in trace["spans"] if span["cat"] == "value"]
        self.assertEqual(trace["other"]["values"], len(values))
        self.assertEqual(sum(span["args"].get("bytes_at_moment", 0) for span in values), total)
        # The counters at that moment.
        levels = collections.defaultdict(int)
        for (_, name), steps in trace["counters"].items():
            levels[name] += max([step for step in steps if step[0] <= time], default=(0, 0))[1]
        self.assertEqual(levels["live bytes"], total)
        if "live bytes, all memory spaces" in levels:
            self.assertEqual(levels["live bytes, all memory spaces"], total)
        # Who owns bytes then is alive then.
        for span in values:
            if span["args"].get("bytes_at_moment", 0):
                self.assertTrue(span["ts"] <= time < span["ts"] + span["dur"], span)
        return trace


class Sums(ExportCase):
    def test_seeds(self):
        self.assertEqual(len(SEEDS), 5)
        for seed in SEEDS:
            for space in ("all", None):
                # Without --space, a trace has all of them.
                largest = {} if space else self.explain(seed)["moment"]
                name = space or str(largest["space"])
                with self.subTest(seed=seed.name, space=name):
                    self.check_sums(seed, f"--space={name}")

    def test_known_figures_of_the_seeds(self):
        for name, time, total in (("seed_003.txt", 11, 297796096), ("seed_003.txt", None, 297796132),
                                  ("seed_004.txt", 13, 1012613120)):
            options = ("--space=all",) + (() if time is None else (f"--at={time}",))
            rows = readers.read_csv(self.export(ROOT / "examples" / "seeds" / name, "csv", *options))
            self.assertEqual(sum(int(row["bytes"]) for row in rows), total, (name, time))

    def test_corpus(self):
        checked = shared = 0
        for backend in ("cpu", "cpu11", "gpu", "tpu"):
            for program in PROGRAMS:
                path = CORPUS / backend / program
                if not path.exists():
                    continue
                # The peak, and a moment before it.
                peak = self.explain(path, "--space=all")["moment"]["time"]
                for time in sorted({peak, peak // 2}):
                    with self.subTest(backend=backend, program=program, time=time):
                        _, rows = self.check_sums(path, "--space=all", f"--at={time}")
                        shared += sum(row["is_live"] == "1" and row["bytes"] != row["size"] for row in rows)
                checked += 1
        # Of values that share bytes, sizes do not add up.
        self.assertEqual((checked, shared), (31, 6))

    def test_dialects(self):
        for folder in sorted((CORPUS / "dialects").iterdir())[::5]:
            with self.subTest(folder=folder.name):
                answer = self.run_cli("explain", str(folder), "--format=json", timeout=300)
                if answer.code != 0 or "moment" not in json.loads(answer.out):
                    self.assertNotEqual(self.run_cli("export", str(folder), "--to=pprof").code, 0)
                    continue
                self.check_sums(folder, "--space=all")

    def test_every_moment_of_a_program(self):
        path = self.write("m.hlo", MODULE)
        curve = readers.read_json(self.export(path, "json", "--target=cpu"))["spaces"][0]["curve"]
        end = max(step[0] for step in curve)
        self.assertEqual(end, 7)
        for time in range(end):
            self.check_sums(path, "--target=cpu", "--space=0", f"--at={time}")


class Contents(ExportCase):
    PROGRAM = ROOT / "examples" / "mlp_train_step.txt"

    def test_stacks_and_labels(self):
        samples = readers.read_pprof(self.export(self.PROGRAM, "pprof"))
        stacks = {labels["value"]: stack for stack, _, labels in samples}
        labels = {labels["value"]: labels for _, _, labels in samples}
        names = [frame[0] for frame in stacks["dot.1"]]
        self.assertEqual(names[-2:], ["mlp_train_sgd.<locals>.fn.<locals>.loss", "mlp"])
        self.assertEqual(stacks["dot.1"][-1][1:], ("programs_dev.py", 302))
        self.assertEqual(labels["dot.1"]["shape"], "f32[512,512]{1,0}")
        self.assertEqual(labels["dot.1"]["size"], (1048576, "bytes"))
        self.assertEqual(labels["dot.1"]["kind"], "donated")
        self.assertEqual([frame[0] for frame in stacks["x.1"]], ["(parameters)", "x"])
        op_names = readers.read_pprof(self.export(self.PROGRAM, "pprof", "--stacks=op_name"))
        stack = next(stack for stack, _, found in op_names if found["value"] == "dot.1")
        self.assertEqual([frame[0] for frame in stack], ["jit(mlp_train_sgd)", "transpose(jvp())", "transpose"])

    def test_stacks_are_those_of_explain(self):
        """Bytes by stack, without what stands below names in parentheses, are explain's rows."""
        for by, stacks in (("stack", "source"), ("op_name", "op_name")):
            rows = self.explain(self.PROGRAM, f"--by={by}")["partitions"][by]["rows"]
            expected = collections.Counter()
            for row in rows:
                path, at = [], row
                while True:
                    path.insert(0, at["name"])
                    if at["parent"] < 0:
                        break
                    at = rows[at["parent"]]
                expected[tuple(path)] += row["own"]
            found = collections.Counter()
            for frames, count in readers.read_speedscope(
                    self.export(self.PROGRAM, "speedscope", f"--stacks={stacks}")):
                frames = frames[:-1]
                found[tuple(frames[:1] if frames[0].startswith("(") else frames)] += count
            self.assertEqual({k: v for k, v in found.items() if v}, {k: v for k, v in expected.items() if v})

    def test_the_trace_names_what_runs(self):
        trace = readers.read_trace(self.export(self.PROGRAM, "perfetto"))
        program = [span for span in trace["spans"] if span["cat"] == "instruction"]
        self.assertEqual([span["ts"] for span in program], list(range(len(program))))
        moment = trace["moment"]
        self.assertEqual(program[moment["ts"]]["name"], moment["args"]["instruction"])
        self.assertTrue(any(span["cat"] == "computation" for span in trace["spans"]))

    def test_a_loop_is_a_span(self):
        trace = readers.read_trace(self.export(CORPUS / "cpu" / "lm_train_scan", "perfetto"))
        computations = [span for span in trace["spans"] if span["cat"] == "computation"]
        self.assertEqual(len(computations), 5)
        entry = max(computations, key=lambda span: span["dur"])
        self.assertTrue(all(entry["ts"] <= s["ts"] and s["ts"] + s["dur"] <= entry["ts"] + entry["dur"]
                            for s in computations))

    def test_top_says_what_it_leaves_out(self):
        full = readers.read_trace(self.export(self.PROGRAM, "perfetto", "--top=0"))
        cut = readers.read_trace(self.export(self.PROGRAM, "perfetto", "--top=5"))
        shown = [span for span in cut["spans"] if span["cat"] == "value"]
        self.assertEqual(len(shown), 5)
        self.assertEqual(cut["other"]["values_left_out"], full["other"]["values"] - 5)
        self.assertEqual(sum(span["args"].get("bytes_at_moment", 0) for span in shown) +
                         cut["other"]["moment_bytes_left_out"], cut["other"]["moment_bytes"])

    def test_csv_has_all_values(self):
        rows = readers.read_csv(self.export(self.PROGRAM, "csv"))
        row = next(row for row in rows if row["name"] == "dot.1")
        self.assertEqual((row["source"], row["parameter"], row["is_live"]), ("programs_dev.py:302", "params[1][0]", "1"))
        self.assertTrue(any(row["is_live"] == "0" for row in rows))

    def test_the_same_every_time(self):
        for to in FORMATS:
            self.assertEqual(self.export(self.PROGRAM, to), self.export(self.PROGRAM, to), to)


HOSTILE = (b'quote\\" back\\\\slash', b"a;b;c 12", b"(a;b)/c 3.5", b"new\\nline\\ttab\\rreturn", b"\xff\xfe\x80bytes",
           b"\xed\xa0\x80\xc0\xaf", b"x" * 10000, b"a/" * 5000 + b"b", b"comma,and'quote", b"<script>&amp;", b" ",
           b"/;/", b"\x01\x02\x7f\x1b[31m", "Größe→\u2028".encode())


class HostileNames(ExportCase):
    def module(self, text):
        head = b"HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[64] parameter(0), metadata={op_name=\"" + text + b"\"}\n"
        body = (b"  a = f32[64] negate(p), metadata={op_name=\"" + text + b"\" source_file=\"" + text +
                b"\" source_line=3}\n  b = f32[64] add(a, p), metadata={op_name=\"jit(f)/" + text + b"\"}\n"
                b"  ROOT t = (f32[64], f32[64]) tuple(a, b)\n}\n")
        return head + body

    def test_op_names_and_files(self):
        for i, text in enumerate(HOSTILE):
            path = self.write(f"h{i}.hlo", self.module(text))
            with self.subTest(text=text[:30]):
                self.check_sums(path, "--target=cpu", "--space=0")

    def test_names_in_a_report(self):
        seed = SEEDS[1].read_bytes()
        # A name that the report uses often.
        words = collections.Counter(re.findall(rb"<\d+ ([\w.]+) @0>", seed))
        name = words.most_common(1)[0][0]
        for i, text in enumerate((b"n\xff\xfe", b"n" * 10000, b"n\x01\x1b[m", b"n 12", b'n"q;x', b"=1+2,3")):
            path = self.write(f"r{i}.txt", seed.replace(b" " + name + b" ", b" " + text + b" ").replace(
                b" " + name + b"{", b" " + text + b"{"))
            with self.subTest(text=text[:20]):
                if i < 3:
                    self.check_sums(path, "--space=all")
                else:  # no name of XLA's
                    self.assert_bad_use(self.run_cli("export", path, "--to=csv"), "expected")

    def test_deep_stacks_are_cut(self):
        """A call stack of 5000 frames: the file stays small, and adds up."""
        count = 5000
        tables = ("FileNames\n1 \"f.py\"\n\nFunctionNames\n1 \"g\"\n\nFileLocations\n"
                  "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\nStackFrames\n" +
                  "".join(f"{i} {{file_location_id=1 parent_frame_id={max(i - 1, 1)}}}\n" for i in range(1, count + 1)))
        module = (f"HloModule m, is_scheduled=true\n\n{tables}\nENTRY e {{\n  p = f32[64] parameter(0)\n"
                  f"  ROOT a = f32[64] negate(p), metadata={{op_name=\"f\" stack_frame_id={count}}}\n}}\n")
        path = self.write("deep.hlo", module)
        samples, _ = self.check_sums(path, "--target=cpu", "--space=0")
        stack = next(stack for stack, _, labels in readers.read_pprof(
            self.export(path, "pprof", "--target=cpu", "--stacks=source")) if labels["value"] == "a")
        self.assertEqual(len(stack), 257)
        self.assertRegex(stack[0][0], r"^\(\d+ more frames\)$")
        self.assertEqual(len(samples), 2)


class CommandLine(ExportCase):
    def test_writes_a_file_whole_or_not_at_all(self):
        path = self.write("m.hlo", MODULE)
        target = self.folder / "peak.pb.gz"
        answer = self.run_cli("export", path, "--to=pprof", "--target=cpu", "-o", str(target))
        self.assertEqual((answer.code, answer.out), (0, ""), answer)
        self.assertEqual(target.read_bytes(), self.export(path, "pprof", "--target=cpu"))
        before = sorted(self.folder.iterdir())
        answer = self.run_cli("export", self.write("bad.hlo", "HloModule x\nENTRY e {"), "--to=csv", "-o",
                              str(self.folder / "no.csv"))
        self.assert_bad_use(answer)
        self.assertFalse((self.folder / "no.csv").exists())
        self.assertEqual(len(list(self.folder.iterdir())), len(before) + 1)

    def test_mistakes(self):
        path = self.write("m.hlo", MODULE)
        self.assert_bad_use(self.run_cli("export", path), "export needs a format", "pprof")
        self.assert_bad_use(self.run_cli("export", path, "--to=perfeto"), "did you mean `perfetto`?")
        self.assert_bad_use(self.run_cli("export", path, "--to=xml"), "one of pprof, perfetto, speedscope, collapsed, csv, json")
        self.assert_bad_use(self.run_cli("export", "--to=csv"), "INPUT")
        self.assert_bad_use(self.run_cli("export", path, "--to=csv", "--target=cpu", "--at=999"), "no moment t=999", "t=0")
        self.assert_bad_use(self.run_cli("export", path, "--to=csv", "--at=x"), "--at needs a moment")
        self.assert_bad_use(self.run_cli("export", path, "--to=csv", "--target=cpu", "--space=9"), "no memory space `9`")
        self.assert_bad_use(self.run_cli("export", path, "--to=perfetto", "--top=x"), "--top needs a number")
        self.assert_bad_use(self.run_cli("export", str(self.folder / "none"), "--to=csv"), "cannot open")

    def test_without_live_ranges(self):
        """An assignment alone has no moment: csv and json have the rest, the others say so."""
        path = CORPUS / "cpu" / "mlp_train_sgd" / "cpu_after_optimizations-buffer-assignment.txt"
        bare = self.write(path.name, path.read_bytes())
        self.assertNotIn("moment", self.explain(bare))
        self.assert_bad_use(self.run_cli("export", bare, "--to=pprof"), "the live ranges are not known")
        rows = readers.read_csv(self.export(bare, "csv"))
        self.assertTrue(rows)
        self.assertTrue(all(row["bytes"] == "" and row["is_live"] == "" for row in rows))
        self.assertNotIn("moment", readers.read_json(self.export(bare, "json")))


class OtherReaders(ExportCase):
    """Programs and packages that people use, where they are installed."""

    PROGRAM = ROOT / "examples" / "mlp_train_step.txt"

    @unittest.skipUnless(shutil.which("pprof"), "pprof is not installed")
    def test_pprof(self):
        target = self.folder / "peak.pb.gz"
        target.write_bytes(self.export(self.PROGRAM, "pprof"))
        result = subprocess.run(["pprof", "-top", "-unit=B", str(target)], capture_output=True, text=True, check=True)
        self.assertIn(f"of {self.explain(self.PROGRAM)['moment']['bytes']}B total", result.stdout)

    def test_protobuf(self):
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        except ImportError:
            self.skipTest("the package protobuf is not installed")
        file = descriptor_pb2.FileDescriptorProto(name="p.proto", package="p", syntax="proto3")

        def declare(name, spec):
            row = file.message_type.add(name=name)
            for number, (field, kind) in spec.items():
                more = {"int": dict(type=3, label=1), "ints": dict(type=3, label=3), "text": dict(type=9, label=3)}
                if isinstance(kind, str):
                    row.field.add(name=field, number=number, **more[kind])
                else:
                    row.field.add(name=field, number=number, type=11, label=3, type_name=f".p.{names[id(kind)]}")

        specs = {"ValueType": readers.VALUE_TYPE, "Label": readers.LABEL, "Sample": readers.SAMPLE,
                 "Mapping": readers.MAPPING, "Line": readers.LINE, "Location": readers.LOCATION,
                 "Function": readers.FUNCTION, "Profile": readers.PROFILE}
        names = {id(spec): name for name, spec in specs.items()}
        for name, spec in specs.items():
            declare(name, spec)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        profile = message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Profile"))()
        profile.ParseFromString(readers.gzip.decompress(self.export(self.PROGRAM, "pprof")))
        self.assertEqual(sum(sample.value[1] for sample in profile.sample),
                         self.explain(self.PROGRAM)["moment"]["bytes"])
        self.assertEqual(profile.string_table[0], "")


if __name__ == "__main__":
    unittest.main()
