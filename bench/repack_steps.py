# SPDX-License-Identifier: Apache-2.0
"""Training steps for bench/repack.py and bench/repack_gpu.py, and how they are measured."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import serialize_executable

# A long random sequence would take longer to draw than the step to run, so a prime number of values repeats.
MOST_DRAWN = 1_000_003


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def stacked(layers, tree):
    """The shapes of as many layers in one array, for a scan."""
    return jax.tree.map(lambda leaf: spec(layers, *leaf.shape, dtype=leaf.dtype), tree)


def descend(loss):
    """A step of gradient descent."""

    def step(weights, *batch):
        value, gradient = jax.value_and_grad(loss)(weights, *batch)
        return jax.tree.map(lambda w, g: (w - 1e-3 * g).astype(w.dtype), weights, gradient), value

    return step


def through(layer, x, weights):
    """Layers one after the other: a list of them is unrolled, one tree of stacked arrays is scanned."""
    if isinstance(weights, list):
        for each in weights:
            x = layer(x, each)
        return x
    return jax.lax.scan(lambda x, each: (layer(x, each), None), x, weights)[0]


def normal(x, scale):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale


def cross_entropy(logits, labels):
    log = jax.nn.log_softmax(logits.astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(log, labels[..., None], -1))


def mlp(width, hidden, batch, layers, dtype=jnp.float32, is_scanned=False):
    def layer(x, weights):
        up, bias, down = weights
        return x + jax.nn.gelu(x @ up + bias) @ down

    def loss(weights, x, y):
        return jnp.mean((through(layer, x, weights) - y).astype(jnp.float32) ** 2)

    one = (spec(width, hidden, dtype=dtype), spec(hidden, dtype=dtype), spec(hidden, width, dtype=dtype))
    weights = stacked(layers, one) if is_scanned else [one] * layers
    return descend(loss), (weights, spec(batch, width, dtype=dtype), spec(batch, width, dtype=dtype))


def attend(x, weights, heads, is_causal):
    batch, length, width = x.shape
    parts = jnp.split(x @ weights["qkv"], 3, -1)
    query, key, value = (part.reshape(batch, length, heads, -1) for part in parts)
    scores = jnp.einsum("bthd,bshd->bhts", query, key) / (width // heads) ** 0.5
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    shares = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(x.dtype)
    return jnp.einsum("bhts,bshd->bthd", shares, value).reshape(batch, length, width) @ weights["out"]


def block(x, weights, heads, is_causal):
    x = x + attend(normal(x, weights["scale1"]), weights, heads, is_causal)
    return x + jax.nn.gelu(normal(x, weights["scale2"]) @ weights["up"]) @ weights["down"]


def block_weights(width, dtype):
    return {
        "qkv": spec(width, 3 * width, dtype=dtype),
        "out": spec(width, width, dtype=dtype),
        "up": spec(width, 4 * width, dtype=dtype),
        "down": spec(4 * width, width, dtype=dtype),
        "scale1": spec(width, dtype=dtype),
        "scale2": spec(width, dtype=dtype),
    }


def lm(words, width, layers, batch, length, heads, dtype=jnp.float32, is_scanned=False):
    def loss(weights, tokens):
        x = weights["words"][tokens[:, :-1]]
        x = through(lambda x, each: block(x, each, heads, True), x, weights["blocks"])
        return cross_entropy(normal(x, weights["scale"]) @ weights["words"].T, tokens[:, 1:])

    one = block_weights(width, dtype)
    weights = {
        "words": spec(words, width, dtype=dtype),
        "scale": spec(width, dtype=dtype),
        "blocks": stacked(layers, one) if is_scanned else [one] * layers,
    }
    return descend(loss), (weights, spec(batch, length + 1, dtype=jnp.int32))


def vit(width, layers, batch, patches, heads, classes, dtype=jnp.float32):
    def loss(weights, x, labels):
        x = x @ weights["in"] + weights["places"]
        x = through(lambda x, each: block(x, each, heads, False), x, weights["blocks"])
        return cross_entropy(normal(x, weights["scale"]).mean(1) @ weights["out"], labels)

    weights = {
        "in": spec(768, width, dtype=dtype),
        "places": spec(patches, width, dtype=dtype),
        "out": spec(width, classes, dtype=dtype),
        "scale": spec(width, dtype=dtype),
        "blocks": [block_weights(width, dtype)] * layers,
    }
    batch_shapes = spec(batch, patches, 768, dtype=dtype), spec(batch, dtype=jnp.int32)
    return descend(loss), (weights, *batch_shapes)


def cnn(batch, size, channels, layers):
    def convolve(x, kernel):
        return jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def whiten(x, scale):
        centred = x - x.mean((0, 1, 2))
        return centred * jax.lax.rsqrt((centred**2).mean((0, 1, 2)) + 1e-5) * scale

    def layer(x, each):
        inner = convolve(jax.nn.relu(whiten(x, each["scale1"])), each["kernel1"])
        return x + convolve(jax.nn.relu(whiten(inner, each["scale2"])), each["kernel2"])

    def loss(weights, x, labels):
        x = through(layer, convolve(x, weights["in"]), weights["layers"])
        return cross_entropy(x.mean((1, 2)) @ weights["out"], labels)

    one = {
        "kernel1": spec(3, 3, channels, channels),
        "kernel2": spec(3, 3, channels, channels),
        "scale1": spec(channels),
        "scale2": spec(channels),
    }
    weights = {
        "in": spec(3, 3, 3, channels),
        "out": spec(channels, 16),
        "layers": [one] * layers,
    }
    return descend(loss), (weights, spec(batch, size, size, 3), spec(batch, dtype=jnp.int32))


def random_arguments(shapes):
    random = np.random.default_rng(0)

    def make(leaf):
        count = min(int(np.prod(leaf.shape)), MOST_DRAWN)
        if leaf.dtype == jnp.int32:
            return np.resize(random.integers(0, 16, count).astype(np.int32), leaf.shape)
        drawn = (0.05 * random.standard_normal(count)).astype(np.float32).astype(leaf.dtype)
        return np.resize(drawn.view(f"u{drawn.itemsize}"), leaf.shape).view(drawn.dtype)

    return jax.tree.map(make, shapes)


@jax.jit
def copied(tree):
    return jax.tree.map(jnp.copy, tree)


def fresh(arguments):
    """Copies on the device: a step overwrites its weights."""
    return jax.block_until_ready(copied(arguments))


@jax.jit
def count_equal(a, b):
    """How many arrays are the same to the last bit."""

    def is_equal(x, y):
        width = jnp.dtype(x.dtype).itemsize * 8
        as_bits = lambda z: jax.lax.bitcast_convert_type(z, f"uint{width}")  # noqa: E731
        return jnp.all(as_bits(x) == as_bits(y)).astype(jnp.int32)

    return sum(map(is_equal, jax.tree.leaves(a), jax.tree.leaves(b)))


def least_times(programs, arguments, runs):
    """The least seconds of each, run in turn. Every round begins with another one: where the allocator puts arrays
    depends on what ran before."""
    times = [[] for _ in programs]
    for turn in range(runs):
        for k in range(len(programs)):
            which = (turn + k) % len(programs)
            copies = fresh(arguments)
            begin = time.perf_counter()
            result = jax.block_until_ready(programs[which](*copies))
            times[which].append(time.perf_counter() - begin)
            del copies, result
    return [min(row) for row in times]


def loaded(payload, in_tree, out_tree, device):
    return serialize_executable.deserialize_and_load(
        payload, in_tree, out_tree, execution_devices=[device]
    )


def loaded_again(compiled):
    return loaded(*serialize_executable.serialize(compiled), jax.devices()[0])
