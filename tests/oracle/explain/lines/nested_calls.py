"""Values made three calls deep: the whole stack is known, not only the last line."""
import jax
import jax.numpy as jnp


def project(x, w):
    return x @ w  # @dot


def mix(x, w1, w2):
    a = project(x, w1)  # @first
    b = project(a, w2)  # @second
    return b


def step(x, w1, w2, w3):
    y = mix(x, w1, w2)  # @mix
    return y @ w3


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(1024, 512), f32(512, 768), f32(768, 1280), f32(1280, 32))

ANSWER = {
    "lines": {"dot": 4 * 1024 * 768 + 4 * 1024 * 1280},
    "stacks": [
        {"lines": ["mix", "first", "dot"], "bytes": 4 * 1024 * 768},
        {"lines": ["mix", "second", "dot"], "bytes": 4 * 1024 * 1280},
    ],
    "parameters": {"x": 4 * 1024 * 512, "w1": 4 * 512 * 768, "w2": 4 * 768 * 1280, "w3": 4 * 1280 * 32},
    "rest_at_most": 0,
    "why": "One line makes both arrays; who called it tells them apart.",
}
