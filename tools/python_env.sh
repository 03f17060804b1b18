#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/python-venv, once: the environment to build, test and check the Python package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=build/python-venv
packages=tests/python/requirements.txt
if [[ -e $venv/complete && ! $packages -nt $venv/complete ]]; then exit 0; fi
echo "python: making $venv" >&2
python3 -m venv "$venv"
"$venv/bin/pip" --quiet --disable-pip-version-check install --requirement "$packages"
touch "$venv/complete"
