# SPDX-License-Identifier: Apache-2.0
"""`python -m stowplan`: the command line, the same program as `stowplan`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path


def find_program() -> str | None:
    """The program installed with this package, or else the one on the PATH."""
    beside = [
        Path(sysconfig.get_path("scripts")) / "stowplan",
        Path(sys.executable).with_name("stowplan"),
        Path(sysconfig.get_path("scripts", f"{os.name}_user")) / "stowplan",
    ]
    for path in beside:
        if path.is_file():
            return str(path)
    return shutil.which("stowplan")


def main() -> int:
    """Replaces this process by the program, with the same arguments."""
    program = find_program()
    if program is None:
        print("stowplan: error: the program `stowplan` is not installed", file=sys.stderr)
        return 2
    if os.name == "posix":
        os.execv(program, [program, *sys.argv[1:]])
    return subprocess.call([program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
