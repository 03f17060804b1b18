# SPDX-License-Identifier: Apache-2.0
"""Makes a program of the campaign smaller while what is remarkable about it stays: its verdict with the kind of the
first finding, a wrong result, or a plan that differs.

usage: campaign_minimise.py PLATFORM STOWPLAN DUMPS VERSION TARGET JOB (JSON), started by campaign.py
"""

import copy
import json
import pathlib
import shutil
import sys

import campaign_generate
import campaign_hlo
import campaign_program
import campaign_worker
import checked_runs
from campaign_program import Stmt, Var, captured, prune, walk


def blocks_of(block):
    yield block
    for stmt, _ in walk(block):
        yield from stmt.blocks


def replace(program, old, new):
    for stmt, _ in walk(program.block):
        stmt.args[:] = [new if v is old else v for v in stmt.args]
    for block in blocks_of(program.block):
        block.results[:] = [new if v is old else v for v in block.results]


def constant(var):
    return Stmt("full", [Var(var.name + "c", var.shape, var.dtype)], [], {"value": 2})


def stand_ins(block, at, var):
    """Earlier values of the block that could be in the place of var."""
    earlier = [*block.params, *(v for s in block.stmts[:at] for v in s.outs)]
    return [v for v in earlier if v.type == var.type]


def drop_statement(program, block, at):
    stmt = block.stmts[at]
    fresh = []
    for out in stmt.outs:
        alike = [v for v in stmt.args if v.type == out.type] or stand_ins(block, at, out)
        if alike:
            replace(program, out, alike[0])
        else:
            fresh.append(constant(out))
            replace(program, out, fresh[-1].outs[0])
    block.stmts[at : at + 1] = fresh


def inline(program, block, at, which):
    """The statement's block in its own place: one branch, one turn of a loop."""
    stmt = block.stmts[at]
    inner = stmt.blocks[which]
    given = {"branch": stmt.args[1:], "call": stmt.args}.get(stmt.op)
    before = []
    if stmt.op == "loop":
        counter = Stmt("full", [Var(inner.params[0].name + "c", (), "i")], [], {"value": 0})
        before = [counter]
        given = [counter.outs[0], *stmt.args[: len(inner.results)]]
    if given is None:
        return False
    block.stmts[at : at + 1] = before + inner.stmts
    for param, arg in zip(inner.params, given):
        replace(program, param, arg)
        inner.results[:] = [arg if v is param else v for v in inner.results]
    for out, result in zip(stmt.outs, inner.results):
        replace(program, out, result)
    return True


def drop_carried(program, block, at, k):
    """One element less goes through a loop, a branch or a call."""
    stmt = block.stmts[at]
    shift = {"loop": (0, 1), "branch": (1, 0), "call": (0, 0)}.get(stmt.op)
    if shift is None or len(stmt.outs) < 2:
        return False
    arg = stmt.args.pop(k + shift[0])
    out = stmt.outs.pop(k)
    for inner in stmt.blocks:
        param = inner.params.pop(k + shift[1])
        inner.results.pop(k)
        replace(program, param, arg)
    replace(program, out, arg)
    if stmt.attrs.get("reads") is not None:
        stmt.attrs["reads"] = None
    return True


def drop_output(program, k):
    if len(program.block.results) < (3 if program.level == "hlo" else 2):
        return False
    program.block.results.pop(k)
    program.aliases = tuple((o - (o > k), p) for o, p in program.aliases if o != k)
    return True


def drop_argument(program, k):
    params = program.block.params
    if any(v is params[k] for s, _ in walk(program.block) for v in s.args) or any(
            params[k] in b.results for b in blocks_of(program.block)) or len(params) < 2:
        return False
    params.pop(k)
    program.donated = tuple(d - (d > k) for d in program.donated if d != k)
    program.aliases = tuple((o, p - (p > k)) for o, p in program.aliases if p != k)
    return True


def all_blocks(program):
    return list(blocks_of(program.block))


def changes(program):
    """All single steps: functions that change a copy, and say by False that they could not."""
    for k in reversed(range(len(program.block.results))):
        yield lambda p, k=k: drop_output(p, k)
    for k in range(len(program.donated)):
        def keep_argument(p, k=k):
            gone = p.donated[k]
            p.donated = p.donated[:k] + p.donated[k + 1 :]
            p.aliases = tuple(a for a in p.aliases if a[1] != gone)

        yield keep_argument
    for b, block in enumerate(all_blocks(program)):
        for at in reversed(range(len(block.stmts))):
            stmt = block.stmts[at]
            yield lambda p, b=b, at=at: drop_statement(p, all_blocks(p)[b], at)
            for which in range(len(stmt.blocks)):
                yield lambda p, b=b, at=at, w=which: inline(p, all_blocks(p)[b], at, w)
            if stmt.blocks:
                for k in reversed(range(len(stmt.outs))):
                    yield lambda p, b=b, at=at, k=k: drop_carried(p, all_blocks(p)[b], at, k)
            for k, arg in enumerate(stmt.args):
                for n, other in enumerate(stand_ins(block, at, arg)[:2]):
                    if other is not arg:
                        def exchange(p, b=b, at=at, k=k, n=n):
                            to = all_blocks(p)[b]
                            s = to.stmts[at]
                            s.args[k] = stand_ins(to, at, s.args[k])[n]

                        yield exchange
    for k in reversed(range(len(program.block.params))):
        yield lambda p, k=k: drop_argument(p, k)


def weight(program):
    """What is to become less."""
    stmts = [s for s, _ in walk(program.block)]
    carried = sum(len(s.args) for s in stmts if s.blocks)
    earlier = sum(sum(1 for _ in v.name) + int(v.name.strip("vc") or 0) for s in stmts for v in s.args)
    return (len(stmts), carried, len(program.block.results), len(program.block.params), len(program.donated), earlier)


def valid(program):
    """No variable is used where it is not known."""
    if captured(program.block):
        return False
    todo = [(program.block, set())]
    while todo:
        block, outer = todo.pop()
        known = outer | set(block.params)
        for stmt in block.stmts:
            if not known.issuperset(stmt.args):
                return False
            todo += [(inner, set(known)) for inner in stmt.blocks]
            known.update(stmt.outs)
        if not known.issuperset(block.results):
            return False
    return True


class Judge:
    def __init__(self, platform, binary, dumps, version, target):
        self.runner = campaign_worker.Runner(platform)
        self.dumps = pathlib.Path(dumps)
        self.checker = checked_runs.Checker(binary, version or self.runner.version(), target)
        self.count = 0

    def of(self, program, times=3):
        """Verdict, kind of the first finding, whether the run is wrong, whether the plans are equal."""
        self.count += 1
        program.name = f"prog_{self.count}_small"
        for path in self.dumps.glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        try:
            call = self.runner.compile(program)
        except Exception:
            return None
        run = "not run"
        if self.runner.can_run and call is not None and program.devices <= len(self.runner.devices):
            run = campaign_worker.run_and_compare(self.runner, program, call, times, self.count)["run"]
        record = {"name": program.name, "run": run}
        checked_runs.look_at(record, self.dumps, self.checker.verdicts(self.dumps), self.checker, None)
        code = record.get("findings", [{}])[0].get("code")
        return record["verdict"], code, run == "wrong", str(record["assign"]).split(":")[0]


def minimise(program, judge, said=print):
    """A smaller program about which the judge says the same."""
    wanted = judge.of(copy.deepcopy(program))
    said(f"wanted: {wanted}")
    if wanted is None or wanted[1:] in ((None, False, "equal"), (None, False, "None")):
        raise SystemExit("nothing is remarkable about this program")
    goes_on = True
    while goes_on:
        goes_on = False
        number = 0
        while True:
            todo = list(changes(program))
            if number >= len(todo):
                break
            smaller = copy.deepcopy(program)
            done = todo[number](smaller)
            if done is not False:
                prune(smaller.block)
            if done is False or not valid(smaller) or weight(smaller) >= weight(program) or judge.of(smaller) != wanted:
                number += 1
                continue
            program, goes_on = smaller, True
            said(f"{weight(program)[:4]} after {judge.count}")
    judge.of(program)  # its dumps stay
    return program, wanted


def main():
    platform, binary, dumps, version, target, job = sys.argv[1:]
    job = json.loads(job)
    program = campaign_generate.generate(job["seed"], job["level"], job["devices"], job["large"])
    judge = Judge(platform, binary, dumps, version, target)
    program, wanted = minimise(program, judge, lambda text: print(text, file=sys.stderr, flush=True))
    print(f"# {job}\n# verdict, finding, wrong result, plan: {wanted}\n# donated: {program.donated}, aliases: {program.aliases}")
    print("# " + ", ".join(f"{v.name}: {campaign_hlo.of(v)}" for v in program.block.params))
    print(campaign_program.python_text(program))
    if program.level == "hlo":
        print(campaign_hlo.hlo_text(program, judge.runner.asynchronous()))


if __name__ == "__main__":
    main()
