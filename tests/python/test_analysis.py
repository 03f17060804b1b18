# SPDX-License-Identifier: Apache-2.0
"""analyze, and what it returns."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import stowplan
from conftest import CORPUS, MODULE, SEEDS, in_python, run_program


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.txt")), ids=lambda path: path.stem)
def test_page_is_that_of_report(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    r = stowplan.analyze(path)
    expected = in_python(run_program("report", path))
    assert r.page() == expected
    print(r)
    out, err = capfd.readouterr()
    assert out == expected
    assert err == ""


def test_all_forms_of_one_input_are_equal(seed: Path) -> None:
    r = stowplan.analyze(str(seed))
    assert stowplan.analyze(seed).page() == r.page()
    assert stowplan.analyze([seed]).page() == r.page()
    assert stowplan.analyze(r) is r
    data = seed.read_bytes()
    for form in (data, bytearray(data), memoryview(data), data.decode()):
        other = stowplan.analyze(form)
        assert other.peak == r.peak
        assert other.total_bytes == r.total_bytes


def test_peak_and_totals(seed: Path) -> None:
    r = stowplan.analyze(seed)
    assert r.total_bytes == 1348651528
    assert (r.peak.bytes, r.peak.time, r.peak.instruction) == (1012613120, 13, "copy.3")
    assert [space.color for space in r.peak.spaces] == [0, 1, 2]
    assert [space.peak for space in r.spaces] == [1012613120, 148480, 8]
    assert r.spaces[0].name == "HBM"
    assert r.backend == "TPU"
    assert r.plan == "XLA's own, from its report"
    assert str(r.peak) == "965.70MiB (1012613120) of HBM at t=13 copy.3"


def test_values_and_allocations(seed: Path) -> None:
    r = stowplan.analyze(seed)
    assert len(r.allocations) == 8
    assert sum(allocation.size for allocation in r.allocations) == r.total_bytes
    value = r.values["copy.3"]
    assert (value.size, value.start, value.end, value.space) == (340787200, 13, 14, 0)
    assert r.values[value.row] == value
    assert r.values[-1].row == len(r.values) - 1
    assert value.row in r.allocations[value.allocation].values
    assert value.source.endswith("linear.py:663")
    with pytest.raises(KeyError):
        r.values["no such value"]
    with pytest.raises(IndexError):
        r.values[len(r.values)]


def test_partitions_add_up(seed: Path) -> None:
    r = stowplan.analyze(seed)
    for by in ("source", "op_name", "parameter", "kind", "value", "stack"):
        table = r.peak_by(by)
        assert sum(row.own for row in table) == table.bytes == r.peak.bytes
    assert r.peak_by("source").page() == run_program("explain", seed, "--by=source")
    assert f"{r.peak_by('source')}\n" == r.peak_by("source").page()
    assert r.peak_by("kind", space=1).bytes == 148480


def test_moments_follow_the_curve(seed: Path) -> None:
    r = stowplan.analyze(seed)
    curve = r.curve()
    assert curve.bytes.max() == r.peak.bytes
    for time, bytes_ in zip(curve.times.tolist(), curve.bytes.tolist(), strict=True):
        if bytes_ == 0:  # behind the end
            continue
        moment = r.at(time)
        assert moment.bytes == bytes_
        assert sum(share.bytes for share in moment.shares) == bytes_
    assert r.at().time == r.peak.time
    assert r.at(8, space=1).bytes == 148480


def test_why_is_the_page_of_explain(seed: Path) -> None:
    r = stowplan.analyze(seed)
    whys = r.why("copy.3")
    assert f"{whys}\n" == run_program("explain", seed, "--value=copy.3")
    assert whys[0].value == "copy.3"
    assert whys[0].held_by == "last-use"
    assert whys[0].uses


def test_explain_page(seed: Path) -> None:
    page = stowplan.analyze(seed).explain()
    expected, commands = run_program("explain", seed).split("\nNext\n")
    assert "--by=" in commands
    assert page.startswith(expected)
    # What to try next is said in Python, and works.
    calls = re.findall(r"^  (r\.[^\n]*?\))  ", page.removeprefix(expected), re.MULTILINE)
    assert len(calls) == 5
    assert "--" not in page.removeprefix(expected)
    for call in calls:
        if "save" not in call and "advice" not in call:  # there is no program
            assert eval(call, {"r": stowplan.analyze(seed), "T": 13})


def test_module_alone_is_planned(capfd: pytest.CaptureFixture[str]) -> None:
    r = stowplan.analyze(MODULE)
    assert r.plan == "Stowplan's own, by XLA's rules"
    assert r.target == "cpu"
    assert any("planned as XLA does: target " in note for note in r.notes)
    assert not any("--" in note for note in r.notes), r.notes
    assert r.to_xla() == run_program("assign", MODULE)
    text = stowplan.analyze(MODULE.read_text(), target="cpu")
    assert text.peak == r.peak
    assert capfd.readouterr() == ("", "")


def test_directory_takes_the_largest() -> None:
    r = stowplan.analyze(SEEDS)
    assert r.name == "seed_004"
    assert any("using the largest of 5 modules" in note for note in r.notes)
    assert stowplan.analyze(SEEDS, module="seed_003").name == "seed_003"


def test_json(seed: Path) -> None:
    document = stowplan.analyze(seed).to_json()
    assert document == json.loads(run_program("report", "--format=json", seed))


def test_view_is_that_of_the_command_line(seed: Path, tmp_path: Path) -> None:
    stowplan.analyze(seed).save(tmp_path / "view.html")
    run_program("view", seed, "-o", tmp_path / "other.html")
    assert (tmp_path / "view.html").read_text() == (tmp_path / "other.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.html", "view.html"]


def test_import_is_light(seed: Path) -> None:
    program = (
        "import sys, stowplan\n"
        f"r = stowplan.analyze({str(seed)!r}); print(r); r.peak; r.peak_by('source'); r.values[0]\n"
        "heavy = {'jax', 'pandas', 'IPython', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "r.arrays\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_parameters_get_names() -> None:
    from stowplan import _core

    text = (
        "HloModule m, is_scheduled=true\n\nENTRY e {\n"
        "  p = f32[400]{0} parameter(0)\n  q = f32[400]{0} parameter(1)\n"
        "  ROOT s = f32[400]{0} add(p, q)\n}\n"
    )
    names = ["params['w']", "batch.x"]
    plan = _core.load_bytes(text.encode(), target="cpu", parameter_names=names)
    r = stowplan.Analysis(plan)
    rows = {row.name: row.bytes for row in r.peak_by("parameter")}
    assert rows["params"] == rows["['w']"] == 1600
    assert [r.values[name].parameter for name in ("p", "q")] == names
    without = stowplan.analyze(text, target="cpu")
    assert [without.values[name].parameter for name in ("p", "q")] == ["parameter 0", "parameter 1"]


def test_reconcile_with_the_figures_of_jax() -> None:
    r = stowplan.analyze(MODULE)
    computed = r.reconcile().memory_analysis
    assert computed["temp_size_in_bytes"] > 0
    assert not r.reconcile()["temp_size_in_bytes"].verdict
    said = computed | {"generated_code_size_in_bytes": 99, "host_temp_size_in_bytes": 0}
    said["alias_size_in_bytes"] += 1
    figures = stowplan.Analysis(r._plan, stats=said).reconcile()
    assert [figure.name for figure in figures.differing] == ["alias_size_in_bytes"]
    assert figures["temp_size_in_bytes"].verdict == "equal"
    assert figures["host_temp_size_in_bytes"].verdict == "equal"
    assert figures["generated_code_size_in_bytes"].computed is None
    assert "alias_size_in_bytes: XLA says" in str(figures)
    equal = len(figures.equal)
    words = f"{len(figures)} figures, {equal} equal, 1 differ"
    assert repr(figures) == f"<stowplan.Reconciliation: {words}>"
    plain = f"{r.reconcile()}\n"
    text = SEEDS / "seed_003.txt"
    assert f"{stowplan.analyze(text).reconcile()}".startswith(
        run_program("report", "--reconcile", text).removesuffix("\n")
    )
    assert "compiled.memory_analysis() of JAX" in plain


def test_sums_of_all_allocations_are_of_main_memory() -> None:
    text = """HloModule m, is_scheduled=true
ENTRY e {
  p = f32[64]{0} parameter(0)
  y = f32[64]{0:S(1)} custom-call(p), custom_call_target="a"
  ROOT r = f32[2]{0} custom-call(y), custom_call_target="b"
}
"""
    r = stowplan.analyze(text, target="gpu")
    said = {"total_allocation_bytes": 256 + 8, "indefinite_allocations": 256 + 8}
    figures = stowplan.Analysis(r._plan, stats=said).reconcile()
    assert figures["total_allocation_bytes"].verdict == "equal"
    assert figures["indefinite_allocations"].verdict == "equal"


def test_reconcile_asks_the_core_once() -> None:
    """A question plans a GPU's or TPU's module anew."""
    plan = stowplan.analyze(MODULE, target="tpu-v5e")._plan
    asked: list[str] = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            if callable(getattr(plan, name)):
                asked.append(name)
            return getattr(plan, name)

    figures = stowplan.Analysis(Watched()).reconcile()  # type: ignore[arg-type]
    assert asked == ["reconcile"]
    assert str(figures) == str(stowplan.Analysis(plan).reconcile())


def test_copies_and_pickles(seed: Path) -> None:
    """A plan never changes: copies are the same one. It does not leave the process."""
    r = stowplan.analyze(seed)
    best = stowplan.assign(MODULE, policy="best", target="cpu")
    for plan in (r, best):
        assert copy.copy(plan) is plan and copy.deepcopy([plan]) == [plan]
        with pytest.raises(TypeError, match="an Analysis cannot be pickled"):
            pickle.dumps(plan)
    assert copy.deepcopy(stowplan.diff(best, best)).a is best


def test_show_in_a_notebook(seed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[Any, Any]] = []
    display = types.SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    shell = types.SimpleNamespace(kernel=True)
    ipython = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    stowplan.analyze(seed).show()
    ((data, raw),) = shown
    assert raw and data["text/html"].startswith("<iframe ")
    assert data["text/plain"] == "<the viewer of seed_004>"


def test_show_opens_a_browser(seed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser
    from urllib.parse import urlparse

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    r = stowplan.analyze(seed)
    r.show(budget="1GiB")
    path = Path(urlparse(opened[0]).path)
    assert path.read_text() == r.html(budget="1GiB")
    assert path.name == "seed_004.html"


def test_pb_page_is_that_of_report() -> None:
    path = next(CORPUS.glob("oracle/cpu-jaxlib-0.11.2/*/cpu_after_optimizations.hlo.pb"))
    r = stowplan.analyze(path)
    assert r.has_peak
    assert r.page() == in_python(run_program("report", path))
    assert r.to_json() == json.loads(run_program("report", "--format=json", path))


@pytest.mark.parametrize(
    "settings", [{"target": "gpu"}, {"module": "other"}, {"xla_version": "jaxlib-0.6.0"}]
)
def test_a_plan_stays_as_it_is(settings: dict[str, str]) -> None:
    r = stowplan.analyze(MODULE, target="cpu")
    assert stowplan.analyze(r, target="cpu", module=r.name, own_plan=True) is r
    with pytest.raises(stowplan.Error, match=f"already a plan: {next(iter(settings))}="):
        stowplan.analyze(r, **settings)
    with pytest.raises(stowplan.Error, match="is already a plan"):
        stowplan.assign(r, policy="best", **settings)


def test_a_directory_of_modules_without_plans(tmp_path: Path) -> None:
    """They are planned as each alone would be; the largest is taken, or the one that is named."""
    small = MODULE.read_text()
    large = small.replace("512", "1024")
    name = "module_{:04}.jit_{}.cpu_after_optimizations.txt"
    (tmp_path / name.format(1, "small")).write_text(small)
    r = stowplan.analyze(tmp_path)
    assert (
        r.page().split("\n", 1)[1] == stowplan.analyze(small, target="cpu").page().split("\n", 1)[1]
    )
    assert r.plan == "Stowplan's own, by XLA's rules"
    (tmp_path / name.format(2, "large")).write_text(large)
    (tmp_path / "module_0002.jit_large.before_optimizations.txt").write_text(large)
    both = stowplan.analyze(tmp_path)
    assert both.total_bytes == stowplan.analyze(large, target="cpu").total_bytes > r.total_bytes
    assert any("using the largest of 2 modules" in note for note in both.notes)
    assert any('module="NAME" chooses another; stowplan.sweep' in note for note in both.notes)
    assert stowplan.analyze(tmp_path, module="small").total_bytes == r.total_bytes
    assert stowplan.check(tmp_path, module="jit_small")
    page = run_program("explain", tmp_path, "--module=small", "--by=kind")
    assert page == stowplan.analyze(tmp_path, module="small").peak_by("kind").page()
    with pytest.raises(stowplan.Error, match="there is no module `smal1`\n  did you mean `small`"):
        stowplan.analyze(tmp_path, module="smal1")


def test_text_goes_by_the_modules_name(tmp_path: Path) -> None:
    for form in (MODULE.read_text(), MODULE.read_bytes()):
        r = stowplan.analyze(form, target="cpu")
        assert r.name == "jit_mlp_train_sgd"
        plan = stowplan.assign(form, target="cpu")
        files = plan.write(tmp_path)
        assert files[0].name == "jit_mlp_train_sgd-buffer-assignment.txt"
        shown = (r.page(), r.explain(), repr(r), str(r.advice(time_limit=0)), r.html()[:20000])
        shown += (str(stowplan.check(r)), str(stowplan.diff(r, plan)), r._repr_html_(), *r.notes)
        assert not any("<text>" in words or "<bytes>" in words for words in shown)
    path = next(CORPUS.glob("oracle/cpu-jaxlib-0.11.2/*/cpu_after_optimizations.hlo.pb"))
    odd = path.read_bytes().replace(b"jit_", b"a/..", 1)
    written = stowplan.assign(odd, target="cpu").write(tmp_path / "odd")
    assert all(path.parent == tmp_path / "odd" for path in written)


def test_own_plan_of_a_file() -> None:
    path = next(CORPUS.glob("oracle/cpu-jaxlib-0.11.2/*/cpu_after_optimizations.hlo.pb"))
    assert stowplan.analyze(path).plan.startswith("XLA's own")
    assert stowplan.analyze(path, own_plan=True).plan == "Stowplan's own, by XLA's rules"
