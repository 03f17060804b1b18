"""A product in f32 and the same cast to bf16: the same numbers, half the bytes.

The other way round would show less: XLA's CPU compiler computes bf16 in f32 where it can and rounds afterwards, with
instructions that have no source.
"""
import jax
import jax.numpy as jnp


def step(x, w):
    large = x @ w  # @large
    small = large.astype(jnp.bfloat16)  # @small
    return large, small


ARGUMENTS = (jax.ShapeDtypeStruct((2048, 256), jnp.float32), jax.ShapeDtypeStruct((256, 1024), jnp.float32))
ANSWER = {
    "lines": {"large": 4 * 2048 * 1024, "small": 2 * 2048 * 1024},
    "parameters": {"x": 4 * 2048 * 256, "w": 4 * 256 * 1024},
    "rest_at_most": 16,
    "why": "Both results are returned: 8 MiB in f32, 4 MiB in bf16.",
}
