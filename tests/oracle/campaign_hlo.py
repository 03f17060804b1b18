# SPDX-License-Identifier: Apache-2.0
"""Writes the campaign's programs as HLO: loops and branches get the tuples that the generator made, not those of JAX."""

import dataclasses

from campaign_program import Stmt, Var, captured

NAMES = {"f": "f32", "b": "bf16", "i": "s32", "c": "s8"}
LEAST = {"f": "-inf", "b": "-inf", "i": "-2147483648", "c": "-128"}


def array(shape, dtype):
    return f"{NAMES.get(dtype, dtype)}[{','.join(map(str, shape))}]"


def of(var):
    return array(var.shape, var.dtype)


def numbers(values):
    return "{" + ",".join(map(str, values)) + "}"


def extents(attrs):
    return "{" + ", ".join(f"[{a}:{b}]" for a, b in zip(attrs["low"], attrs["high"])) + "}"


def bare(opcode):
    return opcode, lambda attrs: ""


# Steps that are one instruction: its opcode, and from the step's attributes to the instruction's.
SIMPLE = {
    "add": bare("add"), "sub": bare("subtract"), "mul": bare("multiply"), "xor": bare("xor"), "max": bare("maximum"),
    "min": bare("minimum"), "sin": bare("sine"), "tanh": bare("tanh"), "neg": bare("negate"), "reshape": bare("reshape"),
    "cast": bare("convert"),
    "transpose": ("transpose", lambda attrs: f", dimensions={numbers(attrs['perm'])}"),
    "reverse": ("reverse", lambda attrs: f", dimensions={{{attrs['axis']}}}"),
    "slice": ("slice", lambda attrs: f", slice={extents(attrs)}"),
    "concat": ("concatenate", lambda attrs: f", dimensions={{{attrs['axis']}}}"),
    "broadcast": ("broadcast", lambda attrs: f", dimensions={numbers(attrs['dims'])}"),
    "iota": ("iota", lambda attrs: f", iota_dimension={attrs['axis']}"),
    # A GPU would else multiply with fewer bits than the reference.
    "dot": ("dot", lambda attrs: ", lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}"),
}

# The other collectives are started by `async-start`.
STARTED = ("all-reduce", "all-gather", "collective-permute")


@dataclasses.dataclass
class Pending:
    """The result of a collective that has not ended."""

    type_: str
    text: str


class HloWriter:
    def __init__(self, program, asynchronous):
        self.program = program
        self.asynchronous = asynchronous
        self.computations = {}  # finished ones, by name, callees first
        self.count = 0

    def fresh(self, stem):
        self.count += 1
        return f"{stem}.{self.count}"

    def text(self):
        params = self.program.block.params
        lines = [f"  {v.name} = {of(v)} parameter({k})" for k, v in enumerate(params)]
        env = {v: v.name for v in params}
        for stmt in self.program.block.stmts:
            self.statement(stmt, env, lines)
        self.root(self.program.block.results, env, lines)
        aliases = ", ".join(f"{{{out}}}: ({parameter}, {{}}, may-alias)" for out, parameter in self.program.aliases)
        head = f"HloModule {self.program.name}" + (f", input_output_alias={{ {aliases} }}" if aliases else "")
        replicas = f", replica_count={self.program.devices}" if self.program.devices > 1 else ""
        parts = [head + replicas, *self.computations.values(), "ENTRY main {\n" + "\n".join(lines) + "\n}"]
        return "\n\n".join(parts) + "\n"

    def named(self, variables, env, lines):
        """Their names; collectives end that were under way."""
        for v in variables:
            if isinstance(env[v], Pending):
                env[v] = self.add(lines, "end", env[v].type_, env[v].text)
        return [env[v] for v in variables]

    def root(self, results, env, lines):
        names = self.named(results, env, lines)
        self.named(list(env), env, lines)
        types = [of(v) for v in results]
        lines.append(f"  ROOT {self.fresh('result')} = ({', '.join(types)}) tuple({', '.join(names)})")

    def add(self, lines, stem, type_, text):
        name = self.fresh(stem)
        lines.append(f"  {name} = {type_} {text}")
        return name

    def constant(self, lines, dtype, value, shape=()):
        scalar = self.add(lines, "constant", array((), dtype), f"constant({value})")
        if not shape:
            return scalar
        return self.add(lines, "spread", array(shape, dtype), f"broadcast({scalar}), dimensions={{}}")

    def reducer(self, op, dtype):
        name = f"{op}_{NAMES[dtype]}"
        one = array((), dtype)
        self.computations.setdefault(name, f"{name} {{\n  {name}.x = {one} parameter(0)\n  {name}.y = {one} parameter(1)\n"
                                           f"  ROOT {name}.z = {one} {op}({name}.x, {name}.y)\n}}")
        return name

    def less(self, dtypes):
        name = "less_" + "_".join(NAMES[d] for d in dtypes)
        lines = [f"  {name}.{k}{side} = {array((), d)} parameter({2 * k + (side == 'b')})"
                 for k, d in enumerate(dtypes) for side in "ab"]
        lines.append(f"  ROOT {name}.r = pred[] compare({name}.0a, {name}.0b), direction=LT")
        self.computations.setdefault(name, f"{name} {{\n" + "\n".join(lines) + "\n}")
        return name

    def block(self, stem, types, fill):
        """A computation with one tuple as its parameter. fill gets the names of its parts and the lines to add to."""
        name = self.fresh(stem)
        lines = [f"  {name}.p = ({', '.join(types)}) parameter(0)"]
        parts = [self.add(lines, "part", t, f"get-tuple-element({name}.p), index={k}") for k, t in enumerate(types)]
        fill(parts, lines)
        self.computations[name] = f"{name} {{\n" + "\n".join(lines) + "\n}"
        return name

    def statement(self, stmt, env, lines):
        args = self.named(stmt.args, env, lines)
        if hasattr(self, "write_" + stmt.op):
            results = getattr(self, "write_" + stmt.op)(stmt, args, env, lines)
        else:
            text = f"{SIMPLE[stmt.op][0]}({', '.join(args)})" + SIMPLE[stmt.op][1](stmt.attrs)
            results = [self.add(lines, "x", of(stmt.outs[0]), text)]
        env.update(zip(stmt.outs, results))

    def starts(self, stmt, args, lines):
        return ", ".join(args[-1] if s is None else self.constant(lines, "i", s) for s in stmt.attrs["starts"])

    def reduced(self, lines, x, given, axes, shape, op="maximum"):
        """x: the variable that is reduced, under the name given."""
        initial = self.constant(lines, x.dtype, LEAST[x.dtype] if op == "maximum" else 0)
        return self.add(lines, "reduced", array(shape, x.dtype), f"reduce({given}, {initial}), "
                        f"dimensions={numbers(axes)}, to_apply={self.reducer(op, x.dtype)}")

    def write_select(self, stmt, args, env, lines):
        out = stmt.outs[0]
        test = self.add(lines, "test", array(out.shape, "pred"), f"compare({args[0]}, {args[1]}), direction=GT")
        return [self.add(lines, "x", of(out), f"select({test}, {args[0]}, {args[2]})")]

    def write_scale(self, stmt, args, env, lines):
        out = stmt.outs[0]
        by = self.constant(lines, out.dtype, stmt.attrs["by"], out.shape)
        return [self.add(lines, "x", of(out), f"multiply({args[0]}, {by})")]

    def write_bits(self, stmt, args, env, lines):
        out = stmt.outs[0]
        mask = self.constant(lines, out.dtype, stmt.attrs["mask"], out.shape)
        return [self.add(lines, "x", of(out), f"and({args[0]}, {mask})")]

    def write_dslice(self, stmt, args, env, lines):
        at = self.starts(stmt, args, lines)
        shape = stmt.outs[0].shape
        return [self.add(lines, "x", of(stmt.outs[0]), f"dynamic-slice({args[0]}, {at}), dynamic_slice_sizes={numbers(shape)}")]

    def write_update(self, stmt, args, env, lines):
        at = self.starts(stmt, args, lines)
        return [self.add(lines, "x", of(stmt.outs[0]), f"dynamic-update-slice({args[0]}, {args[1]}, {at})")]

    def write_sort(self, stmt, args, env, lines):
        out = stmt.outs[0]
        return [self.add(lines, "x", of(out), f"sort({args[0]}), dimensions={{{stmt.attrs['axis']}}}, "
                         f"to_apply={self.less(out.dtype)}")]

    def write_cumsum(self, stmt, args, env, lines):
        out, axis = stmt.outs[0], stmt.attrs["axis"]
        size = "x".join(str(n) if d == axis else "1" for d, n in enumerate(out.shape))
        pad = "x".join(f"{n - 1}_0" if d == axis else "0_0" for d, n in enumerate(out.shape))
        zero = self.constant(lines, out.dtype, 0)
        return [self.add(lines, "x", of(out), f"reduce-window({args[0]}, {zero}), window={{size={size} pad={pad}}}, "
                         f"to_apply={self.reducer('add', out.dtype)}")]

    def write_full(self, stmt, args, env, lines):
        return [self.constant(lines, stmt.outs[0].dtype, stmt.attrs["value"], stmt.outs[0].shape)]

    def write_unit(self, stmt, args, env, lines):
        x, out = stmt.args[0], stmt.outs[0]
        low = self.add(lines, "low", of(x), f"and({args[0]}, {self.constant(lines, 'i', 1023, x.shape)})")
        real = self.add(lines, "real", of(out), f"convert({low})")
        return [self.add(lines, "unit", of(out), f"multiply({real}, {self.constant(lines, out.dtype, 0.001, out.shape)})")]

    def write_sum(self, stmt, args, env, lines):
        x, out = stmt.args[0], stmt.outs[0]
        wide = "f" if x.dtype == "b" else x.dtype
        if wide != x.dtype:
            args = [self.add(lines, "wide", array(x.shape, wide), f"convert({args[0]})")]
        result = self.reduced(lines, Var("", x.shape, wide), args[0], stmt.attrs["axis"], out.shape, "add")
        return [result if wide == x.dtype else self.add(lines, "narrow", of(out), f"convert({result})")]

    def write_amax(self, stmt, args, env, lines):
        return [self.reduced(lines, stmt.args[0], args[0], stmt.attrs["axis"], stmt.outs[0].shape)]

    def parts(self, lines, stmt, name, first=0):
        return [self.add(lines, "part", of(v), f"get-tuple-element({name}), index={k + first}")
                for k, v in enumerate(stmt.outs)]

    def write_sort2(self, stmt, args, env, lines):
        a, b = stmt.outs
        both = self.add(lines, "sort", f"({of(a)}, {of(b)})", f"sort({args[0]}, {args[1]}), dimensions={{{stmt.attrs['axis']}}}, "
                        f"is_stable=true, to_apply={self.less(a.dtype + b.dtype)}")
        return self.parts(lines, stmt, both)

    def write_barrier(self, stmt, args, env, lines):
        types = ", ".join(of(v) for v in stmt.outs)
        given = self.add(lines, "given", f"({types})", f"tuple({', '.join(args)})")
        return self.parts(lines, stmt, self.add(lines, "barrier", f"({types})", f"opt-barrier({given})"))

    # Loops, branches and calls.

    def write_loop(self, stmt, args, env, lines):
        body = stmt.blocks[0]
        state = args[: len(body.results)]
        outer = captured(body)
        limit = args[len(state)] if len(args) > len(state) else self.constant(lines, "i", stmt.attrs["trips"])
        types = ["s32[]", *(of(v) for v in body.results), *(of(v) for v in outer), "s32[]"]
        given = self.add(lines, "state", f"({', '.join(types)})", "tuple(" + ", ".join(
            [self.constant(lines, "i", 0), *state, *self.named(outer, env, lines), limit]) + ")")

        def fill_body(parts, inner):
            scope = dict(zip([*body.params, *outer], parts))
            for s in body.stmts:
                self.statement(s, scope, inner)
            following = self.add(inner, "next", "s32[]", f"add({parts[0]}, {self.constant(inner, 'i', 1)})")
            names = [following, *self.named(body.results, scope, inner), *parts[1 + len(state) :]]
            self.named(list(scope), scope, inner)
            inner.append(f"  ROOT {self.fresh('state')} = ({', '.join(types)}) tuple({', '.join(names)})")

        def fill_condition(parts, inner):
            test = f"compare({parts[0]}, {parts[-1]}), direction=LT"
            reads = stmt.attrs.get("reads")
            if reads is not None:
                x = body.results[reads]
                first = self.add(inner, "test", "pred[]", test)
                largest = self.reduced(inner, x, parts[1 + reads], range(len(x.shape)), ())
                other = self.add(inner, "test", "pred[]",
                                 f"compare({largest}, {self.constant(inner, x.dtype, 77)}), direction=NE")
                test = f"and({first}, {other})"
            inner.append(f"  ROOT {self.fresh('go')} = pred[] {test}")

        condition = self.block("condition", types, fill_condition)
        name = self.block("body", types, fill_body)
        loop = self.add(lines, "while", f"({', '.join(types)})", f"while({given}), condition={condition}, body={name}")
        return self.parts(lines, stmt, loop, 1)

    def function(self, stem, block):
        """The computation of a block and what it needs of the outside."""
        outer = captured(block)

        def fill(parts, inner):
            scope = dict(zip([*block.params, *outer], parts))
            for s in block.stmts:
                self.statement(s, scope, inner)
            self.root(block.results, scope, inner)

        types = [of(v) for v in [*block.params, *outer]]
        return self.block(stem, types, fill), outer, f"({', '.join(types)})"

    def write_branch(self, stmt, args, env, lines):
        names, given = [], []
        for block in stmt.blocks:
            name, outer, type_ = self.function("branch", block)
            names.append(name)
            given.append(self.add(lines, "given", type_, "tuple(" + ", ".join([*args[1:], *self.named(outer, env, lines)]) + ")"))
        result = f"({', '.join(of(v) for v in stmt.outs)})"
        if len(names) == 2:
            test = self.add(lines, "test", "pred[]", f"compare({args[0]}, {self.constant(lines, 'i', 0)}), direction=GT")
            text = f"conditional({test}, {given[0]}, {given[1]}), true_computation={names[0]}, false_computation={names[1]}"
        else:
            text = f"conditional({args[0]}, {', '.join(given)}), branch_computations={{{', '.join(names)}}}"
        return self.parts(lines, stmt, self.add(lines, "branch", result, text))

    def write_call(self, stmt, args, env, lines):
        name, outer, type_ = self.function("callee", stmt.blocks[0])
        given = self.add(lines, "given", type_, "tuple(" + ", ".join([*args, *self.named(outer, env, lines)]) + ")")
        result = f"({', '.join(of(v) for v in stmt.outs)})"
        return self.parts(lines, stmt, self.add(lines, "call", result, f"call({given}), to_apply={name}"))

    # Collectives.

    def collective(self, stmt, given, out, opcode, rest, lines):
        """rest: attributes. What is asynchronous ends where its result is first used."""
        if not stmt.attrs.get("asynchronous") or stmt.op not in self.asynchronous:
            return self.add(lines, "collective", of(out), f"{opcode}({given}){rest}")
        source, type_ = array(stmt.args[0].shape, out.dtype), of(out)
        if opcode in STARTED:
            both = type_ if opcode == "all-reduce" else f"({source}, {type_})"
            start = self.add(lines, "start", both, f"{opcode}-start({given}){rest}")
            return Pending(type_, f"{opcode}-done({start})")
        name = self.fresh("wrapped")
        self.computations[name] = (f"{name} {{\n  {name}.p = {source} parameter(0)\n"
                                   f"  ROOT {name}.r = {type_} {opcode}({name}.p){rest}\n}}")
        start = self.add(lines, "start", f"(({source}), {type_}, u32[])", f"async-start({given}), calls={name}")
        return Pending(type_, f"async-done({start}), calls={name}")

    def groups(self):
        return ", replica_groups={" + numbers(range(self.program.devices)) + "}"

    def write_psum(self, stmt, args, env, lines):
        return [self.collective(Stmt("psum", [out], [out], stmt.attrs), x, out, "all-reduce",
                                f"{self.groups()}, to_apply={self.reducer('add', out.dtype)}", lines)
                for out, x in zip(stmt.outs, args)]

    def write_ppermute(self, stmt, args, env, lines):
        pairs = ",".join(f"{{{a},{b}}}" for a, b in stmt.attrs["pairs"])
        rest = f", source_target_pairs={{{pairs}}}"
        return [self.collective(stmt, args[0], stmt.outs[0], "collective-permute", rest, lines)]

    def write_all_gather(self, stmt, args, env, lines):
        rest = self.groups() + ", dimensions={0}"
        return [self.collective(stmt, args[0], stmt.outs[0], "all-gather", rest, lines)]

    def write_all_to_all(self, stmt, args, env, lines):
        rest = self.groups() + ", dimensions={0}"
        return [self.collective(stmt, args[0], stmt.outs[0], "all-to-all", rest, lines)]

    def write_psum_scatter(self, stmt, args, env, lines):
        rest = f"{self.groups()}, dimensions={{0}}, to_apply={self.reducer('add', stmt.outs[0].dtype)}"
        return [self.collective(stmt, args[0], stmt.outs[0], "reduce-scatter", rest, lines)]


def hlo_text(program, asynchronous=()):
    """asynchronous: the collectives that may be written as a start and an end."""
    return HloWriter(program, asynchronous).text()
