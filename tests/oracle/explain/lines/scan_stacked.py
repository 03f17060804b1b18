"""A loop over layers, differentiated: lax.scan stacks what each turn keeps for the way back."""
import jax
import jax.numpy as jnp
from jax import lax


def layer(h, w):
    h = jnp.sin(h @ w)  # @stack
    return h, None


def loss(ws, x):
    h, _ = lax.scan(layer, x, ws)  # @scan
    return h.sum()  # @sum


def step(ws, x):
    return jax.grad(loss)(ws, x)  # @grad


ARGUMENTS = (jax.ShapeDtypeStruct((8, 256, 256), jnp.float32), jax.ShapeDtypeStruct((2048, 256), jnp.float32))
ANSWER = {
    "lines": {
        "scan": 2 * 4 * 8 * 2048 * 256 + 4 * 8 * 256 * 256 + 4,
        "stack": 2 * 4 * 2048 * 256,
        "sum": 4 * 2048 * 256,
    },
    "parameters": {"ws": 4 * 8 * 256 * 256, "x": 4 * 2048 * 256},
    "rest_at_most": 64,
    "why":
        "The peak is in the forward loop. The scan's line holds two stacks of 8 turns (the input of each "
        "product and the input of each sine), zeros for the gradient of ws (XLA makes them before the loop), "
        "and the counter. A turn holds its product and its sine. The gradient of the sum is made before the "
        "loop, too.",
}
