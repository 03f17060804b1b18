# SPDX-License-Identifier: Apache-2.0
"""What the other sets leave out: loops that hand values round, branches in branches, libraries behind custom calls, host
callbacks, odd types and sizes, hundreds of leaves, sparse matrices, solvers, models with odd shapes of control flow.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import Program, S, bf16, collection, f32, i8, i32, shard_map, u32

PROGRAMS, program = collection()
SQUARE = S((64, 64))


def add(name, fn, *args, donate=()):
    PROGRAMS[name] = lambda: Program(fn, args, donate)


# Arguments that take each other's places.
add("rotate_donated", lambda a, b, c: (b, c, a), SQUARE, SQUARE, SQUARE, donate=(0, 1, 2))
add("swap_and_use", lambda a, b: (b * 2, a * 2), SQUARE, SQUARE, donate=(0, 1))
add("output_twice", lambda a, b: (a, a, b), SQUARE, SQUARE, donate=(0, 1))
add("update_and_read_old", lambda x, v: (x.at[3].set(v), x[3]), S((50, 20)), S((20,)), donate=(0,))
add("leaves_reversed", lambda t: t[::-1], [S((3,)) for _ in range(100)], donate=(0,))
add("leaves_in_branches", lambda p, t: lax.cond(p, lambda t: t[::-1], lambda t: [x + 1 for x in t], t),
    S((), jnp.bool_), [S((3,)) for _ in range(100)], donate=(1,))
add("leaves_in_loop", lambda t: lax.fori_loop(0, 3, lambda i, t: [x * 2 + k for k, x in enumerate(t)], t),
    [S((k % 7 + 1, 3)) for k in range(200)], donate=(0,))


@program()
def loop_rotates():
    def fn(a, b, c):
        return lax.while_loop(lambda s: s[0] < 7, lambda s: (s[0] + 1, s[2], s[3], s[1]), (0, a, b, c))

    return Program(fn, (S((32,)), S((32,)), S((32,))), donate=(0, 1, 2))


@program()
def two_buffers_in_loop():
    def fn(buffer, v):
        def body(i, c):
            b, d = c
            b = lax.dynamic_update_slice(b, (v * i + d[i])[None], (i, 0))
            return b, lax.dynamic_update_slice(d, (v * i + b[i])[None], (49 - i, 0))

        return lax.fori_loop(0, 50, body, (buffer, buffer))

    return Program(fn, (S((50, 20)), S((20,))))


@program()
def branch_updates_in_loop():
    def fn(buffer, v):
        def body(i, b):
            return lax.cond(i % 2 == 0, lambda b: b.at[i].set(v), lambda b: b.at[i].add(v * 2), b)

        return lax.fori_loop(0, 50, body, buffer)

    return Program(fn, (S((50, 20)), S((20,))))


@program()
def branches_in_branches():
    def fn(x, i):
        def f(x):
            return lax.cond(x.sum() > 0, lambda y: (y @ y, y), lambda y: (y, y @ y), x)

        def g(x):
            return lax.switch(i % 2, [lambda y: (y, y), lambda y: (jnp.sort(y), y + 1)], x)

        return lax.switch(i, [f, g, lambda x: (x, x)], x)

    return Program(fn, (S((16, 16)), S((), i32)), donate=(0,))


add("loops_three_deep", lambda a: lax.fori_loop(0, 3, lambda i, x: lax.fori_loop(
    0, 4, lambda j, y: lax.fori_loop(0, j, lambda k, z: z * jnp.flip(z) + k, y) + j, x) + i, a), S((100,)))
add("map_of_scans", lambda x: lax.map(lambda y: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(16), y), x), S((8, 16, 16)))
add("scan_reversed_unrolled", lambda x: lax.scan(lambda c, r: (c @ r, c.sum()), jnp.eye(16), x, reverse=True, unroll=3),
    S((8, 16, 16)))
add("barrier_in_loop", lambda x: lax.fori_loop(0, 3, lambda i, c: lax.optimization_barrier((c, c * 2))[1], x), S((30,)))


@program()
def scan_grad_of_grad():
    def fn(ws, x):
        def loss(ws):
            return (lax.scan(lambda h, w: (jnp.sin(h @ w), h), x, ws)[1] ** 2).sum()

        return jax.grad(lambda w: jax.grad(loss)(w).sum())(ws)

    return Program(fn, (S((10, 32, 32)), S((32, 32))))


@program()
def scan_with_policy():
    def fn(ws, x):
        policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
        step = jax.checkpoint(lambda h, w: (jnp.sin(h @ w), None), policy=policy)
        return jax.value_and_grad(lambda ws: lax.scan(step, x, ws)[0].sum())(ws)

    return Program(fn, (S((10, 32, 32)), S((32, 32))))


# Solvers: loops in loops, with reducers of their own.
add("conjugate_gradient", lambda a, b: jax.scipy.sparse.linalg.cg(lambda x: a @ (a.T @ x) + x, b, maxiter=20),
    S((32, 32)), S((32,)))
add("gmres", lambda a, b: jax.scipy.sparse.linalg.gmres(lambda x: a @ x, b, restart=5), S((32, 32)), S((32,)))


@program()
def odeint():
    def fn(y, t):
        from jax.experimental.ode import odeint as solve

        return solve(lambda y, t: -y * t, y, t)

    return Program(fn, (S((16,)), S((16,))))


# Libraries behind custom calls, with results in the places of operands.
add("cholesky_donated", jnp.linalg.cholesky, S((5, 16, 16)), donate=(0,))
add("eigh_donated", jnp.linalg.eigh, S((16, 16)), donate=(0,))
add("svd_batched", lambda a: jnp.linalg.svd(a, full_matrices=False), S((2, 20, 16)), donate=(0,))
add("lu_of_donated", jax.scipy.linalg.lu_factor, S((16, 16)), donate=(0,))
add("qr_complete", lambda a: jnp.linalg.qr(a, mode="complete"), S((3, 20, 16)))
add("solve_gradient", jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum()), S((16, 16)), S((16, 3)))
add("polar", jax.scipy.linalg.polar, S((8, 8)))
add("fft_donated", lambda x: jnp.fft.ifft(jnp.fft.fft(x)), S((8, 128), jnp.complex64), donate=(0,))


# Host callbacks. Since jaxlib 0.12 their shardings have another name.
@program()
def callbacks():
    def fn(x):
        y = jax.pure_callback(lambda a, b: (a, b, a[0]), (S((8, 8)), S((8, 8)), S((8,))), x, x * 2)
        jax.debug.print("sum {}", x.sum())
        return lax.fori_loop(0, 3, lambda i, c: (jax.debug.print("i {}", i, ordered=True), c + 1)[1], y[0])

    return Program(fn, (S((8, 8)),), donate=(0,))


# Types and sizes.
for kind in ("int4", "uint4", "int2", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "bool_", "complex64", "uint16"):
    if hasattr(jnp, kind):
        add(f"rolled_{kind}", lambda x: (lax.fori_loop(0, 5, lambda i, c: jnp.roll(c, 1, 0), x), x.T),
            S((17, 33), getattr(jnp, kind)), donate=(0,))
add("empty_everywhere", lambda x: (jnp.concatenate([x, x], 1), x.sum(0), jnp.zeros((3, 0)), lax.fori_loop(
    0, 3, lambda i, c: c + 1, x)), S((0, 4)), donate=(0,))
add("constant_in_branch", lambda i, x: lax.switch(i, [
    lambda x: x + np.arange(90000, dtype=np.float32).reshape(300, 300), lambda x: x * 2, lambda x: x], x),
    S((), i32), S((300, 300)))
add("sort_many", lambda *a: lax.sort(a, num_keys=2, is_stable=False),
    *[S((128,), (f32, i32, bf16, i8)[k % 4]) for k in range(17)])
add("unique", lambda x: jnp.unique(x, size=10, return_inverse=True, return_counts=True), S((50,), i32))
add("scans_of_many_kinds", lambda x: (lax.cummax(x), lax.cumlogsumexp(x, reverse=True), lax.cumprod(x)), S((100,)))


@program()
def random_kinds():
    def fn(key):
        k = jax.random.split(key, 5)
        return (jax.random.gamma(k[0], 2.0, (5,)), jax.random.permutation(k[1], 20), jax.random.poisson(k[2], 3.0, (6,)),
                jax.random.choice(k[3], 20, (5,), replace=False), jax.random.dirichlet(k[4], jnp.ones(4)))

    return Program(fn, (S((2,), u32),))


# Models.
def linear_recurrence(x, a):
    return lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a, x))


add("associative_scan_gradient", jax.grad(lambda x, a: linear_recurrence(x, a)[1].sum(), (0, 1)), S((64, 16)), S((64, 16)))


@program()
def moe_ragged_train():
    def fn(x, router, w1, w2):
        def forward(x, router, w1, w2):
            weights, experts = lax.top_k(jax.nn.softmax(x @ router), 2)
            order = jnp.argsort(experts.reshape(-1))
            groups = jnp.bincount(experts.reshape(-1), length=4)
            h = lax.ragged_dot(jax.nn.silu(lax.ragged_dot(jnp.repeat(x, 2, 0)[order], w1, groups)), w2, groups)
            return jnp.zeros_like(x).at[order // 2].add(h * weights.reshape(-1)[order][:, None]).sum()

        return jax.grad(forward, (0, 1, 2, 3))(x, router, w1, w2)

    return Program(fn, (S((64, 16)), S((16, 4)), S((4, 16, 32)), S((4, 32, 16))))


@program()
def sparse_product():
    def fn(data, indices, m):
        from jax.experimental import sparse

        a = sparse.BCOO((data, indices), shape=(16, 8))
        return a @ m, a.sum_duplicates(nse=20).todense()

    return Program(fn, (S((20,)), S((20, 2), i32), S((8, 5))))


# Several devices.
@program()
def ring4():
    def fn(mesh, q, k, v):
        P = jax.sharding.PartitionSpec
        send = [(i, (i + 1) % 4) for i in range(4)]

        def body(q, k, v):
            def step(i, c):
                out, k, v = c
                return out + jax.nn.softmax(q @ k.T) @ v, lax.ppermute(k, "x", send), lax.ppermute(v, "x", send)

            return lax.fori_loop(0, 4, step, (q * 0, k, v))[0]

        return shard_map(body, mesh=mesh, in_specs=(P("x"), P("x"), P("x")), out_specs=P("x"))(q, k, v)

    return Program(fn, (S((64, 16)), S((64, 16)), S((64, 16))), devices=4, donate=(1, 2, 3))


@program()
def resharded4():
    def fn(mesh, x, i, u):
        P = jax.sharding.PartitionSpec
        placed = lambda z, s: lax.with_sharding_constraint(z, jax.sharding.NamedSharding(mesh, s))
        y = placed(jnp.roll(placed(x, P("x")), 5, 0), P(None, "x"))
        return placed(y.at[i].add(u), P("x")), jnp.sort(y, 0)

    return Program(fn, (S((64, 64)), S((10,), i32), S((10, 64))), devices=4, donate=(1,))
