# SPDX-License-Identifier: Apache-2.0
"""Programs that need less memory, for a little more work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import stowplan
from conftest import CORPUS, MODULE, run_program

STEP = CORPUS / "cpu11" / "lm_train_unrolled_small" / "cpu_after_optimizations.hlo.pb"


@pytest.fixture(scope="module")
def step() -> stowplan.Analysis:
    return stowplan.analyze(STEP, target="cpu")


@pytest.fixture(scope="module")
def fit(step: stowplan.Analysis) -> stowplan.Fit:
    return step.fit(max_cost="10%")


def test_it_is_that_of_the_command_line(fit: stowplan.Fit) -> None:
    words = ("fit", STEP, "--target=cpu", "--max-cost=10%")
    assert fit.to_json() == json.loads(run_program(*words, "--format=json"))
    assert str(fit) == run_program(*words).removesuffix("\n")


def test_what_it_says(fit: stowplan.Fit) -> None:
    assert fit.bytes < fit.ordered_bytes <= fit.given_bytes
    assert fit.saved == fit.given_bytes - fit.bytes
    assert 0 < fit.cost <= 0.1
    assert fit.fits
    assert fit.budget is None
    assert not fit.interrupted
    assert 0 < fit.bound <= fit.bytes
    assert fit.witness
    assert fit.machine == "cpu"
    costs = [point.cost for point in fit.curve]
    assert costs == sorted(costs)
    assert costs[0] == 0
    assert fit.curve[0].lines == ()
    assert fit.curve[-1].lines
    assert sum(line.instructions for line in fit.lines) == len(fit.repeats)
    assert sum(line.cost for line in fit.lines) == pytest.approx(fit.cost)
    assert any(line.freed > 0 and line.source for line in fit.lines)
    assert fit.fullest
    assert sum(row.bytes for row in fit.obstacles) == fit.bytes
    assert len(fit.to_pandas()) == len(fit.lines)
    assert "instead of" in repr(fit)
    assert "<table" in fit._repr_html_()


def test_budgets(step: stowplan.Analysis, fit: stowplan.Fit) -> None:
    enough = step.fit("1TiB")
    assert enough.fits
    assert enough.cost == 0
    middle = (fit.ordered_bytes + fit.bytes) // 2
    some = step.fit(middle, max_cost=0.1)
    assert some.fits
    assert some.bytes <= middle
    assert 0 < some.cost <= fit.cost
    none = step.fit(fit.bound - 1)
    assert not none.fits
    assert "cannot fit into" in str(none)
    assert "cannot fit into" in str(step.fit(0))


def test_the_changed_program_is_saved(fit: stowplan.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "new.hlo.pb")
    again = stowplan.analyze(tmp_path / "new.hlo.pb", target="cpu")
    plan = stowplan.assign(again, policy="best")
    assert plan.bytes == fit.bytes
    assert plan.is_sound
    assert fit.analysis.total_bytes == fit.analysis.peak.space.bytes == fit.bytes
    assert fit.analysis.verdict == "sound"


def test_the_chart(fit: stowplan.Fit, tmp_path: Path) -> None:
    fit.save(tmp_path / "fit.html")
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "http://" not in page.replace("http://www.w3.org", "")
    data = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(data) == fit.to_json()


def test_uses(step: stowplan.Analysis) -> None:
    packed = step.fit(use="pack")
    assert packed.cost == 0
    assert packed.bytes == packed.given_bytes
    ordered = step.fit(use=["pack", "order"])
    assert ordered.cost == 0
    assert ordered.bytes == ordered.ordered_bytes


def test_donation() -> None:
    before = CORPUS / "explain" / "donate" / "adam" / "before"
    r = stowplan.analyze(before)
    plain = r.fit(use="pack")
    donated = r.fit(use="pack,donate")
    assert plain.donated == ()
    assert donated.donated == ("params", "state")
    assert donated.bytes < plain.bytes == donated.given_bytes
    assert donated.donation is not None
    assert "donate_argnames=('params', 'state')" in donated.donation
    assert "Donated: params, state." in str(donated)
    # It is not needed for a budget that the program meets anyway.
    assert r.fit(plain.bytes, use="pack,donate").donated == ()


def test_donated_programs_are_texts(tmp_path: Path) -> None:
    donated = stowplan.analyze(CORPUS / "explain" / "donate" / "adam" / "before").fit(use="donate")
    with pytest.raises(stowplan.Error, match=r"HLO text"):
        donated.save(tmp_path / "new.hlo.pb")
    donated.save(tmp_path / "new.txt")
    text = (tmp_path / "new.txt").read_text(encoding="utf-8")
    assert "input_output_alias" in text.splitlines()[0]
    run_program("verify", tmp_path / "new.txt")


def test_machines(step: stowplan.Analysis) -> None:
    assert step.fit("1TiB", machine="a100").machine == "a100"
    assert step.fit("1TiB", cost_model="plain").machine is None
    # Where arithmetic is free, less memory costs less.
    slow = step.fit(max_cost=0.05, flops=1e9)
    fast = step.fit(max_cost=0.05, flops=1e18)
    assert fast.bytes != slow.bytes


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"budget": -1}, stowplan.Error, "-1 is not a number of bytes"),
        ({"budget": 1 << 80}, stowplan.Error, "is not a number of bytes"),
        ({"budget": float("nan")}, stowplan.Error, "is not a number of bytes"),
        ({"budget": float("inf")}, stowplan.Error, "is not a number of bytes"),
        ({"budget": "much"}, stowplan.Error, "'much' is not a size"),
        ({"budget": "-1GiB"}, stowplan.Error, "is not a size"),
        ({"budget": ""}, stowplan.Error, "is not a size"),
        ({"budget": [1]}, stowplan.ArgumentError, "a size is a number or a text"),
        ({"budget": True}, stowplan.ArgumentError, "a size is a number or a text"),
        ({"max_cost": -0.1}, stowplan.Error, "max_cost=-0.1"),
        ({"max_cost": 11}, stowplan.Error, "max_cost=11"),
        ({"max_cost": float("nan")}, stowplan.Error, "max_cost=nan"),
        ({"max_cost": "10"}, stowplan.ArgumentError, "max_cost='10'"),
        ({"max_cost": "x%"}, stowplan.ArgumentError, "max_cost='x%'"),
        ({"max_cost": "-5%"}, stowplan.Error, "max_cost='-5%'"),
        ({"max_cost": None}, stowplan.ArgumentError, "max_cost=None"),
        ({"use": "magic"}, stowplan.Error, "use has `magic`"),
        ({"use": ()}, stowplan.Error, "use has ``"),
        ({"use": 3}, stowplan.ArgumentError, "use=3"),
        ({"use": [3]}, stowplan.ArgumentError, "use="),
        ({"machine": "abacus"}, stowplan.Error, "there is no machine `abacus`"),
        ({"bandwidth": 0}, stowplan.Error, "bandwidth=0"),
        ({"flops": "1T"}, stowplan.ArgumentError, "flops='1T'"),
        ({"cost_model": "exact"}, stowplan.Error, "there is no cost_model 'exact'"),
        ({"cost_model": "plain", "machine": "h100"}, stowplan.ArgumentError, "have no use"),
        ({"time_limit": -1}, stowplan.Error, "time_limit=-1"),
    ],
)
def test_wrong_arguments(words: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        stowplan.analyze(MODULE).fit(**words)
    assert message in str(caught.value)


def test_it_needs_a_program(seed: Path) -> None:
    with pytest.raises(stowplan.Error):
        stowplan.analyze(seed).fit("1GiB")
