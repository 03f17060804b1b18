# SPDX-License-Identifier: Apache-2.0
"""A training step in plain JAX, for the notebook beside it."""

import jax
import jax.numpy as jnp

LAYERS, WIDTH, BATCH = 6, 2048, 4096


def init_state():
    """Parameters, and Adam's two moments of each."""
    keys = jax.random.split(jax.random.key(0), LAYERS)
    params = [{"w": jax.random.normal(key, (WIDTH, WIDTH)) / WIDTH**0.5, "b": jnp.zeros(WIDTH)} for key in keys]
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mean": zeros, "square": zeros, "count": jnp.zeros((), int)}


def layer(weights, x):
    return x + jax.nn.gelu(x @ weights["w"] + weights["b"])


def loss(params, x, y, remat):
    apply = jax.checkpoint(layer) if remat else layer
    for weights in params:
        x = apply(weights, x)
    return jnp.mean((x - y) ** 2)


def train_step(state, batch, remat=False):
    value, grads = jax.value_and_grad(loss)(state["params"], batch["x"], batch["y"], remat)
    count = state["count"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], grads)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, state["square"], grads)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(
        lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), state["params"], mean, square
    )
    return {"params": params, "mean": mean, "square": square, "count": count}, value


def batch():
    return {"x": jnp.zeros((BATCH, WIDTH)), "y": jnp.zeros((BATCH, WIDTH))}
