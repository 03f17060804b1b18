# SPDX-License-Identifier: Apache-2.0
"""The meaning of the campaign's programs by NumPy: what JAX's names stand for, evaluated step by step, nothing shared.

Programs of several devices are run by as many threads, which meet at collectives.
"""

import threading
import types

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)


def wide(x):
    return x.astype(np.float32) if x.dtype == BF16 else x


def unary(function):
    return lambda x: function(wide(x)).astype(x.dtype)


def matmul(x, y):
    return np.matmul(wide(x), wide(y)).astype(x.dtype)


def total(x, axis, dtype):
    return np.asarray(np.sum(wide(x), axis=axis, dtype=np.float32 if dtype == BF16 else dtype)).astype(dtype)


def cumsum(x, axis):
    return np.cumsum(wide(x), axis=axis, dtype=wide(x).dtype).astype(x.dtype)


def begins(x, starts, sizes):
    at = [int(s) for s in starts]
    at = [s + n if s < 0 else s for s, n in zip(at, x.shape)]
    return tuple(slice(b, b + k) for b, k in ((min(max(s, 0), n - k), k) for s, n, k in zip(at, x.shape, sizes)))


def dynamic_slice(x, starts, sizes):
    return x[begins(x, starts, sizes)].copy()


def dynamic_update_slice(x, update, starts):
    result = x.copy()
    result[begins(x, starts, update.shape)] = update
    return result


def broadcast_in_dim(x, shape, dims):
    spread = [1] * len(shape)
    for d, n in zip(dims, x.shape):
        spread[d] = n
    return np.broadcast_to(np.reshape(x, spread), shape).copy()


def iota(dtype, shape, axis):
    return broadcast_in_dim(np.arange(shape[axis]).astype(dtype), shape, (axis,))


def sort(operand, dimension, num_keys=1):
    if not isinstance(operand, tuple):
        return np.sort(operand, axis=dimension, kind="stable")
    order = np.argsort(operand[0], axis=dimension, kind="stable")
    return tuple(np.take_along_axis(x, order, dimension) for x in operand)


def take(x, at):
    return x[np.clip(at, 0, x.shape[0] - 1)]


def scatter_add(x, at, update):
    result = wide(x).copy()
    inside = (at >= 0) & (at < x.shape[0])
    np.add.at(result, at[inside], wide(update)[inside])
    return result.astype(x.dtype)


def scatter_max(x, at, update):
    result = x.copy()
    inside = (at >= 0) & (at < x.shape[0])
    np.maximum.at(result, at[inside], update[inside])
    return result


def random_bits(seed, shape):
    import jax

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        return np.asarray(jax.random.randint(jax.random.PRNGKey(int(seed)), shape, -1000, 1000, np.int32))


def fori_loop(low, high, body, state):
    for i in range(int(low), int(high)):
        state = body(np.int32(i), state)
    return state


def while_loop(condition, body, state):
    while condition(state):
        state = body(state)
    return state


def control(stack):
    """Loops and branches, of arrays that stack can join."""

    def scan(body, carry, rows, reverse):
        count = len(rows[0])
        results = [None] * count
        for i in (range(count - 1, -1, -1) if reverse else range(count)):
            carry, results[i] = body(carry, tuple(r[i] for r in rows))
        return carry, tuple(stack(column) for column in zip(*results))

    def switch(index, functions, *operands):
        return functions[min(max(int(index), 0), len(functions) - 1)](*operands)

    return dict(fori_loop=fori_loop, while_loop=while_loop, scan=scan, switch=switch,
                cond=lambda test, yes, no, *operands: yes(*operands) if test else no(*operands))


def flat(pair):
    return (*pair[0], *pair[1])


class Meeting:
    """Where the threads exchange what each gives to a collective."""

    def __init__(self, devices):
        self.devices = devices
        self.barrier = threading.Barrier(devices)
        self.given = [None] * devices
        self.here = threading.local()

    def exchange(self, value):
        self.given[self.here.index] = value
        self.barrier.wait()
        all_given = list(self.given)
        self.barrier.wait()
        return all_given

    def psum(self, values, axis):
        given = self.exchange(values)
        return tuple(sum((wide(g[k]) for g in given[1:]), wide(given[0][k])).astype(v.dtype)
                     for k, v in enumerate(values))

    def ppermute(self, x, axis, pairs):
        given = self.exchange(x)
        source = [a for a, b in pairs if b == self.here.index]
        return given[source[0]].copy() if source else np.zeros_like(x)

    def all_gather(self, x, name, axis, tiled):
        return np.concatenate(self.exchange(x), axis=axis)

    def all_to_all(self, x, name, split, concat, tiled):
        return np.concatenate([np.split(g, self.devices)[self.here.index] for g in self.exchange(x)])

    def psum_scatter(self, x, name, scatter_dimension, tiled):
        (summed,) = self.psum((x,), name)
        return np.split(summed, self.devices)[self.here.index]

    def collectives(self):
        return {name: getattr(self, name) for name in ("psum", "ppermute", "all_gather", "all_to_all", "psum_scatter")}


JAX = types.SimpleNamespace(jit=lambda f: f, checkpoint=lambda f: f)
JNP = types.SimpleNamespace(
    float32=np.dtype("float32"), bfloat16=BF16, int8=np.dtype("int8"), int32=np.int32, maximum=np.maximum, minimum=np.minimum,
    where=np.where, sin=unary(np.sin), tanh=unary(np.tanh), transpose=lambda x, p: np.transpose(x, p).copy(),
    flip=lambda x, a: np.flip(x, a).copy(), reshape=lambda x, s: np.reshape(x, s).copy(), concatenate=np.concatenate,
    full=np.full, sum=total, max=lambda x, axis=None: np.asarray(np.max(x, axis=axis)), matmul=matmul)


def names(devices):
    meeting = Meeting(devices)
    lax = types.SimpleNamespace(
        slice=lambda x, low, high: x[tuple(slice(a, b) for a, b in zip(low, high))].copy(),
        broadcast_in_dim=broadcast_in_dim, broadcasted_iota=iota, cumsum=cumsum, sort=sort, dynamic_slice=dynamic_slice,
        dynamic_update_slice=dynamic_update_slice, optimization_barrier=lambda x: x, **control(np.stack),
        **meeting.collectives())
    return meeting, dict(jnp=JNP, lax=lax, jax=JAX, take=take, scatter_add=scatter_add, scatter_max=scatter_max,
                         random_bits=random_bits, flat=flat, custom=lambda x, y: JNP.sin(x) * y)


def evaluate(text, devices, arguments):
    """arguments: a list by device of lists of arrays; answers in the same form."""
    return run(text, *names(devices), arguments)


def run(text, meeting, scope, arguments):
    devices = meeting.devices
    exec(text, scope)  # the text is this tool's own
    results = [None] * devices

    def one(index):
        meeting.here.index = index
        try:
            with np.errstate(all="ignore"):
                results[index] = [np.asarray(x) for x in scope["program"](*[a.copy() for a in arguments[index]])]
        except BaseException as error:  # let the others go
            meeting.barrier.abort()
            results[index] = error

    if devices == 1:
        one(0)
    else:
        threads = [threading.Thread(target=one, args=(k,)) for k in range(devices)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, threading.BrokenBarrierError):
            raise result
    return results
