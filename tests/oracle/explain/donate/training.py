"""Training steps without and with donation of the weights and of the optimizer's state."""
import jax
import jax.numpy as jnp


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def loss(params, x, y):
    h = jax.nn.relu(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return jnp.mean((h @ params["out"]["w"] + params["out"]["b"] - y) ** 2)


def sgd(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def momentum(params, velocity, x, y):
    grads = jax.grad(loss)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - 0.1 * v, params, velocity), velocity


def adam(params, state, x, y):
    grads = jax.grad(loss)(params, x, y)
    count = state["count"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], grads)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, state["square"], grads)
    scale = jnp.sqrt(1 - 0.99**count) / (1 - 0.9**count)
    params = jax.tree.map(lambda p, m, s: p - 0.001 * scale * m / (jnp.sqrt(s) + 1e-8), params, mean, square)
    return params, {"count": count, "mean": mean, "square": square}


def adam_state_only(params, state, x, y):
    return adam(params, state, x, y)


def ema(params, average, x, y):
    grads = jax.grad(loss)(params, x, y)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, jax.tree.map(lambda a, p: 0.999 * a + 0.001 * p, average, params)


def master_weights(master, x, y):
    half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), master)
    grads = jax.grad(loss)(half, x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))
    return jax.tree.map(lambda p, g: p - 0.1 * g.astype(jnp.float32), master, grads)


def clipped(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    return jax.tree.map(lambda p, g: p - 0.1 * g / jnp.maximum(1.0, norm), params, grads)


def accumulate(total, params, x, y):
    return jax.tree.map(jnp.add, total, jax.grad(loss)(params, x, y))


PARAMS = {"hidden": {"w": f32(256, 512), "b": f32(512)}, "out": {"w": f32(512, 64), "b": f32(64)}}
STATE = {"count": jax.ShapeDtypeStruct((), jnp.int32), "mean": PARAMS, "square": PARAMS}
BATCH = (f32(128, 256), f32(128, 64))
PROGRAMS = {
    "sgd": dict(step=sgd, arguments=(PARAMS, *BATCH), donate=(0,), why="New weights in the place of old ones."),
    "momentum": dict(step=momentum, arguments=(PARAMS, PARAMS, *BATCH), donate=(0, 1),
                     why="Weights and velocity are both given away."),
    "momentum_weights_only": dict(step=momentum, arguments=(PARAMS, PARAMS, *BATCH), donate=(0,),
                                  why="Only one of two trees with the same shapes is given away."),
    "adam": dict(step=adam, arguments=(PARAMS, STATE, *BATCH), donate=(0, 1), why="Two trees and a counter."),
    "adam_state_only": dict(step=adam_state_only, arguments=(PARAMS, STATE, *BATCH), donate=(1,),
                            why="The weights stay, the optimizer's state is given away."),
    "ema": dict(step=ema, arguments=(PARAMS, PARAMS, *BATCH), donate=(0, 1), why="Weights and their moving average."),
    "master_weights": dict(step=master_weights, arguments=(PARAMS, *BATCH), donate=(0,),
                           why="The work is in bf16, the weights that are kept are f32."),
    "clipped": dict(step=clipped, arguments=(PARAMS, *BATCH), donate=(0,),
                    why="All gradients exist before the first weight is written, for their norm."),
    "accumulate": dict(step=accumulate, arguments=(PARAMS, PARAMS, *BATCH), donate=(0,),
                       why="A sum of gradients over several calls."),
}
