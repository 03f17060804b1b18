# SPDX-License-Identifier: Apache-2.0
"""Shows pages in files, browsers and notebooks."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

from . import arguments
from .errors import Error, MissingFileError


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text as UTF-8, everything or nothing."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes everything or nothing: the file is renamed into place when it is complete."""
    target = Path(arguments.path(path, "path"))
    if target.is_dir():
        raise Error(f"{target}: this is a directory; name a file in it")
    if not target.parent.is_dir():
        raise MissingFileError(f"{target.parent}: there is no such directory")
    if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
        target.write_bytes(data)
        return
    target = target.resolve()
    handle, temporary = tempfile.mkstemp(prefix=f"{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def in_notebook() -> bool:
    """Whether we run in a notebook; IPython is never imported for that."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell = ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def frame_of(page: str, height: int = 720) -> str:
    """The page in its own frame, for a notebook cell."""
    data = base64.b64encode(page.encode()).decode()
    return (
        f'<iframe src="data:text/html;base64,{data}" width="100%" height="{height}" '
        'style="border:1px solid #8884" sandbox="allow-scripts allow-downloads"></iframe>'
    )


def show_page(page: str, name: str) -> None:
    """Shows the page below the cell of a notebook, otherwise in the browser."""
    if in_notebook():
        from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

        # As a bundle: IPython's HTML() warns of frames.
        bundle = {"text/html": frame_of(page), "text/plain": f"<the viewer of {name}>"}
        display(bundle, raw=True)  # type: ignore[no-untyped-call, unused-ignore]
        return
    import webbrowser

    # The browser may read it after we exit, so only the system removes it.
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:80]
    path = Path(tempfile.mkdtemp(prefix="stowplan-")) / f"{stem or 'view'}.html"
    path.write_text(page, encoding="utf-8")
    print(f"stowplan: {path}", file=sys.stderr)
    webbrowser.open(path.as_uri())
