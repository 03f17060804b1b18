#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies go one way: each folder includes only itself and the layers below it."""

import pathlib
import re
import sys

STANDS_ON = {
    "base": [],
    "pack": ["base"],
    "certify": [],
    "recheck": [],
    "hlo": ["base"],
    "text": ["base", "hlo"],
    "proto": ["base", "hlo"],
    "target": ["base", "hlo"],
    "schedule": ["base", "hlo", "target"],
    "values": ["base", "hlo", "schedule"],
    "buffers": ["base", "hlo", "schedule", "values"],
    "live": ["base", "hlo", "target", "schedule", "values", "buffers"],
    "assign": ["base", "hlo", "target", "schedule", "values", "buffers", "live"],
    "best": ["base", "pack", "hlo", "target", "schedule", "values", "buffers", "live", "assign"],
    "order": ["base", "hlo", "target", "schedule", "values", "buffers", "live", "assign", "best"],
    "cost": ["base", "hlo", "target"],
    "fit": ["base", "hlo", "target", "schedule", "values", "buffers", "live", "assign", "best", "order", "cost"],
    "report": ["base", "hlo", "text", "proto", "target", "schedule", "values", "live", "assign"],
    "executable": ["base", "hlo", "proto"],
    "explain": ["base", "hlo", "target", "schedule", "values", "buffers", "live", "assign", "report"],
    "diff": ["base", "hlo", "report", "explain"],
    "gate": ["base", "report", "explain", "diff"],
    "export": ["base", "hlo", "report", "explain"],
    "view": ["base", "hlo", "target", "live", "report", "explain", "diff"],
    "check": ["base", "hlo", "target", "report"],
    "session": ["base", "hlo", "text", "proto", "target", "schedule", "values", "buffers", "live", "assign", "best", "order", "cost", "fit", "report", "executable", "explain", "check"],
    "repack": ["base", "pack", "hlo", "proto", "target", "schedule", "live", "buffers", "values", "assign", "order", "cost", "fit", "report", "executable", "explain", "session"],
    "advise": ["base", "hlo", "target", "schedule", "values", "buffers", "live", "assign", "report", "explain", "session"],
    "oom": ["base", "hlo", "report", "explain"],
    "page": ["base", "pack", "hlo", "target", "schedule", "live", "assign", "report", "executable", "explain", "diff", "gate", "view", "check", "session", "repack", "advise", "oom"],
    "c": ["base", "pack", "hlo", "target", "report", "check", "best", "session", "page"],
    "python": ["base", "pack", "hlo", "target", "live", "order", "fit", "report", "executable", "explain", "diff", "view", "session", "repack", "advise", "oom", "page"],
    "cli": ["base", "pack", "hlo", "target", "live", "report", "executable", "explain", "diff", "gate", "export", "view", "check", "session", "repack", "advise", "oom", "page"],
}
# Of the reports the checker knows what they say, not how plans become reports: it shares no analysis with the planner.
ONLY = {"check": {"report": {"stowplan/report/report.h", "report/derive.h"}}}
# What only the session may do, beside the folder that defines it: decide for which machine and by which rules a module
# is planned, schedule it, plan it, check it.
SESSION_ONLY = {
    "GuessTarget": {"target"},
    "GuessVersion": {"target"},
    "RulesOf": {"assign", "report"},
    "FindReportTarget": {"report"},
    "ChooseSchedule": {"live"},
    "AssignBest": {"best"},
    "order::Reorder": {"order"},
    "CertifyPlan": {"check"},
    "check::CheckPlan": {"check"},
    "check::CheckReport": {"check"},
}
SESSION_CALL = re.compile(r"\b(" + "|".join(SESSION_ONLY) + r")\(")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def layer_of(path):
    """The layer of a path as #include writes it: "stowplan/hlo/module.h", "text/lexer.h"."""
    parts = path.removeprefix("stowplan/").split("/")
    if path == "stowplan/version.h":  # generated constants: anyone may know the version
        return "base"
    if path in ("stowplan/stowplan.h", "stowplan/page.h"):
        return "page"
    if path == "stowplan/stowplan_c.h":
        return "c"
    if len(parts) > 1:
        return parts[0]
    # A layer whose interface is one header has it directly in include/stowplan/: pack.h. What else
    # lies there is the session's interface.
    name = parts[0].removesuffix(".h")
    return name if path.startswith("stowplan/") and name in STANDS_ON else "session"


def violations(top):
    for folder in ("src", "include"):
        for file in sorted((top / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".def"):
                continue
            layer = layer_of(file.relative_to(top / folder).as_posix())
            allowed = STANDS_ON.get(layer, [])
            if layer not in STANDS_ON:
                yield f"{file.relative_to(top)}: folder {layer} has no layer in {sys.argv[0]}"
            for number, line in enumerate(file.read_text().splitlines(), 1):
                call = SESSION_CALL.search(line.partition("//")[0])
                if call and layer != "session" and layer not in SESSION_ONLY[call[1]]:
                    yield f"{file.relative_to(top)}:{number}: only the session calls {call[1]}"
                match = INCLUDE.match(line)
                if not match or (used := layer_of(match[1])) == layer:
                    continue
                if used not in allowed or match[1] not in ONLY.get(layer, {}).get(used, {match[1]}):
                    yield f"{file.relative_to(top)}:{number}: {layer} must not include {match[1]}"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(__file__).resolve().parent.parent))
    print("\n".join(found) or "layers: in order")
    sys.exit(1 if found else 0)
