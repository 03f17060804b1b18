"""The same kind of update of a table that is not donated: the table is there twice."""
import jax
import jax.numpy as jnp


def step(table, x, w, v):
    rows = x @ w
    new = table.at[128:384].set(rows)  # @set
    return new, new @ v  # @out


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(8192, 512), f32(256, 1024), f32(1024, 512), f32(512, 64))

ANSWER = {
    "lines": {"set": 4 * 8192 * 512, "out": 4 * 8192 * 64},
    "parameters": {"table": 4 * 8192 * 512, "x": 4 * 256 * 1024, "w": 4 * 1024 * 512, "v": 4 * 512 * 64},
    "rest_at_most": 64,
    "why":
        "XLA copies the table and updates the copy in place, so the copy's bytes are those of the update's "
        "line when the product is made.",
}
