# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/findings.md: errors of XLA that `stowplan check` and the campaign found.

    python tests/oracle/findings.py [--dump DIR]                  runs those that the machine at hand can run
    python tests/oracle/findings.py --topology v5e:2x2 --dump DIR compiles all of them for TPUs, by libtpu

Prints for each program the share of elements that are wrong, by output, against JAX without jit. A module that
`stowplan check DIR` calls sound has no wrong element, unless its program is one of OTHERS, whose errors are not in the
plan, or `sides`, of which `check` does not know yet.
"""

import argparse
import os


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump")
    parser.add_argument("--topology")
    options = parser.parse_args()
    flags = os.environ.get("XLA_FLAGS", "")
    if options.dump:
        flags += f" --xla_dump_to={options.dump} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto --xla_dump_hlo_module_re=.*finding.*"
    os.environ.update(XLA_FLAGS=flags, XLA_PYTHON_CLIENT_PREALLOCATE="false", JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX=".*/")
    if options.topology:
        os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1")
    return options


if __name__ == "__main__":
    OPTIONS = parse()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402


def turn(a):
    return jnp.swapaxes(a, 0, 1)  # rows stay whole, so that XLA:GPU makes one loop fusion of what follows


def barrier(x, y):
    """Finding 1: one value goes twice through a barrier."""
    a = x + y
    m, w = a * 1.5, a - 2 * y
    u, v, t = lax.optimization_barrier((m, m, w))
    return turn(t) - u, turn(v * t)


def branch(x, y):
    """Finding 2: both branches return the same value."""
    x = x @ y
    z = lax.cond(y[0, 0] > 0, lambda a: x, lambda a: a, x)
    return x.T - z


def branch_sort(x, y):
    """Finding 2, without a library call."""
    x = jnp.sort(x)
    z = lax.cond(y[0] > 0, lambda a: x, lambda a: a, x)
    return jnp.flip(x) * z


def scatter(x, at):
    """Finding 3: rows of an array are added to its other rows."""
    return x.at[at].add(x)


def scatter_set(x, at):
    """Finding 3, as a permutation of rows."""
    return x.at[at].set(x)


def shift(x):
    """Finding 4: rows move down by one, in the flat array."""
    return x.reshape(-1).at[x.shape[1]:].set(x[:-1].reshape(-1))


def update_view(x):
    """Finding 4, with an update that is computed."""
    return lax.dynamic_update_slice(x.reshape(-1), 3 * x[:x.shape[0] // 2].reshape(-1), (x.size // 6,))


def own_indices(x, u):
    """Finding 5: the array is its own indices."""
    return lax.scatter_add(x, x, u, lax.ScatterDimensionNumbers((1, 2), (), (0,)))


def two_outputs(x, at):
    """Finding 6: an updated array, and what the update is a part of."""
    s = jnp.sin(x)
    return lax.dynamic_update_slice(x, s[:x.shape[0] // 2], (at,)), s


def returned_twice(a, b):
    """Finding 7: both arguments are donated."""
    return a, a, lax.fori_loop(0, 3, lambda i, s: s + b, jnp.sin(b))


def beside(x, y):
    """Finding 8: an updated array, and what is made of its old rows."""
    rows = x.shape[0] // 4
    return x.at[rows : 3 * rows].set(y), jnp.sin(x[: 2 * rows])


def row_by_row(x, y):
    """Finding 9: what an inner loop starts from is used again after it."""
    def step(i, a):
        b = lax.fori_loop(0, i, lambda j, b: b + y, a)
        return lax.dynamic_update_slice(a, lax.dynamic_slice(b, (i, 0), (1, x.shape[1])), (i, 0))

    return lax.fori_loop(0, 3, step, x)


def scatter_and_flip(x, at):
    """Finding 9, without a loop: what a scatter starts from is used again after it."""
    return x.at[at].add(x), jnp.flip(x, 0)


def sides(x):
    """Finding 10: one output of a transposition, and one beside it."""
    m = x * x
    u, _, v = lax.optimization_barrier((m, x, x))
    return v.T * u, jnp.sin(m * v)


def slice_of_slice(x, i):
    """Error A: the factor is lost."""
    return (lax.dynamic_slice_in_dim(x, i, x.shape[0] // 2) * 3)[i]


def narrow(x):
    """Error B: integers of 8 bits saturate."""
    return x - jnp.max(x, axis=0)


def largest_negated(x):
    """Error C: elements are lost."""
    return jnp.max(-x)


DONATED = {returned_twice: (0, 1)}
OTHERS = (slice_of_slice, narrow, largest_negated)


def programs():
    draw = np.random.default_rng(7)

    def whole(dtype, low, high, *shape):
        return draw.integers(low, high, shape).astype(dtype)

    def real(*shape):
        return draw.standard_normal(shape, dtype=np.float32)

    for shape in ((8, 8, 64), (64, 64, 64), (256, 256, 128)):
        yield barrier, (real(*shape), real(*shape))
    for size in (64, 512):
        yield branch, (real(size, size), real(size, size))
        yield branch_sort, (real(size * size), real(size * size))
        yield scatter, (real(size, size), draw.permutation(size).astype(np.int32))
        yield scatter_set, (real(size, size), draw.permutation(size).astype(np.int32))
        yield shift, (real(size, size),)
        yield update_view, (real(size, size),)
        yield beside, (real(size, size), real(size // 2, size))
        yield returned_twice, (real(size, size), real(size, size))
        yield row_by_row, (whole(np.int8, -128, 128, 2 * size, 2 * size), whole(np.int8, -128, 128, 2 * size, 2 * size))
        yield scatter_and_flip, (whole(np.int8, -128, 128, size, size), draw.permutation(size).astype(np.int32))
        yield narrow, (whole(np.int8, -128, 128, 2 * size, 2 * size),)
    for size in (1 << 12, 1 << 20):
        yield own_indices, (whole(np.int32, 0, size, size, 1), whole(np.int32, 1, 1000, size, 1, 1))
    for size in (1 << 12, 1 << 25):
        yield two_outputs, (real(size), np.int32(size // 4))
    for size in (128, 2048):
        yield sides, (real(size, size),)
    yield largest_negated, (np.where(np.arange(16384) == 5, -100, 0).astype(np.int32),)
    yield slice_of_slice, (whole(np.int32, 1, 1000, 576), np.int32(5))


def named(function):
    def call(*args):
        return function(*args)

    call.__name__ = f"finding_{function.__name__}"
    return jax.jit(call, donate_argnums=DONATED.get(function, ()))


def compile_for_tpu(topology):
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices
    here = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), PartitionSpec())
    for function, args in programs():
        named(function).lower(*(jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=here) for a in args)).compile()


def run():
    jax.config.update("jax_default_matmul_precision", "highest")
    for function, args in programs():
        with jax.disable_jit(), jax.default_device(jax.local_devices(backend="cpu")[0]):
            want = jax.tree.leaves(jax.tree.map(np.asarray, function(*map(jnp.array, args))))
        got = jax.tree.leaves(jax.tree.map(np.asarray, named(function)(*map(jnp.array, args))))
        wrong = [round(float(np.mean(~np.isclose(g, w, rtol=2e-2, atol=2e-2))), 4) for g, w in zip(got, want)]
        print(f"{function.__name__} {args[0].shape}: wrong {wrong}", flush=True)


if __name__ == "__main__":
    compile_for_tpu(OPTIONS.topology) if OPTIONS.topology else run()
