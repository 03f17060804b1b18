# SPDX-License-Identifier: Apache-2.0
"""Flax: networks of both of its interfaces, Linen and NNX."""

import functools

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import nnx

from libraries.common import Program, f32, i32, key, mean_square, train_step, variants


class Mlp(nn.Module):
    widths: tuple = (128, 64, 10)

    @nn.compact
    def __call__(self, x):
        for width in self.widths[:-1]:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.widths[-1])(x)


class Convolutions(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(nn.relu(nn.Conv(16, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.avg_pool(nn.GroupNorm(4)(nn.Conv(32, (3, 3), feature_group_count=2)(x)), (2, 2), (2, 2))
        return nn.log_softmax(nn.Dense(10)(x.reshape(x.shape[0], -1)))


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        skips = []
        for width in (8, 16):
            x = nn.swish(nn.LayerNorm()(nn.Conv(width, (3, 3))(x)))
            skips.append(x)
            x = nn.Conv(width, (3, 3), strides=(2, 2))(x)
        for width in (16, 8):
            x = nn.ConvTranspose(width, (3, 3), strides=(2, 2))(x)
            x = nn.swish(nn.Conv(width, (3, 3))(jnp.concatenate([x, skips.pop()], -1)))
        return nn.Conv(1, (1, 1))(x)


class Recurrent(nn.Module):
    cell: type
    both: bool = False

    @nn.compact
    def __call__(self, x):
        if self.both:
            return nn.Bidirectional(nn.RNN(self.cell(32)), nn.RNN(self.cell(32)))(x)
        return nn.Dense(8)(nn.RNN(self.cell(32))(x))


class Block(nn.Module):
    heads: int = 4

    @nn.compact
    def __call__(self, x, mask=None):
        x = x + nn.MultiHeadDotProductAttention(self.heads)(nn.LayerNorm()(x), mask=mask)
        y = nn.gelu(nn.Dense(4 * x.shape[-1])(nn.RMSNorm()(x)))
        return x + nn.Dense(x.shape[-1])(y)


class Transformer(nn.Module):
    layers: int = 2
    again: bool = False

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(101, 64)
        x = embed(tokens)
        block = nn.remat(Block) if self.again else Block
        for _ in range(self.layers):
            x = block()(x, nn.make_causal_mask(tokens))
        return embed.attend(x)


class Layer(nn.Module):
    @nn.compact
    def __call__(self, carry, _):
        return carry + Mlp((64, 32))(carry), None


class Stacked(nn.Module):
    """One layer in a loop over stacked parameters."""

    @nn.compact
    def __call__(self, x):
        loop = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
        return loop()(x, None)[0]


class Ensemble(nn.Module):
    @nn.compact
    def __call__(self, x):
        many = nn.vmap(
            Mlp, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, out_axes=0, axis_size=5
        )
        return many()(x).mean(0)


def linen(module, *batch):
    params = jax.eval_shape(module.init, key(), *batch)
    return module.apply, params, batch


class Residual(nn.Module):
    """With running statistics, which are state."""

    training: bool = True

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=not self.training, momentum=0.9)
        for width in (8, 16):
            y = nn.relu(norm()(nn.Conv(width, (3, 3))(x)))
            y = norm(scale_init=nn.initializers.zeros)(nn.Conv(width, (3, 3))(y))
            x = nn.relu(y + nn.Conv(width, (1, 1))(x))
        return nn.Dense(10)(x.mean((1, 2)))


def residual(training, donate=()):
    module, x = Residual(training), f32(8, 16, 16, 3)
    variables = jax.eval_shape(module.init, key(), x)
    if not training:
        return Program(module.apply, (variables, x))

    def step(variables, x):
        def loss(params):
            y, changed = module.apply(
                {"params": params, "batch_stats": variables["batch_stats"]}, x, mutable=["batch_stats"]
            )
            return mean_square(y), changed

        grads, changed = jax.grad(loss, has_aux=True)(variables["params"])
        return {"params": jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], grads), **changed}

    return Program(step, (variables, x), donate)


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dropout(0.3, deterministic=False)(nn.relu(nn.Dense(128)(x)))
        return nn.WeightNorm(nn.Dense(16))(x)


def dropout():
    module, x = Dropped(), f32(32, 64)
    params = jax.eval_shape(lambda k, x: module.init({"params": k, "dropout": k}, x), key(), x)
    loss = lambda params, x, seed: mean_square(module.apply(params, x, rngs={"dropout": seed}))
    return train_step(loss, params, (x, key()))


def decoding(steps):
    """Attention with a cache that is state; one token, or a loop over many."""
    module = nn.MultiHeadDotProductAttention(4, decode=True)
    variables = jax.eval_shape(module.init, key(), f32(2, 16, 32))
    token = f32(2, 1, 32)

    def step(params, cache, token):
        y, changed = module.apply({"params": params, "cache": cache}, token, mutable=["cache"])
        return changed["cache"], y

    def loop(params, cache, token):
        def one(carry, _):
            cache, y = step(params, *carry)
            return (cache, y), y

        return jax.lax.scan(one, (cache, token), length=steps)

    return Program(step if steps == 1 else loop, (variables["params"], variables["cache"], token), (1,))


def autoencoder():
    encoder, decoder, x = Mlp((128, 2 * 16)), Mlp((128, 196)), f32(16, 196)
    params = jax.eval_shape(
        lambda k: (encoder.init(k, jnp.zeros((1, 196))), decoder.init(k, jnp.zeros((1, 16)))), key()
    )

    def loss(params, x, seed):
        mean, log_var = jnp.split(encoder.apply(params[0], x), 2, -1)
        z = mean + jnp.exp(0.5 * log_var) * jax.random.normal(seed, mean.shape)
        y = decoder.apply(params[1], z)
        return jnp.mean((x - y) ** 2) - 0.5 * jnp.mean(1 + log_var - mean**2 - jnp.exp(log_var))

    return train_step(loss, params, (x, key()))


class NnxMlp(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(32, 64, rngs=rngs)
        self.norm = nnx.LayerNorm(64, rngs=rngs)
        self.last = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.norm(self.first(x))))


class NnxConvolutions(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(3, 8, (3, 3), rngs=rngs)
        self.up = nnx.ConvTranspose(8, 8, (3, 3), strides=(2, 2), rngs=rngs)
        self.out = nnx.Linear(8, 10, rngs=rngs)

    def __call__(self, x):
        return self.out(self.up(nnx.gelu(self.conv(x))).max((1, 2)))


class NnxAttention(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(50, 32, rngs=rngs)
        self.attend = nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs)
        self.lora = nnx.LoRALinear(32, 50, lora_rank=4, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        return self.lora(x + self.attend(x))


class NnxRecurrent(nnx.Module):
    def __init__(self, rngs):
        self.rnn = nnx.RNN(nnx.GRUCell(16, 32, rngs=rngs))

    def __call__(self, x):
        return self.rnn(x)


def of_nnx(kind, *batch):
    """What is no parameter, like the state of random numbers, goes with the batch."""
    graph, params, rest = nnx.split(nnx.eval_shape(lambda: kind(nnx.Rngs(0))), nnx.Param, ...)
    return (
        lambda params, rest, *batch: nnx.merge(graph, params, rest)(*batch),
        nnx.to_pure_dict(params),
        (nnx.to_pure_dict(rest), *batch),
    )


MODELS = dict(
    mlp=(lambda: linen(Mlp(), f32(32, 64)), "infer bf16 train kept remat scan vmap"),
    mlp_wide=(lambda: linen(Mlp((512, 512, 512, 1)), f32(64, 256)), "infer grad train"),
    convolutions=(lambda: linen(Convolutions(), f32(8, 28, 28, 2)), "infer bf16 train remat scan"),
    unet=(lambda: linen(UNet(), f32(2, 16, 16, 3)), "infer grad train"),
    lstm=(lambda: linen(Recurrent(nn.OptimizedLSTMCell), f32(4, 12, 16)), "infer bf16 train scan"),
    gru_both=(lambda: linen(Recurrent(nn.GRUCell, True), f32(4, 12, 16)), "infer train"),
    transformer=(lambda: linen(Transformer(), i32(2, 24)), "infer bf16 train kept remat scan"),
    transformer_again=(lambda: linen(Transformer(3, True), i32(4, 32)), "train kept"),
    stacked=(lambda: linen(Stacked(), f32(16, 32)), "infer grad train"),
    ensemble=(lambda: linen(Ensemble(), f32(16, 32)), "infer train"),
    nnx_mlp=(lambda: of_nnx(NnxMlp, f32(8, 32)), "infer train vmap"),
    nnx_convolutions=(lambda: of_nnx(NnxConvolutions, f32(2, 12, 12, 3)), "infer train"),
    nnx_attention=(lambda: of_nnx(NnxAttention, i32(2, 16)), "infer train remat"),
    nnx_recurrent=(lambda: of_nnx(NnxRecurrent, f32(2, 10, 16)), "infer train"),
)
PROGRAMS = {
    name: program for stem, (model, plan) in MODELS.items() for name, program in variants(stem, model, plan).items()
}
PROGRAMS |= dict(
    residual_infer=functools.partial(residual, False),
    residual_train=functools.partial(residual, True, (0,)),
    residual_kept=functools.partial(residual, True),
    dropout_train=dropout,
    autoencoder_train=autoencoder,
    decode_one=functools.partial(decoding, 1),
    decode_many=functools.partial(decoding, 12),
)
