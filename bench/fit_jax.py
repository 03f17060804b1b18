# SPDX-License-Identifier: Apache-2.0
"""stowplan.fit on training steps: python bench/fit_jax.py BACKEND [MODEL...] [--budgets=...]

BACKEND: cpu, gpu, or tpu (v5e, ahead of time; needs libtpu). For each model: the step as it is, by
hand with jax.checkpoint and its policies, and what fit finds for each budget of temporary memory in
MiB. All figures are the compiler's own: temporaries by memory_analysis(), flops by cost_analysis(),
which counts the body of a loop once. `--time` runs what was found on this machine, beside the
original. `--check` compares results with those of the original, and of jax.checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

# Temporaries in MiB that are asked for, by back end and model: (budget, most flops in units of 1e9).
WANTED: dict[str, dict[str, list[tuple[float, float]]]] = {
    "cpu": {
        "vit": [(165, 52.2), (148, 52.2)],
        "gpt": [(320, 111.0), (288, 111.0)],
        "lm": [(410, 141.0), (369, 141.0)],
        "lm_scan": [(590, 36.9), (365, 39.9)],
        "gpt_scan": [(345, 37.7), (240, 40.1)],
        "lstm": [(34, 0.064), (17.5, 0.085)],
    },
    "tpu": {
        "vit": [(20, 51.3), (9.1, 58.4)],
        "lm": [(99, 137.5)],
        "lm_scan": [(210, 37.2), (85, 39.9)],
        "resnet": [(24, 35.3), (6.1, 45.0)],
    },
}


def arguments_of(shapes: Any, sharding: Any) -> Any:
    import jax

    return jax.tree.map(
        lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=sharding), shapes
    )


def tpu_sharding() -> Any:
    import jax
    import numpy as np
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    mesh = jax.sharding.Mesh(np.array(topology.devices[:1]), ("x",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())


def random_values(shapes: Any) -> Any:
    import jax
    import jax.numpy as jnp
    import numpy as np

    def value(number: int, leaf: Any) -> Any:
        random = np.random.default_rng(number)
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            return jnp.asarray(np.abs(random.standard_normal(leaf.shape)) * 0.05, leaf.dtype)
        return jnp.asarray(random.integers(0, 8, leaf.shape), leaf.dtype)

    leaves, tree = jax.tree.flatten(shapes)
    return jax.tree.unflatten(tree, [value(i, leaf) for i, leaf in enumerate(leaves)])


def seconds_of(function: Callable[..., Any], shapes: Any, runs: int = 3) -> float:
    """The best of a few runs; donated arguments are made again."""
    import jax

    best = float("inf")
    for _ in range(runs + 1):
        values = jax.block_until_ready(random_values(shapes))
        start = time.perf_counter()
        jax.block_until_ready(function(*values))
        best = min(best, time.perf_counter() - start)
    return best


def distance(made: Any, expected: Any) -> float:
    """The largest difference, by leaf in proportion to its largest value."""
    import jax
    import numpy as np

    most = 0.0
    for a, b in zip(jax.tree.leaves(made), jax.tree.leaves(expected), strict=True):
        x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if x.size:
            most = max(most, float(np.abs(x - y).max() / (np.abs(y).max() + 1e-30)))
    return most


class Bench:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.sharding = tpu_sharding() if options.backend == "tpu" else None

    def show(self, model: str, what: str, figures: Any, **more: Any) -> None:
        row = {"backend": self.options.backend, "model": model, "what": what}
        row |= {"temp_mib": round(figures.temporaries / 2**20, 1)}
        row |= {"gflop": round(figures.flops / 1e9, 3), **more}
        print(json.dumps(row), flush=True)

    def by_hand(self, name: str) -> None:
        import jax
        from fit_jax_models import MODELS, POLICIES, wrapper
        from stowplan.jax_compile import figures_of

        for policy in self.options.policies.split(","):
            if not policy:
                continue
            step, shapes, donated = MODELS[name](wrapper(POLICIES[policy]))
            start = time.monotonic()
            jitted = jax.jit(step, donate_argnums=donated)
            compiled = jitted.lower(*arguments_of(shapes, self.sharding)).compile()
            took = round(time.monotonic() - start, 1)
            self.show(name, f"by hand: {policy}", figures_of(compiled), compile_s=took)

    def fitted(self, name: str) -> None:
        import jax
        import stowplan
        from fit_jax_models import MODELS, wrapper

        step, shapes, donated = MODELS[name](wrapper("none"))
        arguments = arguments_of(shapes, self.sharding)
        wanted = WANTED.get(self.options.backend, {}).get(name, [])
        if self.options.budgets:
            wanted = [(float(b), float("inf")) for b in self.options.budgets.split(",")]
        first = jax.jit(step, donate_argnums=donated)
        fixed: int | None = None
        for budget, most in wanted:
            if fixed is None:
                probe = stowplan.fit(step, *arguments, budget="1024T", donate_argnums=donated)
                fixed = probe.report.before.bytes - probe.report.before.temporaries
                self.show(name, "as it is", probe.report.before)
            start = time.monotonic()
            try:
                found = stowplan.fit(
                    step,
                    *arguments,
                    budget=int(budget * 2**20) + fixed,
                    donate_argnums=donated,
                    cache=self.options.cache,
                )
                verdict = "met" if found.report.after.flops <= most * 1e9 * 1.0005 else "flops"
            except stowplan.DoesNotFit as error:
                found, verdict = error.best, "does not fit"
            more: dict[str, Any] = {
                "budget_mib": budget,
                "most_gflop": most,
                "verdict": verdict,
                "tried": len(found.report.trials),
                "seconds": round(time.monotonic() - start, 1),
            }
            if self.options.time:
                more["step_s"] = round(seconds_of(found, shapes), 3)
                more["given_step_s"] = round(seconds_of(first, shapes), 3)
            if self.options.check:
                more |= self.check(name, first, found, shapes)
            self.show(name, f"fit: {'; '.join(found.report.levers)}", found.report.after, **more)

    def check(self, name: str, first: Any, found: Any, shapes: Any) -> dict[str, float]:
        import jax
        from fit_jax_models import MODELS, POLICIES, wrapper

        expected = first(*random_values(shapes))
        step, _, donated = MODELS[name](wrapper(POLICIES["block"]))
        by_hand = jax.jit(step, donate_argnums=donated)(*random_values(shapes))
        return {
            "distance": distance(found(*random_values(shapes)), expected),
            "checkpoint_distance": distance(by_hand, expected),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend", choices=("cpu", "gpu", "tpu"))
    parser.add_argument("models", nargs="*")
    parser.add_argument("--policies", default="none,block", help="by hand; '' for none")
    parser.add_argument("--budgets", help="temporaries in MiB, with commas")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--no-cache", dest="cache", action="store_false")
    options = parser.parse_args()
    if options.backend == "tpu":
        os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
        os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
    if options.backend != "gpu":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from fit_jax_models import MODELS

    bench = Bench(options)
    for name in options.models or WANTED.get(options.backend, MODELS):
        bench.by_hand(name)
        bench.fitted(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
