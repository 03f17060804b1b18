"""A gradient: the inputs of later products are kept from the way forward for the way back."""
import jax
import jax.numpy as jnp


def loss(params, x):
    h1 = jnp.sin(x @ params["w1"])  # @h1
    h2 = jnp.sin(h1 @ params["w2"])  # @h2
    return (h2 @ params["w3"]).sum()  # @y


def step(params, x):
    return jax.grad(loss)(params, x)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = ({"w1": f32(256, 1024), "w2": f32(1024, 1024), "w3": f32(1024, 16)}, f32(4096, 256))
ANSWER = {
    "lines": {"h1": 2 * 4 * 4096 * 1024, "h2": 3 * 4 * 4096 * 1024 + 4 * 1024 * 1024, "y": 4 * 4096 * 16},
    "parameters": {
        "params['w1']": 4 * 256 * 1024,
        "params['w2']": 4 * 1024 * 1024,
        "params['w3']": 4 * 1024 * 16,
        "x": 4 * 4096 * 256,
    },
    "rest_at_most": 64,
    "why":
        "The peak is where the gradient of w2 (4 MiB) is made. Line h1 has kept x @ w1 (for the cosine) and "
        "its sine (for the gradient of w2). Line h2 has kept its sine (for the gradient of w3, which XLA "
        "makes later), and holds the gradient before and after the product with w2. Line y holds the gradient "
        "of the sum.",
}
