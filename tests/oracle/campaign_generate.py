# SPDX-License-Identifier: Apache-2.0
"""Makes the campaign's programs at random, from a seed, with a bias towards what breaks planners: one value under two
names, values read after something was to be written in their place, transpositions beside element by element work,
updates in place, state that is carried twice or swapped, donated arguments, work beside a collective that is under way,
values kept for the way back of a derivative.
"""

import math
import random

from campaign_collectives import Collectives
from campaign_gradients import GRADIENTS, Gradients
from campaign_program import COLLECTIVES, Block, Program, Stmt, Var, captured, prune

SIZES = [(4, 6, 3), (8, 8, 4), (16, 8, 8), (12, 20, 5), (32, 32, 8), (33, 17, 7), (64, 32, 4), (8, 128, 4), (24, 24, 24)]
# On accelerators several blocks should work at a time.
LARGE = [(16, 16, 64), (32, 16, 32), (64, 64, 64), (128, 128, 16), (128, 256, 8), (33, 65, 17), (8, 128, 128)]
MOST = 1 << 21
# By level: steps and how often each is taken.
STEPS = {
    "elementwise": 26, "unary": 8, "transpose": 12, "reshape": 5, "cut": 4, "concat": 4, "reduce": 5, "broadcast": 4,
    "dot": 3, "update": 10, "dslice": 5, "reverse": 2, "cast": 5, "barrier": 8, "loop": 9, "branch": 8, "call": 3,
    "crossed": 10, "update_of_old": 6, "fresh": 2, "sort": 3, "cumsum": 1,
}
JAX_STEPS = {"take": 3, "scatter": 5, "scan": 6, "random": 1}


class Scope:
    def __init__(self, stmts, values, depth):
        self.stmts = stmts
        self.values = values
        self.depth = depth


class Generator(Collectives, Gradients):
    most = MOST

    def __init__(self, seed, level, devices, large, factor):
        self.choose = random.Random(f"{seed} {level} {devices} {large}")
        self.level = level
        self.devices = devices
        n, m, k = (d * factor for d in self.choose.choice(LARGE if large else SIZES))
        if devices > 1:
            n, m, k = (-(-d // devices) * devices for d in (n, m, k))
        shapes = [(n, n), (n, m), (m, n), (n, n, k), (n, k, n), (n * m,), (n,)]
        self.shapes = self.choose.sample(shapes, self.choose.randint(1, 3))
        if self.choose.random() < 0.5 and (n, n) not in self.shapes:
            self.shapes.append((n, n))
        gradients = level == "jax" and self.choose.random() < 0.3
        self.base = "f" if gradients else self.choose.choices("ifc", (60, 34, 6))[0]
        self.narrow = {"i": "c", "c": "i", "f": "b"}[self.base]
        self.steps = dict(STEPS)
        if level == "jax":
            self.steps.update(JAX_STEPS)
        if gradients:
            self.steps.update(GRADIENTS)
        if devices > 1:
            self.steps.update(COLLECTIVES)
        self.differentiated = None  # how the block under way will be
        self.names = 0

    # Values.

    def var(self, shape, dtype):
        self.names += 1
        return Var(f"v{self.names}", tuple(shape), dtype)

    def emit(self, scope, op, args, types, blocks=(), **attrs):
        outs = [self.var(*t) for t in types]
        scope.stmts.append(Stmt(op, outs, list(args), attrs, list(blocks)))
        scope.values += outs
        return outs

    def pick(self, scope, fits=lambda v: True):
        """Mostly one of the newest."""
        found = [v for v in scope.values if fits(v)]
        if not found:
            return None
        return self.choose.choice(found[-4:] if self.choose.random() < 0.5 else found)

    def array(self, scope):
        return self.pick(scope, lambda v: v.shape and v.dtype in self.base + self.narrow)

    def like(self, scope, x):
        return self.pick(scope, lambda v: v.type == x.type)

    def index(self, scope, mask=3):
        """A small number that is known only at run time."""
        found = self.pick(scope, lambda v: v.type == ((), "i"))
        if found is None:
            source = self.pick(scope, lambda v: v.dtype == "i" and v.shape)
            if source is None:
                return self.emit(scope, "full", [], [((), "i")], value=1)[0]
            (found,) = self.emit(scope, "amax", [source], [((), "i")], axis=tuple(range(len(source.shape))))
        return self.emit(scope, "bits", [found], [((), "i")], mask=mask)[0]

    # Steps.

    def step(self, scope):
        kinds = [k for k in self.steps if scope.depth < 3 or k not in ("loop", "branch", "scan", "call", "ring", "derivative")]
        kind = self.choose.choices(kinds, [self.steps[k] for k in kinds])[0]
        x = self.array(scope)
        if x is not None:
            getattr(self, kind)(scope, x)

    def work(self, scope, x, y):
        """Element by element, of two alike."""
        ops = {"f": ["add", "sub", "mul", "max", "min"], "b": ["add", "sub", "mul", "max"]}
        op = self.choose.choice(ops.get(x.dtype, ["add", "sub", "mul", "max", "xor", "min"]))
        (z,) = self.emit(scope, op, [x, y], [x.type])
        if x.dtype in "fb" and self.choose.random() < 0.6:  # stay small
            (z,) = self.emit(scope, self.choose.choice(["sin", "tanh"]), [z], [x.type])
        return z

    def elementwise(self, scope, x):
        y = self.like(scope, x)
        if x.dtype in "ic" and self.choose.random() < 0.15:
            self.emit(scope, "select", [x, y, self.like(scope, x)], [x.type])
        else:
            self.work(scope, x, y)

    def unary(self, scope, x):
        if x.dtype in "fb":
            op = self.choose.choice(["sin", "tanh", "neg", "scale"])
            self.emit(scope, op, [x], [x.type], **({"by": 0.75} if op == "scale" else {}))
        else:
            op = self.choose.choice(["neg", "scale"])
            self.emit(scope, op, [x], [x.type], **({"by": 3} if op == "scale" else {}))

    def transposed(self, scope, x):
        """To the same shape if that can be."""
        rank = len(x.shape)
        orders = [p for p in permutations(rank) if p != tuple(range(rank))]
        same = [p for p in orders if tuple(x.shape[d] for d in p) == x.shape]
        perm = self.choose.choice(same if same and self.choose.random() < 0.8 else orders)
        return self.emit(scope, "transpose", [x], [([x.shape[d] for d in perm], x.dtype)], perm=perm)[0]

    def transpose(self, scope, x):
        if len(x.shape) > 1:
            self.transposed(scope, x)

    def reverse(self, scope, x):
        self.emit(scope, "reverse", [x], [x.type], axis=self.choose.randrange(len(x.shape)))

    def reshape(self, scope, x):
        alike = [s for s in self.shapes if math.prod(s) == math.prod(x.shape) and s != x.shape]
        shape = self.choose.choice(alike) if alike and self.choose.random() < 0.7 else (math.prod(x.shape),)
        if shape != x.shape:
            self.emit(scope, "reshape", [x], [(shape, x.dtype)])

    def cut(self, scope, x):
        axis = self.choose.randrange(len(x.shape))
        if x.shape[axis] < 4:
            return
        low, high = [0] * len(x.shape), list(x.shape)
        low[axis], high[axis] = (1, x.shape[axis]) if self.choose.random() < 0.5 else (0, x.shape[axis] // 2)
        if self.devices > 1:
            low[axis], high[axis] = 0, x.shape[axis] // 2 // self.devices * self.devices
            if high[axis] == 0:
                return
        self.emit(scope, "slice", [x], [([b - a for a, b in zip(low, high)], x.dtype)], low=tuple(low), high=tuple(high))

    def concat(self, scope, x):
        y = self.like(scope, x)
        axis = self.choose.randrange(len(x.shape))
        shape = list(x.shape)
        shape[axis] *= 2
        if math.prod(shape) <= MOST:
            (z,) = self.emit(scope, "concat", [x, y], [(shape, x.dtype)], axis=axis)
            if self.choose.random() < 0.5:
                low = [0] * len(shape)
                low[axis] = shape[axis] // 4
                high = [a + n for a, n in zip(low, x.shape)]
                self.emit(scope, "slice", [z], [x.type], low=tuple(low), high=tuple(high))

    def reduce(self, scope, x):
        axes = tuple(d for d in range(len(x.shape)) if self.choose.random() < 0.6) or (0,)
        shape = [n for d, n in enumerate(x.shape) if d not in axes]
        op = self.choose.choice(["sum", "amax"])
        (r,) = self.emit(scope, op, [x], [(shape, x.dtype)], axis=axes)
        if self.choose.random() < 0.6:  # as in a softmax
            dims = tuple(d for d in range(len(x.shape)) if d not in axes)
            (b,) = self.emit(scope, "broadcast", [r], [x.type], dims=dims)
            self.emit(scope, "sub", [x, b], [x.type])

    def broadcast(self, scope, x):
        small = self.pick(scope, lambda v: v.dtype == x.dtype and len(v.shape) < len(x.shape))
        if small is None:
            return
        dims, d = [], 0
        for n in small.shape:
            while d < len(x.shape) and x.shape[d] != n:
                d += 1
            dims.append(d)
            d += 1
        if all(d < len(x.shape) for d in dims):
            (b,) = self.emit(scope, "broadcast", [small], [x.type], dims=tuple(dims))
            self.work(scope, b, x)

    def dot(self, scope, x):
        if len(x.shape) != 2 or x.dtype == "c":
            return
        y = self.pick(scope, lambda v: len(v.shape) == 2 and v.shape[0] == x.shape[1] and v.dtype == x.dtype)
        if y is not None:
            (z,) = self.emit(scope, "dot", [x, y], [((x.shape[0], y.shape[1]), x.dtype)])
            if x.dtype in "fb":
                self.emit(scope, "sin", [z], [z.type])

    def cast(self, scope, x):
        if x.dtype == "i" and self.choose.random() < 0.2:
            self.emit(scope, "unit", [x], [(x.shape, "f")])
        elif x.dtype in (self.base, self.narrow):
            to = self.narrow if x.dtype == self.base else self.base
            (y,) = self.emit(scope, "cast", [x], [(x.shape, to)])
            if to == self.narrow and self.choose.random() < 0.5:
                self.emit(scope, "cast", [y], [x.type])

    def fresh(self, scope, x):
        if x.dtype != "f" or self.choose.random() < 0.5:
            self.emit(scope, "full", [], [x.type], value=2)
        else:
            (r,) = self.emit(scope, "iota", [], [x.type], axis=len(x.shape) - 1)
            self.emit(scope, "sin", [r], [x.type])

    def sort(self, scope, x):
        axis = self.choose.randrange(len(x.shape))
        if x.dtype in "ic" and self.choose.random() < 0.6:
            self.emit(scope, "sort2", [x, self.like(scope, x)], [x.type] * 2, axis=axis)
        else:
            self.emit(scope, "sort", [x], [x.type], axis=axis)

    def cumsum(self, scope, x):
        self.emit(scope, "cumsum", [x], [x.type], axis=self.choose.randrange(len(x.shape)))

    # Updates in place.

    def part(self, scope, x):
        """A slice of x: its type, and where it begins (None: at a place known at run time)."""
        axis = self.choose.randrange(len(x.shape))
        shape = list(x.shape)
        shape[axis] = 1 if self.choose.random() < 0.6 else max(1, shape[axis] // 2)
        at = [0] * len(shape)
        at[axis] = None if self.choose.random() < 0.7 else self.choose.randint(0, x.shape[axis] - shape[axis])
        return tuple(shape), at

    def place(self, scope, at):
        return [self.index(scope)] if None in at else []

    def update(self, scope, x):
        shape, at = self.part(scope, x)
        where = self.place(scope, at)
        source = self.like(scope, x)
        if self.choose.random() < 0.4:
            source = self.work(scope, source, x)
        other = at if self.choose.random() < 0.4 else [0] * len(at)  # the old contents of that place, or of another
        (piece,) = self.emit(scope, "dslice", [source, *(where if None in other else [])], [(shape, x.dtype)], starts=other)
        if self.choose.random() < 0.6:
            (piece,) = self.emit(scope, "scale", [piece], [piece.type], by=0.5 if x.dtype in "fb" else 3)
        self.emit(scope, "update", [x, piece, *where], [x.type], starts=at)

    def update_of_old(self, scope, x):
        """Two updates of one value, or an update and a later read of the old contents."""
        self.update(scope, x)
        new = scope.values[-1]
        if self.choose.random() < 0.5:
            self.update(scope, x)
            self.work(scope, scope.values[-1], new) if scope.values[-1].type == new.type else None
        elif len(x.shape) > 1:
            t = self.transposed(scope, x)
            if t.type == x.type:
                self.work(scope, t, new)
        else:
            self.reverse(scope, x)
            self.work(scope, scope.values[-1], new)

    def dslice(self, scope, x):
        shape, at = self.part(scope, x)
        self.emit(scope, "dslice", [x, *self.place(scope, at)], [(shape, x.dtype)], starts=at)

    def take(self, scope, x):
        (r,) = self.emit(scope, "iota", [], [((x.shape[0],), "i")], axis=0)
        (at,) = self.emit(scope, "scale", [r], [r.type], by=5)
        (at,) = self.emit(scope, "bits", [at], [r.type], mask=15)
        self.emit(scope, "take", [x, at], [x.type])

    def scatter(self, scope, x):
        (r,) = self.emit(scope, "iota", [], [((x.shape[0],), "i")], axis=0)
        (at,) = self.emit(scope, "bits", [r], [r.type], mask=self.choose.choice([0, 3, 6, 12]))
        how = "add" if self.differentiated else self.choose.choice(["add", "max"])
        self.emit(scope, "scatter", [x, at, self.like(scope, x)], [x.type], how=how)

    def random(self, scope, x):
        self.emit(scope, "random", [self.index(scope, 255)], [(x.shape, "i")])

    # One value under several names.

    def barrier(self, scope, x):
        values = [x, x if self.choose.random() < 0.7 else self.like(scope, x)]
        for _ in range(self.choose.randint(0, 2)):
            values.append(self.array(scope) if self.choose.random() < 0.6 else x)
        self.choose.shuffle(values)
        return self.emit(scope, "barrier", values, [v.type for v in values])

    def crossed(self, scope, x):
        """One output element by element, another transposed, of values that may be one behind a barrier or a branch."""
        w = self.like(scope, x)
        u, v, t = x, x, w
        hidden = self.choose.random()
        if hidden < 0.45:
            m = self.work(scope, x, w) if self.choose.random() < 0.6 else x
            u, v, t = self.emit(scope, "barrier", [m, m, w], [x.type] * 3)
        elif hidden < 0.65 and scope.depth < 3:
            u, v = self.handed_on(scope, [x, x] if self.choose.random() < 0.6 else [x, w])
        first = self.turned(scope, t)
        if first.type == u.type:
            self.work(scope, first, u)
        second = self.work(scope, v, t)
        self.turned(scope, second)

    def turned(self, scope, x):
        if len(x.shape) > 1:
            return self.transposed(scope, x)
        return self.emit(scope, "reverse", [x], [x.type], axis=0)[0]

    def handed_on(self, scope, values):
        """Through a branch that may change nothing."""
        blocks = []
        for k in range(2):
            params = [self.var(*v.type) for v in values]
            results = list(params)
            if self.choose.random() < 0.5:
                results = results[::-1]
            if k and self.choose.random() < 0.5:
                results[0] = results[1]
            blocks.append(Block(params, [], results))
        return self.emit(scope, "branch", [self.index(scope, 1), *values], [v.type for v in values], blocks, kind="cond")

    # Blocks.

    def body(self, scope, types, extra=()):
        """Statements over new parameters of these types and some of what is outside."""
        params = [self.var(*t) for t in types]
        outside = [v for v in scope.values if self.choose.random() < 0.3][-6:]
        inner = Scope([], outside + params, scope.depth + 1)
        for _ in range(self.choose.choice([1, 2, 3, 5])):
            self.step(inner)
        return Block(params, inner.stmts, []), inner

    def results(self, inner, block, types, bias=0.35):
        """Some are what came in, maybe at another place or twice."""
        made = {id(v) for s in block.stmts for v in s.outs}
        for t in types:
            fits = [v for v in inner.values if v.type == t]
            new = [v for v in fits if id(v) in made]
            came = [v for v in block.params if v.type == t]
            if came and (not new or self.choose.random() < bias):
                block.results.append(self.choose.choice(came))
            else:
                block.results.append(self.choose.choice((new or fits)[-3:]))

    def state(self, scope, x):
        values = [x]
        for _ in range(self.choose.randint(0, 3)):
            values.append(self.choose.choice([x, self.like(scope, x), self.array(scope)]))
        self.choose.shuffle(values)
        return values

    def loop(self, scope, x):
        values = self.state(scope, x)
        backwards = self.differentiated in ("gradient", "pulled")  # only loops of a known length have that derivative
        kind = "fori" if backwards else self.choose.choice(["fori", "while"])
        types = [v.type for v in values]
        block, inner = self.body(scope, [((), "i")] + types)
        counter = block.params[0]
        if self.choose.random() < 0.5:  # the usual update of a row
            target = self.choose.choice(block.params[1:])
            if target.shape:
                shape, at = (1, *target.shape[1:]), [None] + [0] * (len(target.shape) - 1)
                source = self.like(inner, target)
                (piece,) = self.emit(inner, "dslice", [source, counter], [(shape, target.dtype)], starts=at)
                self.emit(inner, "update", [target, piece, counter], [target.type], starts=at)
        self.results(inner, block, types)
        attrs = {"kind": kind, "trips": self.choose.choice([1, 2, 3, 5])}
        exact = [k for k, v in enumerate(values) if v.dtype in "ic"]
        if kind == "while" and exact and self.devices == 1 and self.choose.random() < 0.4:
            attrs["reads"] = self.choose.choice(exact)
        limit = [self.index(scope)] if self.choose.random() < 0.3 and self.devices == 1 and not backwards else []
        self.emit(scope, "loop", values + limit, types, [block], **attrs)

    def scan(self, scope, x):
        carried = self.state(scope, x)[:2]
        rows = [self.array(scope)]
        rows += [v for v in [self.pick(scope, lambda v: v.shape[:1] == rows[0].shape[:1])] if v and v.shape]
        if rows[0].shape[0] > 64:
            return
        types = [v.type for v in carried]
        block, inner = self.body(scope, types + [(r.shape[1:], r.dtype) for r in rows])
        self.results(inner, block, types)
        out = self.choose.choice([v for v in inner.values if v.shape is not None][-3:])
        if math.prod(out.shape) * rows[0].shape[0] > MOST:
            out = block.params[-1]
        block.results.append(out)
        stacked = ((rows[0].shape[0], *out.shape), out.dtype)
        self.emit(scope, "scan", carried + rows, types + [stacked], [block], carried=len(carried),
                  reverse=self.choose.random() < 0.3, remat=self.choose.random() < 0.2)

    def branch(self, scope, x):
        values = self.state(scope, x)
        types = [v.type for v in values]
        kind = self.choose.choice(["cond", "cond", "switch"])
        blocks = []
        saved = self.steps
        if self.devices > 1:  # devices may part ways
            self.steps = {k: n for k, n in saved.items() if k not in COLLECTIVES}
        for _ in range(2 if kind == "cond" else 3):
            block, inner = self.body(scope, types)
            if self.choose.random() < 0.3:
                block.stmts.clear()
                inner.values[:] = block.params
            self.results(inner, block, types, 0.5)
            blocks.append(block)
        self.steps = saved
        self.emit(scope, "branch", [self.index(scope, 3), *values], types, blocks, kind=kind)

    def call(self, scope, x):
        values = self.state(scope, x)
        types = [v.type for v in values]
        block, inner = self.body(scope, types)
        self.results(inner, block, types, 0.2)
        kind = self.choose.choice(["jit", "checkpoint"]) if self.level == "jax" else "jit"
        self.emit(scope, "call", values, types, [block], kind=kind)

    # The whole.

    def program(self, name):
        args = [self.var(self.choose.choice(self.shapes), self.base) for _ in range(self.choose.randint(1, 4))]
        if self.choose.random() < 0.7:
            args.append(self.var((), "i"))
        scope = Scope([], list(args), 0)
        for _ in range(self.choose.choice([2, 3, 4, 6, 9, 14])):
            self.step(scope)
        made = [v for s in scope.stmts for v in s.outs] or args
        used = {v for s in scope.stmts for v in [*s.args, *(c for b in s.blocks for c in captured(b))]}
        last = [v for v in made if v not in used][-6:] or made[-1:]
        results = self.choose.sample(last, self.choose.randint((len(last) + 1) // 2, len(last)))
        if self.choose.random() < 0.5:
            results.append(self.choose.choice(made))
        if self.choose.random() < 0.3:
            results.append(self.choose.choice(args))
        if self.choose.random() < 0.2:
            results.append(self.choose.choice(results))
        if self.level == "hlo" and len(results) == 1:  # a lone output loses its tuple on the way, and so its alias
            results.append(self.choose.choice(results))
        donated = tuple(k for k, v in enumerate(args) if v.shape and self.choose.random() < 0.4)
        aliases = []
        if self.level == "hlo":
            for k in donated:
                free = [j for j, r in enumerate(results) if r.type == args[k].type and j not in dict(aliases)]
                if free:
                    aliases.append((self.choose.choice(free), k))
        block = Block(args, scope.stmts, results)
        prune(block)
        return Program(name, self.level, block, donated, self.devices, tuple(aliases))


def permutations(rank):
    return {1: [(0,)], 2: [(0, 1), (1, 0)], 3: [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)]}.get(
        rank, [tuple(range(rank)), tuple(range(rank - 1, -1, -1))])


def generate(seed, level, devices=1, large=False, factor=1):
    """factor: the same program with larger arrays."""
    return Generator(seed, level, devices, large, factor).program(f"prog_{seed}_{level}{devices}")
