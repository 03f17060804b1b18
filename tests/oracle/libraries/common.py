# SPDX-License-Identifier: Apache-2.0
"""What the lists of programs share. A list is PROGRAMS: a name -> a function without arguments that makes a Program."""

import dataclasses
import functools
from typing import Any, Callable

import jax
import jax.numpy as jnp
import optax


@dataclasses.dataclass
class Program:
    """To compile: function(*args), where args are shapes alone. Nothing is computed before."""

    function: Callable
    args: tuple
    donate: tuple[int, ...] = ()


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def key():
    """A raw key for random numbers: all releases and platforms take it."""
    return jax.ShapeDtypeStruct((2,), jnp.uint32)


def narrow(tree):
    """The same arrays in bfloat16."""
    low = lambda s: jax.ShapeDtypeStruct(s.shape, jnp.bfloat16) if s.dtype == jnp.float32 else s
    return jax.tree.map(low, tree)


def mean_square(tree):
    """A loss for any result: all of its floating-point arrays count."""
    leaves = [x for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.floating)]
    return sum(jnp.mean(jnp.square(x.astype(jnp.float32))) for x in leaves)


def train_step(loss, params, batch, optimizer=None, donate=True):
    """loss(params, *batch) is a number; the step gives new parameters, new optimizer state and the loss."""
    optimizer = optimizer or optax.adam(1e-3)

    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return Program(step, (params, jax.eval_shape(optimizer.init, params), *batch), (0, 1) if donate else ())


def variants(name, model, plan):
    """model() gives (apply(params, *batch), params, batch). plan: what to make of it, by words:

    infer  bf16  grad  train  kept (train without donation)  remat (train, the forward pass made again)
    scan (eight train steps in a loop)  vmap (infer for a batch of parameters)
    """
    return {f"{name}_{word}": functools.partial(VARIANTS[word], model) for word in plan.split()}


def infer(model):
    apply, params, batch = model()
    return Program(apply, (params, *batch))


def bf16(model):
    apply, params, batch = model()
    return Program(apply, (narrow(params), *narrow(batch)))


def loss_of(apply):
    return lambda params, *batch: mean_square(apply(params, *batch))


def grad(model):
    apply, params, batch = model()
    return Program(jax.grad(loss_of(apply)), (params, *batch))


def train(model, donate=True):
    apply, params, batch = model()
    return train_step(loss_of(apply), params, batch, donate=donate)


def remat(model):
    apply, params, batch = model()
    return train_step(loss_of(jax.checkpoint(apply)), params, batch, optax.sgd(1e-2, momentum=0.9))


def scan(model):
    program = train(model)

    def steps(params, state, *batch):
        def one(carry, _):
            params, state, value = program.function(*carry, *batch)
            return (params, state), value

        (params, state), values = jax.lax.scan(one, (params, state), length=8)
        return params, state, values

    return Program(steps, program.args, program.donate)


def vmap(model):
    apply, params, batch = model()
    more = jax.tree.map(lambda s: jax.ShapeDtypeStruct((3, *s.shape), s.dtype), params)
    return Program(jax.vmap(apply, in_axes=(0, *[None] * len(batch))), (more, *batch))


VARIANTS: dict[str, Any] = dict(
    infer=infer,
    bf16=bf16,
    grad=grad,
    train=train,
    kept=functools.partial(train, donate=False),
    remat=remat,
    scan=scan,
    vmap=vmap,
)
