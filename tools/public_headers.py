#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of public headers in docs/embedding.md: each with its first sentence and its lines.

With --check it writes nothing and fails if the table is out of date.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = TOP / "docs/embedding.md"
TABLE = re.compile(r"\| header \| what is in it \| lines \|\n(?:\|.*\n)+")


def first_sentence(text):
    """Of the comment that begins a header, after the license."""
    lines = []
    for line in text.splitlines()[1:]:
        if not re.match(r"//|/\*| \*", line):
            break
        words = re.sub(r"^(//|/\*| \*)\s?", "", line)
        if not words:
            break
        lines.append(words)
    sentence = re.match(r"(.+?)\.(?= |$)", " ".join(lines))
    return sentence[1] if sentence else ""


def table():
    rows = ["| header | what is in it | lines |", "|---|---|---|"]
    total = 0
    headers = (TOP / "include/stowplan").rglob("*.h")
    # Those on top first: they are the ones to begin with.
    for file in sorted(headers, key=lambda file: (len(file.relative_to(TOP).parts), str(file))):
        text = file.read_text()
        if not (sentence := first_sentence(text)):
            sys.exit(f"{file.relative_to(TOP)}: it does not begin with a sentence about it")
        lines = len(text.splitlines())
        total += lines
        rows.append(f"| `{file.relative_to(TOP / 'include')}` | {sentence} | {lines} |")
    rows.append(f"| | together | {total} |")
    return "\n".join(rows) + "\n"


def main():
    text = DOCUMENT.read_text()
    if len(TABLE.findall(text)) != 1:
        sys.exit("docs/embedding.md has no table of headers")
    wanted = TABLE.sub(lambda _: table(), text)
    if "--check" not in sys.argv:
        DOCUMENT.write_text(wanted)
    elif wanted != text:
        sys.exit("docs/embedding.md: the table of headers is out of date; tools/public_headers.py writes it")


if __name__ == "__main__":
    main()
