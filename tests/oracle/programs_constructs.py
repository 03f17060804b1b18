# SPDX-License-Identifier: Apache-2.0
"""Small programs: one for every construct."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import Program, S, bf16, collection, f32, i8, i32, shard_map, u32

PROGRAMS, program = collection()


@program()
def slices():  # like seed 000
    def fn(self):
        return tuple(self[i * 1280 : (i + 1) * 1280].astype(f32).astype(bf16) * bf16(1) for i in range(4))

    return Program(fn, (S((5120, 2048), bf16),))


@program()
def concat_convert():  # like seed 001
    def fn(a, b, c):
        return jnp.concatenate([a.astype(bf16), b.astype(bf16), c.astype(bf16)], 0)

    return Program(fn, (S((256, 512)), S((128, 512)), S((640, 512))))


@program()
def depthwise_conv():  # like seed 004
    def fn(x, w):
        return lax.conv_general_dilated(
            x, w, (1, 1), "SAME", feature_group_count=64, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return Program(fn, (S((8, 56, 56, 64), bf16), S((3, 3, 1, 64), bf16)))


@program()
def psum4():  # like seed 003
    def fn(mesh, x, w):
        def body(x, w):
            y = jnp.tanh(x @ w)
            return lax.psum(y, "x"), lax.pmean(jnp.sum(y), "x")

        P = jax.sharding.PartitionSpec
        return shard_map(body, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P(), P()))(x, w)

    return Program(fn, (S((512, 256)), S((256, 1024))), devices=4)


@program()
def collectives4():
    def fn(mesh, x):
        P = jax.sharding.PartitionSpec

        def body(x):
            a = lax.all_gather(x, "x", tiled=True)
            b = lax.psum_scatter(a, "x", tiled=True)
            c = lax.ppermute(b, "x", [(i, (i + 1) % 4) for i in range(4)])
            d = lax.all_to_all(c.reshape(4, -1), "x", 0, 0)
            return d + 1, b

        return shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(x)

    return Program(fn, (S((4096, 64)),), devices=4)


@program()
def scalar_add():
    return Program(lambda x, y: x + y, (S(()), S(())))


@program()
def identity_outputs():
    return Program(lambda x, y: (x, y, x, x + y), (S((17,)), S((17,))))


@program()
def donated_update():
    return Program(lambda x, u: x.at[3:5].set(u), (S((1000, 32)), S((2, 32))), donate=(0,))


@program()
def donated_unusable():
    return Program(lambda x: jnp.sum(x), (S((1000, 32)),), donate=(0,))


@program()
def update_not_donated():
    return Program(lambda x, u, i: lax.dynamic_update_slice(x, u, (i, 0)), (S((1000, 32)), S((2, 32)), S((), i32)))


@program()
def fori():
    def fn(x, w):
        return lax.fori_loop(0, 10, lambda i, h: jnp.tanh(h @ w) + i, x)

    return Program(fn, (S((64, 64)), S((64, 64))))


@program()
def while_cond():
    def fn(x):
        def cond(s):
            return (s[0] < 100) & (jnp.max(s[1]) < 10)

        def body(s):
            return s[0] + 1, s[1] * 1.5 + jnp.sum(s[1])

        return lax.while_loop(cond, body, (0, x))

    return Program(fn, (S((333,)),))


@program()
def nested_while():
    def fn(x):
        def inner(j, h):
            return h * 0.5 + jnp.roll(h, j)

        def outer(i, h):
            return lax.fori_loop(0, i + 1, inner, h) + i

        return lax.fori_loop(0, 7, outer, x)

    return Program(fn, (S((128, 8)),))


@program()
def cond_branches():
    def fn(p, x):
        return lax.cond(p > 0, lambda x: jnp.sin(x) @ x, lambda x: x.T + 1, x)

    return Program(fn, (S((), i32), S((96, 96))))


@program()
def switch3():
    def fn(i, x):
        return lax.switch(i, [lambda x: (x, jnp.sum(x)), lambda x: (x * 2, jnp.max(x)), lambda x: (x @ x, x[0, 0])], x)

    return Program(fn, (S((), i32), S((50, 50))))


@program()
def while_in_cond():
    def fn(p, x):
        return lax.cond(p, lambda x: lax.fori_loop(0, 5, lambda i, h: h @ h, x), lambda x: x, x)

    return Program(fn, (S((), jnp.bool_), S((40, 40))))


@program()
def cond_in_while():
    def fn(x):
        def body(i, h):
            return lax.cond(i % 2 == 0, lambda h: h @ h, lambda h: h - jnp.mean(h, 0), h)

        return lax.fori_loop(0, 9, body, x)

    return Program(fn, (S((48, 48)),))


@program()
def scan_stack():
    def fn(x, ws):
        def step(h, w):
            h = jnp.tanh(h @ w)
            return h, jnp.sum(h, -1)

        return lax.scan(step, x, ws)

    return Program(fn, (S((32, 64)), S((12, 64, 64))))


@program()
def sort_argsort():
    return Program(lambda x, k: (jnp.sort(x, -1), jnp.argsort(k), lax.top_k(x, 5)), (S((64, 1000)), S((4096,), i32)))


@program()
def fft_filter():
    return Program(lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 0.5), (S((16, 1024)),))


@program()
def cumsum_prod():
    return Program(
        lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.associative_scan(jnp.maximum, x)), (S((300, 70)),)
    )


@program()
def scatter_gather():
    def fn(x, idx, u):
        return x.at[idx].add(u), x[idx], jax.ops.segment_sum(u, idx, num_segments=100)

    return Program(fn, (S((1000, 16)), S((256,), i32), S((256, 16))))


@program()
def maxpool_grad():
    def fn(x):
        def loss(x):
            y = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return jnp.sum(y * y)

        return jax.grad(loss)(x)

    return Program(fn, (S((4, 32, 32, 8)),))


@program()
def rng_dropout():
    def fn(key, x):
        k1, k2 = jax.random.split(jax.random.wrap_key_data(key))
        return jnp.where(jax.random.bernoulli(k1, 0.9, x.shape), x / 0.9, 0) + jax.random.normal(k2, x.shape)

    return Program(fn, (S((2,), u32), S((128, 256))))


@program()
def linalg_calls():
    def fn(a):
        s = a @ a.T + 10 * jnp.eye(32)
        q, r = jnp.linalg.qr(a)
        return jnp.linalg.cholesky(s), q, r, jnp.linalg.eigvalsh(s)

    return Program(fn, (S((32, 32)),))


@program()
def solve_triangular():
    return Program(lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), (S((64, 64)), S((64, 8))))


@program()
def small_types():
    def fn(a, b, c, d):
        return a.astype(i8) + b.astype(i8), (c.astype(f32) * 2).astype(jnp.float8_e4m3fn), jnp.logical_not(d)

    return Program(
        fn, (S((100, 30), jnp.int4), S((100, 30), jnp.int4), S((64, 64), jnp.float8_e4m3fn), S((77,), jnp.bool_))
    )


@program()
def complex_math():
    return Program(lambda z: (jnp.abs(z), jnp.conj(z) * z, z.real + z.imag), (S((100, 100), jnp.complex64),))


@program()
def big_tuple():
    return Program(
        lambda *xs: tuple(x * (i + 1) for i, x in enumerate(xs)) + (sum(jnp.sum(x) for x in xs),),
        tuple(S((8, 16 + i)) for i in range(24)),
    )


@program()
def constants():
    big = np.arange(5000, dtype=np.float32).reshape(50, 100)
    small = np.array([[1, 2], [3, 4]], np.int32)
    return Program(lambda x, y: (x @ big.T, y * small, jnp.float32(3.5)), (S((7, 100)), S((2, 2), i32)))


@program()
def opt_barrier():
    def fn(x, y):
        a, b = lax.optimization_barrier((x + 1, y * 2))
        return a @ b, a

    return Program(fn, (S((60, 60)), S((60, 60))))


@program()
def custom_jvp_softplus():
    return Program(lambda x: jax.grad(lambda x: jnp.sum(jax.nn.softplus(x) * jax.nn.gelu(x)))(x), (S((333, 77)),))


@program()
def zero_sized():
    return Program(lambda x, y: (jnp.concatenate([x, y]), jnp.sum(x)), (S((0, 5)), S((3, 5))))


@program()
def transposes():
    return Program(
        lambda x: (x.transpose(2, 0, 1).reshape(-1, 8) @ jnp.ones((8, 4)), x.transpose(0, 2, 1)), (S((16, 24, 8)),)
    )


@program()
def iota_pad_reverse():
    return Program(lambda x: jnp.pad(x[::-1], ((1, 2), (0, 3))) + jnp.arange(13)[:, None], (S((10, 10)),))


@program()
def ring_buffer_donated():
    def fn(buf, xs):
        def step(c, x):
            buf, i = c
            buf = lax.dynamic_update_index_in_dim(buf, x, i % 128, 0)
            return (buf, i + 1), jnp.mean(buf)

        (buf, _), m = lax.scan(step, (buf, 0), xs)
        return buf, m

    return Program(fn, (S((128, 64)), S((500, 64))), donate=(0,))
