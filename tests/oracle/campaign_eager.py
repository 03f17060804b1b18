# SPDX-License-Identifier: Apache-2.0
"""The meaning of the campaign's programs that differentiate: by JAX, an operation at a time, each compiled alone. Loops and
branches are Python's, so that XLA plans nothing larger than one operation.
"""

import types

import numpy as np

import campaign_names
import campaign_reference


def linear(jax, there, back):
    """A function of arrays that JAX cannot look into, with its transpose."""
    function = jax.custom_vjp(there)
    function.defvjp(lambda x: (there(x), None), lambda _, g: (back(g),))
    return function


class Meeting(campaign_reference.Meeting):
    def __init__(self, devices, jax):
        super().__init__(devices)
        self.jax = jax

    def through(self, there, back):
        def plain(method):
            def call(x):
                if self.jax.tree.leaves(x)[0].dtype == self.jax.dtypes.float0:
                    return x
                return self.jax.tree.map(self.jax.numpy.asarray, method(self.jax.tree.map(np.asarray, x)))

            return call

        return linear(self.jax, plain(there), plain(back))

    def psum(self, values, axis):
        total = super().psum
        each = self.through(lambda x: total((x,), axis)[0], lambda g: total((g,), axis)[0])
        return tuple(each(v) for v in values)

    def ppermute(self, x, axis, pairs):
        permute = super().ppermute
        turned = [(b, a) for a, b in pairs]
        return self.through(lambda x: permute(x, axis, pairs), lambda g: permute(g, axis, turned))(x)

    def all_gather(self, x, name, axis, tiled):
        gather, scatter = super().all_gather, self.scattered
        return self.through(lambda x: gather(x, name, axis, tiled), lambda g: scatter(g, name))(x)

    def all_to_all(self, x, name, split, concat, tiled):
        exchange = super().all_to_all
        return self.through(*[lambda x: exchange(x, name, split, concat, tiled)] * 2)(x)

    def psum_scatter(self, x, name, scatter_dimension, tiled):
        gather, scatter = super().all_gather, self.scattered
        return self.through(lambda x: scatter(x, name), lambda g: gather(g, name, 0, True))(x)

    def scattered(self, x, name):
        (summed,) = super().psum((x,), name)
        return np.split(summed, self.devices)[self.here.index]


def names(devices):
    import jax

    meeting = Meeting(devices, jax)
    own = campaign_reference.control(jax.numpy.stack)
    lax = types.SimpleNamespace(**{**vars(jax.lax), **own, **meeting.collectives()})
    return meeting, dict(campaign_names.helpers(jax), lax=lax, jax=campaign_reference.JAX)


def evaluate(text, devices, arguments):
    import jax

    def put(values):
        return [jax.numpy.asarray(v) for v in values]

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        return campaign_reference.run(text, *names(devices), [put(a) for a in arguments])
