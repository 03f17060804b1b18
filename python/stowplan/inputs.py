# SPDX-License-Identifier: Apache-2.0
"""analyze: makes a plan from almost any kind of input."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from . import _core, arguments
from .analysis import Analysis
from .errors import ArgumentError, Error, MissingFileError, ParseError


def _is_text(words: str) -> bool:
    """Whether a str is HLO or a report, not the name of a file."""
    if "\n" in words or words.lstrip().startswith(("HloModule", "ENTRY ")):
        return True
    return _other_language(words.encode(errors="replace")) is not None


# Common inputs that are not HLO: how they begin, and their names.
_HEAD = 4096  # bytes
_LANGUAGES = (
    (re.compile(rb"\AML\xefR"), "MLIR bytecode"),
    (re.compile(rb"""=[ \t]*"?(stablehlo|mhlo|chlo)\.\w"""), "StableHLO"),
    (
        re.compile(rb"(?m)^[ \t]*(module([ \t]+@\S+)?[ \t]*(attributes[ \t]*)?\{|func\.func[ \t])"),
        "MLIR, as StableHLO is",
    ),
    (re.compile(rb"(?m)\A\s*\{ ?lambda\b"), "a jaxpr"),
)


def _other_language(data: bytes) -> str | None:
    """The language of a program that was not compiled, if it is one."""
    head = data[:_HEAD]
    if head.lstrip().startswith((b"HloModule", b"BufferAssignment:")):
        return None
    return next((name for pattern, name in _LANGUAGES if pattern.search(head)), None)


def _need_compiled(data: bytes, where: str) -> None:
    language = _other_language(data)
    if language is not None:
        raise ParseError(_not_compiled(f"{where}: this is {language}"))


def _not_compiled(what: str) -> str:
    return (
        f"{what}, a program that is not compiled yet, so it has no memory plan\n"
        "  give what XLA compiled: analyze(jax.jit(f).lower(...).compile()), or what\n"
        "  XLA_FLAGS=--xla_dump_to=DIR writes"
    )


def check_object(x: Any) -> None:
    """An Error for something that is not a program yet."""
    kind = type(x)
    if kind.__module__.startswith("jaxlib.mlir"):
        raise ArgumentError(_not_compiled("this is StableHLO"))
    if kind.__name__ in ("ClosedJaxpr", "Jaxpr"):
        raise ArgumentError(_not_compiled("this is a jaxpr"))
    if kind.__name__ == "Exported" and kind.__module__.startswith("jax"):
        raise ArgumentError(
            "an Exported is a program that is not compiled yet, so it has no memory plan\n"
            "  use analyze(jax.jit(x.call).lower(*args)), with arrays or jax.ShapeDtypeStruct"
        )
    if hasattr(x, "read"):
        raise ArgumentError(
            f"{arguments.shown(x)} is an open file\n  give its path, or use analyze(x.read())"
        )
    if isinstance(x, FunctionType | MethodType | BuiltinFunctionType | functools.partial):
        raise ArgumentError(
            "a function becomes a program only when it is compiled for given arguments\n"
            "  use analyze(jax.jit(f).lower(...).compile()), with arrays or jax.ShapeDtypeStruct"
        )
    if kind.__module__ in ("builtins", "numpy"):
        raise ArgumentError(
            f"{arguments.shown(x)} is not a program\n"
            "  give a Compiled or Lowered of JAX, a path, bytes, or HLO text"
        )


def _head_of(path: str) -> bytes:
    if not os.path.isfile(path):  # what a pipe gave is gone; the core is to have it
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:  # the core says why
        return b""


def _load_paths(paths: list[str], module: str, settings: dict[str, Any]) -> _core.Plan:
    for path in paths:
        if not os.path.exists(path):
            name = path if len(path) < _HEAD else arguments.shown(path)
            raise MissingFileError(f"{name}: there is no such file or directory")
        _need_compiled(_head_of(path), path)
    return _core.load(paths, module=module, **settings)


def _paths_of(x: Any) -> list[str] | None:
    """The names of files and directories; None if it is something else."""
    if isinstance(x, str):
        if not x.strip():
            raise Error("there is nothing to analyze: the str is empty\n  give a path or HLO text")
        return None if _is_text(x) else [arguments.path(x, "x")]
    is_short = isinstance(x, bytes) and len(x) < _HEAD and b"\n" not in x
    if isinstance(x, os.PathLike) or (is_short and x and os.path.exists(x)):
        return [arguments.path(x, "x")]
    if isinstance(x, list | tuple):
        if not x:
            raise Error("there is nothing to analyze: no file is named")
        for path in x:
            if not isinstance(path, str | bytes | os.PathLike):
                raise ArgumentError(
                    "several files of one module must be given as paths, not as "
                    f"{arguments.shown(path)}\n  stowplan.sweep takes many programs"
                )
        return [arguments.path(path, "x") for path in x]
    return None


def plan_of(
    x: Any,
    *,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
    own_plan: bool = False,
    allow_unsound: bool = False,
    allow_unchecked: bool = False,
    source_root: str | os.PathLike[str] | None = None,
    own: str | Sequence[str] = (),
) -> Analysis:
    """The plan of anything that `analyze` takes, as it is."""
    settings = arguments.settings(target, xla_version, allow_unsound, allow_unchecked)
    settings |= arguments.own_code(source_root, own)
    wanted = arguments.text(module, "module", "the name of a module")
    if isinstance(x, Analysis):
        _check_settings(x, target, xla_version, module, own_plan)
        if source_root is not None or own:
            raise Error(
                "this Analysis is already a plan: source_root and own cannot change it\n"
                "  give what it was made from"
            )
        return x
    paths = _paths_of(x)
    if paths is not None:
        return _own(Analysis(_load_paths(paths, wanted, settings)), own_plan)
    if wanted:
        raise Error(f"module={wanted!r} chooses a module of a directory, but this is one program")
    if isinstance(x, str | bytes | bytearray | memoryview):
        data, name = (x.encode(), "<text>") if isinstance(x, str) else (bytes(x), "<bytes>")
        _need_compiled(data, name)
        return _own(Analysis(_core.load_bytes(data, name, **settings)), own_plan)
    for method in ("as_serialized_hlo_module_proto", "SerializeToString"):
        # An HloModule of jaxlib; a message of protobuf.
        if hasattr(x, method):
            data = getattr(x, method)()
            return _own(Analysis(_core.load_bytes(data, "<module>", **settings)), own_plan)
    check_object(x)
    return _plan_of_jax(x, settings, own_plan)


def _own(analysis: Analysis, own_plan: bool) -> Analysis:
    """Replaces XLA's plan by Stowplan's if that is wanted."""
    if not own_plan or analysis._plan.is_ours:
        return analysis
    from .plans import assign

    return assign(analysis)


def _check_settings(
    x: Analysis, target: str | None, xla_version: str | None, module: str | None, own_plan: bool
) -> None:
    """Options cannot change a plan that is already made."""
    given = [
        f"{name}={value!r}"
        for name, value, is_so in (
            ("target", target, target is not None and target == x.target),
            ("xla_version", xla_version, False),
            ("module", module, module == x.name),
            ("own_plan", own_plan or None, x.plan.startswith("Stowplan")),
        )
        if value is not None and not is_so
    ]
    if given:
        raise Error(
            f"this Analysis is already a plan: {', '.join(given)} cannot change it\n"
            "  give what it was made from"
        )


def _plan_of_jax(x: Any, settings: dict[str, Any], own_plan: bool) -> Analysis:
    from . import jax_inputs

    target, xla_version = settings["target"], settings["xla_version"]

    extracted = jax_inputs.extract(x)
    notes = list(extracted.notes)

    def load(data: bytes) -> _core.Plan:
        return _core.load_bytes(
            data,
            extracted.name,
            **settings
            | {
                "target": target or extracted.target or "",
                "xla_version": xla_version or extracted.xla_version or "",
            },
            parameter_names=extracted.parameter_names or [],
            caller="the call" if target else "the executable",
        )

    other = [
        f"{given} instead of {compiled}"
        for given, compiled in (
            (target, extracted.target),
            (xla_version, extracted.xla_version),
        )
        if given and compiled and given != compiled
    ]
    if other:
        # XLA's plan and JAX's figures are those of what it was compiled for.
        notes.append(
            f"XLA's own plan is not used, because it should be {' and '.join(other)}; this one is "
            "Stowplan's, for the module as it was compiled"
        )
        return Analysis(load(extracted.module_data), notes=tuple(notes))
    if own_plan or not extracted.has_xla_plan:
        plan = load(extracted.module_data)
    else:
        try:
            plan = load(extracted.data)
        except Error as error:
            # A module that was changed after its plan was made. If the module itself is wrong, this
            # fails in the same way.
            plan = load(extracted.module_data)
            why = str(error).splitlines()[0]
            notes.append(f"XLA's own plan is not used: {why}; this one is Stowplan's")
    recompile = jax_inputs.recompiler(x)
    return Analysis(plan, notes=tuple(notes), stats=extracted.stats, recompile=recompile)


def analyze(
    x: Any,
    *,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
    policy: str = "xla",
    own_plan: bool = False,
    allow_unsound: bool = False,
    allow_unchecked: bool = False,
    source_root: str | os.PathLike[str] | None = None,
    own: str | Sequence[str] = (),
) -> Analysis:
    """The plan of a program, ready for questions.

    `x` is a `Compiled` or `Lowered` of JAX, the path of a file or a dump directory, several files
    of one module, HLO text, or bytes: a module or a report, compressed or not.

    If the input has XLA's plan, that is used; a module without a plan is planned as XLA does, for
    `target` and by the rules of `xla_version`, which are detected where possible. With `own_plan`,
    Stowplan plans a program even if it has a plan; so is a Compiled for a `target` or `xla_version`
    that it was not compiled for. With policy "best", the program is planned in less memory, as by
    `assign`. `module` chooses a module of a directory; the default is the largest.

    A plan that Stowplan makes is checked. If it is not sound, or cannot be checked, Error is raised
    unless `allow_unsound` or `allow_unchecked` permits it.

    A value belongs to the nearest line of its call stack that is not in an installed library.
    Lines in files below `source_root`, or whose paths match a pattern in `own`, come first.
    """
    from .plans import POLICIES, assign

    is_best = arguments.choice(policy, "policy", POLICIES) != "xla"
    given = plan_of(
        x,
        target=target,
        xla_version=xla_version,
        module=module,
        own_plan=own_plan and not is_best,
        allow_unsound=allow_unsound,
        allow_unchecked=allow_unchecked,
        source_root=source_root,
        own=own,
    )
    if not is_best:
        return given
    return assign(
        given, policy=policy, allow_unsound=allow_unsound, allow_unchecked=allow_unchecked
    )
