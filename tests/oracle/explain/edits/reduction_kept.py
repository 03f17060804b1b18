"""Distances of all points to all centres."""
import jax
import jax.numpy as jnp


def step(points, centres):
    d = points[:, None, :] - centres[None, :, :]  # @d
    return (d * d).sum(axis=-1)  # @sum  #before
    return jnp.sort(d * d, axis=-1)[..., 16]  # @median  #after


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


ARGUMENTS = (f32(2048, 32), f32(64, 32))
CAUSE = {
    "edit": "the middle difference instead of their sum",
    "cause": "new",
    "values": ["median"],
    "delta": 4 * 2048 * 64 * 32,
    "why": "The sum is fused with the differences; a sort needs the array of all of them.",
}
