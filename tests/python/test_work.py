# SPDX-License-Identifier: Apache-2.0
"""Plans that are made, looked at and compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, MODULE, SEEDS, in_python, run_program

LARGE = CORPUS / "scale" / "lm_unrolled_24" / "sm_9.0a_gpu_after_optimizations.hlo.pb"
DONATE = CORPUS / "donate"


def test_advice_is_that_of_explain() -> None:
    advice = stowplan.analyze(MODULE).advice()
    document = json.loads(run_program("explain", MODULE, "--advice", "--format=json"))
    assert [piece.saved for piece in advice] == [row["saved_bytes"] for row in document["advice"]]
    assert [piece.what for piece in advice] == [row["what"] for row in document["advice"]]
    assert advice.tried == document["tried"]
    assert advice.untried == 0
    assert not advice.interrupted
    assert len(advice.to_pandas()) == len(advice) > 0
    page = run_program("explain", MODULE, "--advice", "--refused")
    # A command to run names the file.
    assert str(advice) == in_python(page.removesuffix("\n").replace(str(MODULE), ""))


def test_advice_in_no_time() -> None:
    advice = stowplan.analyze(MODULE).advice(time_limit=0)
    assert advice.untried > 0
    assert not advice.interrupted


def test_advice_needs_a_program(seed: Path) -> None:
    with pytest.raises(stowplan.Error, match="advice needs the program itself"):
        stowplan.analyze(seed).advice()
    with pytest.raises(stowplan.Error, match="time_limit=-1: expected seconds, 0 or more"):
        stowplan.analyze(MODULE).advice(time_limit=-1)


def test_order_is_that_of_the_command_line() -> None:
    module = CORPUS / "cpu11" / "cnn_train" / "cpu_after_optimizations.hlo.pb"
    order = stowplan.analyze(module, target="cpu").order()
    document = json.loads(run_program("order", module, "--target=cpu", "--format=json", code=1))
    assert (order.given_bytes, order.bytes) == (document["given_bytes"], document["bytes"])
    assert (order.given_load, order.load, order.bound) == (
        document["given_load"],
        document["load"],
        document["bound"],
    )
    assert order.saved > 0
    assert order.is_optimal
    assert not order.interrupted
    assert str(order) == run_program("order", module, "--target=cpu", code=1).removesuffix("\n")


def test_order_takes_percent() -> None:
    with pytest.raises(stowplan.ArgumentError, match="overlap_loss=101"):
        stowplan.analyze(MODULE).order(overlap_loss=101)


def test_assign_as_xla(tmp_path: Path) -> None:
    plan = stowplan.assign(MODULE)
    assert plan.to_xla() == run_program("assign", MODULE)
    assert plan.is_sound
    assert plan.heaps == ()
    assert plan.saved == 0
    written = plan.write(tmp_path / "mine")
    run_program("assign", MODULE, "-o", tmp_path / "theirs")
    theirs = sorted((tmp_path / "theirs").iterdir())
    assert sorted(path.name for path in written) == [path.name for path in theirs]
    for path in theirs:
        assert (tmp_path / "mine" / path.name).read_text() == path.read_text()


def test_assign_best() -> None:
    xla = stowplan.assign(MODULE)
    best = stowplan.assign(MODULE, policy="best")
    assert best.to_xla() == run_program("assign", MODULE, "--policy=best")
    assert best.xla_bytes == xla.bytes
    assert best.saved == xla.bytes - best.bytes > 0
    assert best.bound <= best.bytes
    assert best.is_optimal == (best.bound == best.bytes)
    assert "XLA" in best.table
    assert stowplan.check(best)
    assert "Stowplan" in best.plan
    # It is an Analysis too.
    assert best.peak.bytes <= best.bytes
    assert stowplan.assign(xla, policy="best").bytes == best.bytes


def test_assign_of_a_large_module_with_limits() -> None:
    r = stowplan.analyze(LARGE)
    best = stowplan.assign(r, policy="best", time_limit=0.5)
    assert best.bytes <= best.xla_bytes == r.total_bytes
    assert not best.interrupted
    fits = stowplan.assign(r, policy="best", memory_limit="100GiB", time_limit=0)
    assert fits.bytes <= r.total_bytes


def test_assign_refuses() -> None:
    with pytest.raises(stowplan.Error, match="there is no policy 'worst'"):
        stowplan.assign(MODULE, policy="worst")
    with pytest.raises(stowplan.Error, match="require policy='best'"):
        stowplan.assign(MODULE, time_limit=1)
    with pytest.raises(stowplan.Error, match="there is only its plan"):
        stowplan.assign(SEEDS / "seed_004.txt")


def test_analyze_with_policy_best() -> None:
    r = stowplan.analyze(MODULE, policy="best")
    assert r.total_bytes == stowplan.assign(MODULE, policy="best").bytes


def test_check_is_that_of_the_command_line() -> None:
    for path in (LARGE, SEEDS / "seed_003.txt"):
        result = stowplan.check(path)
        assert f"{result}\n" == run_program("check", path)
        assert result
        assert result.verdict == "sound"
    executed = stowplan.check(LARGE)
    assert not executed.by_report
    assert stowplan.check(SEEDS / "seed_003.txt").by_report
    assert executed.reads > 1000


def test_check_finds_what_is_wrong(tmp_path: Path) -> None:
    text = (SEEDS / "seed_004.txt").read_text()
    # Two values that are alive at once, on each other.
    broken = text.replace("(size=340787200,offset=32768)", "(size=340787200,offset=65536)")
    assert broken != text
    path = tmp_path / "broken.txt"
    path.write_text(broken)
    result = stowplan.check(path)
    assert not result
    assert not result.is_sound
    assert result.findings[0].is_unsound
    assert result.findings[0].message
    assert f"{result}\n" == run_program("check", path, code=1)


def test_diff_is_that_of_the_command_line() -> None:
    a, b = SEEDS / "seed_003.txt", SEEDS / "seed_004.txt"
    difference = stowplan.diff(a, b)
    assert f"{difference}\n" == in_python(run_program("diff", a, b, code=1))
    assert difference
    assert difference.change == 1048707520
    assert difference.peak_change == 714816988
    all_causes = stowplan.diff(a, b, limit=0)
    assert sum(cause.bytes for cause in all_causes.causes) == difference.peak_change
    assert difference.markdown == run_program("diff", a, b, "--format=markdown", code=1)
    assert len(difference.to_pandas()) == len(difference.causes)
    assert "<html" in difference.html()
    back = stowplan.diff(difference.b, difference.a)
    assert back.change == -difference.change


def test_diff_of_modules_by_the_rules_of_a_release() -> None:
    difference = stowplan.diff(MODULE, MODULE, target="cpu", xla_version="jaxlib-0.10.2")
    assert not difference
    for plan in (difference.a, difference.b):
        assert plan.notes[0].endswith("target cpu by the call, rules of jaxlib-0.10.2")


def test_no_difference(seed: Path) -> None:
    same = stowplan.diff(seed, seed)
    assert not same
    assert same.change == 0
    with pytest.raises(stowplan.Error, match="grouped by `coz`"):
        stowplan.diff(seed, seed, by="coz")


def test_a_budget_explains_the_memory_it_is_for() -> None:
    """The figure is that of the main memory; what fills another is no cause."""
    path = SEEDS / "seed_003.txt"
    r = stowplan.analyze(path)
    main = next(space.peak for space in r.spaces if space.color == 0)
    assert main is not None and main == r.peak.bytes < r.peak.together
    with pytest.raises(stowplan.BudgetExceeded) as caught:
        stowplan.budget("1MiB", of="peak").check(path)
    error = caught.value
    assert error.bytes == main
    assert f"what fills the peak of {stowplan.format_size(main)}, by source line:" in str(error)
    assert error.causes[0] in r.peak_by("source", space=0).rows
    assert sum(row.own for row in error.causes) <= main


def test_whether_it_fits() -> None:
    r = stowplan.analyze(MODULE)
    best = stowplan.assign(r, policy="best")
    assert (best.fits, best.can_fit, best.fit_note) == (None, None, "")
    large = stowplan.assign(r, policy="best", memory_limit=best.bytes)
    assert (large.fits, large.can_fit) == (True, True)
    assert large.fit_note.startswith(f"memory space 0 fits {stowplan.format_size(best.bytes)}")
    small = stowplan.assign(r, policy="best", memory_limit="4MiB")
    assert (small.fits, small.can_fit) == (False, False)
    assert str(small).endswith(small.fit_note)
    assert small.fit_note in small.notes and "does not fit" in small._repr_html_()
    assert small.table.rstrip() in str(small)
    assert "does not fit 4.00MiB (4194304)" in repr(small) and "PlanResult" in repr(small)
    assert small.page() == stowplan.assign(r, policy="best", memory_limit="5MiB").page()


def test_messages_speak_python() -> None:
    """Of a program that lacks a copy, and of a TPU whose places nobody tells."""
    text = MODULE.read_text()
    r = stowplan.analyze(text, target="tpu-v5e")
    words = [*r.notes, *stowplan.assign(text, target="tpu-v5e").notes]
    for piece in r.advice(time_limit=1):
        words += [piece.what, piece.how, *piece.notes]
    words += [str(r.advice(time_limit=0)), str(r.advice(limit=1)), r.explain(), r.page()]
    words += [str(stowplan.assign(r, policy="best", memory_limit=1))]
    for word in words:
        assert not re.search(r"--[a-z]|`?stowplan [a-z]+ ", word), word


def test_parameter_names_reach_the_advice() -> None:
    """JAX tells them where the module does not."""
    text = (
        "HloModule m, is_scheduled=true\n\nENTRY e {\n"
        "  p0 = f32[1000]{0} parameter(0)\n  p1 = f32[1000]{0} parameter(1)\n"
        "  ROOT a = f32[1000]{0} add(p0, p1)\n}\n"
    )
    names = ["args[1]['w']", "kwargs['x']"]
    plan = stowplan._core.load_bytes(text.encode(), "m", target="cpu", parameter_names=names)
    advice = stowplan.Analysis(plan).advice()
    assert [donation.argument for donation in advice.donations] == ["args[1]", "x"]
    assert "donate_argnums=(1,)" in advice[0].how or "donate_argnames=('x',)" in advice[0].how
    plain = stowplan.analyze(text, target="cpu").advice()
    assert [donation.argument for donation in plain.donations] == ["", ""]
