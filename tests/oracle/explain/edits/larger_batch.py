"""A gradient whose activations grow with the batch."""
import jax
import jax.numpy as jnp


def loss(w1, w2, x):
    h = jnp.tanh(x @ w1)  # @h
    return jnp.tanh(h @ w2).sum()  # @y


def step(w1, w2, x):
    return jax.grad(loss, argnums=(0, 1))(w1, w2, x)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


BATCH = 1024  #before
BATCH = 1536  #after
ARGUMENTS = (f32(256, 1024), f32(1024, 512), f32(BATCH, 256))
CAUSE = {
    "edit": "batch 1024 becomes 1536",
    "cause": "grown",
    "values": ["h", "y"],
    "parameters": ["x"],
    "delta": 4 * 512 * (256 + 1024 + 512 + 1024),
    "why": "x, h, and the gradients of both layers grow with the batch.",
}
