#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test with one Vulkan driver and no other: with_driver.sh ICD_FILE COMMAND…
# Without that file there is no such driver: the test says so and passes, or fails where it must be there
# (STRIA_TEST_NEEDS_DRIVERS).
set -euo pipefail
icd=$1
shift
if [ ! -s "$icd" ]; then
  echo "$icd is not there: tools/setup.sh installs lavapipe, tools/drivers.sh fetches SwiftShader"
  [ -z "${STRIA_TEST_NEEDS_DRIVERS:-}" ] || exit 1
  exit 0
fi
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd
exec "$@"
