#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes packing problems that look like training steps, and ones whose optimum is known.

    make_problems.py KIND COUNT SEED FILE.csv

Kinds:

    train   layers forwards and backwards: activations that live until the way back (some layers keep few and compute
            them again), temporaries, gradients of weights that live until the optimizer's step
    scan    loops: the same temporaries each time round, carried state, residuals that a loop backwards consumes
    mixed   some of both
    cut     a rectangle cut into COUNT pieces, so that the best height is the load: 1048576

The same arguments make the same file. Lives are half-open, sizes of all but `cut` multiples of 256.
"""

import heapq
import random
import sys

ACTIVATIONS = ("h", "qkv", "att", "ff", "norm", "mask")
WEIGHTS = ("wq", "wo", "wf", "bias", "ln")
SCAN_BODY = ("h", "qkv", "ff", "norm", "mask", "bias", "ln")


def layer_sizes(width, batch, length):
    """Bytes of what a transformer layer has: activations of 2 bytes an element, weights of 4."""
    tokens = batch * length
    return {
        "h": tokens * width * 2, "qkv": 3 * tokens * width * 2, "ff": tokens * 4 * width * 2,
        "att": batch * max(1, width // 64) * length * length * 2, "norm": tokens * 4, "mask": tokens * length,
        "wq": 3 * width * width * 4, "wo": width * width * 4, "wf": 4 * width * width * 4,
        "bias": width * 4, "ln": 2 * width * 4,
    }


class Step:
    """A training step in the making: its buffers so far, and the time."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = []  # (lower, upper, size)
        self.now = 0

    def add(self, lower, upper, size):
        self.rows.append((lower, upper, max(256, (int(size) + 255) // 256 * 256)))

    def pick_sizes(self):
        width = self.random.choice([256, 384, 512, 768, 1024, 1536, 2048])
        batch = self.random.choice([1, 2, 4, 8])
        length = self.random.choice([64, 128, 197, 256, 512, 1024])
        return layer_sizes(width, batch, length)

    def forwards_and_backwards(self, layers, per_layer, alike):
        """About `per_layer` buffers for each layer, both ways together; layers may be `alike`, all of one shape."""
        sizes = self.pick_sizes()
        passed = []
        for _ in range(layers):
            if not alike and self.random.random() < 0.3:
                sizes = self.pick_sizes()
            recomputed = self.random.random() < 0.3
            passed.append((self.forwards(sizes, per_layer, recomputed), sizes, recomputed))
        self.add(self.now, self.now + 2, 4)  # the loss
        gradients = []
        for kept, sizes, recomputed in reversed(passed):
            if recomputed:
                self.recompute(sizes, per_layer)
            self.backwards(kept, sizes)
            for name in WEIGHTS:
                gradients.append((self.now, sizes[name]))
                self.now += 1
        for birth, size in gradients:  # the optimizer takes them in order
            self.add(self.now, self.now + 2, size)
            self.now += 1
            self.add(birth, self.now + 1, size)

    def forwards(self, sizes, per_layer, recomputed):
        """One layer; returns birth and size of what it keeps for the way back."""
        kept = []
        for _ in range(max(4, per_layer // 2)):
            size = sizes[self.random.choice(ACTIVATIONS)]
            if self.random.random() < 0.05:
                size = size * self.random.uniform(0.3, 1.7)
            if self.random.random() < (0.12 if recomputed else 0.4):
                kept.append((self.now, size))
            else:
                self.add(self.now, self.now + self.random.choice([1, 1, 1, 2, 2, 3, 5, 8]), size)
            self.now += 1
        return kept

    def recompute(self, sizes, per_layer):
        again = []
        for _ in range(per_layer // 6 + 1):
            again.append((self.now, sizes[self.random.choice(ACTIVATIONS)]))
            self.now += 1
        for birth, size in again:
            self.add(birth, self.now + self.random.randrange(1, per_layer // 3 + 2), size)

    def backwards(self, kept, sizes):
        """What was kept has a gradient, perhaps a temporary, and then an end."""
        for birth, size in reversed(kept):
            self.add(self.now, self.now + self.random.choice([1, 2, 2, 3, 4]), size)
            if self.random.random() < 0.6:
                self.add(self.now, self.now + self.random.choice([1, 1, 2]), sizes[self.random.choice(ACTIVATIONS)])
            self.now += 1
            self.add(birth, self.now, size)

    def scan(self, times, per_time):
        """A loop, and the loop backwards that takes its residuals last to first."""
        sizes = self.pick_sizes()
        start = self.now
        residuals = []
        body = [(self.random.choice(SCAN_BODY), self.random.choice([1, 1, 2, 3, 4])) for _ in range(per_time)]
        for _ in range(times):
            self.add(self.now, self.now + per_time + 1, sizes["h"])  # the carry, until the next one is there
            residuals.append((self.now + per_time - 1, sizes[self.random.choice(["h", "norm"])]))
            self.temporaries(body, sizes)
        self.add(start, self.now, sizes["wf"])
        self.add(start, self.now, sizes["wq"])
        for birth, size in reversed(residuals):
            self.temporaries(body[: max(1, per_time // 2)], sizes)
            self.add(birth, self.now, size)

    def temporaries(self, body, sizes):
        for name, duration in body:
            self.add(self.now, self.now + duration, sizes[name])
            self.now += 1


def training_step(kind, count, seed):
    """`count` rows of kind train, scan or mixed."""
    step = Step(seed)
    chance = step.random
    missing = lambda: count - len(step.rows)
    if kind == "train":
        per_layer = chance.randrange(30, 60)
        while missing() > 0:
            layers = max(2, min(missing() // per_layer, 400))
            step.forwards_and_backwards(layers, per_layer, alike=chance.random() < 0.5)
    elif kind == "scan":
        while missing() > 0:
            times = max(2, min(missing() // 20, chance.randrange(20, 2000)))
            step.scan(times, chance.randrange(6, 24))
    else:
        while missing() > 0:
            if chance.random() < 0.5:
                step.forwards_and_backwards(max(2, min(missing() // 45, chance.randrange(12, 300))), 45, alike=False)
            else:
                times = max(2, min(missing() // 20, chance.randrange(10, 500)))
                step.scan(times, chance.randrange(6, 24))
    sizes = step.pick_sizes()
    for _ in range(max(1, min(200, count // 100))):  # weights, always alive
        step.add(0, step.now, sizes[chance.choice(WEIGHTS)])
    rows = step.rows[-count:]
    chance.shuffle(rows)
    return rows


def cut(count, seed):
    """Cuts the largest pieces, more or less, until there are `count`: nothing is lost, so the load is the optimum."""
    chance = random.Random(seed)
    width, height = count * 8, 1 << 20
    grain = 1024 if count <= 20000 else 64  # of sizes
    pieces = {0: (0, width, 0, height)}  # lower, upper, bottom, top
    heap = [(-width * height, 0)]  # the largest first, with some chance
    made = 1
    while len(pieces) < count and heap:
        largest = heapq.heappop(heap)
        piece = largest[1]
        if chance.random() < 0.25 and heap:  # any other instead: some large ones stay
            piece = heap[chance.randrange(len(heap))][1]
            heapq.heappush(heap, largest)
            if len(heap) >= 2000:
                continue
            heap = [entry for entry in heap if entry[1] != piece]
            heapq.heapify(heap)
        lower, upper, bottom, top = pieces[piece]
        too_short, too_flat = upper - lower < 2, top - bottom < 2 * grain
        if too_short and too_flat:
            continue
        across, up = (upper - lower) / width, (top - bottom) / height
        if too_flat or (not too_short and chance.random() < across / (across + up)):
            at = lower + max(1, min(upper - lower - 1, int((upper - lower) * chance.uniform(0.15, 0.85))))
            parts = [(lower, at, bottom, top), (at, upper, bottom, top)]
        else:
            rise = int((top - bottom) * chance.uniform(0.15, 0.85)) // grain * grain
            at = bottom + max(grain, min(top - bottom - grain, rise))
            parts = [(lower, upper, bottom, at), (lower, upper, at, top)]
        del pieces[piece]
        for part in parts:
            pieces[made] = part
            area = (part[1] - part[0]) * (part[3] - part[2])
            heapq.heappush(heap, (-area * chance.uniform(0.3, 3), made))
            made += 1
    rows = [(lower, upper, top - bottom) for lower, upper, bottom, top in pieces.values()]
    chance.shuffle(rows)
    return rows


def write(kind, count, seed, file):
    rows = cut(count, seed) if kind == "cut" else training_step(kind, count, seed)
    with open(file, "w") as out:
        out.write("id,lower,upper,size\n")
        out.writelines(f"{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows))


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("train", "scan", "mixed", "cut"):
        print(__doc__, file=sys.stderr)
        return 2
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    return 0


if __name__ == "__main__":
    sys.exit(main())
