#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes docs/road_files.txt anew: the source files with a function that runs when the command in docs/road.md
# compiles the matrix product and `stria run` then runs it. tests/road_test.cc compares the list with the page.
#   tools/road_coverage.sh           builds build/coverage (gcc, --coverage), runs, writes the list
#   tools/road_coverage.sh --check   the same, but leaves the list and says how it differs
# Only .cc files of core, plugins, sdk and tools count: not headers, and not what runs before main or in the
# process that tries a plugin. The first build takes minutes.
# Examples:
#   tools/road_coverage.sh && git diff docs/road_files.txt
#   CMAKE_BUILD_PARALLEL_LEVEL=1 nice tools/road_coverage.sh --check

usage() { sed -n '3,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
check=no
case "${1:-}" in
  "") ;;
  --check) check=yes ;;
  -h|--help) usage; exit 0 ;;
  *) echo "road_coverage.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
esac
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
build=$root/build/coverage
page=docs/road.md
list=docs/road_files.txt
fail() { echo "road_coverage.sh: $*" >&2; exit 1; }
command -v gcov >/dev/null || fail "no gcov; it comes with gcc"
[[ "$(gcov --version)" == *" $(g++ -dumpfullversion)"$'\n'* ]] || fail "gcov and g++ are of different versions"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block START: the lines of the page's code block that begins with START.
block() {
  awk -v start="$1" '
    /^```/ { inside = !inside; first = 1; next }
    inside && first { found = index($0, start) == 1; any = any || found; first = 0 }
    inside && found
    END { exit !any }
  ' "$page" || fail "$page has no code block that begins with '$1'"
}

build_coverage() {
  CXX=g++ cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS='--coverage -O0' \
    -DSTRIA_BUILD_TESTS=OFF >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log" >&2; exit 1; }
  cmake --build "$build" --target stria stria_plugin_llvm_cpu
}

# The command leaves by a system call, and counts are written by what exit() calls. This library, loaded first,
# makes the one the other. A child process ends as it would.
build_exit_library() {
  gcc -shared -fPIC -O1 -x c - -o "$work/exit.so" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t command;

__attribute__((constructor)) static void begin(void) {
  command = getpid();
  unsetenv("LD_PRELOAD");
}

long syscall(long number, ...) {
  va_list list;
  long argument[6];
  va_start(list, number);
  for (int i = 0; i < 6; ++i) argument[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_exit_group && getpid() == command) {
    command = 0;
    exit((int)argument[0]);
  }
  long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
END
}

# counted CACHE COMMAND…: runs it in the work folder, with this cache folder, and adds to the counts.
counted() {
  local cache=$work/$1
  shift
  (cd "$work" && env -i PATH="$build/bin:$PATH" HOME="$work" XDG_CACHE_HOME="$cache" \
    LD_PRELOAD="$work/exit.so" "$@" >"$work/output" 2>&1) || { cat "$work/output" >&2; fail "this failed: $*"; }
}

# Tile sizes follow from rates that the plugin measures and keeps in the cache, and some files run for certain
# sizes only. Set rates, in operations and bytes per cycle, give the same list in every run, and the page's tiles.
set_rates() {
  counted measured stria hw --device llvm_cpu
  mkdir -p "$work/cache/stria"
  local file
  for file in "$work"/measured/stria/llvm_cpu-*.json; do
    sed -E -e 's/("ops_per_cycle": )[0-9.e+-]+/\1220/' -e 's/("l1_bytes": )[0-9.e+-]+/\1320/' \
      -e 's/("l2_bytes": )[0-9.e+-]+/\1150/' -e 's/("l3_bytes": )[0-9.e+-]+/\180/' \
      -e 's/("dram_bytes": )[0-9.e+-]+/\130/' "$file" >"$work/cache/stria/${file##*/}"
  done
}

run_road() {
  local command shapes
  block 'function mm(' >"$work/mm.tile"
  command=$(block 'stria compile mm.tile' | sed 's/\\$//' | tr '\n' ' ')
  read -r -a command <<<"$command"
  mapfile -t shapes < <(printf '%s\n' "${command[@]}" | grep -A1 -x -e --shape | grep -v -x -e --)
  set_rates
  find "$build" -name '*.gcda' -delete
  counted cache "${command[@]}"
  counted cache stria run mm.tile --device llvm_cpu "${shapes[@]}" --input A=random:1 --input B=random:2
}

# The files of this tree with a function that was called. gcov prints each source file behind its name, and each
# function behind how often it was called.
list_files() {
  # From there, as the compiler was: a file that is compiled alone is named from the build folder.
  cd "$build"
  find "$build" -name '*.gcda' -print0 |
    xargs -0 gcov --stdout --branch-probabilities 2>/dev/null |
    awk -v root="$root/" '
      /^ +-: +0:Source:/ {
        file = substr($0, index($0, "Source:") + 7)
        sub(/^\.\.\/\.\.\//, root, file)
        file = index(file, root) == 1 ? substr(file, length(root) + 1) : ""
      }
      /^function / && $4 > 0 && $2 !~ /_GLOBAL__sub_|__static_initialization_and_destruction/ &&
        file ~ /^(core|plugins|sdk|tools)\/.*\.cc$/ { print file }' |
    LC_ALL=C sort -u
}

build_coverage
build_exit_library
run_road
(list_files) >"$work/files"
for file in core/tile/syntax/parser.cc plugins/llvm_cpu/library.cc tools/stria/main.cc; do
  grep -q -x "$file" "$work/files" || fail "the counts say that $file has not run; the list stays as it is"
done
if [ "$check" = yes ]; then
  diff -u --label "$list" --label "what runs now" "$list" "$work/files" || fail "$list is not what runs"
  exit
fi
cp "$work/files" "$list"
git --no-pager diff --stat -- "$list"
