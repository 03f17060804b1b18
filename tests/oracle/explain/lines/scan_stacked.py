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
        "scan": 4 * 8 * 2048 * 256 + 4 * 8 * 256 * 256 + 4 * 2048 * 256 + 4 * 256 * 256 + 4,
        "stack": 4 * 2048 * 256,
        "sum": 4 * 2048 * 256,
    },
    "loop_states": {"scan": 4 * 8 * 2048 * 256},
    "parameters": {"ws": 4 * 8 * 256 * 256, "x": 4 * 2048 * 256},
    "rest_at_most": 64,
    "why":
        "The peak is in the forward loop, where a turn makes its product. Two stacks of 8 turns wait for the way back: "
        "the inputs of the products, which this turn has written to, and the inputs of the sines, still as the turn "
        "found them. The scan's line also holds zeros for the gradient of ws (XLA makes them before the loop), the "
        "carried h, the turn's weights, and the counter. The gradient of the sum is made before the loop, too.",
}
