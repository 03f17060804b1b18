"""Two results side by side in one array, which is then multiplied."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    left = x @ w1  # @left
    right = x @ w2  # @right
    both = jnp.concatenate([left, right], axis=1)  # @both
    return both @ w3


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(2048, 256), f32(256, 1024), f32(256, 512), f32(1536, 64))
ANSWER = {
    "lines": {"left": 4 * 2048 * 1024, "right": 4 * 2048 * 512, "both": 4 * 2048 * 1536},
    "parameters": {"x": 4 * 2048 * 256, "w1": 4 * 256 * 1024, "w2": 4 * 256 * 512, "w3": 4 * 1536 * 64},
    "rest_at_most": 0,
    "why": "While the parts are copied side by side they exist twice.",
}
