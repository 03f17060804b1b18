# SPDX-License-Identifier: Apache-2.0
"""Errors. Messages are those of the command line: place, source line, caret, hint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about an input."""

    severity: str  # "error", "warning", "note"
    file: str
    line: int  # from 1 on; 0: the input is not text
    column: int  # from 1 on, in bytes
    offset: int  # of the first byte concerned
    path: str  # in a proto: hlo_module.computations[3].instructions[17].shape
    message: str
    hint: str
    text: str  # all of it, as the command line shows it

    def __str__(self) -> str:
        return self.text.rstrip("\n")


class Error(Exception):
    """Stowplan cannot do what was asked. `diagnostics` says why."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics

    # Diagnostics travel with the error between processes.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics)


class ArgumentError(Error, TypeError):
    """An argument is not valid; the message says what is expected."""


class ParseError(Error, ValueError):
    """An input cannot be parsed. The place is that of the first error."""

    @property
    def file(self) -> str:
        return self.diagnostics[0].file if self.diagnostics else ""

    @property
    def line(self) -> int:
        """From 1 on; 0: the input is not text."""
        return self.diagnostics[0].line if self.diagnostics else 0

    @property
    def column(self) -> int:
        """From 1 on, in bytes."""
        return self.diagnostics[0].column if self.diagnostics else 0

    @property
    def offset(self) -> int:
        """Of the first byte concerned."""
        return self.diagnostics[0].offset if self.diagnostics else 0


class MissingFileError(Error, FileNotFoundError):
    """There is no such file or directory."""


# The core's way to an error: rows as Diagnostic has its fields.
def _error_of(rows: list[tuple[str, str, int, int, int, str, str, str, str]]) -> Error:
    diagnostics = tuple(Diagnostic(*row) for row in rows)
    if not diagnostics:
        return Error("stowplan failed without a message; this is a bug in Stowplan")
    if all(diagnostic.file == "stowplan" for diagnostic in diagnostics):
        lines = []
        for diagnostic in diagnostics:
            lines.append(diagnostic.message)
            if diagnostic.hint:
                lines.append(f"  {diagnostic.hint}")
        return Error("\n".join(lines), diagnostics)
    return ParseError("\n".join(str(diagnostic) for diagnostic in diagnostics), diagnostics)
