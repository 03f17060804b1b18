# SPDX-License-Identifier: Apache-2.0
"""explain_oom: why memory ran out, from the exception or the log."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from html import escape
from typing import Any

from . import _core, arguments
from .errors import Error, MissingFileError
from .oom_text import NOTHING, better_error, line_of, text_of
from .sizes import format_size


@dataclass(frozen=True, slots=True)
class OomSize:
    """Bytes as a log has them: "15.48G" is not an exact number."""

    bytes: int
    slack: int = 0  # how far away the true number can be

    def __int__(self) -> int:
        return self.bytes

    def __str__(self) -> str:
        text = format_size(self.bytes)
        return text if self.slack == 0 else text.partition(" (")[0]


@dataclass(frozen=True, slots=True)
class OomBuffer:
    """A buffer that the log lists; XLA shows the largest. Missing facts are empty or None."""

    size: OomSize | None
    shape: str
    op_name: str
    source_file: str
    source_line: int  # 0: not said
    instruction: str
    opcode: str
    type: str  # "HLO temp", "scoped", ...
    is_parameter: bool
    padding: OomSize | None


@dataclass(frozen=True, slots=True)
class OomCause:
    """Why it happened. docs/explain-oom.md says when each kind is found."""

    kind: str  # "padding", "pool-fragmented", ...
    what: str
    why: str  # the figures that it follows from
    size: OomSize | None  # that it accounts for
    is_sure: bool  # it follows from the figures alone
    covers_lack: bool  # without it, there would have been enough


@dataclass(frozen=True, slots=True)
class OomFix:
    """What helps."""

    cause: str  # the kind of the cause
    what: str
    how: tuple[str, ...]  # what to write or to type
    note: str
    saves: OomSize | None  # at most
    is_enough: bool  # if all of that is saved


@dataclass(frozen=True, slots=True)
class OomFigure:
    """One figure: what was requested, what was available, what it is made of."""

    name: str
    size: OomSize
    note: str
    depth: int  # parts of the row above are indented more


@dataclass(frozen=True, slots=True)
class OomIncident:
    """One event, however often the log mentions it."""

    kind: str  # "compile", "scoped", "load", "buffer", "driver", "host", "other"
    backend: str  # "GPU", "TPU", "CPU", "unknown"
    space: str  # "hbm", "vmem", "host"; empty: the device's own memory
    devices: tuple[str, ...]
    code: str  # XLA's number for it: "E1000"
    executable: str
    message: str
    line: int  # of the text, starting at 1
    count: int
    is_failure: bool  # False: a warning, and the program went on
    headline: str
    lack: OomSize | None  # what would have been needed in addition
    requested: OomSize | None
    used: OomSize | None
    limit: OomSize | None
    figures: tuple[OomFigure, ...]
    causes: tuple[OomCause, ...]  # most important first
    fixes: tuple[OomFix, ...]  # most effective for the least work first
    buffers: tuple[OomBuffer, ...]  # largest first
    not_known: tuple[str, ...]  # what the text does not say


@dataclass(frozen=True, slots=True)
class OomReport:
    """What `explain_oom` returns. Prints as the page of `stowplan explain-oom`."""

    incidents: tuple[OomIncident, ...]
    chosen: int  # the index of the incident that is explained: the worst
    framework: str  # "JAX", "PyTorch/XLA", "TensorFlow", "unknown"
    raised_at: str  # "train.py:88 in step": the user's line that an exception came through
    dump: dict[str, Any] | None  # the plan from the dump, as in `--format=json`
    page: str
    json: str
    interrupted: bool = False  # Ctrl-C ended the search for what would save memory

    @property
    def incident(self) -> OomIncident:
        """The incident that is explained."""
        return self.incidents[self.chosen]

    @property
    def headline(self) -> str:
        """One sentence."""
        return self.incident.headline

    @property
    def lack(self) -> OomSize | None:
        """What would have been needed in addition; None: not known."""
        return self.incident.lack

    @property
    def figures(self) -> tuple[OomFigure, ...]:
        """The figures."""
        return self.incident.figures

    @property
    def causes(self) -> tuple[OomCause, ...]:
        """Most important first."""
        return self.incident.causes

    @property
    def fixes(self) -> tuple[OomFix, ...]:
        """Most effective for the least work first."""
        return self.incident.fixes

    @property
    def buffers(self) -> tuple[OomBuffer, ...]:
        """The buffers that the text lists, largest first."""
        return self.incident.buffers

    @property
    def not_known(self) -> tuple[str, ...]:
        """What the text does not say."""
        return self.incident.not_known

    def to_json(self) -> str:
        """As `stowplan explain-oom --format=json`, schema stowplan.oom/1."""
        return self.json

    def __str__(self) -> str:
        return self.page.removesuffix("\n")

    def __repr__(self) -> str:
        causes = ", ".join(cause.kind for cause in self.causes[:3])
        return f"<stowplan.OomReport {self.incident.backend}: {causes}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _size(row: dict[str, Any], name: str) -> OomSize | None:
    return OomSize(row[name]["bytes"], row[name]["slack"]) if name in row else None


def _buffer(row: dict[str, Any]) -> OomBuffer:
    return OomBuffer(
        _size(row, "size"),
        row.get("shape", ""),
        row.get("op_name", ""),
        row.get("source_file", ""),
        row.get("source_line", 0),
        row.get("instruction", ""),
        row.get("opcode", ""),
        row.get("type", ""),
        row["is_parameter"],
        _size(row, "padding"),
    )


def _incident(row: dict[str, Any]) -> OomIncident:
    explanation = row["explanation"]
    return OomIncident(
        kind=row["kind"],
        backend=row["backend"],
        space=row.get("space", ""),
        devices=tuple(row["devices"]),
        code=row.get("code", ""),
        executable=row.get("executable", ""),
        message=row["message"],
        line=row["line"],
        count=row["count"],
        is_failure=row["is_failure"],
        headline=explanation["headline"],
        lack=_size(explanation, "lack"),
        requested=_size(row, "requested"),
        used=_size(row, "used"),
        limit=_size(row, "limit"),
        figures=tuple(
            OomFigure(
                each["name"],
                OomSize(each["size"]["bytes"], each["size"]["slack"]),
                each.get("note", ""),
                each["depth"],
            )
            for each in explanation["figures"]
        ),
        causes=tuple(
            OomCause(
                each["kind"],
                each["what"],
                each["why"],
                _size(each, "size"),
                each["is_sure"],
                each["covers_lack"],
            )
            for each in explanation["causes"]
        ),
        fixes=tuple(
            OomFix(
                each["cause"],
                each["what"],
                tuple(each["how"]),
                each.get("note", ""),
                _size(each, "saves"),
                each["is_enough"],
            )
            for each in explanation["fixes"]
        ),
        buffers=tuple(_buffer(each) for each in row["buffers"]),
        not_known=tuple(explanation["not_known"]),
    )


def _dump_of(dump: Any) -> str:
    """The path of an existing directory or file."""
    path = arguments.path(dump, "dump")
    hint = "  give the directory that XLA dumped to (XLA_FLAGS=--xla_dump_to=DIR), or a module"
    if path == "-":
        raise Error(f"dump='-': standard input is not read here\n{hint}")
    if not os.path.exists(path):
        raise MissingFileError(f"dump={path!r}: there is no such file or directory\n{hint}")
    return path


def explain_oom(
    exc_or_text: BaseException | str | bytes | os.PathLike[str],
    *,
    incident: int | None = None,
    dump: str | os.PathLike[str] | None = None,
    module: str | None = None,
    target: str | None = None,
    xla_version: str | None = None,
    time_limit: float | None = 30,
    limit: int = 8,
) -> OomReport:
    """Why memory ran out, and what helps.

    Takes an exception (from JAX, PyTorch/XLA or TensorFlow, with everything that led to it), the
    text of a log, or the path of one. Of several incidents, explains the one that lacks the most,
    or number `incident`, counted from 0 as in `incidents`. With `dump`, a dump directory or a
    module, finds the buffers in the program's plan, and tries changes for at most `time_limit`
    seconds. Ctrl-C ends that: what was found so far is returned, with `interrupted` set. The page
    shows `limit` buffers.

    Raises stowplan.Error if the text contains no out-of-memory error.
    """
    given = text_of(exc_or_text)
    number = None
    if incident is not None:
        number = arguments.whole(incident, "incident", "a number, counted from 0", least=0)
    limit_in_seconds = arguments.seconds(time_limit)
    try:
        page, text, interrupted = _core.explain_oom(
            given,
            incident=number,
            limit=arguments.rows(limit),
            dump=[] if dump is None else [_dump_of(dump)],
            module=arguments.text(module, "module", "the name of a module"),
            time_limit=arguments.FOREVER if limit_in_seconds is None else limit_in_seconds,
            **arguments.names(target, xla_version),
        )
    except Error as error:
        better = better_error(exc_or_text, given) if str(error).startswith(NOTHING) else None
        if better is None:
            raise
        raise better from None
    document = json.loads(text)
    raised_at = ""
    if isinstance(exc_or_text, BaseException):
        raised_at = line_of(exc_or_text.__traceback__)
    return OomReport(
        incidents=tuple(_incident(row) for row in document["incidents"]),
        chosen=document["chosen"],
        framework=document["framework"],
        raised_at=raised_at,
        dump=document.get("dump"),
        page=page,
        json=text,
        interrupted=interrupted,
    )
