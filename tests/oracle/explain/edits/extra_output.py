"""A chain of products."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    h = x @ w1  # @h
    y = jnp.sort(h @ w2, axis=1)
    z = y @ w3
    return z  #before
    return z, h  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(1024, 256), f32(256, 1024), f32(1024, 2048), f32(2048, 1536))
CAUSE = {
    "edit": "h is returned, too",
    "cause": "lives-longer",
    "also": ["peak-moved"],
    "values": ["h"],
    "delta": 4 * 1024 * 1024,
    "why": "h, which was dead when z was made, now stays to the end.",
}
