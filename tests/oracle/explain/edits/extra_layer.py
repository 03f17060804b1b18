"""A gradient through some layers."""
import jax
import jax.numpy as jnp


def loss(ws, x):
    for w in ws:
        x = jnp.tanh(x @ w)  # @layer
    return x.sum()


def step(ws, x):
    return jax.grad(loss)(ws, x)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


LAYERS = 3  #before
LAYERS = 4  #after
ARGUMENTS = ([f32(256, 256) for _ in range(LAYERS)], f32(4096, 256))
CAUSE = {
    "edit": "a fourth layer",
    "cause": "new",
    "values": ["layer"],
    "parameters": ["ws[3]"],
    "delta": 4 * 4096 * 256 + 4 * 256 * 256,
    "why": "One more activation is kept, and there is one more weight.",
}
