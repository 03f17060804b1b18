# SPDX-License-Identifier: Apache-2.0
"""check: whether a plan is sound."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import arguments
from .inputs import plan_of


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a plan."""

    code: str  # "overwritten", "in-place", ...; docs/check.md says what each means
    is_unsound: bool  # a read gets wrong bytes; otherwise the report contradicts itself
    message: str
    details: dict[str, Any]  # as `stowplan check --format=json` has them


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict on a plan. It is true if nothing is wrong."""

    name: str
    verdict: str  # "sound", "unsound", "unchecked"
    reason: str  # why it is unchecked; empty otherwise
    by_report: bool  # there was no program: the report was checked against its own live ranges
    instructions: int  # that were executed
    reads: int  # that found what they need
    findings: tuple[Finding, ...]
    text: str

    @property
    def is_sound(self) -> bool:
        """Whether every read gets the bytes that the program means."""
        return self.verdict == "sound"

    def __bool__(self) -> bool:
        return self.verdict == "sound" and not self.findings

    def __str__(self) -> str:
        return self.text.removesuffix("\n")


def check(
    x: Any,
    *,
    target: str | None = None,
    xla_version: str | None = None,
    module: str | None = None,
    limit: int = 20,
) -> CheckResult:
    """Executes the program on a symbolic memory laid out as the plan says.

    `x` is anything that `analyze` takes. Without a program, the report is checked against its own
    live ranges. The text shows at most `limit` findings; 0 shows all.
    """
    shown = arguments.rows(limit)
    given = plan_of(
        x,
        target=target,
        xla_version=xla_version,
        module=module,
        allow_unsound=True,
        allow_unchecked=True,
    )
    document, text = given._plan.check(shown)
    row = json.loads(document)
    return CheckResult(
        name=row["module"],
        verdict=row["verdict"],
        reason=row.get("reason", ""),
        by_report=row["by_report"],
        instructions=row["instructions"],
        reads=row["reads"],
        findings=tuple(
            Finding(
                finding["code"],
                finding["severity"] == "unsound",
                finding["message"],
                finding,
            )
            for finding in row["findings"]
        ),
        text=text,
    )
