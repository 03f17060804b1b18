# SPDX-License-Identifier: Apache-2.0
"""Runs a notebook and writes it with what came out: run_notebook.py NOTEBOOK OUT [--plain]

With --plain its cells run in this process, in order, and what a cell ends with is shown as a notebook
would: neither Jupyter nor IPython is needed. Without, a kernel of Jupyter runs it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run_plain(notebook: dict[str, Any]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        cell["outputs"] = []
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "<cell>", "exec"), names)
            value = last and eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        if printed.getvalue():
            cell["outputs"].append({"output_type": "stream", "text": printed.getvalue()})
        if value is not None:
            shown = {"text/plain": repr(value)}
            if hasattr(value, "_repr_html_"):
                shown["text/html"] = value._repr_html_()
            cell["outputs"].append({"output_type": "execute_result", "data": shown})


def run_in_kernel(notebook: dict[str, Any]) -> dict[str, Any]:
    import nbclient
    import nbformat

    node = nbformat.reads(json.dumps(notebook), as_version=4)
    nbformat.validate(node)
    client = nbclient.NotebookClient(node, timeout=600, kernel_name="python3", record_timing=False)
    client.execute()
    done: dict[str, Any] = json.loads(nbformat.writes(node))
    done["metadata"]["language_info"] = {"name": "python"}  # no more of this machine than needed
    return done


def main() -> None:
    notebook = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    if "--plain" in sys.argv:
        run_plain(notebook)
    else:
        notebook = run_in_kernel(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    Path(sys.argv[2]).write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
