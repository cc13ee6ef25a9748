#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Would a test notice a mistake? Each FOLDER/*.patch changes one line of the source.
#   faults.sh --source DIR --build DIR           applies each to a copy, compiles that file, links the
#                                                target with it and judges it; fails if too few are caught
#   faults.sh --source DIR --build DIR --check   only sees whether each applies to today's source
#   faults.sh … --faults FOLDER                  another folder than tests/trust/faults
#   faults.sh … NAME…                            only these
# The target must be built. FOLDER/faults.bash says what there is:
#   target=…     what is linked with the fault in it
#   copied=(…)   folders of the source in which a fault may be
#   unit=…       the source that is compiled for a fault in a header
#   count=… least=…   how many faults there are, how many of them must be caught
#   judge NAME   runs $work/faulty, writes $work/log; fails if the fault shows
#   words        what of the log shows it, in a line
#   check        fails if something else is wrong with the folder; may be left out
set -euo pipefail

source_dir= build_dir= folder= check_only=no names=()
while [ $# -gt 0 ]; do
  case $1 in
    --source) source_dir=$(realpath "$2"); shift 2 ;;
    --build) build_dir=$(realpath "$2"); shift 2 ;;
    --faults) folder=$(realpath "$2"); shift 2 ;;
    --check) check_only=yes; shift ;;
    *) names+=("$1"); shift ;;
  esac
done
[ -n "$source_dir" ] && [ -n "$build_dir" ] || { echo "faults.sh: --source and --build are needed" >&2; exit 2; }
: "${folder:=$source_dir/tests/trust/faults}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unit=
check() { :; }
# shellcheck source=/dev/null
. "$folder/faults.bash"
patches=("$folder"/*.patch)
if [ ${#names[@]} -gt 0 ]; then
  patches=()
  for name in "${names[@]}"; do patches+=("$folder/$name.patch"); done
fi

# A copy of the source with the fault in it, in $work/tree.
plant() {
  local each
  rm -rf "$work/tree"
  for each in "${copied[@]}"; do
    mkdir -p "$(dirname "$work/tree/$each")"
    cp -r "$source_dir/$each" "$work/tree/$each"
  done
  patch --silent --fuzz=0 --no-backup-if-mismatch -p1 -d "$work/tree" < "$1"
}

if [ "$check_only" = yes ]; then
  failed=0
  for patch in "${patches[@]}"; do
    plant "$patch" || { echo "does not apply: $(basename "$patch")"; failed=1; }
    [ "$(grep -c '^+[^+]' "$patch")" -le 1 ] || { echo "more than a line: $(basename "$patch")"; failed=1; }
  done
  echo "${#patches[@]} faults"
  [ ${#patches[@]} -ge "$count" ] || { echo "there should be $count"; failed=1; }
  check || failed=1
  exit $failed
fi

cd "$build_dir"
ninja -t commands "$target" > "$work/commands"
# Without what is done behind the linker.
link=$(tail -n 1 "$work/commands" | sed -E 's,^: && ,,; s, && .*,,')
caught=0 missed=()
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  file=$(sed -n 's,^+++ b/\([^ \t]*\).*,\1,p' "$patch")
  plant "$patch"
  case $file in *.h) file=$unit ;; esac
  # The compiler call of that file, or of the group of files in which it is compiled (STRIA_UNITY), with
  # the copy in place of the source.
  # Groups of an earlier build stay in the folder: those count that are compiled.
  group=
  for each in $(find "${file%%/*}" -name 'unity_*.cxx' -exec grep -lF "\"$source_dir/$file\"" {} + || true); do
    if grep -qF "/$each" "$work/commands"; then group=$each; fi
  done
  faulty=$work/tree/$file
  if [ -n "$group" ]; then
    faulty=$work/fault.cxx
    sed "s,\"$source_dir/$file\",\"$work/tree/$file\"," "$group" > "$faulty"
  fi
  compile=$({ grep -F "/${group:-$file}" "$work/commands" || true; } | head -n 1)
  [ -n "$compile" ] || { echo "$name: no command compiles $file" >&2; exit 1; }
  object=$(sed -nE 's,.* -o ([^ ]+) -c .*,\1,p' <<< "$compile")
  for each in "${copied[@]}"; do
    compile=${compile//-I$source_dir\/$each /-I$work\/tree\/$each }
  done
  compile=$(sed -E "s, -MD -MT [^ ]+ -MF [^ ]+,,; s, -o [^ ]+ -c .*, -o $work/fault.o -c $faulty," <<< "$compile")
  # What a fault leaves unused is no reason not to run it.
  eval "$compile -Wno-error"
  eval "$(sed -E "s, $object , ,; s, -o [^ ]+ , -o $work/faulty $work/fault.o ," <<< "$link ")"
  if judge "$name"; then
    missed+=("$name")
    echo "missed $name"
  else
    caught=$((caught + 1))
    echo "caught $name: $(words)"
  fi
done
echo "$caught of ${#patches[@]} faults caught; missed: ${missed[*]:-none}"
[ ${#names[@]} -gt 0 ] || [ $caught -ge "$least" ]
