# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments: errors in plain words that say what is expected."""

from __future__ import annotations

import fractions
import io
import os
import pathlib
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import stowplan
from conftest import MODULE, ROOT, SEEDS
from stowplan import _core

LOG = ROOT / "examples" / "oom" / "gpu_training.log"
PLANNED = stowplan.analyze(MODULE, target="cpu")
SEED = stowplan.analyze(SEEDS / "seed_004.txt")
PLAN = stowplan.assign(PLANNED)
FILES = [SEEDS / "seed_004.txt"]

BAD: list[Any] = [
    None,
    "",
    "no such",
    -1,
    2**70,
    10**5000,
    [-(10**5000)],
    1.5,
    float("nan"),
    True,
    b"bytes",
    [],
    ["x"],
    {"a": 1},
    object(),
    numpy.float32(2.5),
    numpy.array([1, 2]),
    pathlib.Path("no/where"),
    "\ud800",
    "a\0b",
    pathlib.Path("a\0b"),
]
CALLS: dict[str, Callable[[Any], Any]] = {
    "analyze": lambda v: stowplan.analyze(v),
    "target": lambda v: stowplan.analyze(MODULE, target=v),
    "xla_version": lambda v: stowplan.analyze(MODULE, xla_version=v),
    "module": lambda v: stowplan.analyze(SEEDS, module=v),
    "policy": lambda v: stowplan.analyze(MODULE, policy=v),
    "by": lambda v: SEED.peak_by(v),
    "space": lambda v: SEED.peak_by("kind", space=v),
    "at": lambda v: SEED.at(v),
    "at space": lambda v: SEED.at(3, v),
    "curve": lambda v: SEED.curve(v),
    "why": lambda v: SEED.why(v),
    "advice space": lambda v: PLANNED.advice(time_limit=0, space=v),
    "advice limit": lambda v: PLANNED.advice(time_limit=0, limit=v),
    "page": lambda v: SEED.page(v),
    "explain": lambda v: SEED.explain(v),
    "explain space": lambda v: SEED.explain(space=v),
    "html": lambda v: SEED.html(budget=v),
    "table page": lambda v: SEED.peak_by().page(v),
    "assign policy": lambda v: stowplan.assign(PLANNED, policy=v),
    "assign time_limit": lambda v: stowplan.assign(PLANNED, policy="best", time_limit=v),
    "memory_limit": lambda v: stowplan.assign(PLANNED, policy="best", memory_limit=v),
    "check": lambda v: stowplan.check(v),
    "check limit": lambda v: stowplan.check(PLANNED, limit=v),
    "diff": lambda v: stowplan.diff(PLANNED, v),
    "diff by": lambda v: stowplan.diff(PLANNED, SEED, by=v),
    "diff limit": lambda v: stowplan.diff(PLANNED, SEED, limit=v),
    "sizes": lambda v: stowplan.pack(v, [1], [2]),
    "size": lambda v: stowplan.pack([v], [1], [2]),
    "alignment": lambda v: stowplan.pack([1], [1], [2], alignment=v),
    "capacity": lambda v: stowplan.pack([1], [1], [2], capacity=v),
    "pack time_limit": lambda v: stowplan.pack([1], [1], [2], time_limit=v),
    "seed": lambda v: stowplan.pack([1], [1], [2], seed=v),
    "threads": lambda v: stowplan.pack([1], [1], [2], threads=v),
    "explain_oom": lambda v: stowplan.explain_oom(v),
    "incident": lambda v: stowplan.explain_oom(LOG, incident=v),
    "dump": lambda v: stowplan.explain_oom(LOG, dump=v),
    "oom target": lambda v: stowplan.explain_oom(LOG, target=v),
    "oom xla_version": lambda v: stowplan.explain_oom(LOG, xla_version=v),
    "oom limit": lambda v: stowplan.explain_oom(LOG, limit=v),
    "budget": lambda v: stowplan.budget(v),
    "budget of": lambda v: stowplan.budget(1, of=v),
    "lower": lambda v: stowplan.max_batch(v, "1GiB", most=2),
    "step": lambda v: stowplan.max_batch(lambda _: PLANNED, "1GiB", step=v, most=2),
    "first": lambda v: stowplan.max_batch(lambda _: PLANNED, "1GiB", first=v, most=2),
    "sweep fn": lambda v: stowplan.sweep(FILES, v, workers=0),
    "on_error": lambda v: stowplan.sweep(FILES, workers=0, on_error=v),
    "backend": lambda v: stowplan.sweep(FILES, workers=0, backend=v),
    "parse_size": lambda v: stowplan.parse_size(v),
    "format_size": lambda v: stowplan.format_size(v),
    "summary": lambda v: stowplan.summary(v),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name: str) -> None:
    refused = 0
    for value in BAD:
        try:
            CALLS[name](value)
        except stowplan.Error as error:
            refused += 1
            words = str(error)
            assert words
            assert "incompatible function arguments" not in words
            assert "nanobind" not in words and "__" not in words
    assert refused >= 8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: SEED.page("x"), "limit='x': expected a number of rows, 0: all"),
        (lambda: SEED.page(-1), "limit=-1: expected a number of rows"),
        (lambda: SEED.at("x"), "time='x': expected a moment of the program, such as 13"),
        (lambda: SEED.peak_by(3), 'by=3: expected a word such as "source" or "kind", as a str'),
        (lambda: SEED.curve("HBN"), "there is no memory space 'HBN'\n  there are 0 ('HBM'), 1 ("),
        (lambda: stowplan.analyze(""), "the str is empty"),
        (lambda: stowplan.analyze([]), "no file is named"),
        (lambda: stowplan.analyze(None), "None is not a program\n  give a Compiled or Lowered"),
        (
            lambda: stowplan.analyze(lambda x: x),
            "a function becomes a program only when it is compiled",
        ),
        (lambda: stowplan.sweep([3]), "3 is not a program"),
        (lambda: stowplan.analyze([1]), "must be given as paths, not as 1"),
        (lambda: stowplan.analyze(MODULE, target=5), "target=5: expected the name of a machine"),
        (
            lambda: stowplan.analyze(MODULE, target="TPU-v5"),
            "there is no target `TPU-v5`\n  did you mean `tpu-v5e`? the choices are cpu, ",
        ),
        (
            lambda: stowplan.analyze(MODULE, xla_version="9"),
            "there is no XLA `9`\n  the choices are ",
        ),
        (
            lambda: stowplan.analyze(MODULE.read_text(), module="m"),
            "chooses a module of a directory",
        ),
        (lambda: stowplan.assign(PLANNED, policy="bets"), "there is no policy 'bets'\n  'xla' "),
        (lambda: stowplan.pack("abc", [1], [2]), "sizes is a row of whole numbers"),
        (lambda: stowplan.pack(b"12345678", [1], [2]), "sizes is a row of whole numbers"),
        (
            lambda: stowplan.pack([1], [1], [2], time_limit="5"),
            "time_limit='5': expected seconds, 0 or more, such as 0.5 or 60",
        ),
        (lambda: stowplan.explain_oom(LOG, dump="-"), "dump='-': standard input is not read here"),
        (lambda: stowplan.explain_oom(LOG, dump="no/where"), "there is no such file or directory"),
        (
            lambda: stowplan.explain_oom(LOG, target="cpuu"),
            "did you mean `cpu`? the choices are cpu",
        ),
        (lambda: stowplan.explain_oom(LOG, xla_version="9"), "there is no XLA `9`"),
        (lambda: stowplan.explain_oom(ROOT), "this is a directory, not a log"),
        (lambda: stowplan.explain_oom(LOG, incident="1"), "incident='1': expected a number"),
        (lambda: stowplan.max_batch(3, "1GiB"), "lower=3: expected a function"),
        (lambda: stowplan.sweep(FILES, 3), "fn=3: expected a function of an Analysis"),
        (lambda: stowplan.sweep(FILES, checkpoint=ROOT), "this is a directory; name a file in it"),
        (lambda: SEED.save("no/where/view.html"), "no/where: there is no such directory"),
        (lambda: SEED.save("a\0b"), r"path='a\x00b': a path has no NUL in it"),
        (lambda: PLAN.write(MODULE), f"{MODULE}: this is a file; name a directory"),
        (lambda: PLAN.write(MODULE / "x" / "y"), f"{MODULE}: this is a file; name a directory"),
        (lambda: SEED.why(None), "name=None: expected the name of a value, as a str"),
        (
            lambda: stowplan.format_size(10**5000),
            "size=<int of 16610 bits>: expected a number of bytes",
        ),
        (lambda: stowplan.pack([1], [3], [3]), "buffer 0: its life [3, 3) is empty"),
        (lambda: stowplan.analyze(io.BytesIO(b"HloModule m")), "or use analyze(x.read())"),
        (lambda: stowplan.analyze("a" * 100_000), "aaa... (str): there is no such file"),
        (lambda: stowplan.analyze(b"\x80\4\x95pickle"), "<bytes>: error: this is neither text nor"),
        (lambda: SEED.values[1.5], "rows are found by number, by name or as a slice, not by 1.5"),
    ],
)
def test_what_is_said(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(stowplan.Error) as caught:
        call()
    assert words in str(caught.value)


def test_a_pipe_is_read_by_the_core_alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    opened: list[list[str]] = []
    monkeypatch.setattr(_core, "load", lambda paths, **_: opened.append(paths) or PLANNED._plan)
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("it would wait for a writer"))
    assert stowplan.analyze(pipe).name == PLANNED.name
    assert opened == [[str(pipe)]]


def test_kinds_of_errors() -> None:
    with pytest.raises(TypeError):
        SEED.page("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        stowplan.analyze(fractions.Fraction(1, 2))
    with pytest.raises(KeyError, match="did you mean `temp_size_in_bytes`"):
        SEED.reconcile()["temp_size_bytes"]
    with pytest.raises(FileNotFoundError):
        SEED.save("no/where/view.html")
    with pytest.raises(KeyError, match=r"did you mean `copy\.3`"):
        SEED.values["copy.33"]
    with pytest.raises(KeyError, match="did you mean `temporary`"):
        SEED.peak_by("kind")["temporery"]
    assert SEED.peak_by("kind")["temporary"].bytes > 0


def test_what_is_near_enough() -> None:
    """NumPy's numbers, names in other case, paths of all kinds."""
    assert SEED.at(numpy.int64(13)).bytes == SEED.at(13.0).bytes  # type: ignore[arg-type]
    assert SEED.values[numpy.int32(2)] == SEED.values[2]
    assert stowplan.parse_size(numpy.int64(4096)) == 4096
    assert stowplan.format_size(numpy.int64(4096)) == stowplan.format_size(4096)
    assert stowplan.pack([1, 2], [0, 0], [1, 1], alignment=numpy.int64(4)).bytes == 5
    assert stowplan.assign(PLANNED, policy="BEST").saved > 0
    assert stowplan.analyze(bytes(MODULE), target="cpu").name == PLANNED.name
    assert str(SEED.why(SEED.values["copy.3"])) == str(SEED.why("copy.3"))
    infinite = stowplan.pack([1], [0], [1], time_limit=float("inf"))
    assert infinite.is_optimal


@pytest.mark.parametrize("name", ["HBM", "hbm", " Hbm ", "S(0)", "0", 0, numpy.int64(0), None])
def test_spaces_by_name(name: Any) -> None:
    assert SEED.peak_by("source", space=name).page() == SEED.peak_by("source", space=0).page()
    assert SEED.explain(space=name) == SEED.explain(space=0)
    assert SEED.at(8, space=name).bytes == SEED.at(8, space=0).bytes
    assert SEED.curve(name).space == 0
    assert PLANNED.advice(time_limit=0, space="default").space == 0


def test_the_largest_space_is_meant() -> None:
    """The page, the peak and its owners are about one memory space; "all" is another question."""
    r = stowplan.analyze(SEEDS / "seed_003.txt")
    assert r.main_space is not None and r.main_space.name == "HBM"
    assert r.peak.bytes == r.main_space.peak == r.peak_by("source").bytes == r.at().bytes
    assert str(r.peak).startswith(f"{stowplan.format_size(r.peak.bytes)} of HBM at t=")
    headline, page = r.explain().split("\n\n", 1)
    assert stowplan.format_size(r.main_space.bytes) in headline
    head = "".join(page.splitlines()[:2])
    assert stowplan.format_size(r.peak.bytes) in head and "HBM" in head
    assert r.peak_by("source", space="all").bytes == r.peak.together > r.peak.bytes
    assert r.curve("all").bytes.max() == r.peak.together
    assert r.peak_by("source", space="all").space is None
    with pytest.raises(stowplan.Error, match="advice is about one memory space"):
        PLANNED.advice(space="all")


STABLEHLO = """module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.mark.parametrize(
    "text",
    [
        STABLEHLO,
        "#loc = loc(unknown)\n" + STABLEHLO,
        "module @jit_f attributes {a} {",
        '%0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>) -> tensor<4xf32>\n',
        "{ lambda ; a:f32[4]. let b:f32[4] = mul a a in (b,) }",
        b"ML\xefR\x03StableHLO_v1.0.0\x00",
    ],
)
def test_programs_that_were_not_compiled(text: str | bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.mlir"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for form in (text, path):
        with pytest.raises(stowplan.ParseError) as caught:
            stowplan.analyze(form)
        words = str(caught.value)
        assert "a program that is not compiled yet" in words
        assert ".compile()" in words and "xla_dump_to" in words


def test_a_module_may_speak_of_mlir() -> None:
    """JAX names attributes after its dialects; that is HLO all the same."""
    text = MODULE.read_text()
    name = 'frontend_attributes={mhlo.layout_mode="= stablehlo.add"}'
    changed = text.replace("is_scheduled=true,", f"is_scheduled=true, {name},", 1)
    assert changed != text
    assert stowplan.analyze(changed, target="cpu").total_bytes == PLANNED.total_bytes
