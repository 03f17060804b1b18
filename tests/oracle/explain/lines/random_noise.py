"""Noise that two products need: random bits become a large array."""
import jax
import jax.numpy as jnp


def step(key, x, w1, w2):
    noise = jax.random.uniform(key, (2048, 1024))  # @noise
    y = noise @ w1  # @y
    return (x @ w2) * y  # @out


ARGUMENTS = (jax.ShapeDtypeStruct((2,), jnp.uint32), jax.ShapeDtypeStruct((2048, 128), jnp.float32),
             jax.ShapeDtypeStruct((1024, 256), jnp.float32), jax.ShapeDtypeStruct((128, 256), jnp.float32))
ANSWER = {
    "lines": {"noise": 2 * 4 * 2048 * 1024 + 4, "out": 4 * 2048 * 256},
    "copies": {"noise": 2 * 4 * 2048 * 1024},
    "parameters": {"key": 8, "x": 4 * 2048 * 128, "w1": 4 * 1024 * 256, "w2": 4 * 128 * 256},
    "rest_at_most": 128,
    "why":
        "Threefry makes two words for each number, in a loop that holds its old and its new state: four "
        "arrays of 8 MiB. The old ones are copies with no source of their own. x @ w2 is made before. Four "
        "bytes are a counter.",
}
