#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test under the validation layer of FOLDER, its output in LOG: with_layer.sh FOLDER LOG COMMAND…
# Fails if the command fails, if the layer was not there, or if it has one message. Without the layer the
# test says so and passes, or fails where it must be there (STRIA_TEST_NEEDS_DRIVERS).
set -euo pipefail
folder=$1 log=$2
shift 2
if [ ! -s "$folder/VkLayer_khronos_validation.json" ]; then
  echo "the validation layer is not in $folder: tools/drivers.sh fetches it"
  [ -z "${STRIA_TEST_NEEDS_DRIVERS:-}" ] || exit 1
  exit 0
fi
mkdir -p "$(dirname "$log")"
export VK_LAYER_PATH=$folder VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
VK_LAYER_SETTINGS_PATH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/vk_layer_settings.txt
export VK_LAYER_SETTINGS_PATH
# The layer keeps there which modules it has checked.
export XDG_CACHE_HOME=$(dirname "$log")/cache
mkdir -p "$XDG_CACHE_HOME"
status=0
"$@" >"$log" 2>&1 || status=$?
tail -n 15 "$log"
[ "$status" -eq 0 ] || { echo "with_layer.sh: the command ended with $status; its output is in $log"; exit 1; }
# What the layer says of itself when an instance is made.
active=$(grep -a -A 4 'CURRENT-VALIDATION-ENABLED' "$log" || true)
for checks in 'Core Checks' 'Synchronization'; do
  grep -q "$checks" <<<"$active" || { echo "with_layer.sh: the layer's '$checks' were not on: see $log"; exit 1; }
done
messages=$(grep -a -E -A 12 'Validation (Error|Warning|Performance Warning|Information): \[' "$log" |
  awk '/Validation [A-Za-z ]*: \[/ { mine = !/CURRENT-VALIDATION-ENABLED|WARNING-cache-file-error/ } mine' || true)
if [ -n "$messages" ]; then
  echo "with_layer.sh: $(grep -c 'Validation [A-Za-z ]*: \[' <<<"$messages") messages of the layer; all are in $log"
  head -n 60 <<<"$messages"
  exit 1
fi
echo "with_layer.sh: not one message"
