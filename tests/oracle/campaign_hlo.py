# SPDX-License-Identifier: Apache-2.0
"""Writes the campaign's programs as HLO: loops and branches get the tuples that the generator made, not those of JAX."""

from campaign_program import captured

NAMES = {"f": "f32", "b": "bf16", "i": "s32", "c": "s8"}
LEAST = {"f": "-inf", "b": "-inf", "i": "-2147483648", "c": "-128"}
BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "xor": "xor", "max": "maximum", "min": "minimum"}
UNARY = {"sin": "sine", "tanh": "tanh", "neg": "negate"}


def array(shape, dtype):
    return f"{NAMES.get(dtype, dtype)}[{','.join(map(str, shape))}]"


def of(var):
    return array(var.shape, var.dtype)


def numbers(values):
    return "{" + ",".join(map(str, values)) + "}"


class HloWriter:
    def __init__(self, program):
        self.program = program
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

    def root(self, results, env, lines, extra=()):
        names = [*(n for n, _ in extra), *(env[v] for v in results)]
        types = [*(t for _, t in extra), *(of(v) for v in results)]
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
        args = [env[v] for v in stmt.args]
        if hasattr(self, "write_" + stmt.op):
            results = getattr(self, "write_" + stmt.op)(stmt, args, env, lines)
        else:
            results = [self.add(lines, "x", of(stmt.outs[0]), self.simple(stmt, args, lines))]
        env.update(zip(stmt.outs, results))

    def simple(self, stmt, args, lines):
        """Instructions that stand alone, with maybe some constants."""
        op, out, attrs = stmt.op, stmt.outs[0], stmt.attrs
        if op in BINARY:
            return f"{BINARY[op]}({args[0]}, {args[1]})"
        if op in UNARY:
            return f"{UNARY[op]}({args[0]})"
        if op in ("scale", "bits"):
            constant = self.constant(lines, out.dtype, attrs["by" if op == "scale" else "mask"], out.shape)
            return f"{'multiply' if op == 'scale' else 'and'}({args[0]}, {constant})"
        if op == "select":
            test = self.add(lines, "test", array(out.shape, "pred"), f"compare({args[0]}, {args[1]}), direction=GT")
            return f"select({test}, {args[0]}, {args[2]})"
        if op == "transpose":
            return f"transpose({args[0]}), dimensions={numbers(attrs['perm'])}"
        if op == "reverse":
            return f"reverse({args[0]}), dimensions={{{attrs['axis']}}}"
        if op == "reshape":
            return f"reshape({args[0]})"
        if op == "cast":
            return f"convert({args[0]})"
        if op == "slice":
            pairs = ", ".join(f"[{a}:{b}]" for a, b in zip(attrs["low"], attrs["high"]))
            return f"slice({args[0]}), slice={{{pairs}}}"
        if op == "concat":
            return f"concatenate({', '.join(args)}), dimensions={{{attrs['axis']}}}"
        if op == "broadcast":
            return f"broadcast({args[0]}), dimensions={numbers(attrs['dims'])}"
        if op == "iota":
            return f"iota(), iota_dimension={attrs['axis']}"
        if op == "dot":
            return f"dot({args[0]}, {args[1]}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        if op == "sort":
            return f"sort({args[0]}), dimensions={{{attrs['axis']}}}, to_apply={self.less(out.dtype)}"
        if op in ("dslice", "update"):
            at = [args[-1] if s is None else self.constant(lines, "i", s) for s in attrs["starts"]]
            if op == "update":
                return f"dynamic-update-slice({args[0]}, {args[1]}, {', '.join(at)})"
            return f"dynamic-slice({args[0]}, {', '.join(at)}), dynamic_slice_sizes={numbers(out.shape)}"
        if op == "cumsum":
            axis, rank = attrs["axis"], len(out.shape)
            size = "x".join(str(out.shape[d]) if d == axis else "1" for d in range(rank))
            pad = "x".join(f"{out.shape[d] - 1}_0" if d == axis else "0_0" for d in range(rank))
            return (f"reduce-window({args[0]}, {self.constant(lines, out.dtype, 0)}), window={{size={size} pad={pad}}}, "
                    f"to_apply={self.reducer('add', out.dtype)}")
        raise KeyError(op)

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
        result = self.add(lines, "sum", array(out.shape, wide),
                          f"reduce({args[0]}, {self.constant(lines, wide, 0)}), dimensions={numbers(stmt.attrs['axis'])}, "
                          f"to_apply={self.reducer('add', wide)}")
        return [result if wide == x.dtype else self.add(lines, "narrow", of(out), f"convert({result})")]

    def write_amax(self, stmt, args, env, lines):
        out = stmt.outs[0]
        return [self.add(lines, "max", of(out),
                         f"reduce({args[0]}, {self.constant(lines, out.dtype, LEAST[out.dtype])}), "
                         f"dimensions={numbers(stmt.attrs['axis'])}, to_apply={self.reducer('maximum', out.dtype)}")]

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
            [self.constant(lines, "i", 0), *state, *(env[v] for v in outer), limit]) + ")")

        def fill_body(parts, inner):
            scope = dict(zip([*body.params, *outer], parts))
            for s in body.stmts:
                self.statement(s, scope, inner)
            following = self.add(inner, "next", "s32[]", f"add({parts[0]}, {self.constant(inner, 'i', 1)})")
            names = [following, *(scope[v] for v in body.results), *parts[1 + len(state) :]]
            inner.append(f"  ROOT {self.fresh('state')} = ({', '.join(types)}) tuple({', '.join(names)})")

        def fill_condition(parts, inner):
            test = f"compare({parts[0]}, {parts[-1]}), direction=LT"
            reads = stmt.attrs.get("reads")
            if reads is not None:
                x = body.results[reads]
                first = self.add(inner, "test", "pred[]", test)
                largest = self.add(inner, "max", array((), x.dtype),
                                   f"reduce({parts[1 + reads]}, {self.constant(inner, x.dtype, LEAST[x.dtype])}), "
                                   f"dimensions={numbers(range(len(x.shape)))}, to_apply={self.reducer('maximum', x.dtype)}")
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
            given.append(self.add(lines, "given", type_, "tuple(" + ", ".join([*args[1:], *(env[v] for v in outer)]) + ")"))
        result = f"({', '.join(of(v) for v in stmt.outs)})"
        if len(names) == 2:
            test = self.add(lines, "test", "pred[]", f"compare({args[0]}, {self.constant(lines, 'i', 0)}), direction=GT")
            text = f"conditional({test}, {given[0]}, {given[1]}), true_computation={names[0]}, false_computation={names[1]}"
        else:
            text = f"conditional({args[0]}, {', '.join(given)}), branch_computations={{{', '.join(names)}}}"
        return self.parts(lines, stmt, self.add(lines, "branch", result, text))

    def write_call(self, stmt, args, env, lines):
        name, outer, type_ = self.function("callee", stmt.blocks[0])
        given = self.add(lines, "given", type_, "tuple(" + ", ".join([*args, *(env[v] for v in outer)]) + ")")
        result = f"({', '.join(of(v) for v in stmt.outs)})"
        return self.parts(lines, stmt, self.add(lines, "call", result, f"call({given}), to_apply={name}"))

    # Collectives.

    def groups(self):
        return "replica_groups={" + numbers(range(self.program.devices)) + "}"

    def write_psum(self, stmt, args, env, lines):
        results = []
        for out, x in zip(stmt.outs, args):
            results.append(self.add(lines, "sum", of(out), f"all-reduce({x}), {self.groups()}, "
                                    f"to_apply={self.reducer('add', out.dtype)}"))
        return results

    def write_ppermute(self, stmt, args, env, lines):
        pairs = ",".join(f"{{{a},{b}}}" for a, b in stmt.attrs["pairs"])
        return [self.add(lines, "permute", of(stmt.outs[0]), f"collective-permute({args[0]}), source_target_pairs={{{pairs}}}")]

    def write_all_gather(self, stmt, args, env, lines):
        return [self.add(lines, "gather", of(stmt.outs[0]), f"all-gather({args[0]}), {self.groups()}, dimensions={{0}}")]

    def write_all_to_all(self, stmt, args, env, lines):
        return [self.add(lines, "exchange", of(stmt.outs[0]), f"all-to-all({args[0]}), {self.groups()}, dimensions={{0}}")]

    def write_psum_scatter(self, stmt, args, env, lines):
        out = stmt.outs[0]
        return [self.add(lines, "scatter", of(out), f"reduce-scatter({args[0]}), {self.groups()}, dimensions={{0}}, "
                         f"to_apply={self.reducer('add', out.dtype)}")]


def hlo_text(program):
    return HloWriter(program).text()
