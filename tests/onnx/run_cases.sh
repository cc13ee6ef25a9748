#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests of the package onnx and compares the results with expected.json: run_cases.sh RUNNER [option of
# tools/onnx/onnx_conformance.py…]. Makes the cases in build/onnx first, where they are not there. Without
# the packages that make them the test is skipped (exit status 77), or fails where they must be there
# (STRIA_TEST_NEEDS_DRIVERS).
set -euo pipefail
runner=$1
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$root/build/onnx/venv/bin/python
if [ ! -s "$root/build/onnx/venv/FROM" ]; then
  echo "build/onnx/venv is not there: tools/onnx/packages.sh installs it from PyPI"
  [ -z "${STRIA_TEST_NEEDS_DRIVERS:-}" ] || exit 1
  exit 77
fi
# Several tests begin at once.
flock "$root/build/onnx" "$python" "$root/tools/onnx/onnx_cases.py" "$root/build/onnx/cases"
exec "$python" "$root/tools/onnx/onnx_conformance.py" --cases "$root/build/onnx/cases" --runner "$runner" \
  --expected "$root/tests/onnx/expected.json" --jobs 2 "$@"
