# SPDX-License-Identifier: Apache-2.0
"""Programs for TPUs: collectives under way while others compute, kernels, memory of the host, callbacks, work for the
SparseCore. PROGRAMS has functions from a name and devices, of which there are at least four, to what JAX lowered.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import io_callback
from jax.experimental import pallas as pl
from jax.experimental.compute_on import compute_on
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from programs import S, bf16, f32, i8, i32, shard_map

PROGRAMS = {}


def lower(function, name, donate, args, shardings):
    def call(*given):
        return function(*given)

    call.__name__ = name
    placed = [jax.tree.map(lambda s, at=at: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=at), arg)
              for arg, at in zip(args, shardings)]
    return jax.jit(call, donate_argnums=donate).lower(*placed)


def program(*args, donate=()):
    """A function for one device."""

    def keep(function):
        def build(name, devices):
            here = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), P())
            return lower(function, name, donate, args, [here] * len(args))

        PROGRAMS[function.__name__] = build
        return function

    return keep


def spread(shape, axes, *args, donate=()):
    """A function for four devices, which gets the mesh first; with each argument how it is spread."""

    def keep(function):
        def build(name, devices):
            mesh = Mesh(np.array(devices[:4]).reshape(shape), axes)
            return lower(functools.partial(function, mesh), name, donate, [arg for arg, _ in args],
                         [NamedSharding(mesh, spec) for _, spec in args])

        PROGRAMS[function.__name__] = build
        return function

    return keep


def each(mesh, function, inputs, outputs):
    return shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs)


NEXT = [(k, (k + 1) % 4) for k in range(4)]

# Collectives.


@spread((2, 2), ("d", "m"), ([S((1024, 4096), bf16)] * 3, P("d", "m")), ([S((4096, 1024), bf16)] * 3, P("m", "d")),
        (S((256, 1024), bf16), P("d")), donate=(0, 1))
def train_sharded_both_ways(mesh, ups, downs, x):
    def loss(weights):
        h = x
        for up, down in zip(*weights):
            h = h + jax.nn.gelu(h @ up) @ down
            h = lax.with_sharding_constraint(h, NamedSharding(mesh, P("d")))
        return (h.astype(f32) ** 2).mean()

    value, grads = jax.value_and_grad(loss)((ups, downs))
    return (*jax.tree.map(lambda w, g: w - bf16(0.01) * g, (ups, downs), grads), value)


@spread((4,), ("x",), (S((8, 1024, 1024), bf16), P(None, "x")), (S((256, 1024), bf16), P("x")), donate=(0,))
def train_gathered_layers(mesh, layers, x):
    @jax.checkpoint
    def layer(h, w):
        return jnp.tanh(h @ lax.with_sharding_constraint(w, NamedSharding(mesh, P()))), None

    value, grads = jax.value_and_grad(lambda w: (lax.scan(layer, x, w)[0].astype(f32) ** 2).mean())(layers)
    return layers - bf16(0.1) * grads, value


@spread((4,), ("x",), (S((4096, 1024), bf16), P(None, "x")), (S((1024, 4096), bf16), P("x")))
def scattered_product(mesh, a, b):
    scatter = lambda a, b: lax.psum_scatter(a @ b, "x", tiled=True)
    return each(mesh, scatter, (P(None, "x"), P("x")), P("x"))(a, b)


@spread((4,), ("x",), (S((64, 512, 256), bf16), P("x")), (S((256, 256), bf16), P()))
def turned_twice(mesh, x, w):
    def turn(x, w):
        for _ in range(3):
            x = jnp.tanh(lax.all_to_all(x, "x", 1, 0, tiled=True) @ w)
            x = lax.all_to_all(x, "x", 0, 1, tiled=True)
        return x

    return each(mesh, turn, (P("x"), P()), P("x"))(x, w)


@spread((4,), ("x",), (S((4096, 512)), P("x")), (S((512, 512)), P()))
def ring_of_products(mesh, x, w):
    def step(state, _):
        total, x = state
        return (total + x @ w, lax.ppermute(x, "x", NEXT)), total.sum()

    def ring(x, w):
        (total, _), sums = lax.scan(step, (x * 0, x), None, length=4)
        return total, sums[None]

    return each(mesh, ring, (P("x"), P()), (P("x"), P("x")))(x, w)


@spread((4,), ("x",), (S((50000, 256)), P("x")), (S((4096,), i32), P("x")))
def spread_table(mesh, table, rows):
    return table[rows].sum(0), table.at[rows].add(1.0)


# Kernels.


def product_kernel(a, b, out, total):
    @pl.when(pl.program_id(2) == 0)
    def _():
        total[...] = jnp.zeros_like(total)

    total[...] += jnp.dot(a[...], b[...], preferred_element_type=f32)
    out[...] = total[...]


@program(S((1024, 1024)), S((1024, 1024)))
def kernel_with_scratch(a, b):
    tile = lambda index: pl.BlockSpec((256, 256), index)
    product = pl.pallas_call(
        product_kernel, grid=(4, 4, 4), in_specs=[tile(lambda i, j, k: (i, k)), tile(lambda i, j, k: (k, j))],
        out_specs=tile(lambda i, j, k: (i, j)), out_shape=S((1024, 1024)), scratch_shapes=[pltpu.VMEM((256, 256), f32)])
    return product(a, b) * 2


@program(S((1024, 256)), S((1024, 256)), donate=(0,))
def kernel_in_place(a, b):
    def add(a, b, out):
        out[...] = a[...] + b[...]

    block = pl.BlockSpec((256, 256), lambda i: (i, 0))
    for _ in range(3):
        a = pl.pallas_call(add, grid=(4,), in_specs=[block] * 2, out_specs=block, out_shape=S((1024, 256)),
                           input_output_aliases={0: 0})(a, b)
    return a, jnp.sin(a)


@program(S((2048, 512)), S((1, 1), i32))
def kernel_with_transfers(a, scale):
    def fetch(scale, a, out, count, rows, done):
        transfer = pltpu.make_async_copy(a.at[pl.ds(0, 512)], rows, done)
        transfer.start()
        transfer.wait()
        rows[...] = rows[...] * scale[0, 0].astype(f32)
        transfer = pltpu.make_async_copy(rows, out, done)
        transfer.start()
        transfer.wait()
        count[0, 0] = scale[0, 0] + 1

    anywhere, scalars = (pl.BlockSpec(memory_space=space) for space in (pl.ANY, pltpu.SMEM))
    return pl.pallas_call(fetch, in_specs=[scalars, anywhere], out_specs=[anywhere, scalars],
                          out_shape=[S((512, 512)), S((1, 1), i32)],
                          scratch_shapes=[pltpu.VMEM((512, 512), f32), pltpu.SemaphoreType.DMA])(scale, a)


@program(*[S((2, 4, 1024, 128), bf16)] * 3)
def flash_attention_grad(q, k, v):
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    return jax.grad(lambda *a: flash_attention(*a, causal=True).astype(f32).sum(), (0, 1, 2))(q, k, v)


@program(*[S((4, 8, 512, 128), bf16)] * 3)
def splash_attention_grad(q, k, v):  # its metadata has newlines
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernel
    from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks

    mask = masks.MultiHeadMask([masks.CausalMask((512, 512)) for _ in range(8)])
    attend = kernel.make_splash_mha(mask=mask, head_shards=1, q_seq_shards=1)
    return jax.grad(lambda q: jax.vmap(attend)(q, k, v).astype(f32).sum())(q)


# The host: its memory, its functions.


def state_on_host(name, devices):
    here = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), P())
    host = here.with_memory_kind("pinned_host")

    def step(params, momentum, x):
        momentum = 0.9 * jax.device_put(momentum, here) + jax.grad(lambda p: (jnp.tanh(x @ p) ** 2).sum())(params)
        return params - 0.1 * momentum, jax.device_put(momentum, host)

    return lower(step, name, (0, 1), (S((1024, 1024)), S((1024, 1024)), S((256, 1024))), (here, host, here))


PROGRAMS["state_on_host"] = state_on_host


@program(S((8, 512, 512)), S((256, 512)), donate=(0,))
def activations_on_host(layers, x):
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host")

    @functools.partial(jax.checkpoint, policy=policy)
    def layer(h, w):
        h = checkpoint_name(h, "h")
        return jnp.tanh(h @ w) @ w.T, None

    return layers - 0.1 * jax.grad(lambda w: lax.scan(layer, x, w)[0].sum())(layers)


@program(S((512, 512)), S((512, 512)))
def computed_on_host(x, y):
    @compute_on("device_host")
    @jax.jit
    def there(x):
        return x * 2 + 1

    return there(x @ y) + y


@program(S((128, 128)))
def callbacks(x):
    jax.debug.callback(lambda value: None, x.sum())
    return jax.pure_callback(lambda value: np.asarray(value) * 2, S((128, 128)), x @ x) + x


@program(S((128, 128)))
def callbacks_in_order(x):
    def step(h, _):
        io_callback(lambda value: None, None, h.sum(), ordered=True)
        return jnp.tanh(h @ x), None

    return lax.scan(step, x, None, length=3)[0]


# Gathers and scatters, some of which newer TPUs hand to the SparseCore; types; control flow; many arguments.


@program(S((50000, 128)), S((2048, 26), i32), S((26 * 128, 64)), donate=(0,))
def embedding_step(table, rows, w):
    loss = lambda table, w: (table[rows].reshape(2048, -1) @ w).sum()
    grads = jax.grad(loss, (0, 1))(table, w)
    return table - 0.1 * grads[0], w - 0.1 * grads[1]


@program(S((4096, 256), bf16), S((16, 256, 1024), bf16), S((16, 1024, 256), bf16), S((256, 16), bf16))
def experts(x, up, down, router):
    expert = jnp.argmax(x @ router, -1)
    order, sizes = jnp.argsort(expert), jnp.bincount(expert, length=16)
    y = lax.ragged_dot(jax.nn.silu(lax.ragged_dot(x[order], up, sizes)), down, sizes)
    return jnp.zeros_like(y).at[order].set(y)


@program(S((512, 512), jnp.int4), S((512, 512), i8), S((512, 512), jnp.float8_e4m3fn), S((300, 77), jnp.bool_))
def narrow_types(a, b, c, d):
    product = lax.dot(c.astype(bf16), c.astype(bf16), preferred_element_type=f32)
    return a + a, lax.dot(b, a.astype(i8), preferred_element_type=i32), product.astype(c.dtype), jnp.packbits(d)


@program(S((128, 128)), S((), i32), donate=(0,))
def branches_in_branches(x, n):
    inner = lambda x: lax.cond(n > 3, lambda x: x @ x, jnp.sin, x)
    loop = lambda x: lax.while_loop(lambda c: c[1] < n, lambda c: (c[0] * 2 + 1, c[1] + 1), (x, 0))[0]
    return lax.switch(n, [inner, loop, lambda x: x[::-1], jnp.transpose], x), n + 1


@program(S((32, 128)), S((5, 32, 128)), donate=(1,))
def branches_in_a_loop(x, history):
    def step(h, k):
        loop = lambda h: lax.fori_loop(0, 3, lambda n, h: h + n, h)
        h = lax.switch(k % 3, [lambda h: h * 2, lambda h: jnp.sin(h) @ jnp.ones((128, 128)), loop], h)
        return h, h

    last, each_step = lax.scan(step, x, jnp.arange(5))
    return last, history + each_step


@program([S((7, 13))] * 300, donate=(0,))
def three_hundred_arguments(xs):
    return [x + 1 for x in xs[:150]] + [xs[150] * 2] + xs[151:200], sum(x.sum() for x in xs)
