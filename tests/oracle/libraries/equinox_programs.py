# SPDX-License-Identifier: Apache-2.0
"""Equinox: networks that are trees, and its own control flow."""

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp

from libraries.common import Program, f32, i32, key, variants


def of(make, call, *batch):
    """make(key) is the network; call(network, *batch) applies it."""
    params, static = eqx.partition(eqx.filter_eval_shape(make, key()), lambda x: isinstance(x, jax.ShapeDtypeStruct))
    return lambda params, *batch: call(eqx.combine(params, static), *batch), params, batch


def each(net, x):
    return jax.vmap(net)(x)


def convolutions(k):
    a, b, c = jax.random.split(k, 3)
    return eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(3, 8, 3, key=a),
            eqx.nn.Lambda(jax.nn.elu),
            eqx.nn.MaxPool2d(2, 2),
            eqx.nn.GroupNorm(2, 8),
            eqx.nn.ConvTranspose2d(8, 4, 3, stride=2, key=b),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(4 * 15 * 15, 10, key=c),
        ]
    )


def over_time(cell, x):
    """x: batch, time, features."""
    first = jnp.zeros(cell.hidden_size)
    first = (first, first) if isinstance(cell, eqx.nn.LSTMCell) else first

    def one(sequence):
        return jax.lax.scan(lambda state, y: (cell(y, state), None), first, sequence)[0]

    return jax.vmap(one)(x)


class Block(eqx.Module):
    attend: eqx.nn.MultiheadAttention
    mlp: eqx.nn.MLP
    norm: eqx.nn.LayerNorm
    rope: eqx.nn.RotaryPositionalEmbedding

    def __init__(self, k):
        a, b = jax.random.split(k)
        self.attend = eqx.nn.MultiheadAttention(4, 32, key=a)
        self.mlp = eqx.nn.MLP(32, 32, 64, 1, activation=jax.nn.gelu, key=b)
        self.norm = eqx.nn.LayerNorm(32)
        self.rope = eqx.nn.RotaryPositionalEmbedding(8)

    def __call__(self, x):
        y = jax.vmap(self.norm)(x)
        heads = lambda q, k, v: (jax.vmap(self.rope, 1, 1)(q), jax.vmap(self.rope, 1, 1)(k), v)
        x = x + self.attend(y, y, y, process_heads=heads)
        return x + jax.vmap(self.mlp)(x)


def looped(net, x):
    """The layers' parameters are stacked; one layer's code in a loop."""
    params, static = eqx.partition(net, eqx.is_array)
    return jax.lax.scan(lambda h, layer: (eqx.combine(layer, static)(h), None), x, params)[0]


def refined(net, x):
    """A loop whose reverse pass goes back to checkpoints."""

    def body(state):
        step, h = state
        return step + 1, h + 0.1 * net(h)

    return eqxi.while_loop(lambda state: state[0] < 12, body, (0, x), kind="checkpointed", max_steps=16, checkpoints=4)[
        1
    ]


def scanned(net, x):
    return eqxi.scan(lambda h, _: (net(h), h.sum()), x, None, length=9, kind="checkpointed", checkpoints=3)


def normed():
    """Running statistics as state."""

    @eqx.nn.make_with_state
    def build(k):
        return eqx.nn.Sequential(
            [eqx.nn.Linear(16, 32, key=k), eqx.nn.BatchNorm(32, "batch", mode="ema"), eqx.nn.Linear(32, 4, key=k)]
        )

    is_shape = lambda x: isinstance(x, jax.ShapeDtypeStruct)
    (params, state), static = eqx.partition(eqx.filter_eval_shape(build, key()), is_shape)

    def step(params, state, x):
        def loss(params):
            net, held = eqx.combine((params, state), static)
            y, held = jax.vmap(net, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, held)
            return jnp.mean(y**2), eqx.filter(held, eqx.is_array)

        grads, state_ = jax.grad(loss, has_aux=True)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), state_

    return Program(step, (params, state, f32(8, 16)), (0, 1))


MODELS = dict(
    mlp=(
        lambda: of(lambda k: eqx.nn.MLP(32, 10, 64, 3, key=k), each, f32(16, 32)),
        "infer bf16 train kept remat scan vmap",
    ),
    convolutions=(lambda: of(convolutions, each, f32(4, 3, 16, 16)), "infer train remat"),
    gru=(lambda: of(lambda k: eqx.nn.GRUCell(16, 32, key=k), over_time, f32(4, 10, 16)), "infer train"),
    lstm=(lambda: of(lambda k: eqx.nn.LSTMCell(16, 32, key=k), over_time, f32(4, 10, 16)), "infer train scan"),
    attention=(lambda: of(Block, each, f32(2, 12, 32)), "infer bf16 train remat"),
    looped=(lambda: of(lambda k: eqx.filter_vmap(Block)(jax.random.split(k, 3)), looped, f32(12, 32)), "infer train"),
    embedding=(
        lambda: of(lambda k: eqx.nn.Embedding(50, 16, key=k), lambda n, x: jax.vmap(jax.vmap(n))(x), i32(4, 9)),
        "infer train",
    ),
    refined=(lambda: of(lambda k: eqx.nn.MLP(24, 24, 32, 1, key=k), refined, f32(24)), "infer grad train"),
    scanned=(lambda: of(lambda k: eqx.nn.MLP(24, 24, 32, 1, key=k), scanned, f32(24)), "infer grad"),
)
PROGRAMS = {
    name: program for stem, (model, plan) in MODELS.items() for name, program in variants(stem, model, plan).items()
}
PROGRAMS["normed_train"] = normed
