"""Two layers."""
import jax
import jax.numpy as jnp


def step(x, w1, w2):
    h = x @ w1  # @h
    return h @ w2


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


HIDDEN = 1024  #before
HIDDEN = 1280  #after
ARGUMENTS = (f32(1024, 256), f32(256, HIDDEN), f32(HIDDEN, 512))
CAUSE = {
    "edit": "1024 hidden units become 1280",
    "cause": "grown",
    "values": ["h"],
    "parameters": ["w1", "w2"],
    "delta": 4 * 256 * (1024 + 256 + 512),
    "why": "The hidden layer and both weights grow.",
}
