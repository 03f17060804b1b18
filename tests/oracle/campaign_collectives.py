# SPDX-License-Identifier: Apache-2.0
"""Steps of the campaign's programs of several devices. A collective may be under way while its operand is read again, or
updated, and while others are.
"""

import math


class Collectives:
    def late(self):
        """Of HLO alone: JAX leaves it to XLA which collectives are asynchronous."""
        return {"asynchronous": True} if self.level == "hlo" and self.choose.random() < 0.5 else {}

    def psum(self, scope, x):
        values = [x] + [self.array(scope) for _ in range(self.choose.randint(0, 2))]
        self.emit(scope, "psum", values, [v.type for v in values], **self.late())

    def pairs(self):
        count = self.devices
        return self.choose.choice([[(k, (k + 1) % count) for k in range(count)], [(0, 1), (1, 0)],
                                   [(k, k ^ 1) for k in range(count)], [(k, k + 1) for k in range(count - 1)]])

    def ppermute(self, scope, x):
        return self.emit(scope, "ppermute", [x], [x.type], pairs=self.pairs(), **self.late())[0]

    def all_gather(self, scope, x):
        shape = (x.shape[0] * self.devices, *x.shape[1:])
        if math.prod(shape) <= self.most:
            (z,) = self.emit(scope, "all_gather", [x], [(shape, x.dtype)], **self.late())
            self.emit(scope, "slice", [z], [x.type], low=tuple([0] * len(shape)), high=x.shape)

    def all_to_all(self, scope, x):
        if x.shape[0] % self.devices == 0:
            self.emit(scope, "all_to_all", [x], [x.type], **self.late())

    def psum_scatter(self, scope, x):
        if x.shape[0] % self.devices == 0:
            self.emit(scope, "psum_scatter", [x], [((x.shape[0] // self.devices, *x.shape[1:]), x.dtype)], **self.late())

    def overlapped(self, scope, x):
        """Work on the operand of a collective that may be under way."""
        kind = self.choose.choice(["ppermute", "ppermute", "psum", "all_to_all", "all_gather"])
        before = len(scope.values)
        getattr(self, kind)(scope, x)
        received = [v for v in scope.values[before:] if v.type == x.type]
        if self.choose.random() < 0.4:
            received.append(self.ppermute(scope, x))
        made = x
        for _ in range(self.choose.randint(1, 3)):
            before = len(scope.values)
            getattr(self, self.choose.choice(["update", "elementwise", "crossed", "unary", "dslice"]))(scope, made)
            made = next((v for v in scope.values[before:] if v.type == x.type), made)
        for value in received:
            made = self.work(scope, value, made)

    def ring(self, scope, x):
        """A loop that passes a value on, and works on what it had before."""
        types = [x.type, x.type]
        block, inner = self.body(scope, [((), "i"), *types])
        _, mine, total = block.params
        following = self.ppermute(inner, mine)
        if self.choose.random() < 0.5:
            self.update(inner, total)
        new = self.like(inner, total)
        block.results += [following, self.work(inner, self.work(inner, mine, total), new)]
        self.emit(scope, "loop", [x, self.like(scope, x)], types, [block], kind="fori",
                  trips=self.choose.choice([1, 2, 3, self.devices]))
