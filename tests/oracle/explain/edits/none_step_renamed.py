"""Two layers."""
import jax
import jax.numpy as jnp


def forward(x, w1, w2):  #before
def predict(x, w1, w2):  #after
    y = jnp.sort(x @ w1, axis=1)
    return jnp.sort(y @ w2, axis=1)


step = forward  #before
step = predict  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(512, 256), f32(256, 1024), f32(1024, 512))
CAUSE = {
    "edit": "the compiled function has another name",
    "cause": "none",
    "delta": 0,
    "why": "Nothing changes but the module's name and the paths in it.",
}
