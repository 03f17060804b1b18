# SPDX-License-Identifier: Apache-2.0
"""Training steps with less memory, in their own executables: memory, time and bits.

    python bench/repack.py                          all programs, at 5 and 20 % extra work
    python bench/repack.py mlp cnn --costs=0.1      some of them
    python bench/repack.py --budgets=0.5,0.35       as much less memory, whatever it costs

For each program, the step as compiled, the same executable serialized and loaded again without a change, and rewritten
ones run in turn in one process. A row has the temporaries that memory_analysis() of the loaded executable reports, as a
part of the original's, how many results are equal to the last bit, and the least time as a part of the original's. The
row "unchanged" is the noise of the measurement. What is computed again depends on the executable alone.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import stowplan
from jax.experimental import serialize_executable


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def descend(loss):
    """A step of gradient descent."""

    def step(weights, *batch):
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradient), value

    return step


def normal(x, scale):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def mlp(width, hidden, batch, layers):
    def loss(weights, x, y):
        for up, bias, down in weights:
            x = x + jax.nn.gelu(x @ up + bias) @ down
        return jnp.mean((x - y) ** 2)

    weights = [(spec(width, hidden), spec(hidden), spec(hidden, width))] * layers
    return descend(loss), (weights, spec(batch, width), spec(batch, width))


def attend(x, weights, heads, is_causal):
    batch, length, width = x.shape
    parts = jnp.split(x @ weights["qkv"], 3, -1)
    query, key, value = (part.reshape(batch, length, heads, -1) for part in parts)
    scores = jnp.einsum("bthd,bshd->bhts", query, key) / (width // heads) ** 0.5
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1), value)
    return mixed.reshape(batch, length, width) @ weights["out"]


def block(x, weights, heads, is_causal):
    x = x + attend(normal(x, weights["scale1"]), weights, heads, is_causal)
    return x + jax.nn.gelu(normal(x, weights["scale2"]) @ weights["up"]) @ weights["down"]


def block_weights(width):
    return {
        "qkv": spec(width, 3 * width),
        "out": spec(width, width),
        "up": spec(width, 4 * width),
        "down": spec(4 * width, width),
        "scale1": spec(width),
        "scale2": spec(width),
    }


def lm(words, width, layers, batch, length, heads):
    def loss(weights, tokens):
        x = weights["words"][tokens[:, :-1]]
        for each in weights["blocks"]:
            x = block(x, each, heads, True)
        return cross_entropy(normal(x, weights["scale"]) @ weights["words"].T, tokens[:, 1:])

    blocks = [block_weights(width) for _ in range(layers)]
    weights = {"words": spec(words, width), "scale": spec(width), "blocks": blocks}
    return descend(loss), (weights, spec(batch, length + 1, dtype=jnp.int32))


def vit(width, layers, batch, patches, heads, classes):
    def loss(weights, x, labels):
        x = x @ weights["in"] + weights["places"]
        for each in weights["blocks"]:
            x = block(x, each, heads, False)
        return cross_entropy(normal(x, weights["scale"]).mean(1) @ weights["out"], labels)

    weights = {
        "in": spec(768, width),
        "places": spec(patches, width),
        "out": spec(width, classes),
        "scale": spec(width),
        "blocks": [block_weights(width) for _ in range(layers)],
    }
    return descend(loss), (weights, spec(batch, patches, 768), spec(batch, dtype=jnp.int32))


def cnn(batch, size, channels, layers):
    def convolve(x, kernel):
        return jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def whiten(x, scale):
        centred = x - x.mean((0, 1, 2))
        return centred * jax.lax.rsqrt((centred**2).mean((0, 1, 2)) + 1e-5) * scale

    def loss(weights, x, labels):
        x = convolve(x, weights["in"])
        for each in weights["layers"]:
            inner = convolve(jax.nn.relu(whiten(x, each["scale1"])), each["kernel1"])
            x = x + convolve(jax.nn.relu(whiten(inner, each["scale2"])), each["kernel2"])
        return cross_entropy(x.mean((1, 2)) @ weights["out"], labels)

    layer = {
        "kernel1": spec(3, 3, channels, channels),
        "kernel2": spec(3, 3, channels, channels),
        "scale1": spec(channels),
        "scale2": spec(channels),
    }
    weights = {
        "in": spec(3, 3, 3, channels),
        "out": spec(channels, 16),
        "layers": [layer] * layers,
    }
    return descend(loss), (weights, spec(batch, size, size, 3), spec(batch, dtype=jnp.int32))


PROGRAMS = {
    "mlp": lambda: mlp(256, 1024, 512, 8),
    "mlp16": lambda: mlp(512, 2048, 1024, 16),
    "lm12": lambda: lm(2048, 256, 12, 4, 256, 4),
    "vit": lambda: vit(192, 6, 8, 64, 4, 64),
    "cnn": lambda: cnn(4, 16, 32, 6),
}


def random_arguments(shapes):
    random = np.random.default_rng(0)

    def make(leaf):
        if leaf.dtype == jnp.int32:
            return random.integers(0, 2, leaf.shape).astype(np.int32)
        return (0.1 * random.standard_normal(leaf.shape)).astype(np.float32)

    return jax.tree.map(make, shapes)


def fresh(arguments):
    """Copies on the device: a step overwrites its weights."""
    return jax.block_until_ready(jax.tree.map(lambda x: jnp.array(x, copy=True), arguments))


def bits(compiled, arguments):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(compiled(*fresh(arguments)))]


def least_times(programs, arguments, runs):
    """The least seconds of each, run in turn."""
    times = [[] for _ in programs]
    for _ in range(runs):
        for row, program in zip(times, programs, strict=True):
            copies = fresh(arguments)
            begin = time.perf_counter()
            jax.block_until_ready(program(*copies))
            row.append(time.perf_counter() - begin)
    return [min(row) for row in times]


def loaded_again(compiled):
    payload, in_tree, out_tree = serialize_executable.serialize(compiled)
    devices = compiled.runtime_executable().local_devices()
    return serialize_executable.deserialize_and_load(
        payload, in_tree, out_tree, execution_devices=devices
    )


def measure(name, wanted, runs):
    step, shapes = PROGRAMS[name]()
    compiled = jax.jit(step, donate_argnums=0).lower(*shapes).compile()
    before = compiled.memory_analysis().temp_size_in_bytes
    arguments = random_arguments(shapes)
    expected = bits(compiled, arguments)
    rows = [("as compiled", compiled, ""), ("unchanged", loaded_again(compiled), "")]
    for label, options in wanted:
        if "budget" in options:
            free = stowplan.repack(compiled, reorder=False).report
            options = {"budget": int(free.other_bytes + options["budget"] * before)}
        better = stowplan.repack(compiled, **options)
        report = better.report
        note = f"{report.copied_thunks} again, {100 * report.cost:.1f} % by the model"
        rows.append((label, better.compiled, note))
    times = least_times([program for _, program, _ in rows], arguments, runs)
    print(f"{name}, {before} bytes of temporaries, {1e3 * times[0]:.2f} ms")
    ratios = {}
    for (label, program, note), seconds in zip(rows, times, strict=True):
        after = program.memory_analysis().temp_size_in_bytes
        got = bits(program, arguments)
        equal = sum(a == b for a, b in zip(got, expected, strict=True))
        ratios[label] = (after / before, seconds / times[0], equal == len(expected))
        print(
            f"  {label:12} {after:>12} = {after / before:.3f}  {equal:>3} of {len(expected)} equal"
            f"  time {seconds / times[0]:.3f}  {note}",
            flush=True,
        )
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS])
    parser.add_argument("--costs", default="0.05,0.2", help="extra work, as parts of the program's")
    parser.add_argument("--budgets", default="", help="temporaries, as parts of the original's")
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    wanted = [("order", {})]
    wanted += [(f"cost {c}", {"max_cost": float(c)}) for c in options.costs.split(",") if c]
    wanted += [(f"to {b}", {"budget": float(b)}) for b in options.budgets.split(",") if b]
    print(f"jax {jax.__version__}, the least of {options.runs} runs")
    results = [measure(name, wanted, options.runs) for name in options.programs or PROGRAMS]
    for label in results[0]:
        sizes = statistics.geometric_mean(result[label][0] for result in results)
        times = statistics.geometric_mean(result[label][1] for result in results)
        equal = all(result[label][2] for result in results)
        print(f"{label:14} temporaries {sizes:.3f}, time {times:.3f}, all equal: {equal}")


if __name__ == "__main__":
    main()
