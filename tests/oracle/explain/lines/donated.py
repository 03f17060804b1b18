"""A donated parameter: the new weights lie where the old ones lay."""
import jax
import jax.numpy as jnp


def step(w, x):
    y = x @ w  # @y
    g = x.T @ y  # @g
    return w - 0.1 * g  # @new


DONATE = (0,)
ARGUMENTS = (jax.ShapeDtypeStruct((2048, 1024), jnp.float32), jax.ShapeDtypeStruct((512, 2048), jnp.float32))
ANSWER = {
    "lines": {"y": 4 * 512 * 1024, "g": 4 * 2048 * 1024},
    "parameters": {"w": 4 * 2048 * 1024, "x": 4 * 512 * 2048},
    "rest_at_most": 0,
    "why":
        "The peak is where g is made: y and g beside the parameters. The new w is written over the old one "
        "and adds nothing.",
}
