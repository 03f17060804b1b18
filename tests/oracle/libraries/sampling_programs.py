# SPDX-License-Identifier: Apache-2.0
"""BlackJAX and Distrax: samplers and distributions."""

import functools

import blackjax
import distrax
import jax
import jax.numpy as jnp

from libraries.common import Program, f32, key, train_step

SIZE = 6
MASS = dict(inverse_mass_matrix=jnp.ones(SIZE))


def density(x):
    return -0.5 * jnp.sum(x**2) - 0.1 * jnp.sum(jnp.cos(3 * x))


def chain(make, steps, start=None):
    """One step with its state given away, or many in a loop from the first position."""
    sampler = make()
    begin = lambda x, seed: sampler.init(x, seed) if start == "key" else sampler.init(x)
    if steps == 1:
        state = jax.eval_shape(begin, f32(SIZE), key())
        return Program(lambda seed, state: sampler.step(seed, state), (key(), state), (1,))

    def run(x, seed):
        one = lambda state, k: (lambda new, info: (new, (new.position, info)))(*sampler.step(k, state))
        return jax.lax.scan(one, begin(x, seed), jax.random.split(seed, steps))

    return Program(run, (f32(SIZE), key()))


SAMPLERS = dict(
    hmc=(lambda: blackjax.hmc(density, 0.1, num_integration_steps=5, **MASS), None),
    nuts=(lambda: blackjax.nuts(density, 0.1, max_num_doublings=4, **MASS), None),
    mala=(lambda: blackjax.mala(density, 0.1), None),
    rmh=(
        lambda: blackjax.additive_step_random_walk(density, blackjax.mcmc.random_walk.normal(0.2 * jnp.ones(SIZE))),
        None,
    ),
    barker=(lambda: blackjax.barker_proposal(density, 0.1), None),
    elliptical=(lambda: blackjax.elliptical_slice(density, mean=jnp.zeros(SIZE), cov=jnp.eye(SIZE)), None),
    ghmc=(lambda: blackjax.ghmc(density, 0.1, jnp.ones(SIZE), 0.3, 0.1), "key"),
    dynamic=(lambda: blackjax.dynamic_hmc(density, 0.1, **MASS), "key"),
    mclmc=(lambda: blackjax.mclmc(density, 1.0, 0.1), "key"),
    rmhmc=(lambda: blackjax.rmhmc(density, 0.1, mass_matrix=lambda x: 1 + 0.1 * x**2, num_integration_steps=3), None),
)


def adapted():
    def run(x, seed):
        made = blackjax.window_adaptation(blackjax.nuts, density, max_num_doublings=3)
        (state, params), _ = made.run(seed, x, 20)
        return state, params

    return Program(run, (f32(SIZE), key()))


def tempered():
    def run(particles, seed):
        smc = blackjax.adaptive_tempered_smc(
            lambda x: -0.5 * jnp.sum(x**2),
            lambda x: -jnp.sum(jnp.abs(x)),
            blackjax.hmc.build_kernel(),
            blackjax.hmc.init,
            dict(
                step_size=jnp.full((1,), 0.1),
                inverse_mass_matrix=jnp.ones((1, SIZE)),
                num_integration_steps=jnp.full((1,), 3),
            ),
            blackjax.smc.resampling.systematic,
            0.5,
            num_mcmc_steps=2,
        )
        one = lambda state, k: (smc.step(k, state)[0], None)
        return jax.lax.scan(one, smc.init(particles), jax.random.split(seed, 3))

    return Program(run, (f32(32, SIZE), key()))


def pathfinder():
    return Program(
        lambda x, seed: blackjax.vi.pathfinder.approximate(seed, density, x, num_samples=16, maxiter=8)[0].position,
        (f32(SIZE), key()),
    )


def langevin():
    sampler = blackjax.sgld(lambda x, batch: -x + batch.mean(0))
    return Program(lambda seed, x, batch: sampler.step(seed, x, batch, 1e-2), (key(), f32(SIZE), f32(16, SIZE)), (1,))


def flow(spline, train):
    """A normalizing flow of coupling layers."""
    width = SIZE * (13 if spline else 2)
    params = [[(f32(SIZE, 32), f32(32)), (f32(32, width), f32(width))] for _ in range(3)]

    def conditioner(layer, x):
        h = jnp.tanh(x @ layer[0][0] + layer[0][1])
        return (h @ layer[1][0] + layer[1][1]).reshape(SIZE, -1)

    def bijector(given):
        if spline:
            return distrax.RationalQuadraticSpline(given, -3.0, 3.0)
        return distrax.ScalarAffine(shift=given[..., 0], log_scale=jnp.tanh(given[..., 1]))

    def made(params):
        mask = jnp.arange(SIZE) % 2 == 0
        layers = [
            distrax.MaskedCoupling(mask ^ (k % 2 == 1), functools.partial(conditioner, layer), bijector)
            for k, layer in enumerate(params)
        ]
        base = distrax.MultivariateNormalDiag(jnp.zeros(SIZE), jnp.ones(SIZE))
        return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))

    if train:
        return train_step(lambda params, x: -jnp.mean(jax.vmap(made(params).log_prob)(x)), params, (f32(16, SIZE),))
    return Program(lambda params, seed: made(params).sample_and_log_prob(seed=seed), (params, key()))


def hidden_markov(method):
    def run(start, move, means, seen):
        model = distrax.HMM(
            distrax.Categorical(logits=start), distrax.Categorical(logits=move), distrax.Normal(means, 1.0)
        )
        return getattr(model, method)(seen)

    return Program(run, (f32(4), f32(4, 4), f32(4), f32(20)))


def distribution(make, *args):
    """Draws, their density, and its gradient."""

    def run(seed, *args):
        def one(*args):
            d = make(*args)
            return jnp.sum(d.log_prob(jax.lax.stop_gradient(d.sample(seed=seed, sample_shape=(8,)))))

        return jax.value_and_grad(one)(*args)

    return Program(run, (key(), *args))


PROGRAMS = {
    f"blackjax_{name}": functools.partial(chain, make, 1, start=start) for name, (make, start) in SAMPLERS.items()
}
PROGRAMS |= {
    f"blackjax_{name}_chain": functools.partial(chain, SAMPLERS[name][0], 10, start=SAMPLERS[name][1])
    for name in ("hmc", "nuts", "rmh", "mclmc", "elliptical")
}
PROGRAMS |= dict(
    blackjax_adapted=adapted,
    blackjax_tempered=tempered,
    blackjax_pathfinder=pathfinder,
    blackjax_langevin=langevin,
    distrax_flow_train=functools.partial(flow, False, True),
    distrax_flow_sample=functools.partial(flow, False, False),
    distrax_spline_train=functools.partial(flow, True, True),
    distrax_spline_sample=functools.partial(flow, True, False),
    distrax_forward_backward=functools.partial(hidden_markov, "forward_backward"),
    distrax_viterbi=functools.partial(hidden_markov, "viterbi"),
    distrax_normal=functools.partial(distribution, distrax.Normal, f32(5), f32(5)),
    distrax_gamma=functools.partial(distribution, distrax.Gamma, f32(5), f32(5)),
    distrax_categorical=functools.partial(distribution, distrax.Categorical, f32(3, 7)),
    distrax_logistic=functools.partial(distribution, distrax.Logistic, f32(5), f32(5)),
    distrax_triangular=functools.partial(distribution, distrax.MultivariateNormalTri, f32(4), f32(4, 4)),
)
