# SPDX-License-Identifier: Apache-2.0
"""Compiles a training step of a small language model with N unrolled layers on XLA:CPU.

Dumps go to the folder named second; XLA's log tells when buffer assignment began and ended.
"""

import sys

import jax
import jax.numpy as jnp

WIDTH, HIDDEN, HEADS, VOCABULARY, BATCH, LENGTH = 128, 344, 4, 4096, 4, 128


def layer_shapes():
    return {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH),
            "up": (WIDTH, HIDDEN), "gate": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH), "scale": (WIDTH,)}


def parameters(layers):
    shape = lambda dims: jax.ShapeDtypeStruct(dims, jnp.float32)
    return {"embed": shape((VOCABULARY, WIDTH)),
            "layers": [{k: shape(d) for k, d in layer_shapes().items()} for _ in range(layers)]}


def block(weights, x):
    split = lambda y: y.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS)
    y = x * weights["scale"].astype(x.dtype) * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)
    w = {k: v.astype(x.dtype) for k, v in weights.items()}
    scores = jnp.einsum("bqhd,bkhd->bhqk", split(y @ w["q"]), split(y @ w["k"])) / 8.0
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), split(y @ w["v"]))
    x = x + mixed.reshape(BATCH, LENGTH, WIDTH) @ w["o"]
    return x + (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]


def loss(weights, tokens):
    x = weights["embed"].astype(jnp.bfloat16)[tokens]
    for layer in weights["layers"]:
        x = block(layer, x)
    logits = (x @ weights["embed"].astype(jnp.bfloat16).T).astype(jnp.float32)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1))


def step(weights, first, second, tokens):
    value, gradients = jax.value_and_grad(loss)(weights, tokens)
    update = jax.tree.map
    first = update(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = update(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
    weights = update(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
    return weights, first, second, value


def main():
    weights = parameters(int(sys.argv[1]))
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH), jnp.int32)
    jax.jit(step, donate_argnums=(0, 1, 2)).lower(weights, weights, weights, tokens).compile()


if __name__ == "__main__":
    main()
