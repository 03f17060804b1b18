"""A product that is returned."""
import jax
import jax.numpy as jnp


def step(x, w):
    y = x @ w  # @y
    return y  #before
    return y, y.T  # @transposed  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(2048, 256), f32(256, 1024))
CAUSE = {
    "edit": "the result is returned once more, transposed",
    "cause": "copy",
    "also": ["new"],
    "values": ["transposed", "y"],
    "delta": 4 * 2048 * 1024 + 16,
    "why":
        "The transposed result is a second array, a copy of y that has no source. "
        "(16 bytes are the tuple of results.)",
}
