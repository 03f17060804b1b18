# SPDX-License-Identifier: Apache-2.0
"""stowplan view --against=best: the plan that is there beside that of policy best, against `stowplan assign`."""

import json
import os
import pathlib
import shutil
import unittest

from cli_case import MODULE, CliCase
from view_bundle import NONE, Bundle

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR") or ROOT / "build" / "corpus")
PROGRAMS = ("cpu11/mlp_train_sgd", "cpu/lm_train_unrolled_small", "gpu/lm_train_unrolled_12",
            "tpu/lm_train_unrolled_12_remat")


def temporaries(module):
    """Bytes by color."""
    spaces = module.header["spaces"]
    kinds = module.header["allocation_kinds"]
    found = {}
    for space, kind, size in zip(*(module.column(f"allocation.{name}") for name in ("space", "kind", "size"))):
        if kinds[kind] == "temporary":
            color = spaces[space]["color"]
            found[color] = found.get(color, 0) + int(size)
    return found


class ViewBest(CliCase):
    def view(self, *words):
        page = self.folder / "view.html"
        answer = self.run_cli("view", *map(str, words), "-o", str(page), timeout=300)
        self.assertEqual((answer.code, answer.out), (0, ""), answer)
        return Bundle(page.read_bytes()), answer

    def heaps_of(self, folder, target):
        """What `assign` says of the same program."""
        module, = folder.glob("*.hlo.pb")
        words = ["--policy=best", "--format=json", f"--target={target}"]
        if target.startswith("tpu"):
            words.append(f"--preset={next(folder.glob('*-buffer-assignment.txt'))}")
        answer = self.run_cli("assign", *words, str(module), timeout=300)
        self.assertEqual(answer.code, 0, answer)
        return {heap["color"]: heap for heap in json.loads(answer.out)["best"]["heaps"]}

    def test_programs(self):
        lower = 0
        for name in PROGRAMS:
            with self.subTest(program=name):
                folder = CORPUS / name
                bundle, answer = self.view(folder, "--against=best", "--order=given")
                self.assertEqual(answer.err, "")
                xla, best = bundle.modules
                self.assertEqual(xla.header["plan"], "XLA's plan, from its report")
                self.assertEqual(best.header["plan"], "Stowplan's plan, policy best")
                heaps = self.heaps_of(folder, best.header["target"])
                xla_bytes, best_bytes = temporaries(xla), temporaries(best)
                for color, heap in heaps.items():
                    self.assertEqual(xla_bytes[color], heap["xla_bytes"])
                    self.assertEqual(best_bytes[color], heap["bytes"])
                    lower += heap["bytes"] < heap["xla_bytes"]
                for a, b in zip(xla.header["spaces"], best.header["spaces"], strict=True):
                    heap = heaps.get(a["color"])
                    self.assertEqual([a["bound"], b["bound"]], [heap and heap["floor"]] * 2)
                    self.assertNotIn("proof", a)
                    self.assertEqual(b.get("proof"), heap and heap["proof"])
                    self.assertTrue(heap is None or heap["floor"] <= heap["bytes"])
                self.check_diff(bundle)
        self.assertEqual(lower, 4)

    def check_diff(self, bundle):
        xla, best = bundle.modules
        diff = bundle.header["diff"]
        taken = [int(sum(module.column("allocation.size"))) for module in (xla, best)]
        footprint = diff["footprint"]
        self.assertEqual([footprint["a"], footprint["b"]], taken)
        terms = [*diff["terms"], *footprint["terms"]]
        self.assertEqual(sum(term["bytes"] for term in terms), taken[1] - taken[0])
        # The same program: every value that is alive at some time has its partner, of the same size.
        match = bundle.column(diff["columns"], "match")
        start, mine, theirs = xla.column("value.start"), xla.column("value.size"), best.column("value.size")
        timed = [a for a in range(len(match)) if start[a] >= 0]
        self.assertEqual(sum(match[a] == NONE for a in timed), 0)
        self.assertEqual(sum(mine[a] != theirs[match[a]] for a in timed), 0)
        self.assertGreater(len(timed), 40)

    def test_a_module_alone(self):
        path = CORPUS / "cpu11" / "mlp_train_sgd" / "cpu_after_optimizations.txt"
        copy = self.folder / "m.txt"
        shutil.copy(path, copy)
        bundle, answer = self.view(copy, "--against=best", "--order=given", "--target=cpu")
        self.assertIn("there is no plan, so one is made as XLA does", answer.err)
        xla, best = bundle.modules
        self.assertEqual(xla.header["plan"], "Stowplan's plan, by XLA's rules")
        self.assertEqual((temporaries(xla), temporaries(best)), ({0: 2359296}, {0: 2097152}))

    def test_a_better_order(self):
        """The loads and bytes are those of `stowplan order`; what is lower is split into order and packing."""
        folder = CORPUS / "cpu11" / "lm_train_scan_remat"
        bundle, answer = self.view(folder, "--against=best")
        self.assertEqual(answer.err, "")
        xla, best = bundle.modules
        self.assertEqual(best.header["plan"], "Stowplan's plan, policy best, in a better order")
        facts = json.loads(self.run_cli("order", str(folder), "--format=json", timeout=300).out)
        taken = [int(sum(size for size, space in zip(module.column("allocation.size"), module.column("allocation.space"))
                         if module.header["spaces"][space]["color"] == 0)) for module in (xla, best)]
        self.assertEqual(taken[1], facts["bytes"])
        order, packing = facts["given_bytes"] - facts["bytes"], taken[0] - facts["given_bytes"]
        self.assertGreater(order, 60 << 20)
        self.assertGreater(packing, 1 << 20)
        words = bundle.header["order"]
        for bytes_ in (order, packing, facts["given_load"], facts["load"], facts["bound"]):
            self.assertIn(f"({bytes_})", words)
        self.assertLess(best.header["all_peak"]["bytes"], xla.header["all_peak"]["bytes"])
        # Each plan has the floor of its own order.
        bounds = [module.header["spaces"][0]["bound"] for module in (xla, best)]
        self.assertLess(bounds[1], bounds[0])
        self.assertLessEqual(bounds[0], temporaries(xla)[0])
        terms = [*bundle.header["diff"]["terms"], *bundle.header["diff"]["footprint"]["terms"]]
        self.assertEqual(sum(term["bytes"] for term in terms),
                         int(sum(best.column("allocation.size")) - sum(xla.column("allocation.size"))))

    def test_the_same_order(self):
        bundle, _ = self.view(CORPUS / "cpu11" / "moe_layer", "--against=best")
        self.assertIn("Both plans have the same order: ", bundle.header["order"])
        bundle, _ = self.view(CORPUS / "cpu11" / "moe_layer", "--against=best", "--order=given")
        self.assertNotIn("order", bundle.header)

    def test_alone(self):
        bundle, _ = self.view(CORPUS / "cpu11" / "mlp_train_sgd", "--policy=best")
        best, = bundle.modules
        self.assertEqual(best.header["plan"], "Stowplan's plan, policy best")
        space, = best.header["spaces"]
        self.assertEqual(space["bound"], 2097092)
        self.assertIn("optimal", space["proof"])
        plain, _ = self.view(CORPUS / "cpu11" / "mlp_train_sgd")
        self.assertIsNone(plain.modules[0].header["spaces"][0]["bound"])

    def test_needs_the_program(self):
        page = self.folder / "x.html"
        seed = ROOT / "examples" / "seeds" / "seed_003.txt"
        for option in ("--against=best", "--policy=best"):
            self.assert_bad_use(self.run_cli("view", str(seed), option, "-o", str(page)),
                                "planning needs the program of `seed_003`", "hint:")
        # A module that XLA has not scheduled, beside a report.
        dump = self.folder / "dump"
        shutil.copytree(CORPUS / "cpu11" / "mlp_train_sgd", dump)
        next(dump.glob("*.hlo.pb")).unlink()
        module, = dump.glob("*_after_optimizations.txt")
        module.write_text(module.read_text().replace("is_scheduled=true, ", "").replace(", is_scheduled=true", ""))
        live, = dump.glob("*-live-range.txt")
        text = live.read_text()
        live.unlink()
        self.assert_bad_use(self.run_cli("view", str(dump), "--against=best", "-o", str(page)), "has no schedule")
        self.assertFalse(page.exists())
        # The report's sequence is as good.
        live.write_text(text)
        self.assertEqual(self.run_cli("view", str(dump), "--against=best", "-o", str(page)).code, 0)
        self.assertTrue(page.exists())

    def test_of_many(self):
        dump = self.folder / "dump"
        shutil.copytree(CORPUS / "cpu11" / "mlp_train_sgd", dump / "with")
        dump.joinpath("seed.txt").write_bytes((ROOT / "examples" / "seeds" / "seed_003.txt").read_bytes())
        out = self.folder / "out"
        answer = self.run_cli("view", str(dump), "--against=best", "--order=given", "-o", f"{out}/")
        self.assertEqual(answer.code, 0, answer)
        header = Bundle((out / "index.html").read_bytes()).header
        rows = {row["name"]: row for row in header["index"]}
        self.assertEqual(set(rows), {"with", "seed"})
        # It is shown without the other plan, and the index says why.
        self.assertNotIn("best_bytes", rows["seed"])
        self.assertEqual(len(Bundle((out / rows["seed"]["file"]).read_bytes()).modules), 1)
        problem, = header["problems"]
        self.assertEqual(problem["name"], "seed")
        self.assertIn("needs the program", problem["reason"])
        self.assertEqual(rows["with"]["bytes"] - rows["with"]["best_bytes"], 2359296 - 2097152)
        self.assertEqual(len(Bundle((out / rows["with"]["file"]).read_bytes()).modules), 2)

    def test_bad_use(self):
        path = self.write("m.hlo", MODULE)
        view = lambda *words: self.run_cli("view", path, *words, "--target=cpu", "-o", str(self.folder / "x.html"))
        self.assert_bad_use(view(path, "--against=best"), "takes one INPUT")
        self.assert_bad_use(view("--against=best", "--policy=best"), "leave one of them out")
        self.assert_bad_use(view("--time-limit=1"), "policy best")
        self.assert_bad_use(view("--order=given"), "against=best")
        self.assert_bad_use(view("--against=best", "--time-limit=soon"))
        self.assert_bad_use(view("--against=xla"))
        self.assertFalse((self.folder / "x.html").exists())


if __name__ == "__main__":
    unittest.main()
