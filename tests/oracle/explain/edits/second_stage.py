"""Two stages, one after the other."""
import jax
import jax.numpy as jnp


def step(x, w1, w2, w3):
    first = jnp.sort(x @ w1, axis=1)[:, :64]  # @first
    second = jnp.sort(first @ w2, axis=1)  # @second
    return second @ w3


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


WIDTH = 1024  #before
WIDTH = 4096  #after
ARGUMENTS = (f32(1024, 256), f32(256, 2048), f32(64, WIDTH), f32(WIDTH, 32))
CAUSE = {
    "edit": "the second stage is four times as wide",
    "cause": "grown",
    "also": ["peak-moved"],
    "values": ["second"],
    "parameters": ["w2", "w3"],
    "delta": 4 * 1024 * (4096 - 2048) + 4 * 64 * 3072 + 4 * 3072 * 32,
    "why": "The second stage was below the peak of the first and now is the peak.",
}
