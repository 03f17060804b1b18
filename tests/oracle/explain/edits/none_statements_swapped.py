"""Two large computations, of which only a column is kept."""
import jax
import jax.numpy as jnp


def step(x, w1, w2):
    first = jnp.sort(x @ w1, axis=1)[:, 0]  #before
    second = jnp.sort(x @ w2, axis=1)[:, 0]
    first = jnp.sort(x @ w1, axis=1)[:, 0]  #after
    return first, second


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(1024, 256), f32(256, 2048), f32(256, 1536))
CAUSE = {
    "edit": "two independent statements change places",
    "cause": "none",
    "delta": 0,
    "why": "XLA orders instructions by itself (on the CPU also across lax.optimization_barrier).",
}
