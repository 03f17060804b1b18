# SPDX-License-Identifier: Apache-2.0
"""The peak of a dump by brute force, from XLA's reports alone: what the answers in the archive `explain` are checked
with. Slow and simple on purpose.

Live at t are the values with start <= t <= end. A byte of an allocation that several of them hold belongs to the one
that begins last. Thread-local allocations do not count.
"""

import collections
import pathlib
import re

STEM = "cpu_after_optimizations"
VALUE = re.compile(r" value: <(\d+) ([\w.-]+?)(?:\{([\d,]*)\})?(?: \(phi\))? @0> \(size=(\d+),offset=(\d+)\)")


class Module:
    """Where the instructions of a module text come from."""

    def __init__(self, text):
        self.functions, self.locations, self.frames, self.place, self.op_name = {}, {}, {}, {}, {}
        self.opcode = {}
        for line in text.splitlines():
            if found := re.match(r'(\d+) "(.*)"$', line):
                self.functions[int(found[1])] = found[2]  # the last table of the two stays
            elif found := re.match(r"(\d+) \{file_name_id=\d+ function_name_id=(\d+) line=(\d+)", line):
                self.locations[int(found[1])] = (int(found[3]), self.functions[int(found[2])])
            elif found := re.match(r"(\d+) \{file_location_id=(\d+)(?: parent_frame_id=(\d+))?", line):
                # The text prints a parent's number plus one, so that 1 is no parent.
                self.frames[int(found[1])] = (int(found[2]), int(found[3] or 1) - 1)
            elif found := re.match(r"\s*(?:ROOT )?%([\w.-]+) = ", line):
                opcode = re.search(r"(?<=[\])}] )([a-z][\w-]*)\(", line)
                self.opcode[found[1]] = opcode[1] if opcode else "?"
                name = re.search(r'op_name="((?:[^"\\]|\\.)*)"', line)
                frame = re.search(r"stack_frame_id=(\d+)", line)
                self.op_name[found[1]] = name[1].replace("\\'", "'") if name else ""
                self.place[found[1]] = int(frame[1]) if frame else 0

    def stack(self, instruction):
        """Lines from the outermost call to the innermost."""
        lines, frame = [], self.place.get(instruction, 0)
        while frame:
            location, frame = self.frames[frame]
            lines.append(self.locations[location][0])
        return lines[::-1]


class Dump:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.module = Module((folder / f"{STEM}.txt").read_text())
        ranges = {}
        text = (folder / f"{STEM}-live-range.txt").read_text()
        for name, index, start, end in re.findall(r"^    ([\w.-]+)\{([\d,]*)\}:(\d+)-(\d+)$", text, re.M):
            ranges[name, index] = (int(start), int(end))
        self.sequence = dict(
            (int(t), name) for t, name in re.findall(r"^    (\d+):([\w.-]+)$", text, re.M))
        self.values = []  # allocation, offset, size, start, end, order, instruction
        self.allocations = {}
        allocation = None
        for line in (folder / f"{STEM}-buffer-assignment.txt").read_text().splitlines():
            if found := re.match(r"allocation (\d+): size (\d+),? ?(.*):", line):
                allocation = None if "thread-local" in line else int(found[1])
                self.allocations[int(found[1])] = (int(found[2]), found[3])
            elif found := VALUE.match(line):
                span = ranges.get((found[2], found[3] or ""))
                if allocation is not None and span:
                    self.values.append((allocation, int(found[5]), int(found[4]), *span, int(found[1]), found[2]))
            elif not line.startswith(" "):
                if line.startswith("Total bytes"):
                    break

    def owners(self, t):
        """Instruction -> bytes that belong to it at t."""
        owned = collections.Counter()
        held = collections.defaultdict(list)
        for value in self.values:
            if value[3] <= t <= value[4]:
                held[value[0]].append(value)
        for values in held.values():
            cuts = sorted({edge for v in values for edge in (v[1], v[1] + v[2])})
            for low, high in zip(cuts, cuts[1:]):
                over = [v for v in values if v[1] <= low and high <= v[1] + v[2]]
                if over:
                    owned[max(over, key=lambda v: (v[3], v[5]))[6]] += high - low
        return owned

    def peaks(self):
        """The peak and all moments at which it is reached."""
        moments = range(max(v[4] for v in self.values) + 1)
        live = [self.owners(t).total() for t in moments]
        return max(live), [t for t in moments if live[t] == max(live)]

    def table(self, t):
        """(kind, line or path) -> bytes at t. kind: line, parameter, and without a source: loop-state, copy, rest."""
        rows = collections.Counter()
        for name, size in self.owners(t).items():
            opcode, path = self.module.opcode.get(name), self.module.op_name.get(name)
            if stack := self.module.stack(name):
                rows["line", stack[-1]] += size
            elif opcode == "parameter":  # those of the program have a path
                rows["parameter" if path else "loop-state", path] += size
            else:
                rows["copy" if opcode == "copy" else "rest", name] += size
        return rows


if __name__ == "__main__":
    import sys

    for folder in sys.argv[1:]:
        dump = Dump(folder)
        peak, moments = dump.peaks()
        print(f"{folder}: {peak} at {moments[:8]} ({dump.sequence.get(moments[0])})")
        for (kind, what), size in dump.table(moments[0]).most_common(12):
            print(f"  {size:>12} {kind} {what}")
        for name, size in dump.owners(moments[0]).most_common(12):
            print(f"      {size:>12} {name} {dump.module.stack(name)} {dump.module.op_name.get(name)}")
