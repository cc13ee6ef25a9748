#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each program of programs/ on the device, with and without the scratchpad recipe, and compares
# the results with the interpreter's.
#   ./check.sh PLUGINS [STRIA]   the folder that holds acme/plugin.json; the command (default: stria)
set -u
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# -ge 1 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
plugins=$(cd "$1" && pwd) || exit 2
stria=${2:-stria}
export STRIA_PLUGIN_PATH=$plugins${STRIA_PLUGIN_PATH:+:$STRIA_PLUGIN_PATH}

# The line of expected_failures.txt for a program: "DAY REASON", or nothing.
expected() { sed -n "s/^$1  *\([0-9-]*\)  *\(.*\)$/\1 \2/p" expected_failures.txt; }

bad=0
"$stria" doctor acme || bad=1
for file in programs/*.tile; do
  name=$(basename "$file" .tile)
  out=""
  while IFS= read -r run; do
    for stage in 0 1; do
      # The words of a "# run:" line are options.
      # shellcheck disable=SC2086
      said=$("$stria" run "$file" --device acme $run --check --set STAGE=$stage 2>&1) ||
        out+="with STAGE=$stage: $said"$'\n'
    done
  done < <(sed -n 's/^# run: //p' "$file")
  line=$(expected "$name")
  if [ -z "$out" ] && [ -z "$line" ]; then
    echo "right     $name"
  elif [ -z "$out" ]; then
    echo "RIGHT     $name, but expected_failures.txt lists it: take the line away"
    bad=1
  elif [ -n "$line" ] && [[ ! "$(date +%F)" > "${line%% *}" ]]; then
    echo "expected  $name fails until ${line%% *}: ${line#* }"
  else
    [ -z "$line" ] || echo "EXPIRED   $name was expected to fail until ${line%% *}"
    printf 'WRONG     %s\n%s' "$name" "$out"
    bad=1
  fi
done
exit $bad
