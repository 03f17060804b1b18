"""A product that is returned."""
import jax
import jax.numpy as jnp


def step(x, w):
    y = x @ w  # @y
    return y  #before
    return y.astype(jnp.bfloat16)  # @cast  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(2048, 256), f32(256, 1024))
CAUSE = {
    "edit": "the result is returned in bf16",
    "cause": "new",
    "also": ["copy"],
    "values": ["cast"],
    "delta": 2 * 2048 * 1024,
    "why": "The result is smaller, but the product in f32 is made first: the peak has both.",
}
