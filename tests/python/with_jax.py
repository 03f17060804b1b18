# SPDX-License-Identifier: Apache-2.0
"""Runs pytest in the environment with JAX that `./run test` makes: with_jax.py ARGS.

Exit code 77: there is none, or the tests need a package that is not there.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
NO_TESTS = 5  # pytest's exit code

if __name__ == "__main__":
    python = ROOT / "build" / "bench-venv" / "bin" / "python"
    probe = [python, "-c", "import jax, pytest"]
    if not python.exists() or subprocess.run(probe, capture_output=True).returncode:
        print("no environment with jax and pytest; ./run test makes build/bench-venv")
        sys.exit(SKIPPED)
    environment = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")
    command = [python, "-B", "-m", "pytest", "-q", "-rs", *sys.argv[1:]]
    code = subprocess.run(command, env=environment, check=False).returncode
    # A file that lacks a package says why, and has no test.
    sys.exit(SKIPPED if code == NO_TESTS else code)
