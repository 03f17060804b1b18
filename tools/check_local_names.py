#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that names local to a file are unique in their namespace.

A unity build (cmake/StowplanTarget.cmake) compiles two dozen files as one. Two files whose unnamed namespaces
share a name then clash or, worse, overload each other silently. What is compiled one file at a time is left out.
"""

import collections
import pathlib
import re
import sys

APART = {"recheck"}  # folders of src/

COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
NAMESPACE = re.compile(r"^(?:inline )?namespace\s*([\w:]*)$")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class| struct)?)\s+(?:\[\[.*?\]\]\s*)?(\w+)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")
USING = re.compile(r"^using\s+(?:::)?((?:\w+::)+(\w+))$")
FUNCTION = re.compile(r"^[^=]*?\b(\w+)\s*\(")
VARIABLE = re.compile(r"\b(\w+)\s*(?:\[[^\]]*\])?\s*(?:=|$)")
TEST = ("TEST", "RC_GTEST", "INSTANTIATE_TEST")  # macros, not names
NOT_NAMES = ("using ", "namespace ", "friend ", "static_assert", "extern ", "typedef ")


def without_templates(text):
    """Drops `template <...>` and everything in angle brackets: no name is declared there."""
    depth, kept = 0, []
    for c in text.replace("->", "  "):
        depth += c == "<"
        if not depth:
            kept.append(c)
        depth -= c == ">" and depth > 0
    return re.sub(r"^\s*(template\s*(requires [^;{]*?)?)+", "", "".join(kept)).strip()


def name_of(head):
    """The name that a declaration declares in its namespace, and of what elsewhere it is the name, if any."""
    if "operator" in head or "::~" in head:
        return None, None
    head = without_templates(head)
    if match := USING.match(head):
        return match[2], match[1]
    for pattern in (ALIAS, TYPE):
        if match := pattern.match(head):
            return match[1], None
    if head.startswith(NOT_NAMES):
        return None, None
    match = FUNCTION.match(head) or VARIABLE.search(head)
    # `Type Class::Method(` declares no name of its own.
    if not match or head[: match.start(1)].rstrip().endswith("::"):
        return None, None
    return match[1], None


def declarations(text):
    """Yields (namespace, is local, name, whose name) for each declaration at the level of a namespace."""
    text = COMMENT_OR_TEXT.sub(lambda match: " " if match[0].startswith("/") else '""', text)
    text = DIRECTIVE.sub("", text)
    scopes, begin, depth = [], 0, 0  # depth: braces inside a declaration
    for match in re.finditer(r"[{};]", text):
        mark, head = match[0], " ".join(text[begin : match.start()].split())
        if depth:
            depth += {"{": 1, "}": -1, ";": 0}[mark]
            begin = match.end() if mark != ";" else begin
            continue
        if mark == "{" and (namespace := NAMESPACE.match(head)):
            scopes.append(namespace[1])
        elif mark == "}":
            scopes.pop()
        else:
            name, whose = name_of(head)
            if name:
                yield "::".join(filter(None, scopes)), "" in scopes, name, whose
            depth = mark == "{"
        begin = match.end()


def sources(folder, apart=()):
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".h", ".cc") and file.relative_to(folder).parts[0] not in apart:
            yield file


def clashes(top, files):
    """Yields what is wrong with the files of one target."""
    local, shared = collections.defaultdict(dict), {}
    for file in files:
        path = str(file.relative_to(top))
        for namespace, is_local, name, whose in declarations(file.read_text()):
            if is_local or (whose and file.suffix == ".cc"):
                if not name.startswith(TEST):
                    local[namespace, name][path] = whose or path
            elif file.suffix == ".h" or (namespace, name) not in shared:
                shared[namespace, name] = path, whose or path
    for (namespace, name), places in sorted(local.items()):
        if (namespace, name) in shared:
            header, whose = shared[namespace, name]
            places[header] = whose
        if len(set(places.values())) > 1:
            yield f"{namespace}: {name} is local to a file, and is in all of {', '.join(sorted(places))}"


if __name__ == "__main__":
    top = pathlib.Path(__file__).resolve().parent.parent
    targets = [[*sources(top / "include"), *sources(top / "src", APART)]]
    targets += [sources(folder) for folder in sorted((top / "tests/unit").iterdir())]
    found = [clash for files in targets for clash in clashes(top, files)]
    print("\n".join(found) or "local names: unique")
    sys.exit(1 if found else 0)
