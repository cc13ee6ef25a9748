#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Validates every SPIR-V module that tests have kept in FOLDER (STRIA_KEEP_SPIRV): validate_modules.sh
# SPIRV_VAL FOLDER. Those that are valid go; the others are moved to FOLDER/invalid. Runs behind all tests
# that keep modules.
set -uo pipefail
spirv_val=$1 folder=$2
if [ ! -x "$spirv_val" ]; then
  echo "$spirv_val is not there: tools/drivers.sh fetches it"
  [ -z "${STRIA_TEST_NEEDS_DRIVERS:-}" ] || exit 1
  exit 0
fi
"$spirv_val" --version | head -n 1
mkdir -p "$folder/invalid"
# A module that several tests emit is validated once.
declare -A seen=()
kept=0 invalid=0
while read -r hash file; do
  kept=$((kept + 1))
  if [ -n "${seen[$hash]:-}" ]; then
    rm -f "$file"
    continue
  fi
  seen[$hash]=1
  if message=$("$spirv_val" --target-env vulkan1.3 "$file" 2>&1); then
    rm -f "$file"
  else
    invalid=$((invalid + 1))
    mv -f "$file" "$folder/invalid/"
    [ "$invalid" -gt 20 ] || printf '%s\n%s\n' "$folder/invalid/$(basename "$file")" "$message"
  fi
done < <(find "$folder" -maxdepth 1 -type f -name '*.spv' -print0 | sort -z | xargs -0 -r sha256sum)
echo "modules kept: $kept, different ones: ${#seen[@]}, invalid: $invalid"
[ "$invalid" -eq 0 ] || exit 1
if [ "$kept" -eq 0 ]; then
  echo "no module is kept: tests of vulkan keep some when they run"
  [ -z "${STRIA_TEST_NEEDS_DRIVERS:-}" ] || exit 1
fi
