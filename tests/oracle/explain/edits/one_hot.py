"""Rows of a table."""
import jax
import jax.numpy as jnp


def step(table, ids):
    return table[ids]  # @rows  #before
    return jax.nn.one_hot(ids, 2048) @ table  # @hot  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(2048, 64), jax.ShapeDtypeStruct((4096,), jnp.int32))
CAUSE = {
    "edit": "a one-hot product instead of a gather",
    "cause": "new",
    "values": ["hot"],
    "delta": 4 * 4096 * 2048,
    "why": "The one-hot array is as wide as the table is long.",
}
