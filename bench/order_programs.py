# SPDX-License-Identifier: Apache-2.0
"""Compiles training steps of common kinds of networks, for the order of their instructions to be looked at.

    XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto" python order_programs.py [--scheduler=TYPE] [--topology=v5e:2x2]

Each is jitted under its own name. --scheduler is a value of XLA's option xla_cpu_scheduler_type. With --topology, they
are compiled for a TPU that need not be there. Prints the machine and the release.
"""

import argparse
import importlib.metadata

import jax
import jax.numpy as jnp

f32, bf16 = jnp.float32, jnp.bfloat16


def array(*dims, dtype=f32):
    return jax.ShapeDtypeStruct(dims, dtype)


def normalized(x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def attention(weights, x, heads, is_causal):
    batch, length, width = x.shape
    split = lambda y: y.reshape(batch, length, heads, width // heads)
    query, key, value = (split(x @ weights[k]) for k in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (width // heads) ** -0.5
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
    return mixed.reshape(batch, length, width) @ weights["out"]


def block(weights, x, heads, is_causal):
    x = x + attention(weights, normalized(x), heads, is_causal)
    return x + jax.nn.gelu(normalized(x) @ weights["up"]) @ weights["down"]


def block_shapes(width, dtype=f32, layers=()):
    square = array(*layers, width, width, dtype=dtype)
    return {"query": square, "key": square, "value": square, "out": square,
            "up": array(*layers, width, 4 * width, dtype=dtype), "down": array(*layers, 4 * width, width, dtype=dtype)}


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits.astype(f32)), labels[..., None], -1))


def adam_step(loss):
    def step(weights, first, second, *batch):
        value, gradients = jax.value_and_grad(loss)(weights, *batch)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        weights = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second)
        return weights, first, second, value

    return step


def vit(layers=6, width=192, batch=48):
    weights = {"patch": array(48, width), "place": array(64, width), "head": array(width, 100),
               "blocks": [block_shapes(width)] * layers}

    def loss(weights, images, labels):
        x = images.reshape(batch, 8, 4, 8, 4, 3).swapaxes(2, 3).reshape(batch, 64, 48) @ weights["patch"]
        x = x + weights["place"]
        for one in weights["blocks"]:
            x = block(one, x, 3, is_causal=False)
        return cross_entropy(x.mean(1) @ weights["head"], labels)

    return adam_step(loss), (weights, weights, weights, array(batch, 32, 32, 3), array(batch, dtype=jnp.int32))


def language_model(is_scan, remat=False, layers=8, width=256, vocabulary=8192, batch=8, length=256, dtype=f32):
    stack = (layers,) if is_scan else ()
    blocks = block_shapes(width, dtype, stack)
    weights = {"embed": array(vocabulary, width, dtype=dtype), "blocks": blocks if is_scan else [blocks] * layers}
    apply = lambda one, x: block(one, x, 4, is_causal=True)
    if remat:
        apply = jax.checkpoint(apply)

    def loss(weights, tokens):
        x = weights["embed"][tokens[:, :-1]]
        if is_scan:
            x, _ = jax.lax.scan(lambda x, one: (apply(one, x), None), x, weights["blocks"])
        else:
            for one in weights["blocks"]:
                x = apply(one, x)
        return cross_entropy(normalized(x) @ weights["embed"].T, tokens[:, 1:])

    return adam_step(loss), (weights, weights, weights, array(batch, length + 1, dtype=jnp.int32))


def resnet(channels=(32, 64, 128), blocks=2, batch=32, side=32):
    convolve = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    stages, before = [], channels[0]
    for after in channels:
        stages.append([{"first": array(3, 3, before if k == 0 else after, after), "second": array(3, 3, after, after),
                        "skip": array(1, 1, before if k == 0 else after, after)} for k in range(blocks)])
        before = after
    weights = {"stem": array(3, 3, 3, channels[0]), "stages": stages, "head": array(channels[-1], 10)}

    def batch_normalized(x):
        x = x - x.mean((0, 1, 2))
        return x * jax.lax.rsqrt((x * x).mean((0, 1, 2)) + 1e-5)

    def loss(weights, images, labels):
        x = convolve(images, weights["stem"])
        for stage in weights["stages"]:
            for one in stage:
                y = jax.nn.relu(batch_normalized(convolve(x, one["first"])))
                x = jax.nn.relu(convolve(x, one["skip"]) + batch_normalized(convolve(y, one["second"])))
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        return cross_entropy(x.mean((1, 2)) @ weights["head"], labels)

    return adam_step(loss), (weights, weights, weights, array(batch, side, side, 3), array(batch, dtype=jnp.int32))


def recurrent(width=256, length=64, batch=32):
    """A gated recurrent network, its loss summed over the steps of a scan."""
    weights = {"input": array(64, 3 * width), "state": array(width, 3 * width), "head": array(width, 64)}

    def loss(weights, xs):
        def step(state, x):
            reset, update, new = jnp.split(x @ weights["input"], 3, -1)
            reset_by, update_by, new_by = jnp.split(state @ weights["state"], 3, -1)
            keep = jax.nn.sigmoid(update + update_by)
            state = keep * state + (1 - keep) * jnp.tanh(new + jax.nn.sigmoid(reset + reset_by) * new_by)
            return state, state

        _, states = jax.lax.scan(step, jnp.zeros((batch, width)), xs)
        return jnp.mean((states[:-1] @ weights["head"] - xs[1:]) ** 2)

    return adam_step(loss), (weights, weights, weights, array(length, batch, 64))


def mixture(experts=8, width=256, batch=4096):
    """A layer of experts, each for a part of the tokens, between two dense ones."""
    weights = {"gate": array(width, experts), "up": array(experts, width, 4 * width),
               "down": array(experts, 4 * width, width), "head": array(width, 64)}

    def loss(weights, x, labels):
        gates = jax.nn.softmax(x @ weights["gate"])
        y = x
        for k in range(experts):
            y = y + gates[:, k : k + 1] * (jax.nn.gelu(x @ weights["up"][k]) @ weights["down"][k])
        return cross_entropy(normalized(y) @ weights["head"], labels)

    return adam_step(loss), (weights, weights, weights, array(batch, width), array(batch, dtype=jnp.int32))


PROGRAMS = {
    "vit": vit,
    "lm_unroll": lambda: language_model(is_scan=False),
    "lm_unroll_bf16": lambda: language_model(is_scan=False, dtype=bf16),
    "lm_unroll_remat": lambda: language_model(is_scan=False, remat=True),
    "lm_scan": lambda: language_model(is_scan=True),
    "lm_scan_remat": lambda: language_model(is_scan=True, remat=True),
    "resnet": resnet,
    "recurrent": recurrent,
    "mixture": mixture,
}


def placed(arguments, topology):
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    device = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]
    sharding = SingleDeviceSharding(device)
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=sharding), arguments)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scheduler")
    parser.add_argument("--topology")
    options = parser.parse_args()
    compiler_options = {"xla_cpu_scheduler_type": options.scheduler} if options.scheduler else {}
    for name, make in PROGRAMS.items():
        step, arguments = make()
        step.__name__ = name
        if options.topology:
            arguments = placed(arguments, options.topology)
        jax.jit(step, donate_argnums=(0, 1, 2)).lower(*arguments).compile(compiler_options=compiler_options)
    if options.topology:
        print(f"tpu-{options.topology.split(':')[0]} libtpu-{importlib.metadata.version('libtpu')}")
    else:
        print(f"cpu jaxlib-{importlib.metadata.version('jaxlib')}")


if __name__ == "__main__":
    main()
