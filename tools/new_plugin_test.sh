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
# Warnings are errors, and a build uses all cores; the printed commands stay as they are.
flags=(CFLAGS=-Werror "CXXFLAGS=-Werror ${CXXFLAGS:-}" "RUSTFLAGS=-D warnings" "CMAKE_BUILD_PARALLEL_LEVEL=$(nproc)")

# What the printed commands leave to do: the unit test of C and C++, in the folder of the build, and
# the plugin as an installation has it, in the folder "plugins".
finish_native() {
  bare ctest --test-dir "$1/build" --output-on-failure &&
    bare cmake --install "$1/build" --prefix "$1/installed" && ln -s installed/lib/stria/plugins "$1/plugins"
}
finish_rust() { bare "${flags[@]}" "$1/make_plugin.sh" "$prefix" "$1/plugins"; }

# Runs every program as its "# run:" lines say, with and without the scratchpad recipe, and compares how
# many of its kernels are interpreted: none, or all.
count_interpreted() {
  local project=$1 codegen=$2 file run stage profile
  for file in "$project"/programs/*.tile; do
    while IFS= read -r run; do
      for stage in 0 1; do
        # shellcheck disable=SC2086
        profile=$(cd "$project" && bare STRIA_PLUGIN_PATH="$project/plugins" "$stria" run "$file" \
          --device "$(basename "$project")" $run --set STAGE=$stage --profile 2>&1) || fail "$file, STAGE=$stage: $profile"
        if [ "$codegen" = c ]; then
          ! grep -q interpreted <<<"$profile" || fail "$file, STAGE=$stage: a kernel is interpreted: $profile"
        else
          grep -qE '^([0-9]+) of \1 kernels? (is|are) interpreted: ' <<<"$profile" ||
            fail "$file, STAGE=$stage: not all kernels are interpreted: $profile"
        fi
      done
    done < <(sed -n 's/^# run: //p' "$file")
  done
}

# The pass of the project's own: it marks loops, and changes no result.
try_pass() {
  local project=$1 name out
  name=$(basename "$project")
  local run=(--device "$name" --set OWN_PASS=1 --shape "A=20,5" --shape "B=5")
  out=$(bare STRIA_PLUGIN_PATH="$project/plugins" "$stria" compile "$project/programs/integers.tile" "${run[@]}" \
    --input A=random:1:i8 -o - 2>&1) || fail "$name: the pass of its own fails: $out"
  grep -q "#${name}_short=5 block \[k:5\]" <<<"$out" || fail "$name: the pass of its own marks nothing: $out"
  out=$(bare STRIA_PLUGIN_PATH="$project/plugins" "$stria" run "$project/programs/integers.tile" "${run[@]}" \
    --input A=random:1:i8 --input B=random:2:i8 --check 2>&1) || fail "$name: wrong with its own pass: $out"
}

# check.sh takes nothing for right that it has not run, and no list that it cannot read.
try_check() {
  local project=$1 copy=$work/checked said
  local check=(bare "$copy/check.sh" "$project/plugins" "$stria")
  refuses() {
    said=$("${check[@]}" 2>&1) && fail "check.sh is content: $1"
    grep -qF -- "$2" <<<"$said" || fail "check.sh does not say '$2' ($1): $said"
    fresh
  }
  fresh() {
    rm -rf "$copy"
    mkdir "$copy"
    cp -r "$project"/{programs,check.sh,expected_failures.txt} "$copy"
  }
  fresh
  sed -i 's/^# run: /# ran: /' "$copy/programs/softmax.tile"
  refuses "a program without a run" "softmax has no line '# run: OPTIONS'"
  rm "$copy"/programs/*
  refuses "no programs" "there are no programs"
  echo "softmax tomorrow" >>"$copy/expected_failures.txt"
  refuses "a line that is none" "no line of the form NAME YYYY-MM-DD REASON: softmax tomorrow"
  echo "softmax 2026-13-01 the moon" >>"$copy/expected_failures.txt"
  refuses "a day that is none" "there is no day 2026-13-01"
  echo "softmacks 2999-01-01 a slip" >>"$copy/expected_failures.txt"
  refuses "a program that is not there" "there is no programs/softmacks.tile"
  echo "softmax 2999-01-01 it is right" >>"$copy/expected_failures.txt"
  refuses "a program that is right" "RIGHT     softmax"
  rm -rf "$copy"
}

# A plugin without estimates is one in every language: the cases about them are skipped.
try_estimates() {
  local said
  said=$(bare "$stria" conform "$1"/plugins/"$(basename "$1")" --level 4 --only 'R.estimate.*' --all-cases 2>&1) || true
  grep -q '^SKIP  *R\.estimate\.' <<<"$said" || fail "$(basename "$1"): conform skips no case about estimates: $said"
  ! grep -E '^(PASS|FAIL|UNSUPPORTED)  *R\.estimate\.' <<<"$said" ||
    fail "$(basename "$1"): conform does not skip what is about estimates: $said"
}

# A mistake in a JSON file: the message names the file to edit, not the copy of the build, and nothing says
# so where the plugin is installed.
try_mistakes() {
  local project=$1 lang=$2 name built said file
  name=$(basename "$project")
  for file in hw/npu.json passes/npu.json plugin.json; do
    cp "$project/$file" "$work/right.json"
    sed -i '0,/^{/s//{"nmae": 1,/' "$project/$file"
    if [ "$lang" = rust ]; then
      bare "${flags[@]}" "$project/make_plugin.sh" "$prefix" >"$work/log" 2>&1
      built=$project/target/plugins
    else
      bare cmake --build "$project/build" >"$work/log" 2>&1
      built=$project/build/lib/stria/plugins
    fi
    said=$(bare STRIA_PLUGIN_PATH="$built" "$stria" run "$project/programs/integers.tile" --device "$name" \
      --input A=random:1:i8 --input B=random:2:i8 --shape A=20,5 --shape B=5 2>&1) && fail "$name: a mistake in $file is not seen: $said"
    grep -qF "$project/$file" <<<"$said" || fail "$name: a mistake in $file does not name it: $said"
    ! grep -qF "$built" <<<"$said" || fail "$name: a mistake in $file names the copy: $said"
    mv "$work/right.json" "$project/$file"
  done
  [ ! -e "$project/plugins/$name/copied_from.txt" ] || fail "$name: copied_from.txt is installed"
}

# What the pages have the author make in the project is nothing to commit.
try_ignored() {
  local project=$1 folder
  git -C "$project" init -q
  for folder in installed stages wrong; do
    git -C "$project" check-ignore -q "$folder/file" || fail "$(basename "$project"): .gitignore lacks $folder"
  done
  git -C "$project" check-ignore -q hw/npu.json && fail "$(basename "$project"): .gitignore has sources"
  rm -rf "$project/.git"
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
  # What it says comes next, as printed, from where it was said.
  sed -n '1,/^next:$/!s/^  //p' "$work/log" >"$work/next.sh"
  [ "$(wc -l <"$work/next.sh")" -ge 3 ] || fail "$choice: too few commands come next"
  (cd "$work" && bare "${flags[@]}" bash -eux "$work/next.sh") >"$work/log" 2>&1 ||
    { tail -60 "$work/log" >&2; fail "$choice: a command that comes next fails"; }
  [ "$(grep -c '^right ' "$work/log")" -ge 4 ] || fail "$choice ran too few programs: $(cat "$work/log")"
  finish=finish_native
  [ "$lang" != rust ] || finish=finish_rust
  $finish "$work/$name" >"$work/log" 2>&1 ||
    { tail -60 "$work/log" >&2; fail "$choice: its unit test fails, or it is not installed"; }
  (cd "$work" && bare "${flags[@]}" "$name/ci/ci.sh" "$prefix") >"$work/log" 2>&1 ||
    { tail -60 "$work/log" >&2; fail "$choice: ci/ci.sh fails"; }
  grep -q '^level 2 of 2 asked for' "$work/log" || fail "$choice: ci/ci.sh prints no verdict"
  count_interpreted "$work/$name" "$codegen"
  [ "$codegen" != c ] || try_pass "$work/$name"
  try_ignored "$work/$name"
  try_estimates "$work/$name"
  try_mistakes "$work/$name" "$lang"
  [ -n "${checked:-}" ] || try_check "$work/$name"
  checked=1
  [ -z "$(ls -A "$work/tmp")" ] || fail "$choice leaves files behind: $(ls -A "$work/tmp")"
  strip -o "$work/stripped" "$work/$name"/plugins/*/*.so
  size=$(($(stat -c %s "$work/stripped") / 1024))
  [ "$size" -le 3072 ] || fail "$choice: the plugin has $size KiB, more than 3072"
  echo "$choice: right after $(($(date +%s) - begin)) s, $size KiB"
  rm -rf "${work:?}/$name"
done
echo "new_plugin_test: all well"
