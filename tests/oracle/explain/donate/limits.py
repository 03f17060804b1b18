"""Where donation helps in part, or not at all."""
import jax
import jax.numpy as jnp


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def other_shape(x, w):
    return x @ w


def other_type(x):
    return jnp.sort(x, axis=0).astype(jnp.bfloat16)


def read_after_write(a, w):
    out = w @ w
    return out, jnp.sort(a, axis=0) @ out + a


def two_of_three(a, b, c):
    return a @ c, b @ c


def several_alike(x, w):
    return x + 1.0, x @ w, (x @ w) @ w


def two_for_one(a, b):
    return a @ b


def swapped(a, b):
    return b @ b, a @ a


def same_bytes(x):
    return jnp.sort(x, axis=0).reshape(64, 2048)


def only_sum(params, x):
    return sum(jnp.vdot(x, p) for p in params)


PROGRAMS = {
    "other_shape": dict(step=other_shape, arguments=(f32(512, 256), f32(256, 128)), donate=(0,),
                        why="No result has the argument's shape."),
    "other_type": dict(step=other_type, arguments=(f32(1024, 128),), donate=(0,),
                       why="The result has half the bytes; XLA does not reuse half a buffer."),
    "read_after_write": dict(step=read_after_write, arguments=(f32(512, 512), f32(512, 512)), donate=(0,),
                             why="The first result of that shape is ready while the argument is still read."),
    "two_of_three": dict(step=two_of_three, arguments=(f32(512, 512), f32(512, 512), f32(512, 512)), donate=(0, 1),
                         why="Two of three arguments of one shape."),
    "several_alike": dict(step=several_alike, arguments=(f32(512, 512), f32(512, 512)), donate=(0,),
                          why="Three results could take the one argument."),
    "two_for_one": dict(step=two_for_one, arguments=(f32(512, 512), f32(512, 512)), donate=(0, 1),
                        why="Two arguments for one result: one is left over."),
    "swapped": dict(step=swapped, arguments=(f32(512, 512), f32(512, 512)), donate=(0, 1),
                    why="Each result is made from the other argument."),
    "same_bytes": dict(step=same_bytes, arguments=(f32(2048, 64),), donate=(0,),
                       why="The result has the same bytes in another shape, and may take the argument's place."),
    "only_sum": dict(step=only_sum, arguments=((f32(256, 256), f32(256, 256)), f32(256, 256)), donate=(0,),
                     why="Only a scalar comes out."),
}
