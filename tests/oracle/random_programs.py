# SPDX-License-Identifier: Apache-2.0
"""JAX programs made at random: arithmetic, loops, branches, sorts, updates in place, donated arguments."""

import random

import jax
import jax.numpy as jnp
from jax import lax


class Program:
    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.sizes = [self.choose.choice([1, 2, 3, 8, 16, 33, 64, 100]) for _ in range(3)]
        count = self.choose.randint(1, 4)
        self.arguments = [jax.ShapeDtypeStruct(self.shape(), jnp.float32) for _ in range(count)]
        self.donated = tuple(k for k in range(count) if self.choose.random() < 0.4)
        self.steps = self.choose.choice([3, 6, 12, 25])

    def shape(self):
        return tuple(self.choose.choice(self.sizes) for _ in range(self.choose.choice([0, 1, 1, 2, 2, 3])))

    def __call__(self, *arguments):
        pool = list(arguments)
        for _ in range(self.steps):
            pool += self.step(pool, depth=0)
        outputs = self.choose.sample(pool, min(len(pool), self.choose.randint(1, 4)))
        return outputs if self.choose.random() < 0.8 else outputs[0]

    def step(self, pool, depth):
        x = self.choose.choice(pool)
        other = self.choose.choice([y for y in pool if y.shape == x.shape])
        flat = x.reshape(-1)
        kinds = [
            lambda: [x + other],
            lambda: [x * 2 - other],
            lambda: [jnp.tanh(x), jnp.sin(x)],
            lambda: [x.T],
            lambda: [flat],
            lambda: [x.sum()],
            lambda: [jnp.where(x > 0, x, other)],
            lambda: [jnp.concatenate([flat, flat])],
            lambda: [jnp.sort(flat)],
            lambda: list(lax.sort((flat, jnp.cumsum(flat)), num_keys=1)),
            lambda: [flat.at[flat.shape[0] // 2].set(1.0)],
            lambda: [lax.dynamic_update_slice(flat, flat[:1] * 3, (0,))],
            lambda: [jnp.outer(flat[:8], flat[:8]) @ jnp.ones((min(8, flat.shape[0]), 5))],
            lambda: [x.astype(jnp.bfloat16).astype(jnp.float32)],
            lambda: [jnp.full(self.shape(), 2.5)],
        ]
        if depth < 2:
            kinds += [
                lambda: [lax.fori_loop(0, 5, lambda i, c: self.body(c, depth), x)],
                lambda: list(lax.while_loop(lambda c: c[1].sum() < 10, lambda c: (c[1], self.body(c[0], depth) + 1),
                                            (x, other))),
                lambda: [lax.cond(x.sum() > 0, lambda c: self.body(c, depth), lambda c: c * 2, x)],
                lambda: list(lax.scan(lambda c, y: (c + y, c * y), x.sum(), flat)),
                lambda: [jax.checkpoint(lambda c: self.body(c, depth))(x)],
            ]
        return self.choose.choice(kinds)()

    def body(self, carry, depth):
        """From a value to one of the same shape."""
        pool = [carry]
        for _ in range(self.choose.randint(1, 3)):
            pool += self.step(pool, depth + 1)
        alike = [y for y in pool if y.shape == carry.shape]
        return self.choose.choice(alike) + carry * 0.5
