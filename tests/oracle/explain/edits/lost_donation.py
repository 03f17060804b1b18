"""A step that updates a table in place."""
import jax
import jax.numpy as jnp
from jax import lax


def step(table, x, w, v, at):
    rows = x @ w
    table = lax.dynamic_update_slice(table, rows, (at, 0))  # @set
    return table, table @ v


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


DONATE = (0,)  #before
DONATE = ()  #after
ARGUMENTS = (f32(8192, 512), f32(256, 1024), f32(1024, 512), f32(512, 64), jax.ShapeDtypeStruct((), jnp.int32))
CAUSE = {
    "edit": "donate_argnums is forgotten",
    "cause": "sharing-lost",
    "also": ["copy"],
    "values": ["set"],
    "parameters": ["table"],
    "delta": 4 * 8192 * 512,
    "why": "The updated table no longer lies in the place of the old one.",
}
