# SPDX-License-Identifier: Apache-2.0
"""Every program of this folder under one roof: name -> a function that lowers it. Four devices are needed, for the
set `devices` eight."""

import functools
import importlib
import pathlib

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

HERE = pathlib.Path(__file__).resolve().parent
SETS = ("constructs", "work", "more", "scale", "devices", "donations", "explain", "random", "tpu_more", "gpu_heroes")


def renamed(function, name):
    """The module is named after the function, and so are its dumps."""

    def call(*args):
        return function(*args)

    call.__name__ = name
    return call


def lower(function, name, args, donate=(), devices=None, **options):
    """`args` are shapes. For the devices at hand, or for the first of `devices`, which may be of a topology alone."""
    if devices is not None:
        everywhere = NamedSharding(Mesh(np.array(devices[:1]), ("x",)), PartitionSpec())
        args = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=everywhere), args)
    return jax.jit(renamed(function, name), donate_argnums=donate, **options).lower(*args)


def lower_program(name, builder, devices=None):
    """Of programs*.py. Without devices, for those at hand."""
    program = builder()
    devices = (devices if devices is not None else jax.devices())[: program.devices]
    mesh = Mesh(np.array(devices), ("x",))
    function, donate = program.fn, program.donate
    if program.devices > 1:
        inner = program.fn
        function = lambda *args: inner(mesh, *args)
        donate = tuple(number - 1 for number in donate)
    specs = program.specs or (PartitionSpec(),) * len(program.args)
    placed = lambda spec, tree: jax.tree.map(
        lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=NamedSharding(mesh, spec)), tree)
    args = jax.tree.map(placed, specs, program.args, is_leaf=lambda spec: isinstance(spec, PartitionSpec))
    return jax.jit(renamed(function, name), donate_argnums=donate).lower(*args)


def donations(devices):
    import donations as source

    for name, (function, args, options) in source.PROGRAMS.items():
        for donated in [(), *source.donations(len(args))]:
            full = f"{name}_{''.join(map(str, donated))}" if donated else name
            yield full, functools.partial(lower, function, full, args, donated, devices, **options)


def load(path, other_side=None):
    """The file as a dictionary, without the lines of the other side of an edit."""
    lines = [line for line in path.read_text().splitlines() if not (other_side and line.rstrip().endswith(other_side))]
    names = {"__name__": "source"}
    exec(compile("\n".join(lines), path, "exec"), names)
    return names


def explain(devices):
    for path in sorted((HERE / "explain").glob("*/*.py")):
        sides = {"before": "#after", "after": "#before"} if path.parent.name == "edits" else {"": None}
        for side, other in sides.items():
            source = load(path, other)
            programs = source.get("PROGRAMS") or {
                side: dict(step=source["step"], arguments=source["ARGUMENTS"], donate=source.get("DONATE", ()))}
            for name, program in programs.items():
                full = "_".join(filter(None, (path.parent.name, path.stem, name)))
                yield full, functools.partial(
                    lower, program["step"], full, program["arguments"], program["donate"], devices)


def at_random(devices, first, count):
    import random_programs

    for seed in range(first, first + count):
        program = random_programs.Program(seed)
        name = f"program_{seed}"
        yield name, functools.partial(lower, program, name, program.arguments, program.donated, devices)


def programs_of(what, devices=None):
    """`what` is one of SETS; random:7:100 are a hundred from seed 7 on. Without devices, for those at hand."""
    kind, *numbers = what.split(":")
    if kind == "donations":
        return list(donations(devices))
    if kind == "explain":
        return list(explain(devices))
    if kind == "random":
        return list(at_random(devices, *map(int, numbers or (1, 100))))
    module = importlib.import_module(f"programs_{kind}")
    if kind == "tpu_more":
        devices = devices if devices is not None else jax.devices()
        return [(name, functools.partial(build, name, devices)) for name, build in module.PROGRAMS.items()]
    return [(name, functools.partial(lower_program, name, builder, devices))
            for name, builder in module.PROGRAMS.items()]
