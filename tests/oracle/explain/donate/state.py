"""State that a function takes and returns: caches, tables, loops."""
import jax
import jax.numpy as jnp
from jax import lax


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def kv_cache(cache, x, w, at):
    k, v = x @ w["k"], x @ w["v"]
    keys = lax.dynamic_update_slice(cache["keys"], k[:, None], (0, at, 0))
    values = lax.dynamic_update_slice(cache["values"], v[:, None], (0, at, 0))
    scores = jax.nn.softmax(jnp.einsum("bd,btd->bt", x @ w["q"], keys))
    return jnp.einsum("bt,btd->bd", scores, values), {"keys": keys, "values": values}


def row_update(table, row, at):
    return table.at[at].set(row)


def scatter_add(table, rows, at):
    return table.at[at].add(rows)


def scan_carry(state, inputs, w):
    def turn(state, x):
        state = jnp.tanh(state @ w + x)
        return state, state.sum()

    return lax.scan(turn, state, inputs)


def power_loop(v, a):
    return lax.fori_loop(0, 10, lambda k, v: a @ v / 2.0, v)


def ring_buffer(buffer, x, at):
    return lax.dynamic_update_slice(buffer, x[None], (at, 0, 0)), (at + 1) % buffer.shape[0]


def sorted_in_place(x):
    return jnp.sort(x, axis=0)


def solver_step(u, f):
    return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u + f)


s32 = jax.ShapeDtypeStruct((), jnp.int32)
W = {"q": f32(64, 64), "k": f32(64, 64), "v": f32(64, 64)}
PROGRAMS = {
    "kv_cache": dict(step=kv_cache, arguments=({"keys": f32(8, 256, 64), "values": f32(8, 256, 64)}, f32(8, 64), W, s32),
                     donate=(0,), why="A row is written into each cache; without donation both are copied."),
    "row_update": dict(step=row_update, arguments=(f32(4096, 128), f32(128), s32), donate=(0,),
                       why="One row of a table; without donation the table is copied."),
    "scatter_add": dict(step=scatter_add, arguments=(f32(4096, 128), f32(64, 128), jax.ShapeDtypeStruct((64,), jnp.int32)),
                        donate=(0,), why="A scatter into a table."),
    "scan_carry": dict(step=scan_carry, arguments=(f32(256, 256), f32(16, 256, 256), f32(256, 256)), donate=(0,),
                       why="The carried state comes in as an argument and goes out as a result."),
    "power_loop": dict(step=power_loop, arguments=(f32(512, 64), f32(512, 512)), donate=(0,),
                       why="The loop needs the old state while it makes the new one."),
    "ring_buffer": dict(step=ring_buffer, arguments=(f32(32, 64, 64), f32(64, 64), s32), donate=(0, 2),
                        why="A buffer and a scalar are given away."),
    "sorted_in_place": dict(step=sorted_in_place, arguments=(f32(2048, 64),), donate=(0,),
                            why="A sort can write where it reads."),
    "solver_step": dict(step=solver_step, arguments=(f32(1024, 256), f32(1024, 256)), donate=(0,),
                        why="Each new row needs old neighbours, so one pass cannot write where it reads."),
}
