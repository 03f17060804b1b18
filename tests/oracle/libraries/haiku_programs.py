# SPDX-License-Identifier: Apache-2.0
"""Haiku: its networks, with state where they have any."""

import functools

import haiku as hk
import jax
import jax.numpy as jnp

from libraries.common import Program, f32, i32, key, mean_square, variants


def of(forward, *batch):
    """Networks without state."""
    made = hk.without_apply_rng(hk.transform(forward))
    return made.apply, jax.eval_shape(made.init, key(), *batch), batch


def recurrent(core):
    def forward(x):  # time, batch, features
        cell = core()
        y, _ = hk.dynamic_unroll(cell, x, cell.initial_state(x.shape[1]))
        return hk.BatchApply(hk.Linear(5))(y.reshape(*y.shape[:2], -1))

    return forward


def stepwise(core):
    """One step of a recurrent core, its state given and returned."""

    def model():
        def forward(x, state):
            return core()(x, state)

        def initial():
            return core().initial_state(4)

        state = jax.eval_shape(lambda k: hk.transform(initial).apply({}, k), key())
        return of(forward, f32(4, 16), state)

    return model


def transformer(x):
    x = hk.Embed(64, 32)(x)
    for _ in range(2):
        y = hk.LayerNorm(-1, True, True)(x)
        x = x + hk.MultiHeadAttention(4, 8, w_init=hk.initializers.VarianceScaling(1.0), model_size=32)(y, y, y)
        x = x + hk.nets.MLP([64, 32])(hk.RMSNorm(-1)(x))
    return x


def again(x):
    for _ in range(3):
        x = hk.remat(hk.nets.MLP([64, 64], activation=jnp.tanh))(x)
    return x


def stack(x):
    return hk.experimental.layer_stack(4, with_per_layer_inputs=False)(lambda h: h + hk.nets.MLP([64, 32])(h))(x)


def convolutions(x):
    x = hk.Conv2D(8, 3, stride=2)(x)
    x = jax.nn.relu(hk.DepthwiseConv2D(2, 3)(x))
    x = hk.SeparableDepthwiseConv2D(1, 3)(x)
    return hk.Conv2DTranspose(4, 3, stride=2)(x)


def with_state(forward, training, donate, *batch):
    """forward(training) is the network."""
    made = hk.transform_with_state(forward(training))
    params, state = jax.eval_shape(hk.transform_with_state(forward(True)).init, key(), *batch)
    if not training:
        return Program(
            lambda params, state, *batch: made.apply(params, state, None, *batch)[0], (params, state, *batch)
        )

    def step(params, state, *batch):
        def loss(params):
            y, new = made.apply(params, state, None, *batch)
            return mean_square(y), new

        grads, state_ = jax.grad(loss, has_aux=True)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), state_

    return Program(step, (params, state, *batch), donate)


def residual(training):
    return lambda x: hk.nets.ResNet((1, 1, 1, 1), 10, bottleneck=False, channels_per_group=(8, 16, 16, 32))(x, training)


def mobile(training):
    return lambda x: hk.nets.MobileNetV1(strides=(1, 2), channels=(8, 16), num_classes=10)(x, training)


def quantized(training):
    def forward(x):
        z = hk.Linear(16)(x)
        found = hk.nets.VectorQuantizerEMA(16, 32, 0.25, 0.99)(z, training)
        return hk.Linear(32)(found["quantize"]), found["loss"]

    return forward


def averaged(x):
    y = hk.nets.MLP([32, 8])(x)
    return y, hk.ExponentialMovingAverage(0.9)(y)


MODELS = dict(
    mlp=(lambda: of(lambda x: hk.nets.MLP([128, 64, 10])(x), f32(16, 32)), "infer bf16 train kept remat"),
    convolutions=(lambda: of(convolutions, f32(2, 16, 16, 3)), "infer train"),
    lstm=(lambda: of(recurrent(lambda: hk.LSTM(32)), f32(10, 4, 16)), "infer train scan"),
    gru=(lambda: of(recurrent(lambda: hk.GRU(32)), f32(10, 4, 16)), "infer grad"),
    conv_lstm=(lambda: of(recurrent(lambda: hk.Conv2DLSTM((8, 8), 4, 3)), f32(5, 2, 8, 8, 3)), "infer train"),
    deep=(
        lambda: of(recurrent(lambda: hk.DeepRNN([hk.LSTM(16), jax.nn.relu, hk.VanillaRNN(16)])), f32(8, 4, 16)),
        "infer train",
    ),
    gru_step=(stepwise(lambda: hk.GRU(24)), "infer train"),
    transformer=(lambda: of(transformer, i32(2, 16)), "infer bf16 train remat vmap"),
    again=(lambda: of(again, f32(8, 64)), "grad train"),
    stack=(lambda: of(stack, f32(8, 32)), "infer train"),
)
PROGRAMS = {
    name: program for stem, (model, plan) in MODELS.items() for name, program in variants(stem, model, plan).items()
}
STATEFUL = dict(
    residual=(residual, f32(2, 32, 32, 3)),
    mobile=(mobile, f32(2, 16, 16, 3)),
    quantized=(quantized, f32(24, 32)),
    averaged=(lambda training: averaged, f32(8, 16)),
)
for stem, (forward, batch) in STATEFUL.items():
    PROGRAMS |= {
        f"{stem}_infer": functools.partial(with_state, forward, False, (), batch),
        f"{stem}_train": functools.partial(with_state, forward, True, (0, 1), batch),
        f"{stem}_kept": functools.partial(with_state, forward, True, (), batch),
    }
