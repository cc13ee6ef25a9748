#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the release suite.
#   tools/test.sh              release build, all tests
#   tools/test.sh --sanitize   label `quick` under address + undefined and under thread sanitizers
#   tools/test.sh --fuzz       each fuzzer for 20 seconds (clang and libFuzzer)
#   tools/test.sh --all        all of the above, and the full sweep: what takes minutes (label `full`);
#                              goes on after a part that fails, and says in the end which did

usage() { sed -n '3,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
mode=release
case "${1:-}" in
  "") ;;
  --sanitize) mode=sanitize ;;
  --fuzz) mode=fuzz ;;
  --all) mode=all ;;
  -h|--help) usage; exit 0 ;;
  *) echo "test.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
esac

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# What is printed last: seconds of each part, and each suite's line "N passed, M failed".
time_log=$(mktemp)
closing_lines=$(mktemp)
trap 'rm -f "$time_log" "$closing_lines"' EXIT

# timed NAME COMMAND…: runs it and keeps its seconds for the end.
timed() {
  local name=$1 begin=$SECONDS status=0
  shift
  "$@" || status=$?
  printf '%6d s  %s\n' $((SECONDS - begin)) "$name" >>"$time_log"
  return "$status"
}

# print_test_times PRESET LOG: the seconds in ctest's output LOG, summed up by folder of tests/.
print_test_times() {
  local root="build/$1/tests" files
  mapfile -t files < <(find "$root" -name CTestTestfile.cmake)
  say "seconds of tests by folder; two run at once"
  awk -v root="$root" '
    # A test is declared in the folder that it is of: add_test([=[name]=] …) or add_test(name …).
    FILENAME ~ /CTestTestfile.cmake$/ && match($0, /^ *add_test\((\[=\[)?[A-Za-z0-9_]+/) {
      name = substr($0, RSTART, RLENGTH); sub(/.*[[(]/, "", name)
      folder[name] = substr(FILENAME, length(root) + 2, length(FILENAME) - length(root) - 21)
    }
    # "  1/153 Test   #1: base_test ....   Passed    0.05 sec"
    FILENAME !~ /CTestTestfile.cmake$/ && match($0, /Test +#[0-9]+: [A-Za-z0-9_]+/) && $NF == "sec" {
      name = substr($0, RSTART, RLENGTH); sub(/.*: /, "", name)
      seconds[name in folder ? folder[name] : "of no folder"] += $(NF - 1)
    }
    END { for (f in seconds) printf "%8.1f  %s\n", seconds[f], f == "" ? "tests" : f }
  ' "${files[@]}" "$2" | sort -rn
}

# run_suite PRESET [ctest option…]: runs ctest; its closing line is "N passed, M failed".
run_suite() {
  local preset=$1 log status=0
  shift
  log=$(mktemp)
  say "tests: preset $preset"
  ctest --preset "$preset" -j 2 "$@" 2>&1 | tee "$log" || status=$?
  # What the generated programs covered; ctest keeps the output of tests that pass to itself.
  sed -n '/^coverage of 300 generated programs/,/^\[/{/^\[/!p}' "build/$preset/Testing/Temporary/LastTest.log"
  local failed total
  total=$(sed -n 's/.* tests failed out of \([0-9]*\)$/\1/p' "$log" | tail -1)
  failed=$(sed -n 's/.*, \([0-9]*\) tests failed out of .*/\1/p' "$log" | tail -1)
  print_test_times "$preset" "$log"
  rm -f "$log"
  if [ -z "$total" ] || [ "$total" -eq 0 ]; then
    echo "test.sh: no test ran" >&2
    return 1
  fi
  echo "$((total - failed)) passed, $failed failed" >>"$closing_lines"
  return "$status"
}

# stage NAME COMMAND…: runs it; one that fails is remembered, and the next ones run all the same.
failed=()
stage() {
  local name=$1 status
  shift
  set +e
  (set -e; "$@")
  status=$?
  set -e
  [ "$status" -eq 0 ] || failed+=("$name")
}
# build_and_run PRESET [ctest option…]
build_and_run() {
  local preset=$1
  timed "build of $preset" build_preset "$preset"
  shift
  timed "tests of $preset" run_suite "$preset" "$@"
}
release_suite() { build_and_run release; }
# Tests of the configuration `full`: no other run of ctest has them.
full_suite() { timed "tests of the full sweep" run_suite release -C full -L full; }
fuzz_suite() { build_and_run fuzz; }
sanitizer_suite() { build_and_run "$1" -L quick; }

timed packages install_packages "${build_packages[@]}"
[ "$mode" = fuzz ] || timed "packages for tests" install_packages "${test_packages[@]}"
[ "$mode" = fuzz ] || timed "drivers for tests" tools/drivers.sh
[ "$mode" = fuzz ] || timed "packages for tests of onnx" tools/onnx/packages.sh
# Tests that need a driver, a browser or a tool of build/drivers fail without it, in place of saying so.
export STRIA_TEST_NEEDS_DRIVERS=1
case $mode in release|all) stage release release_suite ;; esac
[ "$mode" != all ] || stage full full_suite
case $mode in fuzz|all)
  timed "packages for fuzzing" install_packages "${fuzz_packages[@]}"
  stage fuzz fuzz_suite ;;
esac
case $mode in sanitize|all)
  for preset in asan tsan; do stage "$preset" sanitizer_suite "$preset"; done ;;
esac
say "what took how long"
cat "$time_log" "$closing_lines"
[ ${#failed[@]} -eq 0 ] || { echo "test.sh: failed: ${failed[*]}" >&2; exit 1; }
