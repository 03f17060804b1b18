"""Two layers."""
import jax
import jax.numpy as jnp


def step(x, w1, w2):  #before
    y = jnp.sort(x @ w1, axis=1)  #before
    return jnp.sort(y @ w2, axis=1)  #before
def step(inputs, weights, head):  #after
    hidden = jnp.sort(inputs @ weights, axis=1)  #after
    return jnp.sort(hidden @ head, axis=1)  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(512, 256), f32(256, 1024), f32(1024, 512))
CAUSE = {
    "edit": "arguments and variables have other names",
    "cause": "none",
    "delta": 0,
    "why": "Nothing changes but the names of the parameters.",
}
