"""An update of a donated table."""
import jax
import jax.numpy as jnp
from jax import lax


def step(table, rows, at):
    new = lax.dynamic_update_slice(table, rows, (at, 0))  # @set
    return new, new.T @ new  # @product  #before
    return new, table.T @ new  # @cross  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


DONATE = (0,)
ARGUMENTS = (f32(8192, 256), f32(512, 256), jax.ShapeDtypeStruct((), jnp.int32))
CAUSE = {
    "edit": "the old table is read after the update",
    "cause": "copy",
    "also": ["sharing-lost"],
    "values": ["set"],
    "parameters": ["table"],
    "delta": 4 * 8192 * 256 - 16,
    "why":
        "The old table is still needed, so it is copied. "
        "(16 bytes are the tuple of results, part of the peak before.)",
}
