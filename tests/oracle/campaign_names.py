# SPDX-License-Identifier: Apache-2.0
"""The names that the text of a program of the campaign uses beside those of JAX, written with a JAX that is given."""


def differentiable(jax):
    """A function whose derivative is not that of its operations; its operands are kept for the way back."""
    function = jax.custom_vjp(lambda x, y: jax.numpy.sin(x) * y)
    function.defvjp(lambda x, y: (jax.numpy.sin(x) * y, (x, y)), lambda kept, g: (g * kept[1], g * kept[0]))
    return function


def helpers(jax):
    jnp = jax.numpy

    def gradient(function, *args):
        """Of one number made of all results."""
        def loss(*given):
            return sum(jnp.sum(jnp.sin(r.astype(jnp.float32))) for r in function(*given))

        return jax.grad(loss, tuple(range(len(args))))(*args)

    def pulled(function, *args):
        """The second half of args are cotangents."""
        half = len(args) // 2
        return jax.vjp(function, *args[:half])[1](tuple(args[half:]))

    def pushed(function, *args):
        """The second half of args are tangents. The values and their tangents."""
        half = len(args) // 2
        return flat(jax.jvp(function, args[:half], args[half:]))

    def flat(pair):
        return (*pair[0], *pair[1])

    return dict(
        jnp=jnp, gradient=gradient, pulled=pulled, pushed=pushed, flat=flat, custom=differentiable(jax),
        take=lambda x, at: jnp.take(x, at, axis=0, mode="clip"),
        scatter_add=lambda x, at, update: x.at[at].add(update, mode="drop"),
        scatter_max=lambda x, at, update: x.at[at].max(update, mode="drop"),
        random_bits=lambda seed, shape: jax.random.randint(jax.random.PRNGKey(seed), shape, -1000, 1000, jnp.int32))
