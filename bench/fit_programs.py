# SPDX-License-Identifier: Apache-2.0
"""Compiles training steps that scan over their layers, or over time, with and without jax.checkpoint of the body.

    python fit_programs.py DIR ARCHIVE
    build/release/bench/stowplan_bench_fit DIR

ARCHIVE is `cpu` for jaxlib 0.10 and `cpu11` for 0.11. Makes DIR/ARCHIVE/PROGRAM and DIR/ARCHIVE/PROGRAM_remat.
"""

import os
import pathlib
import shutil
import subprocess
import sys

PROGRAMS = ("scan_gpt", "scan_gated", "scan_mlp", "scan_lstm")


def compile_one(name, is_checkpointed):
    import jax
    import jax.numpy as jnp

    def array(*dims, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(dims, dtype)

    def wrapped(function):
        return jax.checkpoint(function) if is_checkpointed else function

    def normalized(x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def attention(x, heads):
        batch, length, width = x.shape[0], x.shape[1], x.shape[2] // 3
        query, key, value = jnp.split(x.reshape(batch, length, 3 * heads, width // heads), 3, axis=2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (width // heads) ** -0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value).reshape(batch, length, width)

    def gpt_block(x, w):
        x = x + attention(normalized(x, w["s1"], w["t1"]) @ w["in"] + w["b1"], 8) @ w["out"] + w["b2"]
        return x + jax.nn.gelu(normalized(x, w["s2"], w["t2"]) @ w["up"] + w["b3"]) @ w["down"] + w["b4"]

    def rms(x, scale):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale

    def gated_block(x, w):
        x = x + attention(rms(x, w["s1"]) @ w["in"], 8) @ w["out"]
        y = rms(x, w["s2"])
        return x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]

    def mlp_block(x, w):
        return x + jnp.tanh(jax.nn.silu(x @ w["up"]) @ w["down"])

    def lstm_cell(weights, state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ weights["x"] + h @ weights["h"] + weights["b"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def scanned(block, x, weights):
        return jax.lax.scan(lambda y, w: (wrapped(block)(y, w), None), x, weights)[0]

    def language_loss(block):
        def loss(weights, tokens):
            x = scanned(block, weights["words"][tokens[:, :-1]], weights["blocks"])
            scores = jax.nn.log_softmax(x @ weights["words"].T)
            return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], -1))

        return loss

    def lstm_loss(weights, xs):
        zero = jnp.zeros((xs.shape[1], weights["h"].shape[0]))
        return jnp.mean(jax.lax.scan(lambda s, x: wrapped(lstm_cell)(weights, s, x), (zero, zero), xs)[1] ** 2)

    n, d = 6, 256
    gpt = {"in": array(n, d, 3 * d), "b1": array(n, 3 * d), "out": array(n, d, d), "up": array(n, d, 4 * d),
           "b3": array(n, 4 * d), "down": array(n, 4 * d, d), **{k: array(n, d) for k in ("s1", "t1", "s2", "t2", "b2", "b4")}}
    gated = {"in": array(8, d, 3 * d), "out": array(8, d, d), "gate": array(8, d, 688), "up": array(8, d, 688),
             "down": array(8, 688, d), "s1": array(8, d), "s2": array(8, d)}
    tokens = array(8, 257, dtype=jnp.int32)
    loss, weights, data = {
        "scan_gpt": (language_loss(gpt_block), {"words": array(4096, d), "blocks": gpt}, tokens),
        "scan_gated": (language_loss(gated_block), {"words": array(4096, d), "blocks": gated}, tokens),
        "scan_mlp": (lambda w, x: jnp.mean(scanned(mlp_block, x, w) ** 2),
                     {"up": array(16, d, 4 * d), "down": array(16, 4 * d, d)}, array(512, d)),
        "scan_lstm": (lstm_loss, {"x": array(64, 4 * d), "h": array(d, 4 * d), "b": array(4 * d)}, array(128, 32, 64)),
    }[name]

    def step(weights, data):
        value, gradients = jax.value_and_grad(loss)(weights, data)
        return jax.tree.map(lambda w, g: w - 1e-3 * g, weights, gradients), value

    jax.jit(step, donate_argnums=0).lower(weights, data).compile()


def main():
    folder, archive = pathlib.Path(sys.argv[1]), sys.argv[2]
    if len(sys.argv) > 3:
        return compile_one(sys.argv[3], sys.argv[4] == "remat")
    for name in PROGRAMS:
        for kind in ("plain", "remat"):
            out = folder / archive / (name + ("_remat" if kind == "remat" else ""))
            dump = out / "dump"
            flags = f"--xla_dump_to={dump} --xla_dump_hlo_as_proto"
            subprocess.run([sys.executable, __file__, *sys.argv[1:3], name, kind], check=True,
                           env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"})
            for file in dump.glob("*jit_step*cpu_after_optimizations.hlo.pb"):
                file.rename(out / "cpu_after_optimizations.hlo.pb")
            shutil.rmtree(dump)


if __name__ == "__main__":
    main()
