# SPDX-License-Identifier: Apache-2.0
"""Buffer assignment, against XLA in the same run; and how its cost grows up to a million instructions."""

import datetime
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", ROOT / "build/corpus"))
PLANNER = ROOT / "build/release/bench/stowplan_bench_assign"
STOWPLAN = ROOT / "build/release/stowplan"
LOG_TIME = re.compile(r"^[IWE]\d{4} (\d\d:\d\d:\d\d\.\d{6})")


def stowplan(target, repetitions, module):
    command = [PLANNER, target, str(repetitions), module]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def log_seconds(line):
    match = LOG_TIME.match(line)
    time = datetime.datetime.strptime(match[1], "%H:%M:%S.%f")
    return (time - datetime.datetime(1900, 1, 1)).total_seconds()


def xla_seconds(layers, folder):
    """The time between XLA's log lines around the assignment of the largest module."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE="buffer_assignment=1",
                       XLA_FLAGS=f"--xla_dump_to={folder} --xla_dump_hlo_as_proto")
    run = subprocess.run([sys.executable, ROOT / "bench/unrolled_lm.py", str(layers)], env=environment,
                         check=True, capture_output=True, text=True)
    start = longest = None
    for line in run.stderr.splitlines():
        if "Assigning buffers to module" in line:
            start = log_seconds(line)
        elif "Buffer assignment done" in line and start is not None:
            longest = max(longest or 0, log_seconds(line) - start)
    module = max(pathlib.Path(folder).glob("*cpu_after_optimizations.hlo.pb"), key=lambda p: p.stat().st_size)
    return longest, module


def against_xla(results):
    print("\nfrom live ranges to the finished assignment, against XLA:CPU (jaxlib 0.10.2)\n")
    print(f"  {'training step':24}{'instructions':>14}{'Stowplan':>12}{'XLA':>12}{'ratio':>8}   must")
    ours = {}
    for layers in (24, 96):
        with tempfile.TemporaryDirectory() as folder:
            theirs, module = xla_seconds(layers, folder)
            row = ours[layers] = stowplan("cpu", 5, module)
        if theirs is None:
            print(f"  {layers} layers: XLA's log does not say")
            continue
        ratio = theirs / row["assign_s"]
        results.append({"assign_layers": layers, **row, "xla_s": theirs})
        print(f"  {layers:3} layers{'':14}{row['instructions']:14}{row['assign_s'] * 1e3:9.1f} ms{theirs * 1e3:9.1f} ms"
              f"{ratio:7.1f}x   5x {'yes' if ratio >= 5 else 'NO'}")
    print(f"  24 to 96 layers: {ours[96]['instructions'] / ours[24]['instructions']:.2f} times the instructions,"
          f" {ours[96]['assign_s'] / ours[24]['assign_s']:.2f} times the time")


def unrolled_step(layers, file):
    """HLO text of a training step: activations live until the way back, parameters are donated."""
    activations, weights = [65536, 4096, 262144, 65536, 1024], [65536, 1024, 262144, 4096]
    count = layers * len(weights)
    aliases = ", ".join(f"{{{i}}}: ({i}, {{}}, may-alias)" for i in range(count))
    lines = [f"HloModule step, is_scheduled=true, input_output_alias={{ {aliases} }}", "", "ENTRY main {"]
    call = lambda name, size, operands: lines.append(
        f'  {name} = f32[{size}]{{0}} custom-call({operands}), custom_call_target="layer"')
    for i in range(count):
        lines.append(f"  w{i} = f32[{weights[i % len(weights)]}]{{0}} parameter({i})")
    lines.append(f"  x = f32[65536]{{0}} parameter({count})")
    last = "x"
    for i in range(layers):
        for j, size in enumerate(activations):
            call(f"f{i}_{j}", size, f"{last}, w{i * len(weights) + j % len(weights)}")
            last = f"t{i}_{j}"
            lines.append(f"  {last} = f32[{size}]{{0}} tanh(f{i}_{j})")
    for i in reversed(range(layers)):
        for j in reversed(range(len(activations))):
            call(f"b{i}_{j}", activations[j], f"{last}, f{i}_{j}")
            last = f"c{i}_{j}"
            lines.append(f"  {last} = f32[{activations[j]}]{{0}} multiply(b{i}_{j}, t{i}_{j})")
            if j < len(weights):
                k = i * len(weights) + j
                call(f"g{k}", weights[j], f"{last}, f{i}_{j}")
                lines.append(f"  u{k} = f32[{weights[j]}]{{0}} add(w{k}, g{k})")
    shapes = ", ".join(f"f32[{weights[i % len(weights)]}]{{0}}" for i in range(count))
    lines += [f"  ROOT out = ({shapes}) tuple({', '.join(f'u{i}' for i in range(count))})", "}"]
    file.write_text("\n".join(lines) + "\n")


def all_alive(count, file):
    """`count` values that are all alive at once."""
    lines = ["HloModule wide, is_scheduled=true", "", "ENTRY main {", "  p = f32[1024]{0} parameter(0)"]
    lines += [f'  v{i} = f32[{1 + i * 7919 % 5000}]{{0}} custom-call(p), custom_call_target="make"' for i in range(count)]
    lines += [f"  ROOT r = f32[1024]{{0}} custom-call({', '.join(f'v{i}' for i in range(count))}),"
              ' custom_call_target="use"', "}"]
    file.write_text("\n".join(lines) + "\n")


def made_up(count, file):
    """`count` values of five sizes: each reads the one before it and one of the last sixty, some one of long ago."""
    draw = random.Random(7)
    sizes = [256, 1024, 4096, 16384, 65536]
    known = [[f"p{size}"] for size in sizes]
    lines = ["HloModule made_up, is_scheduled=true", "", "ENTRY main {"]
    lines += [f"  p{size} = f32[{size}]{{0}} parameter({i})" for i, size in enumerate(sizes)]
    for i in range(count):
        which = min(draw.randrange(5), draw.randrange(5))
        names = known[which]
        ago = draw.randrange(len(names)) if draw.randrange(100) < 5 else draw.randrange(60)
        lines.append(f"  v{i} = f32[{sizes[which]}]{{0}} add({names[-1]}, {names[max(0, len(names) - 1 - ago)]})")
        names.append(f"v{i}")
    shapes = ", ".join(f"f32[{size}]{{0}}" for size in sizes)
    lines += [f"  ROOT r = ({shapes}) tuple({', '.join(names[-1] for names in known)})", "}"]
    file.write_text("\n".join(lines) + "\n")


def one_callee(count, file):
    """`count` calls of one computation, one after another."""
    lines = ["HloModule calls, is_scheduled=true", "", "f {", "  p = f32[256]{0} parameter(0)",
             "  c = f32[256]{0} copy(p)", "  ROOT n = f32[256]{0} negate(c)", "}", "", "ENTRY main {",
             "  x0 = f32[256]{0} parameter(0)"]
    lines += [f"  x{i + 1} = f32[256]{{0}} call(x{i}), to_apply=f" for i in range(count)]
    lines += [f"  ROOT r = f32[256]{{0}} copy(x{count})", "}"]
    file.write_text("\n".join(lines) + "\n")


def loops(count, file, is_one_body=False):
    """`count` loops, one after another, of one body or a body each."""
    lines = ["HloModule loops, is_scheduled=true", ""]
    state = "(s32[], f32[256]{0})"
    for i in range(1 if is_one_body else count):
        lines += [f"c{i} {{", f"  cp{i} = {state} parameter(0)", f"  ci{i} = s32[] get-tuple-element(cp{i}), index=0",
                  f"  ck{i} = s32[] constant(3)", f"  ROOT cr{i} = pred[] compare(ci{i}, ck{i}), direction=LT", "}", "",
                  f"b{i} {{", f"  bp{i} = {state} parameter(0)", f"  bi{i} = s32[] get-tuple-element(bp{i}), index=0",
                  f"  bv{i} = f32[256]{{0}} get-tuple-element(bp{i}), index=1", f"  bk{i} = s32[] constant(1)",
                  f"  bj{i} = s32[] add(bi{i}, bk{i})", f"  bn{i} = f32[256]{{0}} negate(bv{i})",
                  f"  ROOT bt{i} = {state} tuple(bj{i}, bn{i})", "}", ""]
    lines += ["ENTRY main {", "  p = f32[256]{0} parameter(0)", "  v0 = f32[256]{0} copy(p)"]
    for i in range(count):
        k = 0 if is_one_body else i
        lines += [f"  z{i} = s32[] constant(0)", f"  s{i} = s32[] copy(z{i})", f"  t{i} = {state} tuple(s{i}, v{i})",
                  f"  w{i} = {state} while(t{i}), condition=c{k}, body=b{k}",
                  f"  v{i + 1} = f32[256]{{0}} get-tuple-element(w{i}), index=1"]
    lines += [f"  ROOT r = f32[256]{{0}} copy(v{count})", "}"]
    file.write_text("\n".join(lines) + "\n")


def growth(results):
    print("\ngenerated modules, the whole of `stowplan assign -o`: reading, planning, checking, writing reports\n")
    print(f"  {'module':34}{'CPU time':>12}{'peak memory':>14}")
    cases = [(f"training step, {layers} layers", unrolled_step, layers) for layers in (300, 3000, 31250)]
    cases.append(("100000 values alive at once", all_alive, 100_000))
    cases.append(("100000 calls of one computation", one_callee, 100_000))
    cases.append(("100000 loops", loops, 100_000))
    cases.append(("100000 loops of one body", functools.partial(loops, is_one_body=True), 100_000))
    made = [50_000, 200_000]
    cases += [(f"made up, {count} values", made_up, count) for count in made]
    seconds_of = {}
    for name, make, count in cases:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "module.hlo"
            make(count, file)
            lines = file.read_text().count("\n")
            command = [STOWPLAN, "assign", "--target=cpu", "-o", folder, file]
            process = subprocess.Popen(command)
            _, status, usage = os.wait4(process.pid, 0)
            assert status == 0
        seconds = seconds_of[name] = usage.ru_utime + usage.ru_stime
        results.append({"generated": name, "lines": lines, "cpu_s": seconds, "peak_bytes": usage.ru_maxrss * 1024})
        print(f"  {name:34}{seconds:10.2f} s{usage.ru_maxrss / 1e6:11.2f} GB   {lines} lines")
    small, large = (seconds_of[f"made up, {count} values"] for count in made)
    print(f"  made up: {made[1] / made[0]:.0f} times the values, {large / small:.2f} times the time")
