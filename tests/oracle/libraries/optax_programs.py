# SPDX-License-Identifier: Apache-2.0
"""Optax: a train step of a small network by each optimizer, and its losses."""

import functools

import jax
import jax.numpy as jnp
import optax

from libraries.common import Program, f32, i32, train_step

PARAMS = {"in": f32(24, 48), "bias": f32(48), "out": f32(48, 8), "scale": f32(1)}


def loss(params, x, y):
    h = jax.nn.tanh(x @ params["in"] + params["bias"])
    return jnp.mean(optax.huber_loss(h @ params["out"] * params["scale"], y))


BATCH = (f32(16, 24), f32(16, 8))
OPTIMIZERS = dict(
    sgd=lambda: optax.sgd(1e-2),
    nesterov=lambda: optax.sgd(1e-2, 0.9, True),
    adam=lambda: optax.adam(1e-3),
    adam_bf16=lambda: optax.adam(1e-3, mu_dtype=jnp.bfloat16),
    adamw=lambda: optax.adamw(1e-3),
    adamax=lambda: optax.adamax(1e-3),
    amsgrad=lambda: optax.amsgrad(1e-3),
    adabelief=lambda: optax.adabelief(1e-3),
    adadelta=lambda: optax.adadelta(1e-3),
    adafactor=lambda: optax.adafactor(1e-3, min_dim_size_to_factor=16),
    adagrad=lambda: optax.adagrad(1e-3),
    adan=lambda: optax.adan(1e-3),
    lamb=lambda: optax.lamb(1e-3),
    lars=lambda: optax.lars(1e-3),
    lion=lambda: optax.lion(1e-3),
    nadam=lambda: optax.nadam(1e-3),
    novograd=lambda: optax.novograd(1e-3),
    radam=lambda: optax.radam(1e-3),
    rmsprop=lambda: optax.rmsprop(1e-3, centered=True),
    rprop=lambda: optax.rprop(1e-3),
    sm3=lambda: optax.sm3(1e-3),
    yogi=lambda: optax.yogi(1e-3),
    fromage=lambda: optax.fromage(1e-3),
    noisy=lambda: optax.noisy_sgd(1e-3, key=0),
    muon=lambda: optax.contrib.muon(1e-3),
    prodigy=lambda: optax.contrib.prodigy(),
    cocob=lambda: optax.contrib.cocob(),
    schedule_free=lambda: optax.contrib.schedule_free_sgd(1e-2),
    dowg=lambda: optax.contrib.dowg(),
    clipped=lambda: optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100))
    ),
    guarded=lambda: optax.apply_if_finite(optax.adam(1e-3), 5),
    accumulated=lambda: optax.MultiSteps(optax.adam(1e-3), 4),
    masked=lambda: optax.masked(optax.adamw(1e-3), {"in": True, "bias": False, "out": True, "scale": False}),
    looking=lambda: optax.chain(optax.adam(1e-3), optax.ema(0.99)),
)


def trained(make, donate):
    return train_step(loss, PARAMS, BATCH, make(), donate)


def lbfgs(steps, donate):
    """With a line search: a loop within the step."""
    optimizer = optax.lbfgs(memory_size=4, linesearch=optax.scale_by_zoom_linesearch(8))

    def step(params, state, x, y):
        of = lambda params: loss(params, x, y)
        value, grads = optax.value_and_grad_from_state(of)(params, state=state)
        updates, state = optimizer.update(grads, state, params, value=value, grad=grads, value_fn=of)
        return optax.apply_updates(params, updates), state

    def many(params, state, x, y):
        return jax.lax.fori_loop(0, steps, lambda _, c: step(*c, x, y), (params, state))

    return Program(
        step if steps == 1 else many, (PARAMS, jax.eval_shape(optimizer.init, PARAMS), *BATCH), (0, 1) if donate else ()
    )


def gradient(function, *args):
    return Program(jax.value_and_grad(lambda *a: jnp.sum(function(*a))), args)


PROGRAMS = {f"{name}_train": functools.partial(trained, make, True) for name, make in OPTIMIZERS.items()}
PROGRAMS |= {
    f"{name}_kept": functools.partial(trained, OPTIMIZERS[name], False)
    for name in ("adam", "adafactor", "muon", "accumulated")
}
PROGRAMS |= dict(
    lbfgs_train=functools.partial(lbfgs, 1, True),
    lbfgs_kept=functools.partial(lbfgs, 1, False),
    lbfgs_loop=functools.partial(lbfgs, 5, True),
    ctc=functools.partial(gradient, optax.ctc_loss, f32(2, 12, 6), f32(2, 12), i32(2, 4), f32(2, 4)),
    cross_entropy=functools.partial(gradient, optax.softmax_cross_entropy_with_integer_labels, f32(32, 10), i32(32)),
    focal=functools.partial(gradient, optax.sigmoid_focal_loss, f32(32, 10), f32(32, 10)),
    projection=functools.partial(gradient, lambda x: optax.projections.projection_simplex(x) ** 2, f32(64)),
)
