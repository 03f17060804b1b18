# SPDX-License-Identifier: Apache-2.0
"""Every program of this folder under one roof: name -> a function that lowers it. Four devices are needed."""

import importlib
import pathlib

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

HERE = pathlib.Path(__file__).resolve().parent
SETS = ("constructs", "work", "scale", "donations", "explain", "random")


def renamed(function, name):
    """The module is named after the function, and so are its dumps."""

    def call(*args):
        return function(*args)

    call.__name__ = name
    return call


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
    everywhere = NamedSharding(mesh, PartitionSpec())
    args = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=everywhere), program.args)
    return jax.jit(renamed(function, name), donate_argnums=donate).lower(*args)


def donations():
    import donations as source

    for name, (function, args, options) in source.PROGRAMS.items():
        for donated in [(), *source.donations(len(args))]:
            full = f"{name}_{''.join(map(str, donated))}" if donated else name
            yield full, lambda function=function, args=args, options=options, donated=donated, full=full: jax.jit(
                renamed(function, full), donate_argnums=donated, **options).lower(*args)


def load(path, other_side=None):
    """The file as a dictionary, without the lines of the other side of an edit."""
    lines = [line for line in path.read_text().splitlines() if not (other_side and line.rstrip().endswith(other_side))]
    names = {"__name__": "source"}
    exec(compile("\n".join(lines), path, "exec"), names)
    return names


def explain():
    for path in sorted((HERE / "explain").glob("*/*.py")):
        sides = {"before": "#after", "after": "#before"} if path.parent.name == "edits" else {"": None}
        for side, other in sides.items():
            source = load(path, other)
            programs = source.get("PROGRAMS") or {
                side: dict(step=source["step"], arguments=source["ARGUMENTS"], donate=source.get("DONATE", ()))}
            for name, program in programs.items():
                full = "_".join(filter(None, (path.parent.name, path.stem, name)))
                yield full, lambda program=program, full=full: jax.jit(
                    renamed(program["step"], full), donate_argnums=program["donate"]).lower(*program["arguments"])


def at_random(first, count):
    import random_programs

    for seed in range(first, first + count):
        program = random_programs.Program(seed)
        yield f"program_{seed}", lambda program=program, seed=seed: jax.jit(
            renamed(program, f"program_{seed}"), donate_argnums=program.donated).lower(*program.arguments)


def programs_of(what):
    """`what` is one of SETS; random:7:100 are a hundred from seed 7 on."""
    kind, *numbers = what.split(":")
    if kind == "donations":
        return list(donations())
    if kind == "explain":
        return list(explain())
    if kind == "random":
        return list(at_random(*map(int, numbers or (1, 100))))
    module = importlib.import_module(f"programs_{kind}")
    return [(name, lambda name=name, builder=builder: lower_program(name, builder))
            for name, builder in module.PROGRAMS.items()]
