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
install_packages "${build_packages[@]}"

# run_suite PRESET [ctest option…]: runs ctest and ends with one line "N passed, M failed".
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
  rm -f "$log"
  if [ -z "$total" ] || [ "$total" -eq 0 ]; then
    echo "test.sh: no test ran" >&2
    return 1
  fi
  echo "$((total - failed)) passed, $failed failed"
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
release_suite() { build_preset release && run_suite release; }
# Tests of the configuration `full`: no other run of ctest has them.
full_suite() { run_suite release -C full -L full; }
fuzz_suite() { build_preset fuzz && run_suite fuzz; }
sanitizer_suite() { build_preset "$1" && run_suite "$1" -L quick; }

case $mode in release|all) stage release release_suite ;; esac
[ "$mode" != all ] || stage full full_suite
case $mode in fuzz|all)
  install_packages "${fuzz_packages[@]}"
  stage fuzz fuzz_suite ;;
esac
case $mode in sanitize|all)
  for preset in asan tsan; do stage "$preset" sanitizer_suite "$preset"; done ;;
esac
[ ${#failed[@]} -eq 0 ] || { echo "test.sh: failed: ${failed[*]}" >&2; exit 1; }
