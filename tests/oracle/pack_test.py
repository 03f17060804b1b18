# SPDX-License-Identifier: Apache-2.0
"""Small random packing problems, with each feature and with all of them: `stowplan pack` against CP-SAT, which knows the
optimum. Skipped where ortools is not installed."""

import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
BINARY = os.environ.get("STOWPLAN") or str(HERE.parents[1] / "build" / "stowplan")
COUNT = int(os.environ.get("STOWPLAN_ORACLE_COUNT", "100"))
SEED = int(os.environ.get("STOWPLAN_ORACLE_SEED", "1"))
# ./run test --all makes this environment.
PYTHON = str(HERE.parents[1] / "build/judge-venv/bin/python")

try:
    from ortools.sat.python import cp_model
except ImportError:
    cp_model = None

FEATURES = ("alignment", "gaps", "group", "apart", "offset", "pools")


def random_problem(chance, features):
    """Rows as the CSV has them."""
    rows = []
    for b in range(chance.randrange(3, 10)):
        start = chance.randrange(8)
        row = {"id": str(b), "lower": start, "upper": start + 1 + chance.randrange(8 - start), "size": chance.randrange(1, 9)}
        length = row["upper"] - start
        if "alignment" in features:
            row["alignment"] = chance.choice((1, 1, 2, 4))
        if "gaps" in features:
            low = chance.randrange(row["size"])
            window = f"@{low}:{chance.randrange(low, row['size']) + 1}" if chance.random() < 0.5 else ""
            row["gaps"] = f"{start + 1}-{start + 2}{window}" if length > 2 and chance.random() < 0.5 else ""
        if "group" in features:
            row["group"] = "g" if chance.random() < 0.3 else ""
        if "apart" in features:
            others = [r["id"] for r in rows if not (r.get("group") and row.get("group"))]
            row["apart"] = chance.choice(others) if others and chance.random() < 0.3 else ""
        if "offset" in features:
            row["offset"] = 4 * chance.randrange(5) if b == 0 else -1
        if "pools" in features:
            row["pools"] = chance.choice(("", "", "fast", "slow", "fast slow", "slow fast"))
            row["pools"] = "" if row.get("group") else row["pools"]
        rows.append(row)
    pools = {"fast": chance.randrange(4, 16), "slow": chance.randrange(8, 24)} if "pools" in features else {}
    return rows, pools


def pieces_of(row):
    """Lists of (start, end, low, high)."""
    pieces, time = [], row["lower"]
    for gap in str(row.get("gaps", "")).split():
        times, _, window = gap.partition("@")
        start, end = (int(t) for t in times.split("-"))
        low, high = (int(w) for w in window.split(":")) if window else (0, 0)
        pieces += [(time, start, 0, row["size"]), (start, end, low, high)]
        time = end
    pieces.append((time, row["upper"], 0, row["size"]))
    return [p for p in pieces if p[0] < p[1] and p[2] < p[3]]


class Model:
    def __init__(self, rows, pools):
        self.model = model = cp_model.CpModel()
        most = sum(row["size"] + row.get("alignment", 1) for row in rows) + 64
        self.height = model.NewIntVar(0, most, "height")
        self.offsets, self.pools, groups = [], [], {}
        names = list(pools)
        ranks = []
        for row in rows:
            group = row.get("group", "")
            if group and group in groups:
                self.offsets.append(self.offsets[groups[group]])
                self.pools.append(self.pools[groups[group]])
            else:
                self.offsets.append(model.NewIntVar(0, most, ""))
                self.pools.append([model.NewBoolVar("") for _ in names])
                if names:
                    model.AddExactlyOne(self.pools[-1])
            groups.setdefault(group, len(self.offsets) - 1)
            offset = self.offsets[-1]
            model.AddModuloEquality(0, offset, row.get("alignment", 1))
            if row.get("offset", -1) >= 0:
                model.Add(offset == row["offset"])
            model.Add(offset + row["size"] <= self.height)
            wanted = row.get("pools", "").split() or names
            for pool, is_in in zip(names, self.pools[-1]):
                if pool not in wanted:
                    model.Add(is_in == 0)
                else:
                    ranks.append(row["size"] * wanted.index(pool) * is_in)
                    model.Add(offset + row["size"] <= pools[pool]).OnlyEnforceIf(is_in)
        for a, one in enumerate(rows):
            for b, two in enumerate(rows[:a]):
                if one.get("group") and one["group"] == two.get("group"):
                    continue
                for p in pieces_of(one):
                    for q in pieces_of(two):
                        if p[0] < q[1] and q[0] < p[1]:
                            self.separate(a, b, p, q)
                if two["id"] in one.get("apart", "").split():
                    self.separate(a, b, (0, 0, 0, one["size"]), (0, 0, 0, two["size"]))
        model.Minimize(sum(ranks) if names else self.height)

    def separate(self, a, b, p, q):
        above, below = self.model.NewBoolVar(""), self.model.NewBoolVar("")
        self.model.Add(self.offsets[a] + p[2] >= self.offsets[b] + q[3]).OnlyEnforceIf(above)
        self.model.Add(self.offsets[b] + q[2] >= self.offsets[a] + p[3]).OnlyEnforceIf(below)
        choices = [above, below]
        for one, two in zip(self.pools[a], self.pools[b]):
            if one is two:
                continue
            differs = self.model.NewBoolVar("")
            self.model.Add(one != two).OnlyEnforceIf(differs)
            choices.append(differs)
        self.model.AddBoolOr(choices)

    def solve(self):
        """The optimum; nothing when there is no plan."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_time_in_seconds = 60
        status = solver.Solve(self.model)
        assert status in (cp_model.OPTIMAL, cp_model.INFEASIBLE), solver.StatusName(status)
        return int(solver.ObjectiveValue()) if status == cp_model.OPTIMAL else None


@unittest.skipIf(cp_model is None, "ortools is not installed")
class PackOracle(unittest.TestCase):
    def pack(self, folder, rows, pools):
        path = pathlib.Path(folder) / "p.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        words = [BINARY, "pack", "--format=json", str(path), *(f"--pool={n}:{c}" for n, c in pools.items())]
        process = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertIn(process.returncode, (0, 1), process.stderr)
        return json.loads(process.stdout), path.read_text()

    def compare(self, features):
        chance = random.Random(f"{SEED} {features}")
        differing = 0
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(COUNT):
                rows, pools = random_problem(chance, features)
                answer, text = self.pack(folder, rows, pools)
                optimum = Model(rows, pools).solve()
                self.assertLessEqual(answer["bound"], optimum, text)
                self.assertGreaterEqual(answer["height"], optimum, text)
                if answer["status"] == "optimal":
                    self.assertEqual(answer["height"], optimum, text)
                differing += answer["height"] != optimum
        print(f"{' '.join(features) or 'plain'}: {COUNT - differing} of {COUNT} at the optimum")
        self.assertEqual(differing, 0)

    def test_plain(self):
        self.compare(())

    def test_alignment(self):
        self.compare(("alignment",))

    def test_gaps(self):
        self.compare(("gaps",))

    def test_group(self):
        self.compare(("group",))

    def test_apart(self):
        self.compare(("apart",))

    def test_offset(self):
        self.compare(("offset",))

    def test_everything(self):
        self.compare(FEATURES[:-1])

    def test_pools(self):
        """What is proved is so; nearly all plans spill as little as possible."""
        chance = random.Random(SEED)
        undecided = feasible = best = 0
        with tempfile.TemporaryDirectory() as folder:
            for k in range(COUNT):
                rows, pools = random_problem(chance, ("pools",) if k % 2 == 0 else ("alignment", "group", "apart", "pools"))
                answer, text = self.pack(folder, rows, pools)
                optimum = Model(rows, pools).solve()
                if answer["status"] == "infeasible":
                    self.assertIsNone(optimum, text)
                if answer["status"] == "undecided":
                    undecided += optimum is not None
                if answer["status"] in ("optimal", "feasible"):
                    places = {buffer["id"]: buffer["pool"] for buffer in answer["buffers"]}
                    names = list(pools)
                    cost = sum(row["size"] * (row["pools"].split() or names).index(places[row["id"]]) for row in rows)
                    self.assertIsNotNone(optimum, text)
                    self.assertGreaterEqual(cost, optimum, text)
                    feasible += 1
                    best += cost == optimum
        print(f"pools: {best} of {feasible} plans spill the least; {undecided} of {COUNT} have a plan that was not found")
        self.assertGreater(best, 0.98 * feasible)
        self.assertLess(undecided, 0.01 * COUNT)


if __name__ == "__main__":
    if cp_model is None and os.path.exists(PYTHON) and pathlib.Path(sys.prefix) != pathlib.Path(PYTHON).parents[1]:
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    unittest.main()
