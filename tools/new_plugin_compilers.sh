#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that a new project builds without a warning with every compiler that is promised: each of them
# that is there builds the C and the C++ project against an installed stria, in several modes, and runs
# their unit tests.
#   tools/new_plugin_compilers.sh --build BUILD   installs from a build folder, then as below
#   tools/new_plugin_compilers.sh PREFIX          with the installation in PREFIX
# In Debian 12: g++-12 clang-14 clang-15 clang-16 clang-19, and rustc (1.63).
set -euo pipefail
fail() { printf 'new_plugin_compilers: %s\n' "$*" >&2; exit 1; }
[ $# -ge 1 ] || { sed -n '6,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --build ]; then
  cmake --install "$2" --prefix "$work/prefix" >/dev/null
  prefix=$work/prefix
else
  prefix=$(cd "$1" && pwd)
fi
generator=Ninja
command -v ninja >/dev/null || generator="Unix Makefiles"
for lang in c c++; do
  (cd "$work" && "$prefix/bin/stria" new-plugin "try_${lang//+/p}" --lang "$lang" --memory own --queue own --codegen c >/dev/null)
done
(cd "$work" && "$prefix/bin/stria" new-plugin try_rust --lang rust --memory own --queue own --codegen c >/dev/null)

# try PROJECT CC CXX STANDARD FLAGS…
try() {
  local project=$1 cc=$2 cxx=$3 standard=$4 build
  shift 4
  build=$work/build
  rm -rf "$build"
  if ! {
    CC=$cc CXX=$cxx CFLAGS=-Werror CXXFLAGS="-Werror $*" cmake -S "$work/$project" -B "$build" -G "$generator" \
      -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD="$standard" -DCMAKE_CXX_EXTENSIONS=OFF &&
      cmake --build "$build" -j "$(nproc)" && ctest --test-dir "$build" --output-on-failure
  } >"$work/log" 2>&1; then
    tail -40 "$work/log" >&2
    fail "$project with $cxx, C++$standard $*"
  fi
  echo "clean: $project with $cxx, C++$standard $*"
}

tried=0
for compiler in "gcc-12 g++-12" "clang-14 clang++-14" "clang-15 clang++-15" "clang-16 clang++-16" "clang-19 clang++-19"; do
  read -r cc cxx <<<"$compiler"
  if ! command -v "$cxx" >/dev/null; then
    echo "left out: there is no $cxx"
    continue
  fi
  try try_c "$cc" "$cxx" 17
  try try_cpp "$cc" "$cxx" 17 -Wshadow -Wconversion
  try try_cpp "$cc" "$cxx" 20 -fno-exceptions -fno-rtti
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || fail "none of the compilers is there"
# The oldest Rust that is promised is the system's own.
if [ -x /usr/bin/cargo ]; then
  PATH=/usr/bin:/bin RUSTFLAGS="-D warnings" CARGO_HOME=$work/cargo "$work/try_rust/make_plugin.sh" "$prefix" "$work/plugins" >"$work/log" 2>&1 ||
    { tail -40 "$work/log" >&2; fail "try_rust with $(/usr/bin/rustc --version)"; }
  echo "clean: try_rust with $(/usr/bin/rustc --version)"
else
  echo "left out: there is no /usr/bin/cargo"
fi
echo "new_plugin_compilers: all well"
