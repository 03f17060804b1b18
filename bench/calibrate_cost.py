# SPDX-License-Identifier: Apache-2.0
"""Compares the cost model of `stowplan fit` with measured times, and says which figures would fit better.

    python bench/calibrate_cost.py STOWPLAN [--machine=h200] [--only=TEXT] [--raw=FILE]

STOWPLAN is the program, built from the same checkout as this script. It needs JAX with the device whose figures are wanted, and no network. Each program is
compiled, run until its least time settles, and its optimized module given to `stowplan fit`, which says what the
program does (bytes, flops, kernels) and how long that takes by the model. Groups of programs:

    launch     chains of tiny kernels: what one more kernel takes
    memory     kernels that only move data
    elements   arithmetic without matrix products
    products   matrix products and convolutions, by type
    steps      training steps; these are not used to fit anything
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp

IS_SMALL = jax.devices()[0].platform == "cpu"
SECONDS_BY_PROGRAM = 0.02 if IS_SMALL else 0.25  # of measuring


def scaled(size):
    """A size for the device, or a much smaller one that shows that the script works."""
    return max(size // 128, 8) if IS_SMALL else size


def array(*dims, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


def launch_programs():
    def chain(count):
        def run(x):
            for _ in range(count):
                x = x + jnp.sum(x) * 1e-9
            return x

        return run

    for count in (32, 128, 512):
        yield f"chain of {count}", chain(count), (array(64, 64),)


def memory_programs():
    for mib in (4, 16, 64, 256, 1024):
        rows = scaled(mib * 256)
        yield f"scale {mib} MiB", lambda x: x * 2, (array(rows, 1024),)
    n = scaled(32768)
    big = array(n, 2048)
    yield "add", lambda x, y: x + y, (big, big)
    yield "scale bf16", lambda x: x * 2, (array(n, 4096, dtype=jnp.bfloat16),)
    yield "to bf16", lambda x: x.astype(jnp.bfloat16), (big,)
    yield "gelu", jax.nn.gelu, (big,)
    yield "transpose", lambda x: x.T * 2, (big,)
    yield "heads", lambda x: jnp.transpose(x.reshape(-1, 128, 16, 128), (0, 2, 1, 3)) * 2, (big,)
    yield "sum of rows", lambda x: x.sum(1), (big,)
    yield "sum of columns", lambda x: x.sum(0), (big,)
    yield "sum", jnp.sum, (big,)
    yield "softmax", lambda x: jax.nn.softmax(x, -1), (big,)
    yield "normalize", lambda x: (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5), (big,)
    yield "gather rows", lambda x, i: x[i], (big, array(n // 2, dtype=jnp.int32))
    yield "broadcast", lambda x: jnp.broadcast_to(x[None], (n, 2048)) + 1.0, (array(2048),)
    yield "concatenate", lambda x, y: jnp.concatenate([x, y]), (array(n // 2, 2048), array(n // 2, 2048))


def element_programs():
    def repeated(function, count):
        def run(x):
            for _ in range(count):
                x = function(x)
            return x

        return run

    big = array(scaled(16384), 2048)
    yield "multiply, add x 256", repeated(lambda x: x * 1.0001 + 0.5, 128), (big,)
    yield "exp x 32", repeated(lambda x: jnp.exp(x) - x, 32), (big,)
    yield "tanh x 16", repeated(jnp.tanh, 16), (big,)
    yield "erf x 16", repeated(jax.lax.erf, 16), (big,)
    yield "multiply, add x 256, bf16", repeated(lambda x: x * 1.0001 + 0.5, 128), (array(scaled(16384), 4096, dtype=jnp.bfloat16),)


def product_programs():
    def square(n, dtype):
        return array(scaled(n), scaled(n), dtype=dtype), array(scaled(n), scaled(n), dtype=dtype)

    for n in (1024, 4096, 8192):
        yield f"dot f32 {n}", jnp.dot, square(n, jnp.float32)
        yield f"dot bf16 {n}", jnp.dot, square(n, jnp.bfloat16)
    yield "dot f16 4096", jnp.dot, square(4096, jnp.float16)
    exact = lambda x, y: jnp.dot(x, y, precision=jax.lax.Precision.HIGHEST)
    yield "dot f32 highest 4096", exact, square(4096, jnp.float32)
    yield "dot f8 8192", lambda x, y: jax.lax.dot(x, y, preferred_element_type=jnp.float32), square(8192, jnp.float8_e4m3fn)
    for dtype in (jnp.float32, jnp.bfloat16):
        heads = array(scaled(256), 512, 64, dtype=dtype)
        name = jnp.dtype(dtype).name
        yield f"scores {name}", lambda q, k: jnp.einsum("bqd,bkd->bqk", q, k), (heads, heads)
        layer = (array(scaled(16384), 1024, dtype=dtype), array(1024, 4096, dtype=dtype))
        yield f"layer {name}", jnp.dot, layer
        yield f"layer's gradient {name}", lambda x, y: jnp.einsum("nd,nf->df", x, y), (layer[0], array(layer[0].shape[0], 4096, dtype=dtype))
        yield f"layer with gelu {name}", lambda x, w: jax.nn.gelu(x @ w), layer
        images = array(scaled(128), 56, 56, 64, dtype=dtype)
        convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        yield f"convolution {name}", convolve, (images, array(3, 3, 64, 64, dtype=dtype))


def step_programs():
    def block(x, w):
        batch, length, width = x.shape
        y = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        q, k, v = jnp.split((y @ w["in"]).reshape(batch, length, -1, 64), 3, axis=2)
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(batch, length, width) @ w["out"]
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

    def weights(layers, width, dtype):
        shapes = {"in": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
        return {k: array(layers, *v, dtype=dtype) for k, v in shapes.items()}

    def stepped(loss):
        def step(w, x):
            value, gradient = jax.value_and_grad(loss)(w, x)
            return jax.tree.map(lambda a, g: a - (1e-3 * g).astype(a.dtype), w, gradient), value

        return step

    def unrolled(w, x):
        for i in range(w["in"].shape[0]):
            x = block(x, {k: v[i] for k, v in w.items()})
        return jnp.mean(x.astype(jnp.float32) ** 2)

    def checkpointed(w, x):
        for i in range(w["in"].shape[0]):
            x = jax.checkpoint(block)(x, {k: v[i] for k, v in w.items()})
        return jnp.mean(x.astype(jnp.float32) ** 2)

    def scanned(w, x):
        return jnp.mean(jax.lax.scan(lambda y, v: (block(y, v), None), x, w)[0].astype(jnp.float32) ** 2)

    def dense(w, x):
        for i in range(w["up"].shape[0]):
            x = x + jnp.tanh(jax.nn.silu(x @ w["up"][i]) @ w["down"][i])
        return jnp.mean(x ** 2)

    def convolutions(w, x):
        for i in range(w["k"].shape[0]):
            x = jax.nn.relu(jax.lax.conv_general_dilated(x, w["k"][i], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean(x ** 2)

    batch = scaled(32)
    for dtype in (jnp.float32, jnp.bfloat16):
        name = jnp.dtype(dtype).name
        data = array(batch, 512, 1024, dtype=dtype)
        yield f"transformer, 4 layers {name}", stepped(unrolled), (weights(4, 1024, dtype), data)
        yield f"with checkpoints {name}", stepped(checkpointed), (weights(4, 1024, dtype), data)
    yield "scan over 8 layers", stepped(scanned), (weights(8, 1024, jnp.float32), array(batch, 512, 1024))
    yield "small transformer", stepped(unrolled), (weights(4, 256, jnp.float32), array(8, 128, 256))
    yield "dense, 8 layers", stepped(dense), ({"up": array(8, 1024, 4096), "down": array(8, 4096, 1024)}, array(scaled(8192), 1024))
    yield "convolutions, 6 layers", stepped(convolutions), ({"k": array(6, 3, 3, 64, 64)}, array(scaled(128), 56, 56, 64))


GROUPS = {"launch": launch_programs, "memory": memory_programs, "elements": element_programs,
          "products": product_programs, "steps": step_programs}


def filled(shapes):
    """Small random numbers, made on the device."""
    def make(shape):
        if jnp.issubdtype(shape.dtype, jnp.integer):
            return jax.random.randint(jax.random.key(0), shape.shape, 0, shape.shape[0], shape.dtype)
        return (0.1 * jax.random.normal(jax.random.key(1), shape.shape, jnp.float32)).astype(shape.dtype)

    return jax.jit(lambda: jax.tree.map(make, shapes))()


def least_seconds(function, arguments):
    """Of one call, when many are under way."""
    jax.block_until_ready(function(*arguments))
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    once = max(time.perf_counter() - start, 1e-6)
    calls = max(1, min(200, round(SECONDS_BY_PROGRAM / 6 / once)))
    least, end = math.inf, time.perf_counter() + SECONDS_BY_PROGRAM
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(calls):
            result = function(*arguments)
        jax.block_until_ready(result)
        least = min(least, (time.perf_counter() - start) / calls)
    return least


class Model:
    """What Stowplan says about a module."""

    def __init__(self, program, machine, folder):
        self.program, self.machine, self.file = program, machine, pathlib.Path(folder, "module.hlo.pb")
        self.target = {"cuda": "gpu", "gpu": "gpu", "rocm": "gpu"}.get(jax.devices()[0].platform, "cpu")

    def work(self, module, *figures):
        self.file.write_bytes(module)
        command = [self.program, "fit", str(self.file), f"--target={self.target}", "--use=pack", "--format=json", *figures]
        if self.machine:
            command.append(f"--machine={self.machine}")
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout:
            raise RuntimeError(done.stderr.strip())
        work = json.loads(done.stdout).get("work")
        if work is None:
            sys.exit(f"{self.program} is too old: its `fit --format=json` has no `work`. Build it from this checkout.")
        return work


def measure_all(model, only):
    rows = []
    for group, programs in GROUPS.items():
        for name, function, shapes in programs():
            if only not in f"{group} {name}":
                continue
            try:
                arguments = filled(shapes)
                compiled = jax.jit(function).lower(*arguments).compile()
                module = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
                row = {"group": group, "name": name, **model.work(module), "module": module}
                row["measured"] = least_seconds(jax.jit(function), arguments)
                del arguments
            except Exception as error:  # a type or size that the device does not take
                print(f"{group:9} {name:30} left out: {str(error).splitlines()[0][:90]}", flush=True)
                continue
            rows.append(row)
            show(row)
    return rows


def show(row):
    taken = row["measured"]
    print(f"{row['group']:9} {row['name']:30} {row['launches']:6.0f} {taken * 1e6:10.1f} {row['seconds'] * 1e6:10.1f} "
          f"{row['seconds'] / taken:6.2f} {row['bytes'] / taken / 1e9:8.0f} {row['flops'] / taken / 1e12:8.2f}", flush=True)


def host_rates():
    """Bytes per second to the host's memory and back, or nothing where JAX cannot tell."""
    try:
        device = jax.devices()[0]
        here = jax.sharding.SingleDeviceSharding(device)
        there = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
        x = filled(array(scaled(65536), 1024))
        y = jax.device_put(x, there)
        out = least_seconds(lambda v: jax.device_put(v, there), (x,))
        back = least_seconds(lambda v: jax.device_put(v, here), (y,))
        return x.nbytes / out, x.nbytes / back
    except Exception as error:
        print(f"host's memory: {str(error).splitlines()[0][:90]}")
        return None


def middle(values):
    values = sorted(values)
    return (statistics.median(values), values[0], values[-1]) if values else None


def fitted_figures(rows):
    """Figures that fit the groups they are measured by."""
    figures = {}
    chains = sorted((row["launches"], row["measured"]) for row in rows if row["group"] == "launch")
    if len(chains) > 1:
        figures["launch, us"] = ((chains[-1][1] - chains[0][1]) / (chains[-1][0] - chains[0][0]) * 1e6,) * 3
    # Kernels that are much longer than a call of the program.
    long = [row for row in rows if row["measured"] > 100e-6]
    figures["memory, GB/s"] = middle([r["bytes"] / r["measured"] / 1e9 for r in long if r["group"] == "memory"])
    figures["elements, Tflop/s"] = middle([r["flops"] / r["measured"] / 1e12 for r in long if r["group"] == "elements"])
    for bits in (64, 32, 16, 8):
        key = f"products_{bits}"
        figures[f"products of {bits} bits, Tflop/s"] = middle(
            [r[key] / r["measured"] / 1e12 for r in long if r["group"] == "products" and key in r])
    figures["products of f32, highest, Tflop/s"] = middle(
        [r["flops"] / r["measured"] / 1e12 for r in long if r["group"] == "products" and "highest" in r["name"]])
    return {name: value for name, value in figures.items() if value}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowplan")
    parser.add_argument("--machine", default="", help="whose figures are compared")
    parser.add_argument("--only", default="", help="programs whose group and name contain this")
    parser.add_argument("--raw", help="a file for all rows, as JSON")
    options = parser.parse_args()
    device = jax.devices()[0]
    print(f"{device.device_kind}, {device.platform}, jax {jax.__version__}; times in us; model: {options.machine or 'default'}")
    print(f"{'':9} {'':30} {'kernels':>6} {'measured':>9} {'model':>10} {'ratio':>6} {'GB/s':>8} {'Tflop/s':>8}")
    with tempfile.TemporaryDirectory() as folder:
        model = Model(options.stowplan, options.machine, folder)
        rows = measure_all(model, options.only)
        print("\nFigures as measured: median, least, most")
        figures = fitted_figures(rows)
        for name, (value, least, most) in figures.items():
            print(f"  {name:36} {value:10.2f} {least:10.2f} {most:10.2f}")
        if rates := host_rates():
            print(f"  {'to the host, and back, GB/s':36} {rates[0] / 1e9:10.2f} {rates[1] / 1e9:10.2f}")
        print("\nThe model divided by what was measured: median, least, most")
        for group in GROUPS:
            if ratios := middle([row["seconds"] / row["measured"] for row in rows if row["group"] == group]):
                print(f"  {group:36} {ratios[0]:10.2f} {ratios[1]:10.2f} {ratios[2]:10.2f}")
        memory, products = figures.get("memory, GB/s"), figures.get("products of 32 bits, Tflop/s")
        if memory and products:
            print("\nSteps, with the medians above for memory and for products of 32 bits")
            for row in rows:
                if row["group"] == "steps":
                    better = model.work(row["module"], f"--bandwidth={memory[0]:.4g}G", f"--flops={products[0]:.4g}T")
                    print(f"  {row['name']:36} {row['measured'] * 1e6:10.1f} {better['seconds'] * 1e6:10.1f} "
                          f"{better['seconds'] / row['measured']:6.2f}")
    if options.raw:
        pathlib.Path(options.raw).write_text(json.dumps([{k: v for k, v in row.items() if k != "module"} for row in rows]))


if __name__ == "__main__":
    main()
