"""Attention scores."""
import jax
import jax.numpy as jnp


def step(q, k):
    scores = q @ k  # @scores
    return jax.nn.softmax(scores) @ q  # @softmax


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


LENGTH = 2048  #before
LENGTH = 1536  #after
ARGUMENTS = (f32(LENGTH, 64), f32(64, LENGTH))
CAUSE = {
    "edit": "2048 tokens become 1536",
    "cause": "shrunk",
    "values": ["softmax"],
    "parameters": ["q", "k"],
    "delta": 4 * (1536**2 - 2048**2) + 3 * 4 * 64 * (1536 - 2048),
    "why": "The scores are square in the length; the softmax is computed in their place.",
}
