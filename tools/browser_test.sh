#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the viewer in Chromium: tools/browser_test.sh OUTPUT_DIR [PLAYWRIGHT ARGS]
#
# `./run test` installs what it needs; without that, the tests are skipped with code 77.
set -euo pipefail
tools=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
output=$1
cd "$tools/../viewer/tests/browser"
if [[ ! -e node_modules/.package-lock.json || ! -x ${CHROMIUM:-/usr/bin/chromium} ]]; then
  echo 'skipped: node_modules or Chromium is missing, see ./run test'
  exit 77
fi
exec "$tools/node.sh" npx --no-install playwright test --output "$output" "${@:2}"
