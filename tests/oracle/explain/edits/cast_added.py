"""Codes of one byte, chosen by number."""
import jax
import jax.numpy as jnp


def step(codes, ids):
    chosen = codes[ids]  # @chosen
    return chosen  #before
    return chosen.astype(jnp.float32)  # @cast  #after


ARGUMENTS = (jax.ShapeDtypeStruct((8192, 512), jnp.int8), jax.ShapeDtypeStruct((4096,), jnp.int32))
CAUSE = {
    "edit": "the result is cast to f32",
    "cause": "grown",
    "also": ["new", "gone"],
    "values": ["chosen", "cast"],
    "delta": 3 * 4096 * 512,
    "why": "The rows have four bytes a number, no longer one.",
}
