# SPDX-License-Identifier: Apache-2.0
"""What JAX compiled, as Stowplan sees it."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import pytest
import stowplan
from conftest import MODULE, run_program
from stowplan import jax_inputs, jax_targets

jax = pytest.importorskip("jax")
jnp = jax.numpy


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def update(state: Any, x: Any, unused: Any) -> Any:
    return {"w": state["w"] - 0.1 * jnp.sin(state["w"] @ x), "b": state["b"] + 1}


STATE = {"w": f32(64, 64), "b": f32(64)}
ARGUMENTS = (STATE, f32(64, 64), f32(3))


@pytest.fixture(scope="module")
def step() -> Any:
    return jax.jit(update, donate_argnums=0)


@pytest.fixture(scope="module")
def compiled(step: Any) -> Any:
    return step.lower(*ARGUMENTS).compile()


def test_all_forms_of_a_program_are_equal(step: Any, compiled: Any) -> None:
    expected = stowplan.analyze(compiled)
    forms = [step.lower(*ARGUMENTS), compiled.runtime_executable()]
    if hasattr(step, "trace"):
        forms.append(step.trace(*ARGUMENTS))
    for form in forms:
        assert stowplan.analyze(form).to_json() == expected.to_json()
    assert jax_inputs.extract(step, *ARGUMENTS).name == expected.name


def test_plan_is_that_of_xla(compiled: Any) -> None:
    extracted = jax_inputs.extract(compiled)
    assert extracted.has_xla_plan
    assert extracted.notes == []
    assert "XLA" in stowplan.analyze(compiled).plan
    own = stowplan.analyze(compiled, own_plan=True)
    assert "Stowplan" in own.plan
    assert own.notes[0].startswith("planned as XLA does: target cpu by the executable, ")


def test_another_target_is_planned_anew(compiled: Any) -> None:
    """XLA's plan for a CPU is none for a TPU."""
    r = stowplan.analyze(compiled, target="tpu-v5e")
    assert "Stowplan" in r.plan and r.target == "tpu-v5e"
    assert any("tpu-v5e instead of cpu" in note for note in r.notes)
    extracted = jax_inputs.extract(compiled)
    version = extracted.xla_version
    module = stowplan.analyze(extracted.module_data, target="tpu-v5e", xla_version=version)
    assert r.total_bytes == module.total_bytes
    other = next(v for v in ("jaxlib-0.4.35", "jaxlib-0.6.0") if v != version)
    anew = stowplan.analyze(compiled, xla_version=other)
    assert "Stowplan" in anew.plan
    assert any(f"{other} instead of {version}" in note for note in anew.notes)
    same = stowplan.analyze(compiled, target="cpu")
    assert "XLA" in same.plan and same.notes == []


def test_module_is_for_directories(compiled: Any) -> None:
    with pytest.raises(stowplan.Error, match="module='other' chooses a module of a directory"):
        stowplan.analyze(compiled, module="other")


def test_figures_are_those_of_jax(compiled: Any) -> None:
    r = stowplan.analyze(compiled)
    stats = compiled.memory_analysis()
    figures = r.reconcile().memory_analysis
    assert figures["temp_size_in_bytes"] == stats.temp_size_in_bytes == 64 * 64 * 4
    assert figures["alias_size_in_bytes"] == stats.alias_size_in_bytes == 64 * 64 * 4 + 64 * 4
    assert r.reconcile().differing == []
    assert len(r.reconcile().equal) >= 8


def test_parameters_have_their_paths(compiled: Any) -> None:
    paths = {a.parameter: a.path for a in stowplan.analyze(compiled).allocations if a.path}
    assert paths == {0: "state['b']", 1: "state['w']", 2: "x"}  # the third is not used
    expected = ["args[0]['b']", "args[0]['w']", "args[1]"]
    assert jax_inputs.extract(compiled).parameter_names == expected


def test_target_and_version(compiled: Any) -> None:
    extracted = jax_inputs.extract(compiled)
    assert extracted.target == "cpu"
    assert extracted.xla_version is not None and extracted.xla_version.startswith("jaxlib-0.")


@pytest.mark.parametrize(
    ("platform", "kind", "target"),
    [
        ("cpu", "cpu", "cpu"),
        ("gpu", "NVIDIA H200", "gpu"),
        ("cuda", "Tesla T4", "gpu"),
        ("rocm", "AMD Instinct MI300X", "gpu"),
        ("tpu", "TPU v2", "tpu-v2"),
        ("tpu", "TPU v3", "tpu-v3"),
        ("tpu", "TPU v4", "tpu-v4"),
        ("tpu", "TPU v5 lite", "tpu-v5e"),
        ("tpu", "TPU v5e", "tpu-v5e"),
        ("tpu", "TPU v5", "tpu-v5p"),
        ("tpu", "TPU v5p", "tpu-v5p"),
        ("tpu", "TPU v6 lite", "tpu-v6e"),
        ("tpu", "TPU7x", "tpu-v7x"),
        ("tpu", "TPU v4 lite", None),
        ("tpu", "TPU v99", None),
        ("metal", "Apple M3", None),
    ],
)
def test_device_kinds(platform: str, kind: str, target: str | None) -> None:
    assert jax_targets.target_of(platform, kind) == target


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.4.35", "0.4.35"),
        ("0.4.38", "0.4.35"),
        ("0.6.2", "0.6.0"),
        ("0.10.2.dev20260401+selfbuilt", "0.10.2"),
        ("0.12.0.1", "0.12.0"),
        ("7.0", "0.12.0"),
        ("0.3.0", "0.4.35"),
        ("unknown", None),
    ],
)
def test_releases(version: str, release: str | None) -> None:
    assert jax_targets.release_of(version, jax_targets.JAXLIB_RELEASES) == release


def test_all_releases_are_known_to_the_planner() -> None:
    names = [f"jaxlib-{release}" for release in jax_targets.JAXLIB_RELEASES]
    names += [f"libtpu-{release}" for release in jax_targets.LIBTPU_RELEASES]
    for name in names:
        run_program("assign", "--target=cpu", f"--xla-version={name}", MODULE)


def test_not_a_program(step: Any) -> None:
    with pytest.raises(TypeError, match="only for given arguments"):
        stowplan.analyze(step)
    with pytest.raises(TypeError, match="contains no program"):
        stowplan.analyze(f32(3))
    exported = pytest.importorskip("jax.export").export(jax.jit(jnp.sin))(f32(3))
    with pytest.raises(stowplan.ArgumentError, match="jax.jit\\(x.call\\).lower"):
        stowplan.analyze(exported)
    call = jax.jit(exported.call).lower(f32(3))
    assert stowplan.analyze(call).total_bytes > 0
    with pytest.raises(stowplan.Error, match="is not a program"):
        stowplan.analyze(object())


# Back ends that tell less.


class Poor:
    """An executable that gives what it is told to."""

    def __init__(self, modules: Any, stats: Any = None) -> None:
        self._modules = modules
        self._stats = stats

    def hlo_modules(self) -> Any:
        if isinstance(self._modules, Exception):
            raise self._modules
        return self._modules

    def get_compiled_memory_stats(self) -> Any:
        if isinstance(self._stats, Exception):
            raise self._stats
        return self._stats


def modules_of(compiled: Any) -> Any:
    return compiled.runtime_executable().hlo_modules()


def test_what_a_back_end_does_not_tell_is_said(compiled: Any) -> None:
    extracted = jax_inputs.extract(Poor(modules_of(compiled), RuntimeError("UNIMPLEMENTED")))
    assert extracted.stats is None
    assert not extracted.has_xla_plan
    assert extracted.target is None
    assert any("memory_analysis(): UNIMPLEMENTED" in note for note in extracted.notes)
    assert any("which device" in note for note in extracted.notes)


def test_without_a_plan_it_is_made(compiled: Any) -> None:
    stats = types.SimpleNamespace(temp_size_in_bytes=7, serialized_buffer_assignment_proto=b"")
    extracted = jax_inputs.extract(Poor(modules_of(compiled), stats))
    assert extracted.stats == {"temp_size_in_bytes": 7}
    assert any("XLA's own plan" in note for note in extracted.notes)
    r = stowplan.analyze(Poor(modules_of(compiled), stats), target="cpu")
    own = stowplan.analyze(compiled, own_plan=True)
    assert r.total_bytes == own.total_bytes
    assert any("XLA's own plan" in note for note in r.notes)
    assert [figure.name for figure in r.reconcile().differing] == ["temp_size_in_bytes"]


def test_plan_that_cannot_be_read_is_made_again(compiled: Any) -> None:
    stats = types.SimpleNamespace(serialized_buffer_assignment_proto=b"\xff\xff\xff")
    r = stowplan.analyze(Poor(modules_of(compiled), stats), target="cpu")
    assert "Stowplan" in r.plan
    assert any("XLA's own plan is not used: " in note for note in r.notes)
    assert r.total_bytes == stowplan.analyze(compiled).total_bytes


def test_no_module(compiled: Any) -> None:
    with pytest.raises(stowplan.Error, match="does not provide the compiled module"):
        stowplan.analyze(Poor(RuntimeError("UNIMPLEMENTED")))
    with pytest.raises(stowplan.Error, match="contains no module"):
        stowplan.analyze(Poor([]))
    two = jax_inputs.extract(Poor(modules_of(compiled) * 2))
    assert any("2 modules" in note for note in two.notes)


def test_wrong_plan_of_old_versions_is_left_alone(compiled: Any) -> None:
    for data in (b"", b"\x08\x01", b"\x1a\xff", b"\xff\xff"):
        stats = types.SimpleNamespace(serialized_hlo_proto=data)
        assert not jax_inputs.extract(Poor(modules_of(compiled), stats)).has_xla_plan


def test_sharded_program_says_what_one_device_takes() -> None:
    devices = jax.devices()
    mesh = jax.sharding.Mesh(devices, ("x",))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    x = jax.ShapeDtypeStruct((8 * len(devices), 16), jnp.float32, sharding=split)
    compiled = jax.jit(lambda x: x * 2).lower(x).compile()
    r = stowplan.analyze(compiled)
    assert next(a.size for a in r.allocations if a.parameter == 0) == 8 * 16 * 4


def test_jax_is_not_imported_unless_used() -> None:
    words = (
        "import sys, stowplan, stowplan.capture, stowplan.max_batch, stowplan.jax_inputs;"
        "print(sorted({'jax', 'jaxlib', 'numpy', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
