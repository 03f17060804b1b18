"""A branch: only the larger one makes a large value."""
import jax
import jax.numpy as jnp
from jax import lax


def wide(x, w):
    h = x @ w  # @wide
    return h @ w.T  # @back


def narrow(x, w):
    return x * 2.0


def step(flag, x, w):
    y = x @ x  # @y
    return lax.cond(flag, wide, narrow, y, w)  # @cond


ARGUMENTS = (jax.ShapeDtypeStruct((), jnp.bool_), jax.ShapeDtypeStruct((1024, 1024), jnp.float32),
             jax.ShapeDtypeStruct((1024, 4096), jnp.float32))
ANSWER = {
    "lines": {"wide": 4 * 1024 * 4096, "back": 4 * 1024 * 1024, "y": 4 * 1024 * 1024},
    "parameters": {"flag": 1, "x": 4 * 1024 * 1024, "w": 4 * 1024 * 4096},
    "rest_at_most": 64,
    "why": "The wide branch sets the peak: its h, its result, and y, which both branches read.",
}
