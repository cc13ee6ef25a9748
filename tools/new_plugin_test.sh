#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that what `stria new-plugin` writes builds and is right as it is, from the installed package
# alone: each project is made in a bare folder, built, unit-tested, and runs its programs.
#   tools/new_plugin_test.sh --build BUILD [CHOICE…]   installs from a build folder, then as below
#   tools/new_plugin_test.sh PREFIX [CHOICE…]          with the installation in PREFIX
# A CHOICE is LANG-MEMORY-QUEUE-CODEGEN, such as c++-own-host-c, or `all` (default). Rust is left out, and
# said so, where there is no cargo. CC, CXX and CXXFLAGS are the compilers and flags of C and C++.
set -euo pipefail
fail() { printf 'new_plugin_test: %s\n' "$*" >&2; exit 1; }
[ $# -ge 1 ] || { sed -n '5,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --build ]; then
  cmake --install "$2" --prefix "$work/prefix" >/dev/null
  prefix=$work/prefix
  shift 2
else
  prefix=$(cd "$1" && pwd)
  shift
fi
stria=$prefix/bin/stria

choices=("$@")
if [ $# -eq 0 ] || [ "$1" = all ]; then
  choices=()
  for lang in c c++ rust; do for memory in host own; do for queue in host own; do for codegen in none c; do
    choices+=("$lang-$memory-$queue-$codegen")
  done; done; done; done
fi

# Nothing of the surroundings but what finds compilers.
bare() {
  env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" STRIA_PREFIX="$prefix" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" ${CC:+CC="$CC"} ${CXX:+CXX="$CXX"} "$@"
}
mkdir -p "$work/home" "$work/tmp"
! command -v ninja >/dev/null || generator=(-G Ninja)

# Builds, unit-tests and installs a project of C or C++ into its folder "plugins".
build_native() {
  cmake -S "$1" -B "$1/build" "${generator[@]}" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS="-Werror ${CXXFLAGS:-}" &&
    cmake --build "$1/build" && ctest --test-dir "$1/build" --output-on-failure &&
    cmake --install "$1/build" --prefix "$1/installed" && ln -s installed/lib/stria/plugins "$1/plugins"
}
build_rust() {
  RUSTFLAGS="-D warnings" "$1/make_plugin.sh" "$prefix" "$1/plugins" &&
    (cd "$1" && RUSTFLAGS="-D warnings" cargo test --release --offline)
}

for choice in "${choices[@]}"; do
  IFS=- read -r lang memory queue codegen <<<"$choice"
  if [ "$lang" = rust ] && ! command -v cargo >/dev/null; then
    echo "left out: $choice (there is no cargo)"
    continue
  fi
  name=try_${lang//+/p}_${memory}_${queue}_$codegen
  begin=$(date +%s)
  (cd "$work" && bare "$stria" new-plugin "$name" --lang "$lang" --memory "$memory" --queue "$queue" \
    --codegen "$codegen" >"$work/log" 2>&1) || { cat "$work/log" >&2; fail "$choice is not written"; }
  ! grep -rniE '(^|[^a-z])acme' "$work/$name" || fail "$choice: the templates' own name is left"
  build=build_native
  [ "$lang" != rust ] || build=build_rust
  export -f build_native build_rust 2>/dev/null || true
  (set +e; export prefix CXXFLAGS STRIA_PREFIX="$prefix"; $build "$work/$name") >"$work/log" 2>&1 ||
    { tail -60 "$work/log" >&2; fail "$choice does not build, or its unit test fails"; }
  said=$(bare "$work/$name/check.sh" "$work/$name/plugins" "$stria" 2>&1) || fail "$choice is not right: $said"
  [ "$(grep -c '^right ' <<<"$said")" -ge 4 ] || fail "$choice ran too few programs: $said"
  # What has a generator uses it, with and without the scratchpad recipe.
  if [ "$codegen" = c ]; then
    profile=$(cd "$work/$name" && bare STRIA_PLUGIN_PATH="$work/$name/plugins" "$stria" run programs/softmax.tile \
      --device "$name" --shape A=64,64 --input A=random:1 --profile 2>&1) || fail "$choice: $profile"
    ! grep -q interpreted <<<"$profile" || fail "$choice leaves a kernel to the interpreter: $profile"
  fi
  [ -z "$(ls -A "$work/tmp")" ] || fail "$choice leaves files behind: $(ls -A "$work/tmp")"
  strip -o "$work/stripped" "$work/$name"/plugins/*/*.so
  size=$(($(stat -c %s "$work/stripped") / 1024))
  [ "$size" -le 3072 ] || fail "$choice: the plugin has $size KiB, more than 3072"
  echo "$choice: right after $(($(date +%s) - begin)) s, $size KiB"
  rm -rf "${work:?}/$name"
done
echo "new_plugin_test: all well"
