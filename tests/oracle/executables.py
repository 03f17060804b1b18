# SPDX-License-Identifier: Apache-2.0
"""Makes corpus/executables.tar.xz: small programs as serialized executables, compiled by JAX.

    python tests/oracle/executables.py OUT/executables/cpu-0.11.2      with each release; see corpus/README.md
    tar -C OUT -cJf corpus/executables.tar.xz executables

NAME.bin is what the client's serialize_executable returns. Of the first program there are also the pickle of
jax.experimental.serialize_executable, and entries of JAX's compilation cache, packed with zstd and with zlib.
"""

import os
import pathlib
import pickle
import sys
import zlib

DEVICES = 2
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={DEVICES}")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import serialize_executable  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def f(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def mlp(weights, x, y):
    def loss(weights):
        out = x
        for w, b in weights:
            out = jnp.tanh(out @ w + b)
        return jnp.mean((out - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradient), value


def scan(carry, xs, w):
    def loss(w):
        def body(c, x):
            c = jnp.tanh(c @ w + x)
            return c, c

        return jnp.sum(jax.lax.scan(body, carry, xs)[1] ** 2)

    return jax.grad(loss)(w)


def switch(i, x, y):
    branches = [lambda a: jnp.sin(a @ y), lambda a: a @ a @ y, lambda a: jnp.cumsum(a, 0)]
    z = jax.lax.switch(i, branches, x)
    return z.sum(0), jnp.sort(z, 0)


def loops(x, n):
    def body(state):
        i, x, rows = state
        x = jax.lax.fori_loop(0, 3, lambda j, y: jnp.tanh(y @ y) / 16, x)
        return i + 1, x, rows.at[i].set(x.sum(0))

    return jax.lax.while_loop(lambda state: state[0] < n, body, (0, x, jnp.zeros((16, 16))))


def sorts(x):
    values, indices = jax.lax.top_k(x, 8)
    return jnp.sort(x, 1), values, indices, jnp.argsort(x, 0)


def fft(x):
    z = jnp.fft.fft2(x.astype(jnp.complex64))
    return jnp.abs(jnp.fft.ifft2(z * jnp.conj(z)))


def conv(x, w1, w2):
    def layer(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    return jax.grad(lambda w1, w2: jnp.mean(layer(jax.nn.relu(layer(x, w1)), w2) ** 2), (0, 1))(w1, w2)


def linalg(a, b):
    c = jnp.linalg.cholesky(a @ a.T + 16 * jnp.eye(16))
    return jax.scipy.linalg.solve_triangular(c, b, lower=True), jnp.linalg.qr(a)[1]


def rng(key, x):
    noise = jax.random.normal(jax.random.wrap_key_data(key), x.shape)
    return x + noise, jax.lax.rng_uniform(0.0, 1.0, (16, 16))


def constant(x):
    c = np.arange(256, dtype=np.float32).reshape(16, 16)
    return jnp.sin(x @ c) @ c + c


def collective(x, w):
    return jnp.tanh(x @ w), jnp.sum(x @ w)


def collective_arguments():
    mesh = jax.make_mesh((DEVICES,), ("x",))

    def on(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    return on((32, 64), "x"), on((64, 64))


PROGRAMS = [
    (mlp, lambda: ([(f(64, 64), f(64))] * 3, f(128, 64), f(128, 64)), (0,)),
    (scan, lambda: (f(8, 32), f(12, 8, 32), f(32, 32)), ()),
    (switch, lambda: (f(dtype=jnp.int32), f(32, 32), f(32, 32)), ()),
    (loops, lambda: (f(16, 16), f(dtype=jnp.int32)), ()),
    (sorts, lambda: (f(32, 32),), ()),
    (fft, lambda: (f(16, 16),), ()),
    (conv, lambda: (f(4, 16, 16, 3), f(3, 3, 3, 8), f(3, 3, 8, 8)), ()),
    (linalg, lambda: (f(16, 16), f(16, 16)), ()),
    (rng, lambda: (f(2, dtype=jnp.uint32), f(16, 16)), ()),
    (constant, lambda: (f(16, 16),), ()),
    (collective, collective_arguments, ()),
]


def serialized(compiled):
    executable = compiled._executable.xla_executable
    return executable.client.serialize_executable(executable)


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for function, arguments, donated in PROGRAMS:
        if function is collective and jax.device_count() < DEVICES:
            continue
        compiled = jax.jit(function, donate_argnums=donated).lower(*arguments()).compile()
        data = serialized(compiled)
        (out / f"{function.__name__}.bin").write_bytes(data)
        if function is not mlp:
            continue
        (out / "mlp.pickle").write_bytes(pickle.dumps(serialize_executable.serialize(compiled)))
        entry = (7).to_bytes(4, "big") + data
        (out / "mlp.zlib").write_bytes(zlib.compress(entry))
        try:
            import zstandard
        except ImportError:
            continue
        (out / "mlp.zst").write_bytes(zstandard.ZstdCompressor().compress(entry))


main()
