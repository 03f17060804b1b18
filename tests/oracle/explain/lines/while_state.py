"""A loop with a large state: power iteration on a matrix, until it settles."""
import jax
import jax.numpy as jnp
from jax import lax


def settle(a, v):
    def go_on(state):
        v, change = state
        return change > 1e-3

    def turn(state):
        v, change = state
        new = a @ v  # @new
        return new, jnp.abs(new - v).max()

    return lax.while_loop(go_on, turn, (v, jnp.float32(1)))[0]  # @loop


def step(a, b):
    v = a @ b  # @v
    return settle(a, v).sum(axis=0)


ARGUMENTS = (jax.ShapeDtypeStruct((1024, 1024), jnp.float32), jax.ShapeDtypeStruct((1024, 2048), jnp.float32))
ANSWER = {
    "lines": {"new": 4 * 1024 * 2048},
    "copies": {"v": 4 * 1024 * 2048},
    "parameters": {"a": 4 * 1024 * 1024, "b": 4 * 1024 * 2048},
    "rest_at_most": 64,
    "why":
        "In a turn the old and the new v are alive at once, since their difference is asked for. The old one "
        "is a copy that XLA makes of the loop's state, with no source of its own.",
}
