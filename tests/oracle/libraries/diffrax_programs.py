# SPDX-License-Identifier: Apache-2.0
"""Diffrax: differential equations, and gradients through their solutions."""

import functools

import diffrax as dfx
import equinox as eqx
import jax
import jax.numpy as jnp

from libraries.common import Program, f32, key, train_step


def lotka(t, y, args):
    a, b = args
    return jnp.stack([a * y[0] - y[0] * y[1], y[0] * y[1] - b * y[1]])


def solve(y, args, solver, field=lotka, steps=None, save=None, adjoint=None, event=None):
    adaptive = steps is None
    control = dfx.PIDController(rtol=1e-3, atol=1e-5) if adaptive else dfx.ConstantStepSize()
    return dfx.diffeqsolve(
        dfx.ODETerm(field),
        solver,
        0.0,
        2.0,
        0.1 if adaptive else 2.0 / steps,
        y,
        args,
        saveat=save or dfx.SaveAt(t1=True),
        stepsize_controller=control,
        max_steps=256,
        adjoint=adjoint or dfx.RecursiveCheckpointAdjoint(),
        event=event,
    ).ys


def forward(*given, **named):
    return Program(lambda y, args: solve(y, args, *given, **named), (f32(2), f32(2)))


def gradient(*given, **named):
    return Program(jax.grad(lambda y, args: jnp.sum(solve(y, args, *given, **named)), (0, 1)), (f32(2), f32(2)))


def batch():
    many = jax.vmap(lambda y, args: solve(y, args, dfx.Tsit5()), (0, None))
    return Program(many, (f32(32, 2), f32(2)))


def stochastic(solver, differentiate):
    def run(y, args, seed):
        path = dfx.VirtualBrownianTree(0.0, 1.0, 0.05, (2,), seed)
        noise = dfx.ControlTerm(lambda t, y, args: 0.1 * jnp.diag(y), path)
        terms = dfx.MultiTerm(dfx.ODETerm(lotka), noise)
        return dfx.diffeqsolve(terms, solver, 0.0, 1.0, 0.1, y, args, saveat=dfx.SaveAt(steps=True), max_steps=16).ys

    function = jax.grad(lambda *a: jnp.nansum(jnp.where(jnp.isfinite(run(*a)), run(*a), 0))) if differentiate else run
    return Program(function, (f32(2), f32(2), key()))


def heat(implicit):
    """A partial differential equation by lines."""

    def field(t, y, args):
        padded = jnp.pad(y, 1, mode="edge")
        return args[0] * (padded[2:] - 2 * y + padded[:-2])

    return Program(lambda y, args: solve(y, args, dfx.Kvaerno3() if implicit else dfx.Heun(), field), (f32(24), f32(1)))


def neural(adjoint, donate):
    made = eqx.filter_eval_shape(lambda k: eqx.nn.MLP(4, 4, 32, 2, activation=jax.nn.softplus, key=k), key())
    params, static = eqx.partition(made, lambda x: isinstance(x, jax.ShapeDtypeStruct))

    def loss(params, y):
        net = eqx.combine(params, static)
        one = lambda y: solve(
            y, net, dfx.Tsit5(), lambda t, y, net: net(y), adjoint=adjoint, save=dfx.SaveAt(ts=jnp.linspace(0, 2, 5))
        )
        return jnp.mean(jax.vmap(one)(y) ** 2)

    return train_step(loss, params, (f32(8, 4),), donate=donate)


def controlled():
    """Driven by data, interpolated by cubics."""

    def run(y, times, values):
        path = dfx.CubicInterpolation(times, dfx.backward_hermite_coefficients(times, values))
        term = dfx.ControlTerm(lambda t, y, args: jnp.outer(jnp.tanh(y), jnp.arange(3.0)), path).to_ode()
        return dfx.diffeqsolve(term, dfx.Heun(), times[0], times[-1], 0.1, y, max_steps=64, throw=False).ys

    return Program(run, (f32(4), f32(10), f32(10, 3)))


SOLVERS = dict(
    euler=(dfx.Euler, 20),
    heun=(dfx.Heun, None),
    midpoint=(dfx.Midpoint, None),
    bosh3=(dfx.Bosh3, None),
    tsit5=(dfx.Tsit5, None),
    dopri5=(dfx.Dopri5, None),
    dopri8=(dfx.Dopri8, None),
    kvaerno3=(dfx.Kvaerno3, None),
    kvaerno5=(dfx.Kvaerno5, None),
    implicit_euler=(dfx.ImplicitEuler, None),
    reversible_heun=(dfx.ReversibleHeun, None),
)
PROGRAMS = {
    name: lambda make=make, steps=steps: forward(make(), steps=steps) for name, (make, steps) in SOLVERS.items()
}
PROGRAMS |= {
    f"{name}_grad": lambda name=name: gradient(SOLVERS[name][0](), steps=SOLVERS[name][1])
    for name in ("euler", "tsit5", "kvaerno3")
}
PROGRAMS |= dict(
    dense=lambda: forward(dfx.Tsit5(), save=dfx.SaveAt(ts=jnp.linspace(0, 2, 17))),
    every_step=lambda: forward(dfx.Dopri5(), save=dfx.SaveAt(steps=True)),
    direct_grad=lambda: gradient(dfx.Heun(), steps=20, adjoint=dfx.DirectAdjoint()),
    backsolve_grad=lambda: gradient(dfx.Tsit5(), adjoint=dfx.BacksolveAdjoint()),
    event=lambda: forward(dfx.Tsit5(), event=dfx.Event(lambda t, y, args, **_: y[0] - 2.0)),
    batch=batch,
    heat=functools.partial(heat, False),
    heat_implicit=functools.partial(heat, True),
    controlled=controlled,
    neural_train=lambda: neural(dfx.RecursiveCheckpointAdjoint(), True),
    neural_kept=lambda: neural(dfx.RecursiveCheckpointAdjoint(), False),
    sde_euler=lambda: stochastic(dfx.EulerHeun(), False),
    sde_milstein=lambda: stochastic(dfx.ItoMilstein(), False),
    sde_grad=lambda: stochastic(dfx.Euler(), True),
)
