# SPDX-License-Identifier: Apache-2.0
"""Bad inputs: errors with a place, and never a crash."""

from __future__ import annotations

import gzip
import pickle
import random
from pathlib import Path

import pytest
import stowplan
from conftest import CORPUS, MODULE, PROGRAM, ROOT, SEEDS

BAD = "HloModule m\n\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT s = f32[4] add(p, q)\n}\n"


def test_place_of_a_mistake() -> None:
    with pytest.raises(stowplan.ParseError) as caught:
        stowplan.analyze(BAD, target="cpu")
    error = caught.value
    assert (error.file, error.line, error.column) == ("<text>", 5, 26)
    assert error.offset == BAD.index("q)")
    assert str(error) == (
        "<text>:5:26: error: there is no instruction 'q' above this one\n"
        "    ROOT s = f32[4] add(p, q)\n"
        "                           ^"
    )
    assert [diagnostic.message for diagnostic in error.diagnostics] == [
        "there is no instruction 'q' above this one"
    ]
    assert isinstance(error, stowplan.Error | ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.diagnostics) == (str(error), 5, error.diagnostics)


def test_same_words_as_the_command_line(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "bad.txt"
    path.write_text(BAD)
    with pytest.raises(stowplan.ParseError) as caught:
        stowplan.analyze(path)
    done = subprocess.run(
        [PROGRAM, "explain", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"{caught.value}\n" == done.stderr


def test_what_is_no_input() -> None:
    with pytest.raises(stowplan.MissingFileError, match="no such file"):
        stowplan.analyze("no/such/file")
    with pytest.raises(FileNotFoundError):
        stowplan.analyze(Path("no/such/file"))
    with pytest.raises(stowplan.Error):
        stowplan.analyze([])
    with pytest.raises(stowplan.ParseError):
        stowplan.analyze(b"")
    with pytest.raises(stowplan.Error, match="there is no target `cpuu`\n  did you mean `cpu`"):
        stowplan.analyze(MODULE, target="cpuu")
    with pytest.raises(stowplan.Error, match="there is no XLA"):
        stowplan.analyze(MODULE, xla_version="jaxlib-77")
    with pytest.raises(stowplan.Error, match="there is no module `nobody`"):
        stowplan.analyze(SEEDS, module="nobody")


def test_questions_without_an_answer(seed: Path) -> None:
    r = stowplan.analyze(seed)
    with pytest.raises(stowplan.Error, match="split by `sourse`\n  did you mean `source`"):
        r.peak_by("sourse")
    with pytest.raises(stowplan.Error, match="there is no memory space 77"):
        r.peak_by("source", space=77)
    with pytest.raises(stowplan.Error, match="the program runs from 0 to 17"):
        r.at(18)
    with pytest.raises(stowplan.Error, match="there is no value `copy.33`"):
        r.why("copy.33")


def test_no_live_ranges() -> None:
    folder = CORPUS / "scale" / "lm_unrolled_24"
    path = folder / "sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
    r = stowplan.analyze(path.read_bytes())
    assert not r.has_peak
    assert r.total_bytes > 0
    assert r.spaces[0].peak is None
    with pytest.raises(stowplan.Error, match="the peak is not known"):
        _ = r.peak
    with pytest.raises(stowplan.Error, match="not known"):
        r.peak_by("source")


def test_names_that_are_no_utf8() -> None:
    data = MODULE.read_bytes().replace(b"transpose(jvp())", b"transpose\xff\xfe(jvp())")
    r = stowplan.analyze(data, target="cpu")
    assert any("�" in value.op_name for value in r.values)
    assert "�" in r.peak_by("op_name").page()


def mutants(data: bytes, count: int, chance: random.Random) -> list[bytes]:
    """Copies with bytes changed, pieces cut, doubled or moved."""
    spoiled = []
    for _ in range(count):
        copy = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(copy))
            length = min(chance.choice((1, 1, 4, 30, 400)), len(copy) - at)
            match chance.randrange(4):
                case 0:
                    copy[at] = chance.randrange(256)
                case 1:
                    del copy[at : at + length]
                case 2:
                    copy[at:at] = copy[at : at + length]
                case _:
                    copy[at : at + 1] = str(chance.choice((0, -1, 2**31, 2**63))).encode()
            if not copy:
                copy = bytearray(b"x")
        spoiled.append(bytes(copy))
    return spoiled


@pytest.mark.parametrize("path", [SEEDS / "seed_002.txt", SEEDS / "seed_004.txt", MODULE])
def test_no_bytes_crash(path: Path) -> None:
    chance = random.Random(7)
    data = path.read_bytes()
    read = 0
    for spoiled in mutants(data, 150, chance):
        try:
            r = stowplan.analyze(spoiled, target="cpu")
            read += 1
            assert r.page() and r.notes is not None
            if r.has_peak:
                r.peak_by("value")
                r.at()
            for value in r.values:
                assert value.name
        except stowplan.Error as error:
            assert str(error)
    assert read > 0


def test_bombs_and_rubbish() -> None:
    for data in (b"\0" * 1000, b"\xff" * 1000, gzip.compress(b"x" * 1000), b"\x1f\x8b\x08", b"{}"):
        with pytest.raises(stowplan.Error):
            stowplan.analyze(data)


FUZZ = ROOT / "tests" / "fuzz"


@pytest.mark.parametrize("folder", ["seeds", "regressions"])
def test_inputs_that_fuzzing_found(folder: str) -> None:
    paths = sorted(path for path in (FUZZ / folder).rglob("*") if path.is_file())
    assert paths
    for path in paths:
        data = path.read_bytes()
        for target in (None, "tpu-v5e"):
            try:
                r = stowplan.analyze(data, target=target)
                assert r.page()
                if r.has_peak:
                    r.peak_by("source")
            except stowplan.Error as error:
                assert str(error)


def test_nothing_is_printed_at_the_end(seed: Path) -> None:
    """A plan that is alive when Python ends is nothing to talk about."""
    import subprocess
    import sys

    program = f"import stowplan; r = stowplan.analyze({str(seed)!r}); kept = [r, r.values[0]]"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_value_outside_of_its_allocation() -> None:
    text = (SEEDS / "seed_004.txt").read_text()
    broken = text.replace("(size=340787200,offset=32768)", "(size=340787200,offset=677019648)")
    r = stowplan.analyze(broken)
    assert any("lies outside allocation 6" in note for note in r.notes)
    assert r.page()
    with pytest.raises(stowplan.ParseError, match="lies outside allocation 6"):
        r.peak_by("source")
    assert not stowplan.check(r)
