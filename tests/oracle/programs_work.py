# SPDX-License-Identifier: Apache-2.0
"""Real shapes of work: training steps, decoding, solvers."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import Program, S, bf16, collection, f32, i32, shard_map

PROGRAMS, program = collection()


def mlp_params(sizes, dtype=f32):
    return [(S((a, b), dtype), S((b,), dtype)) for a, b in zip(sizes, sizes[1:])]


def mlp(params, x):
    for i, (w, b) in enumerate(params):
        x = x @ w + b
        if i + 1 < len(params):
            x = jax.nn.relu(x)
    return x


@program()
def mlp_train_sgd():
    def fn(params, x, y):
        def loss(p):
            return jnp.mean((jax.nn.log_softmax(mlp(p, x)) * jax.nn.one_hot(y, 10)).sum(-1)) * -1

        l, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), l

    return Program(fn, (mlp_params([784, 512, 512, 10]), S((128, 784)), S((128,), i32)), donate=(0,))


def adam(params, grads, mu, nu, step):
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
    nu = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, nu, grads)
    t = step + 1
    params = jax.tree.map(
        lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), params, mu, nu
    )
    return params, mu, nu, t


@program()
def mlp_train_adam_scan():
    ps = mlp_params([64, 256, 256, 1])

    def fn(params, mu, nu, step, xs, ys):
        def one(c, b):
            p, m, v, t = c
            x, y = b
            l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x)[:, 0] - y) ** 2))(p)
            return adam(p, g, m, v, t), l

        c, ls = lax.scan(one, (params, mu, nu, step), (xs, ys))
        return *c, ls

    return Program(fn, (ps, ps, ps, S((), f32), S((20, 32, 64)), S((20, 32))), donate=(0, 1, 2))


def norm(x, g):
    return x * lax.rsqrt(jnp.mean(x.astype(f32) ** 2, -1, keepdims=True) + 1e-6).astype(x.dtype) * g


def attention(x, wqkv, wo, heads):
    b, t, d = x.shape
    q, k, v = jnp.split(x @ wqkv, 3, -1)
    sh = lambda z: z.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)
    q, k, v = sh(q), sh(k), sh(v)
    s = (q @ k.transpose(0, 1, 3, 2)).astype(f32) / np.sqrt(d // heads)
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
    return (jax.nn.softmax(s).astype(x.dtype) @ v).transpose(0, 2, 1, 3).reshape(b, t, d) @ wo


def block(x, p, heads):
    x = x + attention(norm(x, p["n1"]), p["qkv"], p["o"], heads)
    h = norm(x, p["n2"])
    return x + (jax.nn.silu(h @ p["g"]) * (h @ p["u"])) @ p["d"]


def block_params(d, ff, layers=None, dtype=f32):
    L = () if layers is None else (layers,)
    return dict(
        n1=S(L + (d,), dtype),
        n2=S(L + (d,), dtype),
        qkv=S(L + (d, 3 * d), dtype),
        o=S(L + (d, d), dtype),
        g=S(L + (d, ff), dtype),
        u=S(L + (d, ff), dtype),
        d=S(L + (ff, d), dtype),
    )


@program()
def transformer_block_fwd():
    return Program(lambda x, p: block(x, p, 4), (S((2, 128, 256), bf16), block_params(256, 688, dtype=bf16)))


def lm_loss(params, tokens, heads, remat, scan):
    x = params["emb"][tokens[:, :-1]]
    blk = functools.partial(block, heads=heads)
    if remat:
        blk = jax.checkpoint(blk)
    if scan:
        x, _ = lax.scan(lambda h, p: (blk(h, p), None), x, params["blocks"])
    else:
        for p in params["blocks"]:
            x = blk(x, p)
    logits = (norm(x, params["nf"]) @ params["emb"].T).astype(f32)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], -1))


def lm(vocab, d, ff, layers, scan, dtype=f32):
    return dict(
        emb=S((vocab, d), dtype),
        nf=S((d,), dtype),
        blocks=block_params(d, ff, layers, dtype)
        if scan
        else [block_params(d, ff, None, dtype) for _ in range(layers)],
    )


def lm_train(vocab, d, ff, layers, heads, b, t, scan, remat, dtype=f32, opt="adam"):
    ps = lm(vocab, d, ff, layers, scan, dtype)

    def fn(params, mu, nu, step, tokens):
        l, g = jax.value_and_grad(lm_loss)(params, tokens, heads, remat, scan)
        return *adam(params, g, mu, nu, step), l

    return Program(fn, (ps, ps, ps, S((), f32), S((b, t + 1), i32)), donate=(0, 1, 2, 3))


@program()
def lm_train_unrolled_small():
    return lm_train(1000, 128, 344, 2, 4, 4, 64, False, False)


@program()
def lm_train_scan():
    return lm_train(8000, 256, 688, 8, 4, 8, 256, True, False)


@program()
def lm_train_scan_remat():
    return lm_train(8000, 256, 688, 8, 4, 8, 256, True, True, bf16)


@program()
def lm_train_unrolled_12():
    return lm_train(16000, 512, 1376, 12, 8, 8, 512, False, False, bf16)


@program()
def lm_train_unrolled_12_remat():
    return lm_train(16000, 512, 1376, 12, 8, 8, 512, False, True, bf16)


@program()
def decode_kv_cache():
    L, B, T, H, D = 4, 4, 256, 4, 32

    def fn(cache_k, cache_v, params, tok, pos):
        x = params["emb"][tok]
        for i in range(L):
            p = params["blocks"][i]
            h = norm(x, p["n1"])
            q, k, v = jnp.split(h @ p["qkv"], 3, -1)
            cache_k = lax.dynamic_update_slice(cache_k, k.reshape(1, B, 1, H, D), (i, 0, pos, 0, 0))
            cache_v = lax.dynamic_update_slice(cache_v, v.reshape(1, B, 1, H, D), (i, 0, pos, 0, 0))
            s = jnp.einsum("bhd,bthd->bht", q.reshape(B, H, D), cache_k[i])
            s = jnp.where(jnp.arange(T)[None, None] <= pos, s, -1e9)
            x = x + jnp.einsum("bht,bthd->bhd", jax.nn.softmax(s), cache_v[i]).reshape(B, H * D) @ p["o"]
            h = norm(x, p["n2"])
            x = x + (jax.nn.silu(h @ p["g"]) * (h @ p["u"])) @ p["d"]
        return jnp.argmax(x @ params["emb"].T, -1), cache_k, cache_v

    c = S((L, B, T, H, D))
    return Program(fn, (c, c, lm(1000, 128, 344, L, False), S((B,), i32), S((), i32)), donate=(0, 1))


@program()
def cnn_train():
    chans = [3, 32, 64, 128]
    ps = [S((3, 3, a, b)) for a, b in zip(chans, chans[1:])] + [S((128, 10))]

    def net(ps, x):
        for w in ps[:-1]:
            x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            m = jnp.mean(x, (0, 1, 2))
            v = jnp.var(x, (0, 1, 2))
            x = jax.nn.relu((x - m) * lax.rsqrt(v + 1e-5))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return jnp.mean(x, (1, 2)) @ ps[-1]

    def fn(ps, mom, x, y):
        g = jax.grad(lambda ps: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(net(ps, x)), y[:, None], 1)))(ps)
        mom = jax.tree.map(lambda m, g: 0.9 * m + g, mom, g)
        return jax.tree.map(lambda p, m: p - 0.01 * m, ps, mom), mom

    return Program(fn, (ps, ps, S((32, 32, 32, 3)), S((32,), i32)), donate=(0, 1))


@program()
def resnet_like_fwd():
    def fn(ws, x):
        for i, (w1, w2) in enumerate(ws):
            c = lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + c(jax.nn.relu(c(x, w1)), w2))
        return x.mean((1, 2))

    return Program(fn, ([(S((3, 3, 64, 64)), S((3, 3, 64, 64))) for _ in range(6)], S((8, 28, 28, 64))))


@program()
def lstm_train():
    H = 128

    def cell(p, c, x):
        h, c_ = c
        z = x @ p["wx"] + h @ p["wh"] + p["b"]
        i, f, g, o = jnp.split(z, 4, -1)
        c_ = jax.nn.sigmoid(f) * c_ + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c_)
        return (h, c_), h

    def fn(p, xs):
        def loss(p):
            z = jnp.zeros((16, H))
            (_, _), hs = lax.scan(functools.partial(cell, p), (z, z), xs)
            return jnp.mean(hs**2)

        return jax.tree.map(lambda a, g: a - g, p, jax.grad(loss)(p))

    return Program(fn, (dict(wx=S((64, 4 * H)), wh=S((H, 4 * H)), b=S((4 * H,))), S((50, 16, 64))), donate=(0,))


@program()
def moe_layer():
    E, D, F, N = 8, 128, 256, 512

    def fn(x, wr, w1, w2):
        gates = jax.nn.softmax(x @ wr)
        top, idx = lax.top_k(gates, 2)
        oh = jax.nn.one_hot(idx, E) * top[..., None]
        disp = oh.sum(1)
        xe = jnp.einsum("ne,nd->end", disp, x)
        h = jax.nn.gelu(jnp.einsum("end,edf->enf", xe, w1))
        return jnp.einsum("enf,efd->nd", h, w2), gates.mean(0)

    return Program(fn, (S((N, D)), S((D, E)), S((E, D, F)), S((E, F, D))))


@program()
def data_parallel_train8():
    def fn(mesh, params, x, y):
        P = jax.sharding.PartitionSpec

        def step(params, x, y):
            l, g = jax.value_and_grad(lambda p: jnp.mean((mlp(p, x)[:, 0] - y) ** 2))(params)
            g = lax.pmean(g, "x")
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), lax.pmean(l, "x")

        return shard_map(step, mesh=mesh, in_specs=(P(), P("x"), P("x")), out_specs=(P(), P()))(params, x, y)

    return Program(fn, (mlp_params([64, 256, 256, 1]), S((256, 64)), S((256,))), donate=(1,), devices=4)


@program()
def tensor_parallel4():
    def fn(mesh, x, w1, w2):
        P = jax.sharding.PartitionSpec
        c = lambda z, s: lax.with_sharding_constraint(z, jax.sharding.NamedSharding(mesh, s))
        x = c(x, P())
        w1 = c(w1, P(None, "x"))
        w2 = c(w2, P("x", None))
        for _ in range(4):
            h = c(jax.nn.gelu(x @ w1), P(None, "x"))
            x = c(h @ w2, P()) + x
        return x

    return Program(fn, (S((256, 512)), S((512, 2048)), S((2048, 512))), devices=4)


@program()
def stencil_solver():
    def fn(u, f):
        def body(i, u):
            return 0.25 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - f)

        def cond(s):
            return (s[0] < 1000) & (s[2] > 1e-5)

        def step(s):
            u2 = lax.fori_loop(0, 10, body, s[1])
            return s[0] + 10, u2, jnp.max(jnp.abs(u2 - s[1]))

        return lax.while_loop(cond, step, (0, u, jnp.float32(1.0)))

    return Program(fn, (S((512, 512)), S((512, 512))), donate=(0,))


@program()
def elementwise_chain():
    def fn(x):
        for i in range(40):
            x = jnp.sin(x) * (i + 1) @ jnp.cos(x)
        return x

    return Program(fn, (S((128, 128)),))


@program()
def diamond_skips():
    def fn(x, ws):
        hs = [x]
        for w in ws:
            hs.append(jnp.tanh(hs[-1] @ w))
        y = hs[-1]
        for h in reversed(hs[:-1]):
            y = y @ h.T @ h
        return y

    return Program(fn, (S((256, 256)), [S((256, 256)) for _ in range(10)]))
