"""Two layers."""
import jax
import jax.numpy as jnp


def layer(x, w):  #before
def dense_block(x, w):  #after
    h = x @ w
    return jnp.sort(h, axis=1)


def step(x, w1, w2):
    y = layer(x, w1)  #before
    return layer(y, w2)  #before
    y = dense_block(x, w1)  #after
    return dense_block(y, w2)  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(512, 256), f32(256, 1024), f32(1024, 512))
CAUSE = {
    "edit": "a function has another name",
    "cause": "none",
    "delta": 0,
    "why": "Nothing changes.",
}
