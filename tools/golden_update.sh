#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites the expected part of golden tests, and the generated pages of docs/, with what the stages make
# now. Read the diff afterwards.
#   tools/golden_update.sh            every stage
#   tools/golden_update.sh STAGE…     these (folders of tests/golden)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "${1:-}" in -h|--help) sed -n '3,6s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
if [ $# -eq 0 ]; then
  set -- $(cd tests/golden && for file in */CMakeLists.txt; do dirname "$file"; done)
fi
cmake --preset release >/dev/null
for stage in "$@"; do
  if [ ! -f "tests/golden/$stage/CMakeLists.txt" ]; then
    echo "golden_update.sh: no stage '$stage' in tests/golden" >&2
    exit 2
  fi
  cmake --build --preset release --target "golden_$stage" >/dev/null
  STRIA_UPDATE_GOLDEN=1 "$(find build/release/tests/golden -name "golden_$stage" -type f)" --gtest_brief=1
done
git --no-pager diff --stat -- tests/golden docs core/edsl/functions.h
