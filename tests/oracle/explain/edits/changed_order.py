"""The mean over time of a projection."""
import jax
import jax.numpy as jnp


def step(x, w):
    x = x.mean(axis=1)  # @mean_first  #before
    y = jnp.sort(x @ w, axis=-1)  # @project
    y = y.mean(axis=1)  # @mean_last  #after
    return y


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(64, 128, 256), f32(256, 512))
CAUSE = {
    "edit": "the mean is taken after the projection, no longer before",
    "cause": "grown",
    "also": ["new"],
    "values": ["project"],
    "delta": 2 * 4 * 64 * 128 * 512 - 4 * 64 * 512,
    "why": "The projection has a time axis: 128 times the bytes, before and after the sort.",
}
