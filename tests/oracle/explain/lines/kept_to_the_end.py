"""A value for the log that is returned: it stays to the end, beside the peak of later work."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    early = x @ w1  # @early
    a = early @ w2
    b = jnp.sort(a, axis=1) @ w3  # @b
    return b, early


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(512, 256), f32(256, 1024), f32(1024, 4096), f32(4096, 2048))
ANSWER = {
    "lines": {"early": 4 * 512 * 1024, "b": 4 * 512 * 4096 + 4 * 512 * 2048},
    "parameters": {"x": 4 * 512 * 256, "w1": 4 * 256 * 1024, "w2": 4 * 1024 * 4096, "w3": 4 * 4096 * 2048},
    "rest_at_most": 16,
    "why": "The peak is the last product and its input, sorted in the place of a; early stays beside them to the end.",
}
