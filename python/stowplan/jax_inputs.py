# SPDX-License-Identifier: Apache-2.0
"""Reads what JAX compiled: the module with its schedule, XLA's own plan if the executable provides
it, and JAX's figures. No dump flags are needed. JAX is never imported here: whoever has such an
object has already imported it.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import jax_targets
from .errors import ArgumentError, Error

if TYPE_CHECKING:
    from collections.abc import Callable

    # From options of the compiler to a Compiled.
    Recompile = Callable[[dict[str, str]], Any]


@dataclass(frozen=True, slots=True)
class Extracted:
    """Everything that an executable provides."""

    data: bytes  # HloProto with XLA's own plan; without one, HloModuleProto
    module_data: bytes  # HloModuleProto, without any plan
    name: str
    target: str | None = None  # "cpu", "gpu", "tpu-v5e", ...
    xla_version: str | None = None  # "jaxlib-0.10.2"
    parameter_names: list[str] | None = None  # pytree paths, for parameters without an op_name
    stats: dict[str, int] | None = None  # the fields of memory_analysis()
    notes: list[str] = field(default_factory=list)  # what the back end does not provide

    @property
    def has_xla_plan(self) -> bool:
        """Whether `data` holds the plan that XLA made."""
        return self.data is not self.module_data


def extract(x: Any, *args: Any, **kwargs: Any) -> Extracted:
    """Reads a Compiled, a Lowered (which is compiled), an executable of jaxlib, a module from
    `capture`, or a function wrapped by `jax.jit` with the arguments to lower it for.
    """
    if isinstance(known := getattr(x, "extracted", None), Extracted):
        return known
    compiled = _compiled(x, args, kwargs)
    return extract_from(_executable(compiled), compiled)


def recompiler(x: Any) -> Recompile | None:
    """Compiles the program of a Lowered or Traced again, with options of the compiler; None: `x`,
    such as a Compiled, does not have what was compiled.
    """
    if hasattr(x, "runtime_executable") or hasattr(x, "hlo_modules"):
        return None
    if hasattr(x, "jaxpr") and hasattr(x, "lower"):  # Traced
        return lambda options: x.lower().compile(compiler_options=options)
    if hasattr(x, "compile") and hasattr(x, "compiler_ir"):  # Lowered
        return lambda options: x.compile(compiler_options=options)
    return None


def memory_figures(compiled: Any) -> dict[str, int]:
    """The fields of memory_analysis() of a Compiled."""
    notes: list[str] = []
    stats = _memory_stats(compiled, compiled, notes)
    if stats is None:
        raise Error(notes[0])
    return _figures(stats)


def extract_from(executable: Any, compiled: Any = None, device: Any = None) -> Extracted:
    """Reads an executable of jaxlib, with its Compiled and one of its devices, if known."""
    notes: list[str] = []
    name, module_data = _module(executable, notes)
    device = device or jax_targets.device_of(compiled, executable)
    target = None
    if device is None:
        notes.append("the executable does not say which device it is for")
    else:
        target = jax_targets.target_of(device.platform, device.device_kind)
        if target is None:
            notes.append(f"the device {device.device_kind} ({device.platform}) is not known")
    stats = _memory_stats(compiled, executable, notes)
    data = _with_plan(module_data, stats, notes) if stats is not None else module_data
    return Extracted(
        data=data,
        module_data=module_data,
        name=name,
        target=target,
        xla_version=jax_targets.xla_version_of(target),
        parameter_names=_parameter_names(compiled),
        stats=_figures(stats) if stats is not None else None,
        notes=notes,
    )


def _compiled(x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The object that provides the executable."""
    if hasattr(x, "runtime_executable") or hasattr(x, "hlo_modules"):
        return x
    if hasattr(x, "compile") and hasattr(x, "compiler_ir"):  # Lowered
        return x.compile()
    if not hasattr(x, "lower"):
        raise ArgumentError(
            f"a {type(x).__module__}.{type(x).__qualname__} contains no program\n"
            "  give a Compiled or Lowered of JAX, a path, bytes, or HLO text"
        )
    if hasattr(x, "jaxpr"):  # Traced
        return x.lower().compile()
    if not args and not kwargs:
        raise ArgumentError(
            "a jitted function becomes a program only for given arguments\n"
            "  use f.lower(...), with arrays or jax.ShapeDtypeStruct"
        )
    return x.lower(*args, **kwargs).compile()


def _executable(compiled: Any) -> Any:
    if hasattr(compiled, "hlo_modules"):
        return compiled
    executable = compiled.runtime_executable()
    if executable is None:
        raise Error("this Compiled has no executable (runtime_executable() is None)")
    return executable


def _module(executable: Any, notes: list[str]) -> tuple[str, bytes]:
    """The module's name, and itself."""
    try:
        modules = list(executable.hlo_modules())
        found = [(str(m.name), bytes(m.as_serialized_hlo_module_proto())) for m in modules[:1]]
    except Exception as error:  # XlaRuntimeError: UNIMPLEMENTED
        raise Error(f"this back end does not provide the compiled module: {error}") from error
    if not found:
        raise Error("this executable contains no module")
    if len(modules) > 1:
        notes.append(f"the executable contains {len(modules)} modules; this is the first")
    return found[0]


def _memory_stats(compiled: Any, executable: Any, notes: list[str]) -> Any:
    """CompiledMemoryStats, or None."""
    ask = getattr(compiled, "memory_analysis", None) or executable.get_compiled_memory_stats
    try:
        stats = ask()
    except Exception as error:  # XlaRuntimeError: UNIMPLEMENTED
        notes.append(f"this back end does not provide memory_analysis(): {error}")
        return None
    if stats is None:
        notes.append("this back end does not provide memory_analysis()")
    return stats


def _figures(stats: Any) -> dict[str, int]:
    fields = {name: getattr(stats, name) for name in sorted(dir(stats)) if name[0] != "_"}
    return {name: value for name, value in fields.items() if type(value) is int}


# XLA's own plan.


def _with_plan(module_data: bytes, stats: Any, notes: list[str]) -> bytes:
    """The module with XLA's plan, as an HloProto; the module alone if there is no plan."""
    # From jaxlib 0.6 on the plan alone; before, a whole HloProto.
    plan = getattr(stats, "serialized_buffer_assignment_proto", b"")
    if not plan:
        whole = getattr(stats, "serialized_hlo_proto", b"")
        plan = _last_message(whole, _ASSIGNMENT)
    if plan:
        return _message(_MODULE, module_data) + _message(_ASSIGNMENT, plan)
    notes.append(
        "the executable does not provide XLA's own plan: this one is Stowplan's, by the same rules"
    )
    return module_data


# Fields of HloProto.
_MODULE = 1
_ASSIGNMENT = 3
_LENGTH_DELIMITED = 2


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _message(number: int, content: bytes) -> bytes:
    """A field that is a message, as protobuf frames it."""
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _last_message(data: bytes, wanted: int) -> bytes:
    """The content of a message's last field with this number; empty: there is none."""
    found = b""
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            digit = data[at]
            at += 1
            number |= (digit & 0x7F) << shift
            if digit < 0x80:
                return number
            shift += 7

    try:
        while at < len(data):
            key = varint()
            if key & 7 != _LENGTH_DELIMITED:
                return b""  # an HloProto has messages only
            size = varint()
            if key >> 3 == wanted:
                found = data[at : at + size]
            at += size
    except IndexError:
        return b""
    return found


# Names of parameters.


def _parameter_names(compiled: Any) -> list[str] | None:
    """Pytree paths of the parameters that the executable kept; None: not known.

    Modules have better ones, with the names of the function's arguments; these are for parameters
    without such names.
    """
    try:
        tree = importlib.import_module("jax.tree_util")
        paths = [
            f"{kind}{tree.keystr(path)}"
            for kind, given in zip(("args", "kwargs"), compiled.args_info, strict=True)
            for path, _ in tree.tree_flatten_with_path(given)[0]
        ]
        kept = compiled._executable._kept_var_idx
    except Exception:  # private or absent: then there are no names
        return None
    names = [path for number, path in enumerate(paths) if number in kept]
    return names if len(names) == len(kept) else None
