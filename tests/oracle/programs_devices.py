# SPDX-License-Identifier: Apache-2.0
"""Programs over eight devices: single collectives, collectives in loops, and training steps with sharded parameters."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from programs import Program, S, bf16, collection, f32, i32, shard_map

PROGRAMS, program = collection()
COUNT = 8
RING = [(i, (i + 1) % COUNT) for i in range(COUNT)]

over_devices = functools.partial(Program, devices=COUNT)


def mapped(body, ins, outs):
    """A program that runs `body` on each device's part of the arguments."""
    flag = "check_vma" if hasattr(jax, "shard_map") else "check_rep"

    def fn(mesh, *args):
        return shard_map(body, mesh=mesh, in_specs=ins, out_specs=outs, **{flag: False})(*args)

    return fn


def single(body, shape, ins=P("x"), outs=P("x"), dtype=f32):
    return over_devices(mapped(body, (ins,), outs), (S(shape, dtype),), specs=(ins,))


@program()
def all_reduce():
    return single(lambda a: lax.psum(a, "x"), (64, 512), outs=P())


@program()
def all_reduce_of_two():
    body = lambda a, b: (lax.psum(a * 2, "x"), lax.psum(b + 1, "x"))
    specs = (P("x"), P("x"))
    return over_devices(mapped(body, specs, (P(), P())), (S((64, 512)), S((128, 33), bf16)), specs=specs)


@program()
def all_reduce_of_twenty():
    body = lambda *args: [lax.psum(a * 1.5, "x") for a in args]
    specs = (P("x"),) * 20
    return over_devices(mapped(body, specs, [P()] * 20), tuple(S((8 * (i + 1), 16)) for i in range(20)), specs=specs)


@program()
def all_gather():
    return single(lambda a: lax.all_gather(a, "x", tiled=True) * 2, (64, 512), outs=P())


@program()
def reduce_scatter():
    return single(lambda a: lax.psum_scatter(jnp.sin(a), "x", tiled=True), (64, 512), ins=P())


@program()
def all_to_all():
    return single(lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True), (64, 512))


@program()
def all_to_all_split():
    return single(lambda a: lax.all_to_all(a.reshape(COUNT, 1, -1), "x", 0, 0), (64, 512))


@program()
def ragged_all_to_all():
    body = functools.partial(lax.ragged_all_to_all, axis_name="x")
    specs = (P("x"),) * 6
    offsets = (S((64,), i32),) * 4
    return over_devices(mapped(body, specs, P("x")), (S((512, 16)), S((512, 16)), *offsets), specs=specs)


@program()
def permute():
    return single(lambda a: lax.ppermute(a, "x", RING) + a, (64, 512))


@program()
def broadcast():
    return single(lambda a: lax.pbroadcast(a, "x", 0), (64, 512))


@program()
def axis_index():
    return single(lambda a: a + lax.axis_index("x").astype(f32), (64, 512))


@program()
def permute_in_a_loop():
    def body(a):
        def step(_, carry):
            x, total = carry
            return lax.ppermute(x, "x", RING), total + x @ x.T

        return lax.fori_loop(0, COUNT, step, (a, jnp.zeros((a.shape[0], a.shape[0]), a.dtype)))[1]

    return single(body, (512, 256))


@program()
def all_reduce_in_a_loop():
    def body(a, w):
        return lax.scan(lambda c, _: (jnp.tanh(lax.psum(c @ w, "x")), ()), a, None, length=5)[0]

    specs = (P(), P("x"))
    return over_devices(mapped(body, specs, P()), (S((128, 32)), S((256, 32))), specs=specs)


@program()
def all_reduce_in_a_branch():
    def body(p, a):
        return lax.cond(p[0] > 0, lambda x: lax.psum(x, "x"), lambda x: x * 8, a)

    specs = (P(), P("x"))
    return over_devices(mapped(body, specs, P("x")), (S((1,)), S((64, 64))), specs=specs)


@program()
def pipeline():
    def body(weights, batches):
        def step(t, carry):
            handed_on, out = carry
            batch = lax.dynamic_index_in_dim(batches, t % batches.shape[0], keepdims=False)
            y = jnp.tanh(jnp.where(lax.axis_index("x") == 0, batch, handed_on) @ weights[0])
            return lax.ppermute(y, "x", RING), lax.dynamic_update_index_in_dim(out, y, t % batches.shape[0], 0)

        start = (jnp.zeros(batches.shape[1:], batches.dtype), jnp.zeros_like(batches))
        return lax.fori_loop(0, 12, step, start)[1]

    specs = (P("x"), P())
    return over_devices(mapped(body, specs, P("x")), (S((COUNT, 64, 64)), S((4, 32, 64))), specs=specs)


@program()
def sort():
    return over_devices(lambda mesh, a: jnp.sort(a), (S((4096,)),), specs=(P("x"),))


@program()
def embedding():
    args = (S((4096, 64)), S((64, 10), i32))
    return over_devices(lambda mesh, table, rows: table[rows].sum(1), args, specs=(P("x"), P("x")))


@program()
def softmax():
    return over_devices(lambda mesh, a: jax.nn.softmax(a, 0), (S((512, 512)),), specs=(P("x"),))


@program()
def convolution_gradients():
    def fn(mesh, x, w):
        def loss(x, w):
            return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).mean()

        return jax.value_and_grad(loss, (0, 1))(x, w)

    return over_devices(fn, (S((32, 32, 32, 16)), S((3, 3, 16, 32))), specs=(P("x"), P()))


@program()
def sharded_anew():
    def fn(mesh, a):
        by_column = lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P(None, "x")))
        return lax.with_sharding_constraint(jnp.cos(by_column), NamedSharding(mesh, P("x", None)))

    return over_devices(fn, (S((512, 512)),), specs=(P("x"),))


@program()
def roll_in_place():
    def fn(mesh, a):
        return lax.with_sharding_constraint(jnp.roll(a, 64, 0), NamedSharding(mesh, P("x")))

    return over_devices(fn, (S((512, 64)),), donate=(1,), specs=(P("x"),))


@program()
def random_bits():
    def fn(mesh, key):
        return lax.with_sharding_constraint(jax.random.normal(key, (1024, 64)), NamedSharding(mesh, P("x")))

    return over_devices(fn, (S((2,), jnp.uint32),), specs=(P(),))


@program()
def mixture_of_experts():
    def fn(mesh, x, gate, up, down):
        def loss(gate, up, down):
            share = jax.nn.softmax(x @ gate, -1)
            chosen = jax.nn.one_hot(lax.top_k(share, 2)[1], COUNT).sum(1)
            hidden = jax.nn.relu(jnp.einsum("td,te,edf->etf", x, chosen, up))
            return jnp.einsum("etf,efd,te->td", hidden, down, share * chosen).sum()

        return jax.grad(loss, (0, 1, 2))(gate, up, down)

    args = (S((256, 128)), S((128, COUNT)), S((COUNT, 128, 256)), S((COUNT, 256, 128)))
    return over_devices(fn, args, specs=(P("x"), P(), P("x"), P("x")))


WIDTH = 256


def layer(p, h):
    batch, length, width = h.shape
    heads = lambda t: t.reshape(batch, length, 8, width // 8).swapaxes(1, 2)
    q, k, v = (heads(t) for t in jnp.split(h @ p["qkv"], 3, -1))
    scores = jax.nn.softmax((q @ k.swapaxes(-1, -2)).astype(f32) / 8, -1).astype(h.dtype)
    h = h + (scores @ v).swapaxes(1, 2).reshape(h.shape) @ p["out"]
    return h + jax.nn.gelu(h @ p["up"]) @ p["down"]


def unrolled(layers, h):
    for p in layers:
        h = layer(p, h)
    return h


def scanned(layers, h):
    return lax.scan(lambda c, p: (layer(p, c), ()), h, layers)[0]


def rematerialized(layers, h):
    return lax.scan(jax.checkpoint(lambda c, p: (layer(p, c), ())), h, layers)[0]


def training(forward, spec, count):
    """A step of a language model with momentum. `spec` is how its matrices are sharded; the batch is by rows."""
    shapes = dict(qkv=(WIDTH, 3 * WIDTH), out=(WIDTH, WIDTH), up=(WIDTH, 4 * WIDTH), down=(4 * WIDTH, WIDTH))
    is_stacked = forward is not unrolled
    one = {name: S((count, *shape) if is_stacked else shape, bf16) for name, shape in shapes.items()}
    layers = one if is_stacked else [one] * count
    layer_spec = P(None, *spec) if is_stacked else spec
    table = S((1024, WIDTH), bf16)

    def fn(mesh, layers, table, momentum, tokens):
        def loss(layers, table):
            scores = (forward(layers, table[tokens]) @ table.T).astype(f32)
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), tokens[..., None], -1))

        value, gradients = jax.value_and_grad(loss, (0, 1))(layers, table)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        layers, table = jax.tree.map(lambda p, m: p - 1e-3 * m.astype(p.dtype), (layers, table), momentum)
        pin = lambda tree, s: jax.tree.map(lambda a: lax.with_sharding_constraint(a, NamedSharding(mesh, s)), tree)
        momentum = (pin(momentum[0], layer_spec), pin(momentum[1], spec))
        return pin(layers, layer_spec), pin(table, spec), momentum, value

    args = (layers, table, (layers, table), S((16, 128), i32))
    return over_devices(fn, args, donate=(1, 2, 3), specs=(layer_spec, spec, (layer_spec, spec), P("x")))


@program()
def train_replicated():
    return training(unrolled, P(), 3)


@program()
def train_sharded():
    return training(unrolled, P("x"), 3)


@program()
def train_sharded_by_column():
    return training(unrolled, P(None, "x"), 3)


@program()
def train_sharded_scan():
    return training(scanned, P("x"), 4)


@program()
def train_sharded_remat():
    return training(rematerialized, P("x"), 6)
