# SPDX-License-Identifier: Apache-2.0
"""NumPyro: densities, samplers and variational inference for several models."""

import functools

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro import handlers
from numpyro.contrib.control_flow import scan
from numpyro.infer import HMC, MCMC, NUTS, SA, SVI, BarkerMH, Predictive, Trace_ELBO, TraceMeanField_ELBO, autoguide
from numpyro.infer.util import log_density

from libraries.common import Program, f32, i32, key


def regression(x, y):
    w = numpyro.sample("w", dist.Normal(0, 1).expand([x.shape[1]]).to_event(1))
    s = numpyro.sample("s", dist.HalfCauchy(1.0))
    numpyro.sample("y", dist.Normal(x @ w, s), obs=y)


def logistic(x, y):
    w = numpyro.sample("w", dist.Laplace(0, 1).expand([x.shape[1]]).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)


def schools(sigma, y):
    mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", y.shape[0]):
        theta = numpyro.sample(
            "theta", dist.TransformedDistribution(dist.Normal(0, 1), dist.transforms.AffineTransform(mu, tau))
        )
        numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)


def mixture(x, y):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(3)))
    with numpyro.plate("parts", 3):
        at = numpyro.sample("at", dist.Normal(0, 3))
    with numpyro.plate("data", y.shape[0]):
        numpyro.sample(
            "y", dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(at, 1.0 + x[0, 0] ** 2)), obs=y
        )


def walk(x, y):
    """A state that moves, in a loop."""
    s = numpyro.sample("s", dist.Exponential(1.0))

    def move(state, seen):
        state = numpyro.sample("state", dist.Normal(0.9 * state, s))
        numpyro.sample("y", dist.StudentT(5.0, state, 0.5), obs=seen)
        return state, state

    scan(move, 0.0, y)


def process(x, y):
    scale, noise = numpyro.sample("scale", dist.LogNormal(0, 1)), numpyro.sample("noise", dist.LogNormal(0, 1))
    gap = jnp.sum((x[:, None] - x[None]) ** 2, -1)
    cov = jnp.exp(-gap / scale) + (noise + 1e-3) * jnp.eye(len(x))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), cov), obs=y)


def correlated(x, y):
    corr = numpyro.sample("corr", dist.LKJCholesky(3, 2.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0).expand([3]).to_event(1))
    numpyro.sample("rows", dist.MultivariateNormal(0, scale_tril=scale[:, None] * corr), obs=x[:, :3])


REAL = (f32(20, 4), f32(20))
MODELS = dict(
    regression=(regression, REAL),
    logistic=(logistic, (f32(20, 4), i32(20))),
    schools=(schools, (f32(8), f32(8))),
    mixture=(mixture, REAL),
    walk=(walk, REAL),
    process=(process, REAL),
    correlated=(correlated, REAL),
)


def density(name):
    """The log density and its gradient, by the unconstrained values."""
    model, data = MODELS[name]

    def trace(seed, *data):
        sites = handlers.trace(handlers.seed(model, seed)).get_trace(*data)
        return {k: s["value"] for k, s in sites.items() if s["type"] == "sample" and not s["is_observed"]}

    sites = jax.eval_shape(trace, key(), *data)
    return Program(jax.value_and_grad(lambda values, *data: log_density(model, data, {}, values)[0]), (sites, *data))


def sampled(name, kernel, draws=6, **options):
    """From the seed to the draws, with adaptation: loops within loops."""
    model, data = MODELS[name]

    def run(seed, *data):
        mcmc = MCMC(kernel(model, **options), num_warmup=4, num_samples=draws, progress_bar=False, jit_model_args=False)
        mcmc.run(seed, *data)
        return mcmc.get_samples()

    return Program(run, (key(), *data))


def variational(name, guide, steps=1, loss=Trace_ELBO):
    model, data = MODELS[name]
    svi = SVI(model, guide(model), numpyro.optim.Adam(1e-2), loss())
    state = jax.eval_shape(svi.init, key(), *data)

    def many(state, *data):
        return jax.lax.scan(lambda s, _: svi.update(s, *data), state, length=steps)

    return Program(svi.update if steps == 1 else many, (state, *data), (0,))


def predicted(name):
    model, data = MODELS[name]
    return Program(lambda seed, x: Predictive(model, num_samples=16)(seed, x, None), (key(), data[0]))


PROGRAMS = {f"{name}_density": functools.partial(density, name) for name in MODELS}
PROGRAMS |= {
    f"{name}_nuts": functools.partial(sampled, name, NUTS, max_tree_depth=4)
    for name in ("regression", "schools", "walk", "process")
}
PROGRAMS |= dict(
    regression_dense=functools.partial(sampled, "regression", NUTS, dense_mass=True, max_tree_depth=3),
    logistic_hmc=functools.partial(sampled, "logistic", HMC, num_steps=5),
    mixture_sa=functools.partial(sampled, "mixture", SA),
    correlated_barker=functools.partial(sampled, "correlated", BarkerMH),
    regression_predictive=functools.partial(predicted, "regression"),
    regression_svi=functools.partial(variational, "regression", autoguide.AutoNormal),
    logistic_svi=functools.partial(variational, "logistic", autoguide.AutoMultivariateNormal),
    schools_svi=functools.partial(variational, "schools", autoguide.AutoDiagonalNormal, 5, TraceMeanField_ELBO),
    process_svi=functools.partial(variational, "process", autoguide.AutoLowRankMultivariateNormal, 5),
    correlated_svi=functools.partial(variational, "correlated", autoguide.AutoIAFNormal, 3),
)
