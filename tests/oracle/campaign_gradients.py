# SPDX-License-Identifier: Apache-2.0
"""Steps of the campaign's programs that differentiate: what is kept for the way back, and the sums of cotangents, give a
planner values that live long, loops that run backwards, and updates that could be in place.
"""

from campaign_program import COLLECTIVES

GRADIENTS = {"derivative": 26, "custom": 6}


class Gradients:
    def custom(self, scope, x):
        if x.dtype == "f" and self.differentiated != "pushed":  # has no derivative forwards
            self.emit(scope, "custom", [x, self.like(scope, x)], [x.type])

    def derivative(self, scope, x):
        """Of a block; of what follows, often a step against the gradient, as in training."""
        if self.differentiated:
            return
        values = [v for v in dict.fromkeys(self.state(scope, x)) if v.dtype in "fb" and v.shape]
        if not values:
            return
        types = [v.type for v in values]
        kind = self.choose.choice(["gradient", "gradient", "pulled", "pushed"])
        saved, self.differentiated = (self.steps, self.differentiated), kind
        if kind == "pushed":
            self.steps = {k: n for k, n in self.steps.items() if k not in COLLECTIVES}
        block, inner = self.body(scope, types)
        self.results(inner, block, types, 0.15)
        self.steps, self.differentiated = saved
        more = [] if kind == "gradient" else [self.like(scope, v) for v in values]
        made = self.emit(scope, "derivative", values + more, types * (2 if kind == "pushed" else 1), [block], kind=kind,
                         remat=self.choose.random() < 0.3)
        for value, slope in zip(values, made[-len(values) :]):
            if self.choose.random() < 0.6:
                (small,) = self.emit(scope, "scale", [slope], [slope.type], by=0.125)
                self.emit(scope, "sub", [value, small], [value.type])
