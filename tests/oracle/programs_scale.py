# SPDX-License-Identifier: Apache-2.0
"""Large modules."""

import jax
import jax.numpy as jnp

from programs import Program, S, bf16
from programs_work import lm_train

PROGRAMS = {}


def add(name, builder):
    PROGRAMS[name] = builder


for n in (24, 48, 96, 192):
    add(f"lm_unrolled_{n}", lambda n=n: lm_train(4096, 128, 344, n, 4, 4, 128, False, False, bf16))
for n in (500, 2000):

    def rnn(n=n):
        def fn(w, xs):
            def loss(w):
                h = jnp.zeros((8, 64))
                t = 0.0
                for i in range(n):
                    h = jnp.tanh(h @ w + xs[i])
                    t += jnp.sum(h * h)
                return t

            return w - 0.01 * jax.grad(loss)(w)

        return Program(fn, (S((64, 64)), S((n, 8, 64))), donate=(0,))

    add(f"rnn_unrolled_{n}", rnn)
