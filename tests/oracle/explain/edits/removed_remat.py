"""A gradient through four layers that are computed again on the way back."""
import jax
import jax.numpy as jnp
from jax import lax


@jax.checkpoint  #before
def layer(x, w):
    h = jnp.sin(x @ w["a"])  # @inner
    return jnp.sin(h @ w["b"]), None  # @outer


def loss(ws, x):
    return lax.scan(layer, x, ws)[0].sum()  # @scan


def step(ws, x):
    return jax.grad(loss)(ws, x)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = ({"a": f32(4, 128, 512), "b": f32(4, 512, 128)}, f32(2048, 128))
CAUSE = {
    "edit": "jax.checkpoint is removed",
    "cause": "new",
    "also": ["lives-longer", "grown"],
    "values": ["scan"],
    "delta": (2 * 4 * 4 * 2048 * 512 + 4 * 4 * 2048 * 128) - 4 * 2048 * 512,
    "why":
        "Three more stacks of 4 turns are kept for the way back: twice what h needs, once what the result needs. "
        "One array less is computed again.",
}
