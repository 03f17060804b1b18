"""Weights in a tree: each has its path, and the largest one its own line in no source file."""
import jax
import jax.numpy as jnp


def step(params, x):
    for layer in params["layers"]:
        x = jnp.sort(x @ layer["w"], axis=1)  # @x
    return x @ params["head"]


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


WIDTHS = (128, 256, 512, 1024, 2048)
ARGUMENTS = ({"layers": [{"w": f32(a, b)} for a, b in zip(WIDTHS, WIDTHS[1:])], "head": f32(2048, 8)}, f32(64, 128))
ANSWER = {
    "lines": {"x": 4 * 64 * 1024 + 4 * 64 * 2048},
    "parameters": {
        "params['layers'][0]['w']": 4 * 128 * 256,
        "params['layers'][1]['w']": 4 * 256 * 512,
        "params['layers'][2]['w']": 4 * 512 * 1024,
        "params['layers'][3]['w']": 4 * 1024 * 2048,
        "params['head']": 4 * 2048 * 8,
        "x": 4 * 64 * 128,
    },
    "rest_at_most": 64,
    "why": "All weights stay to the end. The peak is the last layer's product, with its input.",
}
