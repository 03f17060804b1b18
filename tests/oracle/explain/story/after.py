"""Trains a small language model. Fits: no attention is returned, layers are computed again, state is donated."""
import jax
import jax.numpy as jnp
from jax import lax

LAYERS, BATCH, LENGTH, WIDTH, HEADS, WORDS = 6, 8, 512, 256, 8, 4096


def norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(x, w):
    q, k, v = jnp.split(x @ w["qkv"], 3, axis=-1)
    q, k, v = (a.reshape(BATCH, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for a in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / (WIDTH // HEADS) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    weights = jax.nn.softmax(scores)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape)
    return mixed @ w["out"]


@jax.checkpoint
def layer(x, w):
    x = x + attention(norm(x, w["norm1"]), w)
    x = x + jax.nn.gelu(norm(x, w["norm2"]) @ w["up"]) @ w["down"]
    return x, None


def loss(params, tokens):
    x = params["embed"][tokens[:, :-1]]
    x, _ = lax.scan(layer, x, params["layers"])
    logits = jax.nn.log_softmax(x @ params["embed"].T)
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)
    return -picked.mean()


def step(params, velocity, tokens):
    value, grads = jax.value_and_grad(loss)(params, tokens)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - 0.01 * v, params, velocity)
    return params, velocity, value


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


PARAMS = {
    "embed": f32(WORDS, WIDTH),
    "layers": {
        "norm1": f32(LAYERS, WIDTH),
        "norm2": f32(LAYERS, WIDTH),
        "qkv": f32(LAYERS, WIDTH, 3 * WIDTH),
        "out": f32(LAYERS, WIDTH, WIDTH),
        "up": f32(LAYERS, WIDTH, 4 * WIDTH),
        "down": f32(LAYERS, 4 * WIDTH, WIDTH),
    },
}
DONATE = (0, 1)
ARGUMENTS = (PARAMS, PARAMS, jax.ShapeDtypeStruct((BATCH, LENGTH + 1), jnp.int32))
