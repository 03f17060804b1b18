"""Two layers."""
import jax
import jax.numpy as jnp


def layer(x, w):
    # A comment  #after
    # of three  #after
    # lines.  #after
    h = x @ w
    return jnp.sort(h, axis=1)


def step(x, w1, w2):
    y = layer(x, w1)

    # Another one.  #after
    return layer(y, w2)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(512, 256), f32(256, 1024), f32(1024, 512))
CAUSE = {
    "edit": "comments move the lines",
    "cause": "none",
    "delta": 0,
    "why": "Nothing changes.",
}
