"""Rows of a table of embeddings."""
import jax
import jax.numpy as jnp


def step(table, ids):
    return table[ids]  # @rows


DTYPE = jnp.bfloat16  #before
DTYPE = jnp.float32  #after
ARGUMENTS = (jax.ShapeDtypeStruct((8192, 512), DTYPE), jax.ShapeDtypeStruct((4096,), jnp.int32))
CAUSE = {
    "edit": "the table is f32, no longer bf16",
    "cause": "grown",
    "values": ["rows"],
    "parameters": ["table"],
    "delta": 2 * 8192 * 512 + 2 * 4096 * 512,
    "why":
        "The table and the rows taken from it have twice the bytes. "
        "(The rows in bf16 have no source: XLA works in f32 and rounds.)",
}
