"""A chain of three products: while the second is made, the first is still needed."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    a = x @ w1  # @a
    b = a @ w2  # @b
    c = b @ w3
    return c


f32 = jnp.float32
ARGUMENTS = (jax.ShapeDtypeStruct((1024, 512), f32), jax.ShapeDtypeStruct((512, 1024), f32),
             jax.ShapeDtypeStruct((1024, 2048), f32), jax.ShapeDtypeStruct((2048, 256), f32))
ANSWER = {
    "lines": {"a": 4 * 1024 * 1024, "b": 4 * 1024 * 2048},
    "parameters": {"x": 4 * 1024 * 512, "w1": 4 * 512 * 1024, "w2": 4 * 1024 * 2048, "w3": 4 * 2048 * 256},
    "rest_at_most": 0,
    "why": "a and b are alive at once; b with c (1 MiB) is less. Parameters stay to the end.",
}
