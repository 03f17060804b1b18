# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/findings.md: errors of XLA that `stowplan check` found.

    python tests/oracle/findings.py [--dump DIR]                  runs those that the machine at hand can run
    python tests/oracle/findings.py --topology v5e:2x2 --dump DIR compiles all of them for TPUs, by libtpu

Prints for each program the share of elements that are wrong, by output, against JAX without jit. A module that
`stowplan check DIR` calls sound has no wrong element.
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


def programs():
    draw = np.random.default_rng(7)

    def real(*shape):
        return draw.standard_normal(shape, dtype=np.float32)

    for shape in ((8, 8, 64), (64, 64, 64), (256, 256, 128)):
        yield barrier, (real(*shape), real(*shape))
    for size in (64, 512):
        yield branch, (real(size, size), real(size, size))
        yield branch_sort, (real(size * size), real(size * size))
        yield scatter, (real(size, size), draw.permutation(size).astype(np.int32))
        yield scatter_set, (real(size, size), draw.permutation(size).astype(np.int32))


def named(function):
    def call(*args):
        return function(*args)

    call.__name__ = f"finding_{function.__name__}"
    return jax.jit(call)


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
