# SPDX-License-Identifier: Apache-2.0
"""Programs for XLA to compile, so that Stowplan can be compared with it: a function and abstract arguments each. Nothing
is executed. programs_constructs.py, programs_work.py, programs_more.py, programs_scale.py, programs_devices.py and programs_gpu_heroes.py have them.
"""

import dataclasses
from typing import Callable

import jax
import jax.numpy as jnp

f32, bf16, i32, i8, f16, u32 = jnp.float32, jnp.bfloat16, jnp.int32, jnp.int8, jnp.float16, jnp.uint32

if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:  # before JAX 0.6
    from jax.experimental.shard_map import shard_map  # noqa: F401


@dataclasses.dataclass
class Program:
    fn: Callable
    args: tuple  # pytrees of S()
    donate: tuple = ()  # donate_argnums, the mesh counted
    devices: int = 1  # >1: fn takes a mesh first
    specs: tuple = ()  # how arguments are sharded, each a PartitionSpec or a pytree of them; empty: not at all


def S(shape, dtype=f32):
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


def collection():
    """An empty dictionary of builders by name, and the decorator that fills it."""
    programs = {}

    def program():
        def keep(builder):
            programs[builder.__name__] = builder
            return builder

        return keep

    return programs, program
