# SPDX-License-Identifier: Apache-2.0
"""analyze: from whatever somebody has to a plan."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .analysis import Analysis
from .errors import Error, MissingFileError


def _is_text(words: str) -> bool:
    """Whether a str is HLO or a report, not the name of a file."""
    return "\n" in words or words.lstrip().startswith(("HloModule", "ENTRY "))


def _load_paths(
    paths: list[str], *, module: str | None, target: str | None, xla_version: str | None
) -> _core.Plan:
    for path in paths:
        if not os.path.exists(path):
            raise MissingFileError(f"{path}: there is no such file or directory")
    return _core.load(
        paths, module=module or "", target=target or "", xla_version=xla_version or ""
    )


def plan_of(
    x: Any,
    *,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
    own_plan: bool = False,
) -> Analysis:
    """The plan of anything that `analyze` takes, as it is."""
    if isinstance(x, Analysis):
        _check_settings(x, target, xla_version, module, own_plan)
        return x
    if isinstance(x, str) and not _is_text(x):
        x = [x]
    elif isinstance(x, os.PathLike):
        x = [os.fspath(x)]
    if isinstance(x, list | tuple):
        return Analysis(
            _load_paths(
                [os.fsdecode(path) for path in x],
                module=module,
                target=target,
                xla_version=xla_version,
            )
        )
    settings = {"target": target or "", "xla_version": xla_version or ""}
    if isinstance(x, str):
        return Analysis(_core.load_bytes(x.encode(), "<text>", **settings))
    if isinstance(x, bytes | bytearray | memoryview):
        return Analysis(_core.load_bytes(bytes(x), "<bytes>", **settings))
    for method in ("as_serialized_hlo_module_proto", "SerializeToString"):
        # An HloModule of jaxlib; a message of protobuf.
        if hasattr(x, method):
            return Analysis(_core.load_bytes(getattr(x, method)(), "<module>", **settings))
    if module is not None:
        raise Error(f"module={module!r} chooses one of a directory; this is one program")
    return _plan_of_jax(x, target, xla_version, own_plan)


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


def _plan_of_jax(x: Any, target: str | None, xla_version: str | None, own_plan: bool) -> Analysis:
    from . import jax_inputs

    extracted = jax_inputs.extract(x)
    notes = list(extracted.notes)

    def load(data: bytes) -> _core.Plan:
        return _core.load_bytes(
            data,
            extracted.name,
            target=target or extracted.target or "",
            xla_version=xla_version or extracted.xla_version or "",
            parameter_names=extracted.parameter_names or [],
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
) -> Analysis:
    """The plan of a program, ready for questions.

    `x` is a `Compiled` or `Lowered` of JAX, the path of a file or of a directory that XLA dumped
    to, several files of one module, HLO text, or bytes: a module or a report, packed or not.

    Where there is a plan of XLA's, it is used; a module alone is planned as XLA does, for `target`
    by the rules of `xla_version`, both found where the module shows them. With `own_plan`, a
    Compiled is planned by Stowplan too, as it is for a `target` or `xla_version` that it was not
    compiled for. With policy "best", the program is planned in less memory,
    as `assign` does. Of a directory, `module` chooses one; without, the largest is taken.
    """
    if policy != "xla":
        from .plans import assign

        return assign(x, policy=policy, target=target, xla_version=xla_version, module=module)
    return plan_of(x, target=target, xla_version=xla_version, module=module, own_plan=own_plan)
