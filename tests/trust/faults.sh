#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Would every_pass_test notice a mistake in a pass? Each of faults/*.patch changes one line of one pass.
#   faults.sh --source DIR --build DIR           applies each to a copy, compiles that file, links the
#                                                test with it and runs it; fails if less than 28 are caught
#   faults.sh --source DIR --build DIR --check   only sees whether each applies to today's source
#   faults.sh … NAME…                            only these
# The test must be built. STRIA_TRUST_PROGRAMS: programs for each fault, 300 if not set.
set -euo pipefail

source_dir= build_dir= check=no names=()
while [ $# -gt 0 ]; do
  case $1 in
    --source) source_dir=$(realpath "$2"); shift 2 ;;
    --build) build_dir=$(realpath "$2"); shift 2 ;;
    --check) check=yes; shift ;;
    *) names+=("$1"); shift ;;
  esac
done
[ -n "$source_dir" ] && [ -n "$build_dir" ] || { echo "faults.sh: --source and --build are needed" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
patches=("$source_dir"/tests/trust/faults/*.patch)
if [ ${#names[@]} -gt 0 ]; then
  patches=()
  for name in "${names[@]}"; do patches+=("$source_dir/tests/trust/faults/$name.patch"); done
fi

# A copy of the passes with the fault in it, in $work/tree.
plant() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/core"
  cp -r "$source_dir/core/passes" "$source_dir/core/rewrite" "$work/tree/core/"
  patch --silent --fuzz=0 --no-backup-if-mismatch -p1 -d "$work/tree" < "$1"
}

if [ "$check" = yes ]; then
  failed=0
  for patch in "${patches[@]}"; do
    plant "$patch" || { echo "does not apply: $(basename "$patch")"; failed=1; }
    [ "$(grep -c '^+[^+]' "$patch")" -le 1 ] || { echo "more than a line: $(basename "$patch")"; failed=1; }
  done
  echo "${#patches[@]} faults"
  [ ${#patches[@]} -ge 31 ] || { echo "there should be 31"; failed=1; }
  exit $failed
fi

cd "$build_dir"
ninja -t commands every_pass_test > "$work/commands"
link=$(tail -n 1 "$work/commands")
caught=0 missed=()
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  file=$(sed -n 's,^+++ b/\(core/[^ \t]*\).*,\1,p' "$patch")
  plant "$patch"
  # The compiler call of that file, or of the group of files in which it is compiled (STRIA_UNITY), with
  # the copy in place of the source.
  # Groups of an earlier build stay in the folder: those count that are compiled.
  unit=
  for group in $(find core -name 'unity_*.cxx' -exec grep -lF "\"$source_dir/$file\"" {} + || true); do
    if grep -qF "/$group" "$work/commands"; then unit=$group; fi
  done
  faulty=$work/tree/$file
  if [ -n "$unit" ]; then
    faulty=$work/fault.cxx
    sed "s,\"$source_dir/$file\",\"$work/tree/$file\"," "$unit" > "$faulty"
  fi
  compile=$({ grep -F "/${unit:-$file}" "$work/commands" || true; } | head -n 1 |
    sed -E "s, -MD -MT [^ ]+ -MF [^ ]+,,; s, -o [^ ]+ -c .*, -o $work/fault.o -c $faulty,")
  [ -n "$compile" ] || { echo "$name: no command compiles $file" >&2; exit 1; }
  # What a fault leaves unused is no reason not to run it.
  eval "$compile -Wno-error"
  eval "$(sed -E "s, -o tests/trust/every_pass_test , -o $work/faulty $work/fault.o ," <<< "$link")"
  if STRIA_TRUST_STOP=1 STRIA_TRUST_PROGRAMS=${STRIA_TRUST_PROGRAMS:-300} \
      timeout 300 "$work/faulty" > "$work/log" 2>&1; then
    missed+=("$name")
    echo "missed $name"
  else
    caught=$((caught + 1))
    echo "caught $name: $(grep -m 1 -A 2 -E '^Failed$|broken assumption' "$work/log" | tail -n 2 | tr '\n' ' ' | cut -c 1-150)"
  fi
done
echo "$caught of ${#patches[@]} faults caught; missed: ${missed[*]:-none}"
[ ${#names[@]} -gt 0 ] || [ $caught -ge 28 ]
