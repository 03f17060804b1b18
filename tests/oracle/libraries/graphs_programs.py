# SPDX-License-Identifier: Apache-2.0
"""Jraph: networks over graphs."""

import functools

import jax.numpy as jnp
import jraph

from libraries.common import f32, i32, variants

NODES, EDGES, GRAPHS = 20, 48, 3


def graph(width):
    return jraph.GraphsTuple(
        nodes=f32(NODES, width),
        edges=f32(EDGES, width),
        senders=i32(EDGES),
        receivers=i32(EDGES),
        globals=f32(GRAPHS, width),
        n_node=i32(GRAPHS),
        n_edge=i32(GRAPHS),
    )


def layer(params, *parts):
    x = jnp.concatenate(parts, -1)
    return jnp.tanh(x @ params["w"][: x.shape[-1]] + params["b"])


def weights(width, most):
    return {"w": f32(most * width, width), "b": f32(width)}


def network(make, rounds=1, width=12):
    params = {k: weights(width, 4) for k in ("edge", "node", "global")}

    def apply(params, graph):
        for _ in range(rounds):
            graph = make(params)(graph)
        return graph.nodes, graph.edges, graph.globals

    return apply, params, (graph(width),)


def full(params):
    return jraph.GraphNetwork(
        lambda *p: layer(params["edge"], *p),
        lambda *p: layer(params["node"], *p),
        lambda *p: layer(params["global"], *p),
    )


def pooled(params):
    return jraph.GraphNetwork(
        lambda *p: layer(params["edge"], *p),
        lambda *p: layer(params["node"], *p),
        lambda *p: layer(params["global"], *p),
        aggregate_edges_for_nodes_fn=jraph.segment_max,
        aggregate_nodes_for_globals_fn=jraph.segment_mean,
        aggregate_edges_for_globals_fn=jraph.segment_variance,
    )


def interaction(params):
    return jraph.InteractionNetwork(
        lambda *p: layer(params["edge"], *p),
        lambda *p: layer(params["node"], *p),
        include_sent_messages_in_node_update=True,
    )


def attention(params):
    return jraph.GAT(
        lambda x: layer(params["node"], x), lambda s, r, e: layer(params["edge"], s, r, e).sum(-1, keepdims=True)
    )


def convolution(params):
    return jraph.GraphConvolution(lambda x: layer(params["node"], x), add_self_edges=True)


def sets(params):
    return jraph.DeepSets(lambda *p: layer(params["node"], *p), lambda x: layer(params["global"], x))


def relation(params):
    return jraph.RelationNetwork(lambda *p: layer(params["edge"], *p), lambda x: layer(params["global"], x))


def gated(params):
    return jraph.GraphNetGAT(
        lambda *p: layer(params["edge"], *p),
        lambda *p: layer(params["node"], *p),
        lambda e, s, r, g: jnp.sum(e * s * r, -1, keepdims=True),
        lambda e, w: e * w,
        lambda *p: layer(params["global"], *p),
    )


MODELS = dict(
    full=(full, 1, "infer bf16 train kept remat"),
    deep=(full, 3, "infer train remat scan"),
    pooled=(pooled, 2, "infer train"),
    interaction=(interaction, 2, "infer train"),
    attention=(attention, 1, "infer train"),
    convolution=(convolution, 2, "infer train"),
    sets=(sets, 1, "infer train"),
    relation=(relation, 1, "infer train"),
    gated=(gated, 1, "infer train"),
)
PROGRAMS = {}
for stem, (make, rounds, plan) in MODELS.items():
    PROGRAMS |= variants(stem, functools.partial(network, make, rounds), plan)
