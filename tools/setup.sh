#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing Debian packages that Stowplan needs: tools/setup.sh GROUP...
#
# Groups: build (the binary), python (the package), test, clang (second compiler, sanitizers, fuzzer), lint,
# viewer (a browser, and what tools/node.sh needs), bench.
# If nothing is missing, it neither asks for permissions nor touches the network.
set -euo pipefail

packages_of() {
  case $1 in
    build)
      echo g++ cmake ninja-build libfmt-dev libcli11-dev libprotozero-dev zlib1g-dev libzstd-dev
      ;;
    test) echo ccache mold pkgconf python3 libgtest-dev libgmock-dev librapidcheck-dev ;;
    clang) echo clang-19 libclang-rt-19-dev llvm-19 ;;
    lint) echo clang-format-19 clang-tidy-19 python3 shellcheck ;;
    viewer) echo chromium python3-venv ;;
    python) echo python3-venv python3-dev ;;
    bench) echo python3 python3-venv libbenchmark-dev ;;
    *) echo "setup: no such group: $1" >&2; return 2 ;;
  esac
}

wanted=()
for group in "$@"; do
  names=$(packages_of "$group")
  read -ra names <<<"$names"
  wanted+=("${names[@]}")
done
((${#wanted[@]})) || exit 0

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian; going on, but these packages must be there: ${wanted[*]}" >&2
  exit 0
fi

# dpkg-query fails for names it has never seen and still answers for the others.
installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' \
  "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: run as root, or install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}" >&2
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
