# SPDX-License-Identifier: Apache-2.0
"""The programs of the campaign: what they are made of, and their text as Python.

A program is a tree of blocks of statements over typed variables. Its Python text means the same to JAX and, with the
names of campaign_reference.py in place of JAX's, to NumPy; campaign_hlo.py writes it as HLO.
"""

import dataclasses
import itertools

# One letter a type: f32, bf16, s32, s8.
DTYPES = {"f": "float32", "b": "bfloat16", "i": "int32", "c": "int8"}

# Steps of several devices, and how often each is taken.
COLLECTIVES = {"psum": 8, "ppermute": 6, "all_gather": 5, "all_to_all": 4, "psum_scatter": 4, "overlapped": 10, "ring": 5}


@dataclasses.dataclass(eq=False)
class Var:
    name: str
    shape: tuple
    dtype: str

    @property
    def type(self):
        return self.shape, self.dtype


@dataclasses.dataclass(eq=False)
class Block:
    """A function: of loops, of branches, of nested calls."""

    params: list
    stmts: list
    results: list


@dataclasses.dataclass(eq=False)
class Stmt:
    op: str
    outs: list
    args: list
    attrs: dict = dataclasses.field(default_factory=dict)
    blocks: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Program:
    name: str
    level: str  # jax or hlo
    block: Block
    donated: tuple
    devices: int = 1
    # Pairs of output and parameter, of HLO: the output must lie on the parameter.
    aliases: tuple = ()

    def differentiates(self):
        return any(stmt.op == "derivative" for stmt, _ in walk(self.block))

    def features(self):
        found = {"donate"} if self.donated or self.aliases else set()
        for stmt, _ in walk(self.block):
            found.add(stmt.attrs.get("kind", stmt.op))
            if len(set(stmt.args)) < len(stmt.args) and stmt.blocks + [stmt.op] != [stmt.op]:
                found.add("carried-twice")
            if stmt.op == "barrier" and len(set(stmt.args)) < len(stmt.args):
                found.add("barrier-twice")
        return sorted(found)


def walk(block):
    """All statements with their blocks, outer ones first."""
    todo = [block]
    while todo:
        block = todo.pop()
        for stmt in block.stmts:
            yield stmt, block
            todo += stmt.blocks


def prune(block):
    """Takes out what no result needs."""
    kept, needed = [], set(block.results)
    for stmt in reversed(block.stmts):
        if needed.isdisjoint(stmt.outs):
            continue
        for inner in stmt.blocks:
            prune(inner)
            needed.update(captured(inner))
        needed.update(stmt.args)
        kept.append(stmt)
    block.stmts[:] = kept[::-1]


def captured(block):
    """Variables of outer blocks that a block or those in it use, in the order of use."""
    blocks, used = [block], []
    for stmt, _ in walk(block):
        blocks += stmt.blocks
        used += stmt.args
    used += itertools.chain.from_iterable(b.results for b in blocks)
    own = {v for b in blocks for v in b.params} | {v for s, _ in walk(block) for v in s.outs}
    return list(dict.fromkeys(v for v in used if v not in own))


def dtype(letter):
    return f"jnp.{DTYPES[letter]}"


def starts(stmt, names):
    """Where a slice begins: numbers, or the last operand."""
    return "(" + "".join(f"{names[-1] if at is None else at}, " for at in stmt.attrs["starts"]) + ")"


def binary(sign):
    return lambda s, a: f"{a[0]} {sign} {a[1]}"


def call(function):
    return lambda s, a: f"{function}({', '.join(a)})"


# From a statement and the names of its operands to an expression.
PYTHON = {
    "add": binary("+"),
    "sub": binary("-"),
    "mul": binary("*"),
    "xor": binary("^"),
    "max": call("jnp.maximum"),
    "min": call("jnp.minimum"),
    "select": lambda s, a: f"jnp.where({a[0]} > {a[1]}, {a[0]}, {a[2]})",
    "sin": call("jnp.sin"),
    "tanh": call("jnp.tanh"),
    "neg": lambda s, a: f"-{a[0]}",
    "scale": lambda s, a: f"({a[0]} * {s.attrs['by']}).astype({dtype(s.outs[0].dtype)})",
    "bits": lambda s, a: f"{a[0]} & {s.attrs['mask']}",
    "cast": lambda s, a: f"{a[0]}.astype({dtype(s.outs[0].dtype)})",
    "unit": lambda s, a: f"({a[0]} & 1023).astype({dtype(s.outs[0].dtype)}) * 0.001",
    "transpose": lambda s, a: f"jnp.transpose({a[0]}, {s.attrs['perm']})",
    "reverse": lambda s, a: f"jnp.flip({a[0]}, {s.attrs['axis']})",
    "reshape": lambda s, a: f"jnp.reshape({a[0]}, {s.outs[0].shape})",
    "slice": lambda s, a: f"lax.slice({a[0]}, {s.attrs['low']}, {s.attrs['high']})",
    "concat": lambda s, a: f"jnp.concatenate([{', '.join(a)}], axis={s.attrs['axis']})",
    "broadcast": lambda s, a: f"lax.broadcast_in_dim({a[0]}, {s.outs[0].shape}, {s.attrs['dims']})",
    "iota": lambda s, a: f"lax.broadcasted_iota({dtype(s.outs[0].dtype)}, {s.outs[0].shape}, {s.attrs['axis']})",
    "full": lambda s, a: f"jnp.full({s.outs[0].shape}, {s.attrs['value']}, {dtype(s.outs[0].dtype)})",
    "sum": lambda s, a: f"jnp.sum({a[0]}, axis={s.attrs['axis']}, dtype={dtype(s.outs[0].dtype)})",
    "amax": lambda s, a: f"jnp.max({a[0]}, axis={s.attrs['axis']})",
    "dot": lambda s, a: f"jnp.matmul({a[0]}, {a[1]})",
    "cumsum": lambda s, a: f"lax.cumsum({a[0]}, axis={s.attrs['axis']})",
    "sort": lambda s, a: f"lax.sort({a[0]}, dimension={s.attrs['axis']})",
    "sort2": lambda s, a: f"lax.sort(({a[0]}, {a[1]}), dimension={s.attrs['axis']}, num_keys=1)",
    "dslice": lambda s, a: f"lax.dynamic_slice({a[0]}, {starts(s, a)}, {s.outs[0].shape})",
    "update": lambda s, a: f"lax.dynamic_update_slice({a[0]}, {a[1]}, {starts(s, a)})",
    "take": lambda s, a: f"take({a[0]}, {a[1]})",
    "scatter": lambda s, a: f"scatter_{s.attrs['how']}({a[0]}, {a[1]}, {a[2]})",
    "random": lambda s, a: f"random_bits({a[0]}, {s.outs[0].shape})",
    "custom": call("custom"),
    "barrier": lambda s, a: f"lax.optimization_barrier(({', '.join(a)},))",
    "psum": lambda s, a: f"lax.psum({tuple_of(a)}, 'd')",
    "ppermute": lambda s, a: f"lax.ppermute({a[0]}, 'd', {s.attrs['pairs']})",
    "all_gather": lambda s, a: f"lax.all_gather({a[0]}, 'd', axis=0, tiled=True)",
    "all_to_all": lambda s, a: f"lax.all_to_all({a[0]}, 'd', 0, 0, tiled=True)",
    "psum_scatter": lambda s, a: f"lax.psum_scatter({a[0]}, 'd', scatter_dimension=0, tiled=True)",
}
# Results come as a tuple.
MANY = {"sort2", "barrier", "psum", "loop", "branch", "call", "scan", "derivative"}


def tuple_of(names):
    return "(" + "".join(f"{n}, " for n in names).rstrip(" ") + ")"


class Writer:
    def __init__(self):
        self.lines = []
        self.fresh = itertools.count()

    def block(self, block, indent):
        for stmt in block.stmts:
            self.statement(stmt, indent)

    def function(self, name, block, indent, unpack=None):
        """unpack: how many of the parameters come in tuples, by tuple; none: each by itself."""
        names = [v.name for v in block.params]
        pad = "    " * indent
        if unpack is None:
            self.lines.append(f"{pad}def {name}({', '.join(names)}):")
        else:
            groups, at = [], 0
            for size in unpack:
                groups.append(names[at] if size == 0 else names[at : at + size])
                at += max(size, 1)
            heads = [g if isinstance(g, str) else f"t{k}" for k, g in enumerate(groups)]
            self.lines.append(f"{pad}def {name}({', '.join(heads)}):")
            for head, group in zip(heads, groups):
                if not isinstance(group, str):
                    self.lines.append(f"{pad}    {tuple_of(group)} = {head}")
        self.block(block, indent + 1)

    def back(self, text, indent):
        self.lines.append("    " * indent + "return " + text)

    def statement(self, stmt, indent):
        names = [v.name for v in stmt.args]
        if stmt.blocks:
            text = getattr(self, stmt.op)(stmt, names, indent)
        else:
            text = PYTHON[stmt.op](stmt, names)
        outs = [v.name for v in stmt.outs]
        target = tuple_of(outs) if stmt.op in MANY else outs[0]
        self.lines.append("    " * indent + f"{target} = {text}")

    def loop(self, stmt, names, indent):
        body, number = stmt.blocks[0], next(self.fresh)
        state, limit = names[: len(body.results)], names[len(body.results) :]
        trips = limit[0] if limit else stmt.attrs["trips"]
        results = tuple_of([v.name for v in body.results])
        if stmt.attrs["kind"] == "fori":
            self.function(f"body{number}", body, indent, [0, len(state)])
            self.back(results, indent + 1)
            return f"lax.fori_loop(0, {trips}, body{number}, {tuple_of(state)})"
        counter = body.params[0].name
        self.function(f"body{number}", body, indent, [len(state) + 1])
        self.back(tuple_of([f"{counter} + 1"] + [v.name for v in body.results]), indent + 1)
        test = f"s[0] < {trips}"
        if stmt.attrs.get("reads") is not None:
            test = f"({test}) & (jnp.max(s[{stmt.attrs['reads'] + 1}]) != 77)"
        return f"lax.while_loop(lambda s: {test}, body{number}, {tuple_of(['jnp.int32(0)'] + state)})[1:]"

    def scan(self, stmt, names, indent):
        body, number, carried = stmt.blocks[0], next(self.fresh), stmt.attrs["carried"]
        self.function(f"body{number}", body, indent, [carried, len(names) - carried])
        results = [v.name for v in body.results]
        self.back(f"{tuple_of(results[:carried])}, {tuple_of(results[carried:])}", indent + 1)
        turn = f"jax.checkpoint(body{number})" if stmt.attrs["remat"] else f"body{number}"
        return (f"flat(lax.scan({turn}, {tuple_of(names[:carried])}, {tuple_of(names[carried:])}, "
                f"reverse={stmt.attrs['reverse']}))")

    def branch(self, stmt, names, indent):
        functions = []
        for block in stmt.blocks:
            functions.append(f"branch{next(self.fresh)}")
            self.function(functions[-1], block, indent)
            self.back(tuple_of([v.name for v in block.results]), indent + 1)
        rest = ", ".join(names[1:])
        if len(functions) == 2:
            return f"lax.cond({names[0]} > 0, {functions[0]}, {functions[1]}, {rest})"
        return f"lax.switch({names[0]}, [{', '.join(functions)}], {rest})"

    def call(self, stmt, names, indent):
        name = f"call{next(self.fresh)}"
        self.function(name, stmt.blocks[0], indent)
        self.back(tuple_of([v.name for v in stmt.blocks[0].results]), indent + 1)
        return f"jax.{stmt.attrs['kind']}({name})({', '.join(names)})"

    def derivative(self, stmt, names, indent):
        name = f"smooth{next(self.fresh)}"
        self.function(name, stmt.blocks[0], indent)
        self.back(tuple_of([v.name for v in stmt.blocks[0].results]), indent + 1)
        given = f"jax.checkpoint({name})" if stmt.attrs["remat"] else name
        return f"{stmt.attrs['kind']}({given}, {', '.join(names)})"


def python_text(program):
    """A function `program`."""
    writer = Writer()
    writer.function("program", program.block, 0)
    writer.back(tuple_of([v.name for v in program.block.results]), 1)
    return "\n".join(writer.lines) + "\n"
