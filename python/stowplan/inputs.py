# SPDX-License-Identifier: Apache-2.0
"""analyze: from whatever somebody has to a plan."""

from __future__ import annotations

import functools
import os
import re
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


# What people have at hand and that is no HLO: how it begins, and its name.
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
    """What it is when it is a program that was not compiled."""
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
        f"{what}, a program before it is compiled: nothing is in memory yet\n"
        "  what XLA made of it is wanted: analyze(jax.jit(f).lower(...).compile()), or what\n"
        "  XLA_FLAGS=--xla_dump_to=DIR writes"
    )


def check_object(x: Any) -> None:
    """An Error for what is no program, though it may become one."""
    kind = type(x)
    if kind.__module__.startswith("jaxlib.mlir"):
        raise ArgumentError(_not_compiled("this is StableHLO"))
    if kind.__name__ in ("ClosedJaxpr", "Jaxpr"):
        raise ArgumentError(_not_compiled("this is a jaxpr"))
    if kind.__name__ == "Exported" and kind.__module__.startswith("jax"):
        raise ArgumentError(
            "an Exported is a program before it is compiled: nothing is in memory yet\n"
            "  say analyze(jax.jit(x.call).lower(*args)), with arrays or jax.ShapeDtypeStruct"
        )
    if hasattr(x, "read"):
        raise ArgumentError(
            f"{arguments.shown(x)} is a file that is open\n  give its path, or analyze(x.read())"
        )
    if isinstance(x, FunctionType | MethodType | BuiltinFunctionType | functools.partial):
        raise ArgumentError(
            "a function is a program only when it is compiled, for given arguments\n"
            "  say analyze(jax.jit(f).lower(...).compile()), with arrays or jax.ShapeDtypeStruct"
        )
    if kind.__module__ in ("builtins", "numpy"):
        raise ArgumentError(
            f"{arguments.shown(x)} is no program\n"
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
    """Names of files and directories; None: it is something else."""
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
                    "several files of one module are given by their paths, not as "
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
) -> Analysis:
    """The plan of anything that `analyze` takes, as it is."""
    settings = arguments.settings(target, xla_version, allow_unsound, allow_unchecked)
    wanted = arguments.text(module, "module", "the name of a module")
    if isinstance(x, Analysis):
        _check_settings(x, target, xla_version, module, own_plan)
        return x
    paths = _paths_of(x)
    if paths is not None:
        return _own(Analysis(_load_paths(paths, wanted, settings)), own_plan)
    if wanted:
        raise Error(f"module={wanted!r} chooses one of a directory; this is one program")
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
    """Stowplan's plan where it is asked for, in place of XLA's."""
    if not own_plan or analysis._plan.is_ours:
        return analysis
    from .plans import assign

    return assign(analysis)


def _check_settings(
    x: Analysis, target: str | None, xla_version: str | None, module: str | None, own_plan: bool
) -> None:
    """A plan that is made stays as it is."""
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
            f"this Analysis is a plan already: {', '.join(given)} cannot change it\n"
            "  give what it was made of"
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
            f"XLA's own plan is not used, for it is to be {' and '.join(other)}; this one is "
            "Stowplan's, of the module as it was compiled"
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
    return Analysis(plan, notes=tuple(notes), stats=extracted.stats)


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
) -> Analysis:
    """The plan of a program, ready for questions.

    `x` is a `Compiled` or `Lowered` of JAX, the path of a file or of a directory that XLA dumped
    to, several files of one module, HLO text, or bytes: a module or a report, packed or not.

    Where there is a plan of XLA's, it is used; a module alone is planned as XLA does, for `target`
    by the rules of `xla_version`, both found where the module shows them. With `own_plan`, a
    program that has a plan is planned by Stowplan too, as a Compiled is for a `target` or
    `xla_version` that it was not compiled for. With policy "best", the program is planned in less
    memory, as `assign` does. Of a directory, `module` chooses one; without, the largest is taken.

    A plan that Stowplan makes is checked; one that is not sound, or that cannot be checked, is an
    error unless `allow_unsound` or `allow_unchecked` lets it pass.
    """
    from .plans import POLICIES, assign

    if arguments.choice(policy, "policy", POLICIES) != "xla":
        return assign(
            x,
            policy=policy,
            target=target,
            xla_version=xla_version,
            module=module,
            allow_unsound=allow_unsound,
            allow_unchecked=allow_unchecked,
        )
    return plan_of(
        x,
        target=target,
        xla_version=xla_version,
        module=module,
        own_plan=own_plan,
        allow_unsound=allow_unsound,
        allow_unchecked=allow_unchecked,
    )
