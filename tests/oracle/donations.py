# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/donate.tar.xz: small programs, compiled by JAX on the CPU without and with donation of their arguments.

    python tests/oracle/donations.py OUT && tar -C OUT -cJf corpus/donate.tar.xz donate

Each folder has the optimized texts before.txt and after.txt, and meta.json: donate_argnums, and what
memory_analysis() says of both. The archive was made with jaxlib 0.10.2.
"""

import itertools
import json
import os
import pathlib
import sys
import warnings

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

warnings.simplefilter("ignore")


def f(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


i32 = jax.ShapeDtypeStruct((), jnp.int32)
PROGRAMS = {}


def prog(name, args):
    def keep(function):
        PROGRAMS[name] = (function, args, {})
        return function

    return keep


N = 64


@prog("pass_through", (f(N, N), f(N, N)))
def pass_through(a, b):
    return (a, a @ b)


@prog("pass_through2", (f(N, N), f(N, N)))
def pass_through2(a, b):
    return (b, a, a + b)


@prog("dup_out", (f(N, N), f(N, N)))
def dup_out(a, b):
    c = a + b
    return (c, c, c * 2)


@prog("cond", (f(N, N), f(N, N), i32))
def cond(a, b, i):
    return lax.cond(i > 0, lambda a, b: (a @ b, b), lambda a, b: (a + 1, b * 2), a, b)


@prog("nested", (f(N, N), f(N, N), f(8, N, N)))
def nested(s, w, xs):

    def inner(k, v):
        return jnp.tanh(v @ w)

    def turn(s, x):
        s = lax.fori_loop(0, 3, inner, s) + x
        return (s, jnp.sum(s))
    return lax.scan(turn, s, xs)


@prog("scan_stack", (f(N, N), f(8, N, N), f(8, N, N)))
def scan_stack(s, xs, ys):

    def turn(s, xy):
        x, y = xy
        s = jnp.sin(s @ x)
        return (s, s + y)
    return lax.scan(turn, s, (xs, ys))


@prog("chain_inplace", (f(N, N), f(N), i32))
def chain_inplace(t, r, i):
    t = t.at[i].set(r)
    t = t.at[i + 1].add(2 * r)
    m = t.sum(0)
    t = t.at[i + 2].set(m)
    return (t, m)


@prog("read_old", (f(N, N), f(N), i32))
def read_old(t, r, i):
    u = t.at[i].set(r)
    return (u, (t * 2).sum())


@prog("read_old_whole", (f(N, N), f(N), i32))
def read_old_whole(t, r, i):
    u = t.at[i].set(r)
    return (u, u @ t)


@prog("two_updates", (f(N, N), f(N), i32))
def two_updates(t, r, i):
    return (t.at[i].set(r), t.at[i].set(2 * r))


@prog("while_two", (f(N, N), f(N, N), i32))
def while_two(a, b, n):

    def body(c):
        a, b, k = c
        return (b, a @ b, k + 1)
    return lax.while_loop(lambda c: c[2] < n, body, (a, b, 0))


@prog("while_read", (f(N, N), f(N, N)))
def while_read(a, b):
    r = lax.fori_loop(0, 5, lambda k, v: v @ b, a)
    return (r, jnp.dot(a, r))


@prog("gates", (dict(w=f(N, 4 * N), u=f(N, 4 * N), b=f(4 * N)), (f(8, N), f(8, N)), f(6, 8, N)))
def gates(p, s, xs):

    def cell(s, x):
        h, c = s
        z = x @ p["w"] + h @ p["u"] + p["b"]
        i, g, o, q = jnp.split(z, 4, -1)
        c = jax.nn.sigmoid(g) * c + jax.nn.sigmoid(i) * jnp.tanh(q)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return ((h, c), h)
    return lax.scan(cell, s, xs)


def net(p, x):
    for l in p:
        x = jax.nn.gelu(x @ l["w"] + l["b"])
    return x


def loss(p, x, y):
    return jnp.mean((net(p, x) - y) ** 2)


PL = [dict(w=f(N, N), b=f(N)) for _ in range(3)]


@prog("train3", (PL, PL, PL, f(32, N), f(32, N)))
def train3(p, m, v, x, y):
    l, g = jax.value_and_grad(loss)(p, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
    p = jax.tree.map(lambda p, m, v: p - 0.001 * m / (jnp.sqrt(v) + 1e-08), p, m, v)
    return (p, m, v, l)


@prog("train_remat", (PL, f(32, N), f(32, N)))
def train_remat(p, x, y):
    g = jax.grad(lambda p: loss(p, x, y))(p)
    return jax.tree.map(lambda a, b: a - 0.1 * b, p, g)


SP = dict(w=f(4, N, N), b=f(4, N))


@prog("scan_layers", (SP, f(32, N), f(32, N)))
def scan_layers(p, x, y):

    def lo(p):
        h, _ = lax.scan(lambda h, l: (jnp.tanh(h @ l["w"] + l["b"]), None), x, p)
        return jnp.mean((h - y) ** 2)
    l, g = jax.value_and_grad(lo)(p)
    return (jax.tree.map(lambda a, b: a - 0.1 * b, p, g), l)


@prog("rng", (jax.ShapeDtypeStruct((2,), jnp.uint32), f(N, N)))
def rng(k, x):
    k, s = jax.random.split(k)
    return (k, x + jax.random.normal(s, x.shape))


@prog("bf16", (jax.ShapeDtypeStruct((N, N), jnp.bfloat16), f(N, N)))
def bf16(a, b):
    return ((a.astype(jnp.float32) @ b).astype(jnp.bfloat16), b + 1)


@prog("sort2", (f(N, N), jax.ShapeDtypeStruct((N, N), jnp.int32)))
def sort2(k, v):
    return lax.sort((k, v), num_keys=1)


@prog("argsort", (f(N, N), f(N, N)))
def argsort(a, b):
    o = jnp.argsort(a, axis=0)
    return (jnp.take_along_axis(b, o, 0), a)


@prog("transpose", (f(N, N), f(N, N)))
def transpose(a, b):
    return (a.T, b.T @ a)


@prog("reshape", (f(N, N), f(N * N)))
def reshape(a, b):
    return (b.reshape(N, N) * 2, a.reshape(-1) + 1)


@prog("concat", (f(N, N), f(N, N), f(2 * N, N)))
def concat(a, b, c):
    return (jnp.concatenate([a, b]) + c, c[:N] - a)


@prog("roll", (f(N, N), f(N)))
def roll(t, r):
    return jnp.concatenate([t[1:], r[None]])


@prog("conv", (f(1, 16, 16, 8), f(3, 3, 8, 8)))
def conv(x, w):
    return (lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), w * 2)


@prog("fft", (jax.ShapeDtypeStruct((N, N), jnp.complex64),))
def fft(x):
    return jnp.fft.fft(x)


@prog("chol", (f(N, N), f(N, N)))
def chol(a, b):
    l = jnp.linalg.cholesky(a @ a.T + jnp.eye(N))
    return (l, jax.scipy.linalg.solve_triangular(l, b, lower=True))


@prog("scatter", (f(N, N), jax.ShapeDtypeStruct((16,), jnp.int32), f(16, N)))
def scatter(t, i, r):
    return (t.at[i].max(r), t[i])


@prog("scalar_state", (i32, f(), f(N)))
def scalar_state(i, s, x):
    return (i + 1, s * 0.9 + x.sum(), x * s + i)


@prog("ema_many", ([f(N, N)] * 4, [f(N, N)] * 4))
def ema_many(a, b):
    return ([0.9 * x + 0.1 * y for x, y in zip(a, b)], [x @ y for x, y in zip(a, b)])


@prog("swap_trees", ([f(N, N)] * 2, [f(N, N)] * 2))
def swap_trees(a, b):
    return ([x * 2 for x in b], [x * 3 for x in a])


@prog("cumsum", (f(N, N), f(N, N)))
def cumsum(a, b):
    return (jnp.cumsum(a, 0), jnp.cumsum(b, 1))


@prog("map", (f(8, N, N), f(N, N)))
def map_(xs, w):
    return lax.map(lambda x: jnp.sin(x @ w), xs)


@prog("dus_loop", (f(16, N), f(N)))
def dus_loop(t, r):
    return lax.fori_loop(0, 16, lambda k, t: t.at[k].set(t[k] * 2 + r), t)


@prog("dus_loop_read", (f(16, N), f(N)))
def dus_loop_read(t, r):
    u = lax.fori_loop(0, 16, lambda k, u: u.at[k].set(t[15 - k] + r), t)
    return u


@prog("custom_vjp", (f(N, N), f(N, N)))
def cv(a, b):
    l, v = jax.vjp(lambda a, b: jnp.sin(a @ b), a, b)
    da, db = v(l)
    return (a - da, b - db)

mesh = jax.sharding.Mesh(jax.devices()[:4], ("x",))


def sharded(spec, *shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def sharded_sgd(p, x):
    g = jax.grad(lambda p: jnp.mean(jnp.tanh(x @ p["a"]) @ p["b"]))(p)
    return jax.tree.map(lambda p, g: p - 0.1 * g, p, g)


def sharded_two(a, b):
    return b * 2, a + 1, a @ b


def sharded_three(a, b, c):
    return a.T @ b, b + c, c * 2


ROWS, COLUMNS = ("x",), (None, "x")
for suffix, options in (("", {}), ("_placed", {"out_shardings": NamedSharding(mesh, PartitionSpec("x"))})):
    PROGRAMS["sharded_sgd" + suffix] = (
        sharded_sgd, ({"a": sharded(COLUMNS, N, N), "b": sharded(ROWS, N, N)}, sharded(ROWS, 32, N)), options)
    PROGRAMS["sharded_two" + suffix] = (sharded_two, (sharded(ROWS, N, N), sharded((), N, N)), options)
    PROGRAMS["sharded_three" + suffix] = (
        sharded_three, (sharded(ROWS, N, N), sharded(ROWS, N, N), sharded(COLUMNS, N, N)), options)


def figures(compiled):
    stats = compiled.memory_analysis()
    return {"temp": stats.temp_size_in_bytes, "argument": stats.argument_size_in_bytes,
            "output": stats.output_size_in_bytes, "alias": stats.alias_size_in_bytes}


def donations(count):
    """Each argument alone, pairs, ..., all; of many, each alone and the last three."""
    sets = [s for size in range(1, count + 1) for s in itertools.combinations(range(count), size)]
    return sets if len(sets) <= 7 else sets[:count] + sets[-3:]


def main():
    top = pathlib.Path(sys.argv[1]) / "donate"
    for name, (function, args, options) in PROGRAMS.items():
        for donated in donations(len(args)):
            folder = top / f"{name}_{''.join(map(str, donated))}"
            folder.mkdir(parents=True)
            meta = {"donate_argnums": donated}
            for side, argnums in (("before", ()), ("after", donated)):
                compiled = jax.jit(function, donate_argnums=argnums, **options).lower(*args).compile()
                text = compiled.as_text().replace(str(pathlib.Path(__file__).resolve()), "donations.py")
                (folder / f"{side}.txt").write_text(text.replace(__file__, "donations.py"))
                meta[side] = figures(compiled)
            (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


if __name__ == "__main__":
    main()
