# SPDX-License-Identifier: Apache-2.0
"""Programs of libraries around JAX, repacked and run: python bench/repack_libraries.py [NAME...]

Training steps and inference written with flax, haiku, equinox and optax, as their users write them.
Each is compiled for the CPU, repacked with --max-cost or without, loaded, and run beside the
original on the same random inputs; every leaf of the results must have the same bits. What is
refused is listed with the reason. Needs jax, the libraries (whichever is missing is left out) and
stowplan on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import stowplan

# A function, its arguments, and which of them are donated.
Program = tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]
KEY = jax.random.key(0)


def normal(*shape: int) -> Any:
    return jax.random.normal(KEY, shape, jnp.float32)


def labels(count: int, *shape: int) -> Any:
    return jax.random.randint(KEY, shape, 0, count)


def training(
    loss: Callable[..., Any], params: Any, optimizer: Any, batch: tuple[Any, ...]
) -> Program:
    """A step of an optimizer of optax."""
    import optax

    def step(params: Any, state: Any, *batch: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    return step, (params, optimizer.init(params), *batch), (0, 1)


def flax_programs() -> Iterator[tuple[str, Callable[[], Program]]]:
    import flax.linen as nn
    import optax

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for _ in range(6):
                x = nn.gelu(nn.Dense(512)(x))
            return nn.Dense(10)(x)

    class Cnn(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for width in (16, 32, 64):
                x = nn.relu(nn.Conv(width, (3, 3))(x))
                x = nn.avg_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.reshape((x.shape[0], -1)))

    class Block(nn.Module):
        heads: int = 4

        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(self.heads)(y, y)
            y = nn.LayerNorm()(x)
            return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(4 * x.shape[-1])(y)))

    class Transformer(nn.Module):
        layers: int = 4

        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            x = nn.Embed(1000, 128)(tokens)
            for _ in range(self.layers):
                x = Block()(x)
            return nn.Dense(1000)(x)

    class Residual(nn.Module):
        @nn.compact
        def __call__(self, x: Any, is_training: bool) -> Any:
            x = nn.Conv(32, (3, 3))(x)
            for _ in range(3):
                y = nn.Conv(32, (3, 3))(x)
                y = nn.relu(nn.BatchNorm(use_running_average=not is_training)(y))
                x = x + y
            return nn.Dense(10)(x.mean((1, 2)))

    class Recurrent(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Dense(10)(nn.RNN(nn.LSTMCell(128))(x)[:, -1])

    class Autoencoder(nn.Module):
        @nn.compact
        def __call__(self, x: Any, key: Any) -> Any:
            h = nn.relu(nn.Dense(256)(x))
            mean, log_variance = nn.Dense(32)(h), nn.Dense(32)(h)
            z = mean + jnp.exp(log_variance / 2) * jax.random.normal(key, mean.shape)
            return nn.Dense(x.shape[-1])(nn.relu(nn.Dense(256)(z))), mean, log_variance

    def classify(model: Any) -> Callable[..., Any]:
        def loss(params: Any, x: Any, y: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(model.apply(params, x), y).mean()

        return loss

    def classifier(model: Any, x: Any, y: Any, optimizer: Any) -> Program:
        return training(classify(model), model.init(KEY, x), optimizer, (x, y))

    def batch_norm() -> Program:
        model = Residual()
        x, y = normal(16, 16, 16, 3), labels(10, 16)
        variables = model.init(KEY, x, True)

        def step(variables: Any, x: Any, y: Any) -> Any:
            def loss(params: Any) -> Any:
                logits, changed = model.apply(
                    {**variables, "params": params}, x, True, mutable=["batch_stats"]
                )
                value = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
                return value, changed

            gradients, changed = jax.grad(loss, has_aux=True)(variables["params"])
            params = jax.tree.map(lambda p, g: p - 0.1 * g, variables["params"], gradients)
            return {"params": params, **changed}

        return step, (variables, x, y), (0,)

    def dropout() -> Program:
        class Dropped(nn.Module):
            @nn.compact
            def __call__(self, x: Any) -> Any:
                for _ in range(4):
                    x = nn.Dropout(0.2, deterministic=False)(nn.relu(nn.Dense(512)(x)))
                return nn.Dense(10)(x)

        model = Dropped()
        x, y = normal(128, 256), labels(10, 128)

        def loss(params: Any, x: Any, y: Any, seed: Any) -> Any:
            logits = model.apply(params, x, rngs={"dropout": jax.random.key(seed)})
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        params = model.init({"params": KEY, "dropout": KEY}, x)
        return training(loss, params, optax.adam(1e-3), (x, y, jnp.uint32(1)))

    def autoencoder() -> Program:
        model = Autoencoder()
        x = normal(128, 784)

        def loss(params: Any, x: Any, seed: Any) -> Any:
            y, mean, log_variance = model.apply(params, x, jax.random.key(seed))
            distance = jnp.exp(log_variance) + mean**2 - 1 - log_variance
            return jnp.mean((x - y) ** 2) + distance.mean()

        return training(loss, model.init(KEY, x, KEY), optax.adamw(1e-3), (x, jnp.uint32(1)))

    def inference() -> Program:
        model, tokens = Transformer(), labels(1000, 8, 128)
        return model.apply, (model.init(KEY, tokens), tokens), ()

    yield (
        "flax_mlp_adam",
        lambda: classifier(Mlp(), normal(512, 256), labels(10, 512), optax.adam(1e-3)),
    )
    yield (
        "flax_cnn_momentum",
        lambda: classifier(
            Cnn(), normal(32, 28, 28, 1), labels(10, 32), optax.sgd(0.1, momentum=0.9)
        ),
    )
    yield (
        "flax_transformer_adamw_clip",
        lambda: classifier(
            Transformer(),
            labels(1000, 8, 128),
            labels(1000, 8, 128),
            optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)),
        ),
    )
    yield "flax_transformer_inference", inference
    yield "flax_batch_norm", batch_norm
    yield "flax_dropout_adam", dropout
    yield "flax_vae_adamw", autoencoder
    yield (
        "flax_lstm_rmsprop",
        lambda: classifier(Recurrent(), normal(32, 24, 64), labels(10, 32), optax.rmsprop(1e-3)),
    )
    yield (
        "flax_mlp_lion_schedule",
        lambda: classifier(
            Mlp(),
            normal(512, 256),
            labels(10, 512),
            optax.lion(optax.cosine_decay_schedule(1e-3, 100)),
        ),
    )
    yield (
        "flax_mlp_adafactor",
        lambda: classifier(Mlp(), normal(512, 256), labels(10, 512), optax.adafactor(1e-3)),
    )


def haiku_programs() -> Iterator[tuple[str, Callable[[], Program]]]:
    import haiku as hk
    import optax

    def classifier(forward: Callable[..., Any], x: Any, y: Any, optimizer: Any) -> Program:
        model = hk.without_apply_rng(hk.transform(forward))

        def loss(params: Any, x: Any, y: Any) -> Any:
            logits = model.apply(params, x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        return training(loss, model.init(KEY, x), optimizer, (x, y))

    def mlp(x: Any) -> Any:
        return hk.nets.MLP([512, 512, 512, 10])(x)

    def cnn(x: Any) -> Any:
        for width in (16, 32):
            x = jax.nn.relu(hk.Conv2D(width, 3)(x))
            x = hk.MaxPool(2, 2, "SAME")(x)
        return hk.Linear(10)(hk.Flatten()(x))

    def recurrent(x: Any) -> Any:
        core = hk.GRU(128)
        out, _ = hk.dynamic_unroll(core, x, core.initial_state(x.shape[1]))
        return hk.Linear(10)(out[-1])

    def attention(x: Any) -> Any:
        for _ in range(3):
            y = hk.LayerNorm(-1, True, True)(x)
            x = x + hk.MultiHeadAttention(4, 32, w_init_scale=1.0, model_size=128)(y, y, y)
        return hk.Linear(10)(x.mean(1))

    def resnet() -> Program:
        model = hk.without_apply_rng(
            hk.transform_with_state(lambda x: hk.nets.ResNet18(10)(x, is_training=True))
        )
        x, y = normal(4, 32, 32, 3), labels(10, 4)
        params, state = model.init(KEY, x)

        def step(params: Any, state: Any, x: Any, y: Any) -> Any:
            def loss(params: Any) -> Any:
                logits, new = model.apply(params, state, x)
                return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), new

            gradients, new = jax.grad(loss, has_aux=True)(params)
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), new

        return step, (params, state, x, y), (0, 1)

    yield (
        "haiku_mlp_sgd",
        lambda: classifier(mlp, normal(512, 256), labels(10, 512), optax.sgd(0.1)),
    )
    yield (
        "haiku_cnn_adam",
        lambda: classifier(cnn, normal(32, 28, 28, 1), labels(10, 32), optax.adam(1e-3)),
    )
    yield (
        "haiku_gru_adam",
        lambda: classifier(recurrent, normal(24, 32, 64), labels(10, 32), optax.adam(1e-3)),
    )
    yield (
        "haiku_attention_lamb",
        lambda: classifier(attention, normal(8, 64, 128), labels(10, 8), optax.lamb(1e-3)),
    )
    yield "haiku_resnet18", resnet


def equinox_programs() -> Iterator[tuple[str, Callable[[], Program]]]:
    import equinox as eqx
    import optax

    def classifier(model: Any, x: Any, y: Any, optimizer: Any) -> Program:
        params, static = eqx.partition(model, eqx.is_inexact_array)

        def loss(params: Any, x: Any, y: Any) -> Any:
            logits = jax.vmap(eqx.combine(params, static))(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        return training(loss, params, optimizer, (x, y))

    def mlp() -> Program:
        model = eqx.nn.MLP(256, 10, 512, 6, key=KEY)
        return classifier(model, normal(512, 256), labels(10, 512), optax.adam(1e-3))

    def cnn() -> Program:
        model = eqx.nn.Sequential(
            [
                eqx.nn.Conv2d(1, 16, 3, key=KEY),
                eqx.nn.Lambda(jax.nn.relu),
                eqx.nn.MaxPool2d(2, 2),
                eqx.nn.Conv2d(16, 32, 3, key=KEY),
                eqx.nn.Lambda(jax.nn.relu),
                eqx.nn.Lambda(jnp.ravel),
                eqx.nn.Linear(32 * 11 * 11, 10, key=KEY),
            ]
        )
        return classifier(model, normal(32, 1, 28, 28), labels(10, 32), optax.adam(1e-3))

    def recurrent() -> Program:
        class Model(eqx.Module):
            cell: Any
            head: Any

            def __call__(self, xs: Any) -> Any:
                last, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(64), xs)
                return self.head(last)

        model = Model(eqx.nn.GRUCell(32, 64, key=KEY), eqx.nn.Linear(64, 10, key=KEY))
        return classifier(model, normal(32, 20, 32), labels(10, 32), optax.adam(1e-3))

    def attention() -> Program:
        class Model(eqx.Module):
            attention: Any
            norm: Any
            head: Any

            def __call__(self, x: Any) -> Any:
                y = jax.vmap(self.norm)(x)
                return self.head((x + self.attention(y, y, y)).mean(0))

        model = Model(
            eqx.nn.MultiheadAttention(4, 128, key=KEY),
            eqx.nn.LayerNorm(128),
            eqx.nn.Linear(128, 10, key=KEY),
        )
        return classifier(model, normal(16, 64, 128), labels(10, 16), optax.adam(1e-3))

    def ode() -> Program:
        model = eqx.nn.MLP(16, 16, 64, 2, key=KEY)
        params, static = eqx.partition(model, eqx.is_inexact_array)

        def loss(params: Any, x: Any, y: Any) -> Any:
            field = jax.vmap(eqx.combine(params, static))

            def step(x: Any, _: Any) -> Any:
                middle = x + 0.05 * field(x)
                return x + 0.1 * field(middle), None

            return jnp.mean((jax.lax.scan(step, x, None, 20)[0] - y) ** 2)

        return training(loss, params, optax.adam(1e-3), (normal(256, 16), normal(256, 16)))

    yield "equinox_mlp_adam", mlp
    yield "equinox_cnn_adam", cnn
    yield "equinox_gru_adam", recurrent
    yield "equinox_attention_adam", attention
    yield "equinox_neural_ode", ode


def optax_programs() -> Iterator[tuple[str, Callable[[], Program]]]:
    import optax

    def logistic(params: Any, x: Any, y: Any) -> Any:
        return optax.sigmoid_binary_cross_entropy(x @ params["w"] + params["b"], y).mean()

    params = {"w": normal(512, 64), "b": jnp.zeros(64)}
    x, y = normal(1024, 512), (normal(1024, 64) > 0).astype(jnp.float32)

    def lbfgs() -> Program:
        optimizer = optax.lbfgs()

        def step(params: Any, state: Any, x: Any, y: Any) -> Any:
            def loss(params: Any) -> Any:
                return logistic(params, x, y)

            value, gradients = optax.value_and_grad_from_state(loss)(params, state=state)
            updates, state = optimizer.update(
                gradients, state, params, value=value, grad=gradients, value_fn=loss
            )
            return optax.apply_updates(params, updates), state

        return step, (params, optimizer.init(params), x, y), (0, 1)

    yield "optax_lbfgs", lbfgs
    yield (
        "optax_accumulation",
        lambda: training(logistic, params, optax.MultiSteps(optax.adam(1e-3), 4), (x, y)),
    )
    yield (
        "optax_shampoo_like_muon",
        lambda: training(logistic, params, optax.contrib.muon(1e-3), (x, y)),
    )


def bits(compiled: Any, arguments: tuple[Any, ...]) -> list[bytes]:
    copies = jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), arguments)
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(compiled(*copies))]


def run(name: str, make: Callable[[], Program], options: dict[str, Any]) -> dict[str, Any]:
    function, arguments, donated = make()
    begin = time.perf_counter()
    compiled = jax.jit(function, donate_argnums=donated).lower(*arguments).compile()
    compile_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    better = stowplan.repack(compiled, **options)
    row = {
        "name": name,
        "before": better.report.temporaries_before,
        "after": better.report.temporaries_after,
        "is_rewritten": better.report.is_rewritten,
        "copied_thunks": better.report.copied_thunks,
        "refusals": list(better.report.refusals),
        "compile_seconds": round(compile_seconds, 2),
        "repack_seconds": round(time.perf_counter() - begin, 2),
    }
    if better.report.is_rewritten:
        row["loaded_temporaries"] = better.memory_analysis().temp_size_in_bytes
        expected = bits(compiled, arguments)
        got = bits(better, arguments)
        row["leaves"] = len(expected)
        row["equal"] = sum(a == b for a, b in zip(expected, got, strict=True))
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names of programs")
    parser.add_argument("--max-cost", type=float, help="extra work that is allowed")
    parser.add_argument("--json", help="write the rows to this file")
    parsed = parser.parse_args()
    rows = []
    for programs in (flax_programs, haiku_programs, equinox_programs, optax_programs):
        try:
            found = list(programs())
        except ImportError as error:
            print(f"{programs.__name__} are left out: {error}")
            continue
        for name, make in found:
            if parsed.names and not any(part in name for part in parsed.names):
                continue
            row = run(name, make, {"max_cost": parsed.max_cost})
            rows.append(row)
            print(
                f"{name:30} {row['before']:>11} {row['after']:>11} "
                f"{row['after'] / max(1, row['before']):.3f}  "
                f"{row.get('equal', '-')} of {row.get('leaves', '-')} equal, compiled in "
                f"{row['compile_seconds']} s, repacked in {row['repack_seconds']} s",
                flush=True,
            )
            for refusal in row["refusals"]:
                print(f"    refused: {refusal}", flush=True)
    if parsed.json:
        with open(parsed.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    # What has no plan of its own: nothing could be tried.
    refused = [row for row in rows if row["refusals"] and not row["is_rewritten"]]
    large = [row for row in rows if row["before"] >= 1_000_000]
    wrong = [
        row
        for row in rows
        if row["is_rewritten"]
        and (row["equal"] != row["leaves"] or row["loaded_temporaries"] != row["after"])
    ]
    print(
        f"{len(rows)} programs, jax {jax.__version__}: {sum(r['is_rewritten'] for r in rows)} lower,"
    )
    print(f"  {len(refused)} refused, {len(wrong)} wrong {[row['name'] for row in wrong]}")
    if large:
        mean = math.exp(sum(math.log(r["after"] / r["before"]) for r in large) / len(large))
        print(f"  geometric mean of {len(large)} programs with at least 1 MB: {mean:.3f}")
    for why, count in collections.Counter(r["refusals"][0] for r in refused).most_common():
        print(f"  {count}: {why}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
