# SPDX-License-Identifier: Apache-2.0
"""Lineax, Optimistix and JAXopt: linear systems, roots, least squares, minima; and derivatives of the answers."""

import functools

import jax
import jax.numpy as jnp
import jaxopt
import lineax as lx
import optimistix as optx

from libraries.common import Program, f32


def linear(solver, tags=(), rows=24, columns=24, differentiate=False):
    def solve(a, b):
        a = a @ a.T + 24 * jnp.eye(rows) if tags and tags[0] is lx.positive_semidefinite_tag else a
        return lx.linear_solve(lx.MatrixLinearOperator(a, tags), b, solver, throw=False).value

    return Program(
        jax.grad(lambda a, b: jnp.sum(solve(a, b) ** 2), (0, 1)) if differentiate else solve,
        (f32(rows, columns), f32(rows)),
    )


def tridiagonal():
    def solve(main, low, high, b):
        return lx.linear_solve(lx.TridiagonalLinearOperator(main, low, high), b, lx.Tridiagonal(), throw=False).value

    return Program(jax.vmap(solve), (f32(3, 32), f32(3, 31), f32(3, 31), f32(3, 32)))


def matrix_free():
    """The Jacobian of a function, never written down."""

    def solve(x, b):
        operator = lx.JacobianLinearOperator(lambda y, _: y + 0.1 * jnp.sin(jnp.roll(y, 1)), x, tags=())
        return lx.linear_solve(
            operator, b, lx.GMRES(rtol=1e-4, atol=1e-4, restart=8, stagnation_iters=8), throw=False
        ).value

    return Program(solve, (f32(48), f32(48)))


SPD = (lx.positive_semidefinite_tag,)
LOWER = (lx.lower_triangular_tag,)
LINEAR = dict(
    lu=functools.partial(linear, lx.LU()),
    qr=functools.partial(linear, lx.QR(), rows=32),
    svd=functools.partial(linear, lx.SVD(), rows=32),
    cholesky=functools.partial(linear, lx.Cholesky(), SPD),
    triangular=functools.partial(linear, lx.Triangular(), LOWER),
    cg=functools.partial(linear, lx.CG(1e-4, 1e-4), SPD),
    gmres=functools.partial(linear, lx.GMRES(1e-4, 1e-4)),
    bicgstab=functools.partial(linear, lx.BiCGStab(1e-4, 1e-4)),
    lu_grad=functools.partial(linear, lx.LU(), differentiate=True),
    qr_grad=functools.partial(linear, lx.QR(), rows=32, differentiate=True),
    cg_grad=functools.partial(linear, lx.CG(1e-4, 1e-4), SPD, differentiate=True),
    cholesky_grad=functools.partial(linear, lx.Cholesky(), SPD, differentiate=True),
    tridiagonal=tridiagonal,
    matrix_free=matrix_free,
)


def valley(y, a):
    return jnp.sum((1 - y[:-1]) ** 2 + a * (y[1:] - y[:-1] ** 2) ** 2)


def residuals(y, a):
    return jnp.concatenate([1 - y, a * (y[1:] - y[:-1] ** 2)])


def root(y, a):
    return y + 0.2 * jnp.tanh(a * jnp.roll(y, 1)) - 1.0


def nonlinear(function, solve, solver, differentiate=False, size=12):
    run = lambda y, a: solve(function, solver, y, a, max_steps=32, throw=False).value
    return Program(jax.jacrev(run, 1) if differentiate else run, (f32(size), f32()))


def bisection():
    run = lambda low, a: (
        optx.root_find(
            lambda y, a: y**3 - a, optx.Bisection(1e-4, 1e-4), low, a, options=dict(lower=-3.0, upper=3.0), throw=False
        ).value
    )
    return Program(jax.vmap(jax.grad(run, 1)), (f32(16), f32(16)))


CLOSE = dict(rtol=1e-4, atol=1e-4)
MINIMA = dict(bfgs=optx.BFGS, nelder_mead=optx.NelderMead, nonlinear_cg=optx.NonlinearCG, lbfgs=optx.LBFGS)
SQUARES = dict(gauss_newton=optx.GaussNewton, levenberg=optx.LevenbergMarquardt, dogleg=optx.Dogleg)
NONLINEAR = {name: lambda s=s: nonlinear(valley, optx.minimise, s(**CLOSE)) for name, s in MINIMA.items()}
NONLINEAR |= {name: lambda s=s: nonlinear(residuals, optx.least_squares, s(**CLOSE)) for name, s in SQUARES.items()}
NONLINEAR |= dict(
    descent=lambda: nonlinear(valley, optx.minimise, optx.GradientDescent(1e-3, **CLOSE)),
    newton=lambda: nonlinear(root, optx.root_find, optx.Newton(**CLOSE)),
    chord=lambda: nonlinear(root, optx.root_find, optx.Chord(**CLOSE)),
    fixed_point=lambda: nonlinear(
        lambda y, a: 0.5 * jnp.cos(a * y), optx.fixed_point, optx.FixedPointIteration(**CLOSE)
    ),
    bfgs_grad=lambda: nonlinear(valley, optx.minimise, optx.BFGS(**CLOSE), True),
    newton_grad=lambda: nonlinear(root, optx.root_find, optx.Newton(**CLOSE), True),
    levenberg_grad=lambda: nonlinear(residuals, optx.least_squares, optx.LevenbergMarquardt(**CLOSE), True),
    bisection=bisection,
)


def least(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


DATA = (f32(32, 8), f32(32))


def older(make, *more, loop=True):
    """JAXopt: all steps in a loop, or one step with its state given away."""
    solver = make()
    if loop:
        return Program(lambda p, *a: solver.run(p, *a).params, (f32(8), *more, *DATA))
    state = jax.eval_shape(solver.init_state, f32(8), *more, *DATA)
    return Program(lambda p, s, *a: tuple(solver.update(p, s, *a)), (f32(8), state, *more, *DATA), (0, 1))


OLDER = dict(
    gradient=lambda: jaxopt.GradientDescent(least, maxiter=20),
    bfgs=lambda: jaxopt.BFGS(least, maxiter=10),
    lbfgs=lambda: jaxopt.LBFGS(least, maxiter=10),
    lbfgs_b=lambda: jaxopt.LBFGS(least, maxiter=10, linesearch="backtracking"),
    nonlinear_cg=lambda: jaxopt.NonlinearCG(least, maxiter=10),
    polyak=lambda: jaxopt.PolyakSGD(least, maxiter=10, max_stepsize=0.1),
    armijo=lambda: jaxopt.ArmijoSGD(least, maxiter=10),
)


def projected():
    solver = jaxopt.ProjectedGradient(least, jaxopt.projection.projection_simplex, maxiter=20)
    return Program(lambda p, *a: solver.run(p, None, *a).params, (f32(8), *DATA))


def lasso(differentiate):
    solver = jaxopt.ProximalGradient(least, jaxopt.prox.prox_lasso, maxiter=20)
    run = lambda p, weight, *a: solver.run(p, weight, *a).params
    return Program(jax.jacrev(run, 1) if differentiate else run, (f32(8), f32(), *DATA))


def quadratic():
    solver = jaxopt.OSQP(maxiter=20)

    def run(a, c, g, h):
        return solver.run(params_obj=(a @ a.T + jnp.eye(6), c), params_eq=None, params_ineq=(g, h)).params.primal

    return Program(run, (f32(6, 6), f32(6), f32(4, 6), f32(4)))


def anderson():
    solver = jaxopt.AndersonAcceleration(lambda y, a: 0.5 * jnp.cos(a * y), history_size=4, maxiter=12, ridge=1e-4)
    return Program(lambda y, a: solver.run(y, a).params, (f32(16), f32()))


PROGRAMS = {f"lineax_{name}": make for name, make in LINEAR.items()}
PROGRAMS |= {f"optimistix_{name}": make for name, make in NONLINEAR.items()}
PROGRAMS |= {f"jaxopt_{name}": functools.partial(older, make) for name, make in OLDER.items()}
PROGRAMS |= {
    f"jaxopt_{name}_step": functools.partial(older, OLDER[name], loop=False)
    for name in ("gradient", "bfgs", "lbfgs", "armijo")
}
PROGRAMS |= dict(
    jaxopt_projected=projected,
    jaxopt_lasso=functools.partial(lasso, False),
    jaxopt_lasso_grad=functools.partial(lasso, True),
    jaxopt_quadratic=quadratic,
    jaxopt_anderson=anderson,
)
