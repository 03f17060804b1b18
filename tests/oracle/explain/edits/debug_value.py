"""A chain, and how an early value goes with the result, for the log."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    h = x @ w1  # @h
    y = jnp.sort(h @ w2, axis=1)  # @y
    z = y @ w3  # @z
    return z  #before
    return z, (h.T @ z)[0]  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(1024, 256), f32(256, 1024), f32(1024, 2048), f32(2048, 1536))
CAUSE = {
    "edit": "a product of h with the result is logged",
    "cause": "lives-longer",
    "values": ["h"],
    "delta": 4 * 1024 * 1024,
    "why": "h is needed at the end and so lives through the peak.",
}
