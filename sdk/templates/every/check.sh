#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each program of programs/ on the device, with and without the scratchpad recipe, and compares
# the results with the interpreter's.
#   ./check.sh PLUGINS [STRIA]   the folder that holds acme/plugin.json; the command (default: stria)
set -u
[ $# -ge 1 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
# Both are named from where the caller is.
plugins=$(cd "$1" && pwd) || exit 2
stria=${2:-stria}
if [[ $stria == */* ]]; then
  folder=$(cd "$(dirname "$stria")" && pwd) || exit 2
  stria=$folder/$(basename "$stria")
fi
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
export STRIA_PLUGIN_PATH=$plugins${STRIA_PLUGIN_PATH:+:$STRIA_PLUGIN_PATH}

bad=0
wrong() { printf 'WRONG     %s\n' "$*"; bad=1; }

# expected_failures.txt: the day and the reason of each program.
declare -A day reason
number=0
while IFS= read -r line || [ -n "$line" ]; do
  number=$((number + 1))
  [[ $line =~ ^[[:space:]]*(#|$) ]] && continue
  here="expected_failures.txt:$number"
  if [[ ! $line =~ ^([A-Za-z0-9_-]+)[[:space:]]+([0-9]{4}-[0-9]{2}-[0-9]{2})[[:space:]]+([^[:space:]].*)$ ]]; then
    wrong "$here: no line of the form NAME YYYY-MM-DD REASON: $line"
    continue
  fi
  name=${BASH_REMATCH[1]} until=${BASH_REMATCH[2]} why=${BASH_REMATCH[3]}
  if [ "$(date -d "$until" +%F 2>&1)" != "$until" ]; then
    wrong "$here: there is no day $until"
  elif [ ! -f "programs/$name.tile" ]; then
    wrong "$here: there is no programs/$name.tile"
  elif [ -n "${day[$name]:-}" ]; then
    wrong "$here: $name has a line already"
  else
    day[$name]=$until reason[$name]=$why
  fi
done <expected_failures.txt

"$stria" doctor acme || bad=1
count=0
for file in programs/*.tile; do
  [ -f "$file" ] || continue
  count=$((count + 1))
  name=$(basename "$file" .tile)
  out="" runs=0
  while IFS= read -r run; do
    runs=$((runs + 1))
    for stage in 0 1; do
      # The words of a "# run:" line are options.
      # shellcheck disable=SC2086
      said=$("$stria" run "$file" --device acme $run --check --set STAGE=$stage 2>&1) ||
        out+="with STAGE=$stage: $said"$'\n'
    done
  done < <(sed -n 's/^# run: *\([^ ]\)/\1/p' "$file")
  until=${day[$name]:-}
  if [ "$runs" -eq 0 ]; then
    wrong "$name has no line '# run: OPTIONS', so it was not run"
  elif [ -z "$out" ] && [ -z "$until" ]; then
    echo "right     $name"
  elif [ -z "$out" ]; then
    echo "RIGHT     $name, but expected_failures.txt lists it: take the line away"
    bad=1
  elif [ -n "$until" ] && [[ ! "$(date +%F)" > "$until" ]]; then
    echo "expected  $name fails until $until: ${reason[$name]}"
  else
    [ -z "$until" ] || echo "EXPIRED   $name was expected to fail until $until"
    wrong "$name"
    printf '%s' "$out"
  fi
done
[ "$count" -gt 0 ] || wrong "there are no programs in programs/"
exit $bad
