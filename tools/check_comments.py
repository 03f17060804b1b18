#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that figures and examples in comments stay as they were drawn.

clang-format once joined their lines, wherever one was too long. It is told not to touch comments, so
two things are checked here: that it obeys, and that no line is too long, which it no longer mends.
"""

import pathlib
import subprocess
import sys

COLUMNS = 100
FOLDERS = ("include", "src", "tests", "bench", "examples")
FIGURE = """\
// A figure whose first line is too long for the columns there are, and one that is not:
//
//     module_0003.jit_step.cpu_after_optimizations.hlo.pb                            the module itself
//     module_0003.jit_step.cpu_after_optimizations.txt                               and its text
//     \\________________ stem ________________________/
int x;
"""


def long_lines(top):
    for folder in FOLDERS:
        for file in sorted((top / folder).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                # A literal or a path in an #include may have to be long; words never do.
                if len(line) > COLUMNS and line.lstrip().startswith("//"):
                    yield f"{file.relative_to(top)}:{number}: a comment of {len(line)} columns"


def formatted(top, text):
    command = ["clang-format-19", f"--style=file:{top / '.clang-format'}", "--assume-filename=figure.h"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    top = pathlib.Path(__file__).resolve().parent.parent
    found = list(long_lines(top))
    if formatted(top, FIGURE) != FIGURE:
        found.append(".clang-format: the formatter changes figures in comments")
    print("\n".join(found) or "comments: as they were drawn")
    sys.exit(1 if found else 0)
