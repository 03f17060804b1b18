# SPDX-License-Identifier: Apache-2.0
"""Training steps for bench/fit_jax.py: vision transformer, language models (unrolled, in a scan, with
flax), ResNet with batch norm, LSTM, U-Net with dropout.

An entry of MODELS takes what is done to a block (nothing, or jax.checkpoint with a policy) and
returns a step, the shapes of its arguments, and what is donated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Model = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def shape(*dims: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(dims, dtype)


def adam(params: Any, gradients: Any, first: Any, second: Any, step: Any) -> tuple[Any, ...]:
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    step = step + 1

    def moved(p: Any, m: Any, v: Any) -> Any:
        return p - 1e-3 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)

    params = jax.tree.map(moved, params, first, second)
    return params, first, second, step


def cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def vit(wrap: Wrap, width: int = 192, tokens: int = 65, layers: int = 4, batch: int = 64) -> Model:
    heads = width // 64

    def block(x: Any, w: Any) -> Any:
        split = lambda z: z.reshape(x.shape[0], tokens, heads, 64)
        h = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)
        scores = jnp.einsum("bnhd,bmhd->bhnm", split(h @ w["q"]), split(h @ w["k"])) / 8
        mixed = jnp.einsum("bhnm,bmhd->bnhd", jax.nn.softmax(scores), split(h @ w["v"]))
        x = x + mixed.reshape(x.shape) @ w["o"]
        return x + jax.nn.gelu(x @ w["a"]) @ w["b"]

    block = wrap(block)

    def loss(params: Any, images: Any, labels: Any) -> Any:
        count = images.shape[0]
        x = images.reshape(count, 8, 4, 8, 4, 3).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(count, 64, 48) @ params["patch"]
        start = jnp.broadcast_to(params["cls"], (count, 1, width))
        x = jnp.concatenate([start, x], 1) + params["pos"]
        for w in params["blocks"]:
            x = block(x, w)
        return cross_entropy(x[:, 0] @ params["head"], labels)

    def step(params: Any, first: Any, second: Any, number: Any, images: Any, labels: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, images, labels)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        params = jax.tree.map(
            lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second
        )
        return params, first, second, number + 1, value

    square = {name: shape(width, width) for name in "qkvo"}
    weights = {**square, "a": shape(width, 4 * width), "b": shape(4 * width, width)}
    params = {
        "patch": shape(48, width),
        "pos": shape(tokens, width),
        "cls": shape(width),
        "blocks": [weights] * layers,
        "head": shape(width, 100),
    }
    images, labels = shape(batch, 32, 32, 3), shape(batch, dtype=jnp.int32)
    return step, (params, params, params, shape(), images, labels), (0, 1, 2)


def rms_norm(x: Any, scale: Any) -> Any:
    size = jnp.mean(x.astype(jnp.float32) ** 2, -1, keepdims=True)
    return x * lax.rsqrt(size + 1e-6).astype(x.dtype) * scale


def lm_block(x: Any, w: Any, heads: int) -> Any:
    batch, length, width = x.shape
    split = lambda z: z.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)
    q, k, v = map(split, jnp.split(rms_norm(x, w["n1"]) @ w["qkv"], 3, -1))
    scores = (q @ k.transpose(0, 1, 3, 2)).astype(jnp.float32) / (width // heads) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = (jax.nn.softmax(scores).astype(x.dtype) @ v).transpose(0, 2, 1, 3)
    x = x + mixed.reshape(x.shape) @ w["o"]
    h = rms_norm(x, w["n2"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


def lm(
    wrap: Wrap,
    in_scan: bool,
    vocabulary: int = 8000,
    width: int = 256,
    hidden: int = 688,
    layers: int = 8,
    heads: int = 4,
    batch: int = 8,
    length: int = 256,
) -> Model:
    block = wrap(functools.partial(lm_block, heads=heads))

    def loss(params: Any, tokens: Any) -> Any:
        x = params["embed"][tokens[:, :-1]]
        if in_scan:
            x, _ = lax.scan(lambda h, w: (block(h, w), None), x, params["blocks"])
        else:
            for w in params["blocks"]:
                x = block(x, w)
        logits = (rms_norm(x, params["norm"]) @ params["embed"].T).astype(jnp.float32)
        return cross_entropy(logits, tokens[:, 1:])

    def step(params: Any, first: Any, second: Any, number: Any, tokens: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, tokens)
        return *adam(params, gradients, first, second, number), value

    dims: dict[str, tuple[int, ...]] = {"qkv": (width, 3 * width), "o": (width, width)}
    dims |= {"gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}
    dims |= {"n1": (width,), "n2": (width,)}
    blocks: Any = [{k: shape(*d) for k, d in dims.items()}] * layers
    if in_scan:
        blocks = {k: shape(layers, *d) for k, d in dims.items()}
    params = {"embed": shape(vocabulary, width), "norm": shape(width), "blocks": blocks}
    tokens = shape(batch, length + 1, dtype=jnp.int32)
    return step, (params, params, params, shape(), tokens), (0, 1, 2, 3)


def gpt(wrap: Wrap, in_scan: bool, layers: int = 6, width: int = 256, heads: int = 8) -> Model:
    """With flax and optax."""
    import flax.linen as nn
    import optax

    batch, length, vocabulary = 8, 256, 8192
    policy = getattr(wrap, "policy", "none")

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            count = x.shape[0]
            qkv = nn.Dense(3 * width, name="qkv")(nn.LayerNorm()(x))
            q, k, v = jnp.split(qkv.reshape(count, length, 3 * heads, width // heads), 3, axis=2)
            scores = jnp.einsum("bthd,bshd->bhts", q, k) / (width // heads) ** 0.5
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
            mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)
            x = x + nn.Dense(width, name="proj")(mixed.reshape(x.shape))
            y = jax.nn.gelu(nn.Dense(4 * width, name="up")(nn.LayerNorm()(x)))
            return x + nn.Dense(width, name="down")(y)

    kept = Block if policy == "none" else nn.remat(Block, policy=policy, prevent_cse=not in_scan)

    class Body(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            return kept()(x), None

    class Net(nn.Module):
        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            embed = nn.Embed(vocabulary, width, name="wte")
            x = embed(tokens) + nn.Embed(length, width, name="wpe")(jnp.arange(length))
            if in_scan:
                stack = nn.scan(
                    Body, variable_axes={"params": 0}, split_rngs={"params": True}, length=layers
                )
                x, _ = stack()(x, None)
            else:
                for i in range(layers):
                    x = kept(name=f"block_{i}")(x)
            return embed.attend(nn.LayerNorm(name="lnf")(x))

    net, optimizer = Net(), optax.adamw(1e-3)
    tokens = shape(batch, length, dtype=jnp.int32)

    def init(key: Any, tokens: Any) -> Any:
        params = net.init(key, tokens)
        return {"params": params, "opt": optimizer.init(params), "step": jnp.zeros((), jnp.int32)}

    def step(state: Any, tokens: Any) -> Any:
        def loss(params: Any) -> Any:
            logits = net.apply(params, tokens)[:, :-1]
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        value, gradients = jax.value_and_grad(loss)(state["params"])
        updates, opt = optimizer.update(gradients, state["opt"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "opt": opt, "step": state["step"] + 1}, value

    return step, (jax.eval_shape(init, jax.random.key(0), tokens), tokens), (0,)


def resnet(wrap: Wrap, batch: int = 64, widths: tuple[int, ...] = (32, 64, 128)) -> Model:
    """With flax, batch norm and optax."""
    import flax.linen as nn
    import optax

    policy = getattr(wrap, "policy", "none")

    class Block(nn.Module):
        width: int

        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.Conv(self.width, (3, 3), use_bias=False)(x)
            y = nn.relu(nn.BatchNorm(use_running_average=False)(y))
            y = nn.Conv(self.width, (3, 3), use_bias=False)(y)
            y = nn.BatchNorm(use_running_average=False)(y)
            if x.shape[-1] != self.width:
                x = nn.Conv(self.width, (1, 1))(x)
            return nn.relu(x + y)

    kept = Block if policy == "none" else nn.remat(Block, policy=policy)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for i, width in enumerate(widths):
                for k in range(2):
                    x = kept(width, name=f"s{i}{k}")(x)
                x = nn.max_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.mean((1, 2)))

    net, optimizer = Net(), optax.sgd(0.1, momentum=0.9)
    images, labels = shape(batch, 32, 32, 3), shape(batch, dtype=jnp.int32)

    def init(key: Any, images: Any) -> Any:
        state = net.init(key, images)
        return {**state, "opt": optimizer.init(state["params"])}

    def step(state: Any, images: Any, labels: Any) -> Any:
        def loss(params: Any) -> Any:
            logits, changed = net.apply(
                {"params": params, "batch_stats": state["batch_stats"]},
                images,
                mutable=["batch_stats"],
            )
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), changed

        (value, changed), gradients = jax.value_and_grad(loss, has_aux=True)(state["params"])
        updates, opt = optimizer.update(gradients, state["opt"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "batch_stats": changed["batch_stats"], "opt": opt}, value

    state = jax.eval_shape(init, jax.random.key(0), images)
    return step, (state, images, labels), (0,)


def lstm(wrap: Wrap, width: int = 256, length: int = 128, batch: int = 32, inputs: int = 64) -> Model:
    def cell(w: Any, state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ w["x"] + h @ w["h"] + w["b"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def step(weights: Any, xs: Any) -> Any:
        def loss(weights: Any) -> Any:
            zeros = jnp.zeros((batch, width))
            wrapped = wrap(cell)
            _, hs = lax.scan(lambda s, x: wrapped(weights, s, x), (zeros, zeros), xs)
            return jnp.mean(hs**2)

        value, gradients = jax.value_and_grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - g, weights, gradients), value

    weights = {"x": shape(inputs, 4 * width), "h": shape(width, 4 * width), "b": shape(4 * width)}
    return step, (weights, shape(length, batch, inputs)), (0,)


MODELS: dict[str, Callable[[Wrap], Model]] = {
    "vit": vit,
    "lm": functools.partial(lm, in_scan=False),
    "lm_scan": functools.partial(lm, in_scan=True),
    "gpt": functools.partial(gpt, in_scan=False),
    "gpt_scan": functools.partial(gpt, in_scan=True),
    "resnet": resnet,
    "lstm": lstm,
}
# Small enough to run on any machine.
SMALL: dict[str, Callable[[Wrap], Model]] = {
    "vit": functools.partial(vit, batch=2),
    "lm": functools.partial(
        lm, in_scan=False, vocabulary=100, width=32, hidden=64, layers=4, batch=2, length=16
    ),
    "lm_scan": functools.partial(
        lm, in_scan=True, vocabulary=100, width=32, hidden=64, layers=4, batch=2, length=16
    ),
    "lstm": functools.partial(lstm, width=16, length=8, batch=2, inputs=8),
}


def wrapper(policy: Any) -> Wrap:
    """What is done to each block; "none": nothing."""
    if policy == "none":
        return lambda function: function

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.checkpoint(function, policy=policy)

    wrap.policy = policy  # type: ignore[attr-defined]
    return wrap


POLICIES: dict[str, Any] = {
    "none": "none",
    "block": None,
    "dots": jax.checkpoint_policies.dots_saveable,
    "dots_no_batch": jax.checkpoint_policies.dots_with_no_batch_dims_saveable,
}
