# SPDX-License-Identifier: Apache-2.0
"""The packer against the best there is, line by line: the rival's figure, what must be reached, the aim, what is.

Called by `./run bench pack [--quick] [--only=TEXT]`; --quick takes minutes where all of it takes half an hour, --only
the sections whose name has that text. Writes build/bench_pack.json too.

Figures are medians over seeds of the solver, each with the rows in another order; of problems that make_problems.py
makes, over seeds of these too. Each plan is checked. Rivals' figures are recorded ones, of the same kind of machine,
unless the environment names their binaries (MINIMALLOC=, IDEALLOC=): then they run beside ours.
"""

import argparse
import functools
import json
import math
import operator
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", ROOT / "build/corpus"))
PACKER = ROOT / "build/release/bench/stowplan_bench_pack"
STOWPLAN = ROOT / "build/release/stowplan"
GENERATOR = ROOT / "bench/make_problems.py"
MADE = ROOT / "build/packing"
MINIMALLOC = os.environ.get("MINIMALLOC")
IDEALLOC = os.environ.get("IDEALLOC")

LETTERS = "ABCDEFGHIJK"
CAPACITY = 1048576
NEVER = math.inf
# CPU seconds of MiniMalloc, told the capacity.
MINIMALLOC_SECONDS = dict(zip(LETTERS, (4.57, 3.47, 0.66, 2.48, 3.35, 4.79, 1.04, 1.60, 2.97, 0.82, 0.58)))


def seconds(value):
    return "never" if value == NEVER else f"{value * 1e3:.2f} ms" if value < 0.1 else f"{value:.2f} s"


def percent(value):
    return "no plan" if value == NEVER else f"{value:+.3f} %"


def ratio(value):
    return "no plan" if value == NEVER else f"{value:.4f}"


def megabytes(value):
    return f"{value:.0f} MB"


def plain(value):
    return f"{value:g}" if value < 1000 else f"{value:.0f}"


class Report:
    """The table, printed as it grows."""

    def __init__(self):
        self.lines = []
        print("CPU seconds of one thread; medians unless it says worst; rivals' figures are recorded, those with * are"
              " of this run\n")
        print(f"{'':50}{'best rival':>24}{'must':>12}{'aim':>12}{'measured':>12}   must  aim", flush=True)

    def add(self, what, rival, must, aim, value, show=seconds, at_least=False, proof=False):
        """One line. Less is better, unless `at_least`; `proof` reaches the aim by other means."""
        met = lambda bound: bound is None or (value >= bound if at_least else value <= bound)
        word = lambda bound, is_met: "" if bound is None else "yes" if is_met else "NO"
        say = lambda bound: "" if bound is None else show(bound)
        must_met, aim_met = met(must), met(aim) or proof
        self.lines.append({"line": what, "rival": rival, "must": must, "aim": aim, "must_met": must_met,
                           "aim_met": aim_met, "measured": None if value == NEVER else value})
        print(f"{what:50}{rival:>24}{say(must):>12}{say(aim):>12}{show(value):>12}"
              f"   {word(must, must_met):4}  {word(aim, aim_met)}", flush=True)


def tell(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


@functools.cache
def solve(file, limit, seed, capacity=None):
    """The line of stowplan_bench_pack. With seed 1 the rows stay in their order."""
    command = [PACKER, f"--time-limit={limit}", f"--seed={seed}", f"--shuffle={seed - 1}"]
    if capacity is not None:
        command.append(f"--capacity={capacity}")
    run = json.loads(subprocess.run([*command, file], check=True, stdout=subprocess.PIPE, text=True).stdout)
    last, height = run["trajectory"][-1]
    tell(f"{pathlib.Path(file).stem}, seed {seed}: {percent((height / run['load'] - 1) * 100)} at {seconds(last)},"
         f" {run['status']} after {seconds(run['solve_s'])}")
    return run


def height_after(run, limit):
    """NEVER before the first plan."""
    return min((height for at, height in run["trajectory"] if at <= limit), default=NEVER)


def seconds_to(run, height):
    return next((at for at, reached in run["trajectory"] if reached <= height), NEVER)


def over_load(run, limit):
    """In percent."""
    return (height_after(run, limit) / run["load"] - 1) * 100


def letter(name):
    return ROOT / "corpus/packing" / f"{name}.{CAPACITY}.csv"


def idealloc_problem(name):
    return CORPUS / "idealloc" / f"{name}.csv"


def made(kind, count, seed):
    """Made by a process of its own: what this one has taken would count as its children's peak memory."""
    file = MADE / f"{kind}.{count}.{seed}.csv"
    if not file.exists() or file.stat().st_mtime < GENERATOR.stat().st_mtime:
        tell(f"making {file.stem}")
        MADE.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        subprocess.run([sys.executable, GENERATOR, kind, str(count), str(seed), part], check=True)
        part.rename(file)
    return file


def measured(command):
    """What a command prints, its CPU seconds, its peak memory in MB; None for its output when it fails."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    return text if process.returncode == 0 else None, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def minimalloc_seconds(file, capacity, limit=120):
    """CPU seconds until it finds a plan, or NEVER; None without its binary."""
    if MINIMALLOC is None:
        return None
    tell(f"MiniMalloc, {pathlib.Path(file).stem}, told {capacity}")
    with tempfile.TemporaryDirectory() as folder:
        text, spent, _ = measured([MINIMALLOC, f"--capacity={capacity}", f"--timeout={limit}s", "--validate",
                                   f"--input={file}", f"--output={folder}/plan.csv"])
    return NEVER if text is None or "PASS" not in text else spent


def idealloc_answer(file, lives):
    """Height and CPU seconds; None without its binary. Times are doubled, since it fails on lives of length 1."""
    if IDEALLOC is None:
        return None
    tell(f"idealloc, {pathlib.Path(file).stem}, {lives} lives")
    header, *rows = pathlib.Path(file).read_text().split()
    assert header == "id,lower,upper,size"
    with tempfile.TemporaryDirectory() as folder:
        doubled = pathlib.Path(folder) / "problem.csv"
        split = (row.split(",") for row in rows)
        doubled.write_text("\n".join([header, *(f"{i},{2 * int(a)},{2 * int(b)},{s}" for i, a, b, s in split)]) + "\n")
        text, spent, _ = measured([IDEALLOC, "-i", str(doubled), "-l", str(lives), "ex-csv"])
    found = re.search(r"^Makespan:\s*(\d+)", text or "", re.MULTILINE)
    return (int(found[1]) if found else NEVER), spent


def told(report, options):
    """A to K with the capacity given."""
    theirs = dict(MINIMALLOC_SECONDS)
    if MINIMALLOC is not None:
        for name in LETTERS:
            runs = [minimalloc_seconds(letter(name), CAPACITY) for _ in range(options.rival_runs)]
            theirs[name] = statistics.median(runs)
    mark = "" if MINIMALLOC is None else "*"
    times = {}
    for name in LETTERS:
        runs = [solve(letter(name), 30, seed, CAPACITY) for seed in options.seeds]
        times[name] = [run["solve_s"] if run["height"] <= CAPACITY else NEVER for run in runs]
    total = sum(theirs.values())
    must, aim = (0.53, 0.13) if MINIMALLOC is None else (total / 50, total / 200)
    rival = f"MiniMalloc {total:.1f} s{mark}"
    solved = sum(max(runs) < NEVER for runs in times.values())
    report.add("A to K, told 1048576: solved in every run", "11", 11, 11, solved, plain, at_least=True)
    report.add("  total", rival, must, aim, sum(statistics.median(runs) for runs in times.values()))
    report.add("  total of the worst runs", rival, 2.6, 0.5, sum(max(runs) for runs in times.values()))
    faster = sum(max(runs) < theirs[name] for name, runs in times.items())
    report.add("  faster than MiniMalloc in every run", "", 11, 11, faster, plain, at_least=True)
    for name, runs in times.items():
        report.add(f"  {name}, worst", f"{theirs[name]:.2f} s{mark}", theirs[name], None, max(runs))


def letter_runs(name, options):
    """Runs of 5 s; of D and J the beginnings of the long ones, where these are asked for too."""
    is_long = lambda seed: name in "DJ" and seed in options.long_seeds and not options.only
    return [solve(letter(name), 60 if is_long(seed) else 5, seed) for seed in options.seeds]


def not_told(report, options):
    """A to K with nothing given."""
    rivals = ["1.34", "1.34", "1.33", "1.31", "1.13"]
    if IDEALLOC is not None:
        for k, lives in enumerate((1, 1, 100, 2000)):
            loads = [letter_runs(name, options)[0]["load"] for name in LETTERS]
            heights = [idealloc_answer(letter(name), lives)[0] for name in LETTERS]
            rivals[k] = f"idealloc {statistics.geometric_mean(map(operator.truediv, heights, loads)):.2f}*"
    marks = (0.001, 0.01, 0.1, 1, 5)
    musts, aims = (1.14, 1.06, 1.025, 1.012, 1.009), (1.10, 1.03, 1.010, 1.005, 1.003)
    for mark, rival, must, aim in zip(marks, rivals, musts, aims):
        medians = [statistics.median(height_after(run, mark) / run["load"] for run in letter_runs(name, options))
                   for name in LETTERS]
        mean = statistics.geometric_mean(medians)
        report.add(f"A to K, not told: height over load after {mark:g} s", rival, must, aim, mean, ratio)
    for name in LETTERS:
        if name in "DJ":
            continue
        times = [seconds_to(run, run["load"]) for run in letter_runs(name, options)]
        report.add(f"  {name} at the load", "only when told", 2, 0.1, statistics.median(times))


def hard_d(report, options):
    """D until it is optimal."""
    times = [seconds_to(solve(letter("D"), 60, seed), 986112) for seed in options.long_seeds]
    report.add("D at 986112, optimal", "1038336 in 60 s", 60, 5, statistics.median(times))
    report.add("  worst", "", None, None, max(times))


def hard_j(report, options):
    """J for a minute."""
    runs = [solve(letter("J"), 60, seed) for seed in options.long_seeds]
    heights = [height_after(run, 60) for run in runs]
    is_proved = statistics.median(run["bound"] > run["load"] for run in runs) == 1
    report.add("J after 60 s", "1041408 in 60 s", 1017000, 1000000, statistics.median(heights), plain, proof=is_proved)
    report.add("  worst", "", None, None, max(heights), plain)


def real(report, options):
    """idealloc's problems."""
    for name, must, aim, recorded in (("resnet50", 0.5, 0.05, "0.29 s, told"), ("G_1", 0.005, 0.001, "1.23 s, told")):
        runs = [solve(idealloc_problem(name), 10, seed) for seed in options.seeds]
        theirs = minimalloc_seconds(idealloc_problem(name), runs[0]["load"])
        rival = recorded if theirs is None else f"{seconds(theirs)}, told*"
        report.add(f"{name} at the load", rival, must, aim, statistics.median(seconds_to(r, r["load"]) for r in runs))
    cases = (("pangu_2.6B", 0.2, 0.05, "+2.42 % in 1.1 s"), ("Y_1", 0.1, 0.05, "+0.35 % in 8.3 s"),
             ("S_1", None, None, "+2.49 % in 2.4 s"))
    for name, must, aim, recorded in cases:
        runs = [solve(idealloc_problem(name), 2.2, seed) for seed in options.seeds]
        theirs = idealloc_answer(idealloc_problem(name), 1)
        rival = recorded
        if theirs is not None:
            rival = f"{percent((theirs[0] / runs[0]['load'] - 1) * 100)} in {seconds(theirs[1])}*"
        report.add(f"{name} at the load", rival, must, aim, statistics.median(seconds_to(r, r["load"]) for r in runs))
        if name == "S_1":
            for limit, most, goal in ((0.5, 0.16, None), (2, None, 0.05)):
                over = statistics.median(over_load(run, limit) for run in runs)
                report.add(f"  after {limit} s", rival, most, goal, over, percent)


def large(report, options):
    """Made problems with ten and a hundred thousand buffers."""
    sets = (("train.10000", [(1, seed) for seed in options.seeds]),
            ("train.10000, other seeds of it", [(seed + 1, seed) for seed in options.seeds]))
    for what, seeds in sets:
        runs = [solve(made("train", 10000, which), 1.1, seed) for which, seed in seeds]
        for limit, must, aim in ((0.1, 0.10, None), (1, None, 0.02)):
            over = statistics.median(over_load(run, limit) for run in runs)
            report.add(f"{what}, after {limit} s", "+0.24 % in 111 s", must, aim, over, percent)
    for kind, rival in (("train", "+3.89 %"), ("mixed", "+0.60 %"), ("scan", "0 %")):
        runs = [solve(made(kind, 100_000, seed), 5, seed) for seed in options.seeds]
        times = [seconds_to(run, run["load"]) for run in runs]
        report.add(f"{kind} 100000 at the load", f"{rival} in 3 to 7 s", 0.5, 0.15, statistics.median(times))
        report.add("  worst", "", None, None, max(times))


def million(report, options):
    """`stowplan pack` from the file to the answer."""
    for kind in ("train", "mixed", "scan"):
        file = made(kind, 1_000_000, 1)
        times, peaks = [], []
        for seed in options.seeds:
            tell(f"stowplan pack {file.stem} --seed={seed}")
            text, spent, peak = measured([STOWPLAN, "pack", file, f"--seed={seed}"])
            assert text is not None, "stowplan pack failed"
            times.append(spent if "optimal" in text else NEVER)
            peaks.append(peak)
        time = statistics.median(times)
        report.add(f"{kind} 1000000 at the load, reading included", "nothing finished", 8, 2.5, time)
        report.add("  peak memory", "", 250, 150, statistics.median(peaks), megabytes)


def dissections(report, options):
    """Cut rectangles, whose load can always be reached."""
    rivals = {200: "told, 3 of 6", 400: "told, none in 15 s"}
    for count, limit, aim, must_solve in ((200, 0.5, 0.05, 10), (400, 5, 0.5, 9)):
        files = [made("cut", count, seed) for seed in range(1, 11)]
        rival = rivals[count]
        if MINIMALLOC is not None:
            found = sum(minimalloc_seconds(file, CAPACITY, 15) < NEVER for file in files[:6])
            rival = f"told, {found} of 6*"
        times = []
        for file in files:
            runs = [solve(file, 5, seed) for seed in options.cut_seeds]
            times.append(statistics.median(seconds_to(run, run["load"]) for run in runs))
        for most, must, goal in ((limit, must_solve, None), (aim, None, must_solve)):
            solved = sum(time <= most for time in times)
            report.add(f"cut {count}: of 10 solved in {most} s", rival, must, goal, solved, plain, at_least=True)
        for seed, time in enumerate(times, 1):
            report.add(f"  seed {seed}", "", limit, aim, time)
    for count, limit, must, aim, rival in ((1000, 5, 15, 5, "+38 %"), (10_000, 5, 15, 8, "+30 %"),
                                           (100_000, 10, 13, 8, "not run")):
        runs = [solve(made("cut", count, seed), limit, seed) for seed in options.seeds]
        over = [over_load(run, limit) for run in runs]
        report.add(f"cut {count} after {limit} s", rival, must, aim, statistics.median(over), percent)
        report.add("  worst", "", None, None, max(over), percent)


SECTIONS = {"capacity": told, "anytime": not_told, "D-optimal": hard_d, "J-minute": hard_j, "real": real,
            "large": large, "million": million, "cut": dissections}


def read_options():
    parser = argparse.ArgumentParser(prog="./run bench pack", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer seeds: some minutes")
    parser.add_argument("--only", default="", help=f"the sections with this text in their name: {', '.join(SECTIONS)}")
    options = parser.parse_args()
    options.seeds = range(1, 3) if options.quick else range(1, 6)
    options.long_seeds = range(1, 2) if options.quick else range(1, 6)
    options.cut_seeds = range(1, 2) if options.quick else options.seeds
    options.rival_runs = 1 if options.quick else 3
    return options


def main():
    options = read_options()
    report = Report()
    for name, section in SECTIONS.items():
        if options.only in name:
            section(report, options)
    missed = sum(not line["must_met"] for line in report.lines)
    behind = sum(not line["aim_met"] for line in report.lines)
    print(f"\n{len(report.lines)} lines: {missed} miss what must be, {behind} the aim")
    (ROOT / "build/bench_pack.json").write_text(json.dumps(report.lines, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
