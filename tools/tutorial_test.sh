#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of sdk/guide/tutorial.md, as they stand there, in a bare folder against an
# installed stria, for a plugin in C++ and for one in C; prints how long they took and how many lines of
# the project were changed, those of the chip that stands for a vendor's library among them.
#   tools/tutorial_test.sh --build BUILD [LANG…]   installs from a build folder, then as below
#   tools/tutorial_test.sh PREFIX [LANG…]          with the installation in PREFIX
# LANG is c++ or c; default: both.
set -euo pipefail
fail() { printf 'tutorial_test: %s\n' "$*" >&2; exit 1; }
[ $# -ge 1 ] || { sed -n '6,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
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
[ $# -gt 0 ] || set -- c++ c
text=$prefix/share/doc/stria/sdk/guide/tutorial.md
[ -f "$text" ] || fail "there is no $text"

# The blocks of the page, one after the other; the project as it was made is kept for the count.
{
  echo 'set -euo pipefail'
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0; next } inside' "$text" |
    sed 's#^cd mychip$#cp -r mychip as_made \&\& cd mychip#'
} >"$work/commands.sh"
[ "$(grep -c '^stria ' "$work/commands.sh")" -ge 5 ] || fail "the page has too few commands"
[ "$(grep -c -- ' --lang c++ ' "$work/commands.sh")" -eq 1 ] || fail "the page does not say --lang c++ once"
# A command that is to fail stands in an `if`: `set -e` looks away from what follows a `!`.
! grep -nE '^ *! ' "$work/commands.sh" || fail "a command with '!' cannot fail the test: write 'if …; then false; fi'"
# The page says so to whoever has ninja and no make.
generator=()
if ! PATH=/usr/bin:/bin command -v make >/dev/null; then generator=(CMAKE_GENERATOR=Ninja); fi

# changed FOLDER EXCLUDED…: lines of the project that are not as they were made.
changed() {
  local folder=$1 excluded=()
  shift
  for name in build installed "$@"; do excluded+=(-x "$name"); done
  diff -rN "${excluded[@]}" "$folder/as_made" "$folder/mychip" | grep -c '^>' || true
}

# try LANG SECONDS LINES: the goals.
try() {
  local lang=$1 most_seconds=$2 most_lines=$3 folder=$work/bare_$1 begin seconds lines own
  mkdir -p "$work/home_$lang" "$folder"
  sed "s/ --lang c++ / --lang $lang /" "$work/commands.sh" >"$work/commands_$lang.sh"
  begin=$(date +%s)
  (cd "$folder" && env -i PATH="/usr/bin:/bin" HOME="$work/home_$lang" STRIA="$prefix" "${generator[@]}" ${CC:+CC="$CC"} ${CXX:+CXX="$CXX"} \
    bash "$work/commands_$lang.sh") >"$work/log" 2>&1 || { tail -40 "$work/log" >&2; fail "--lang $lang: a command of the page fails"; }
  seconds=$(($(date +%s) - begin))
  lines=$(changed "$folder")
  own=$(changed "$folder" 'chip.*' chipcc)
  echo "tutorial, $lang: $seconds s, $lines lines written or changed, $((lines - own)) of them the chip (goals: $most_seconds s, $most_lines lines)"
  [ "$seconds" -le "$most_seconds" ] || fail "--lang $lang: $seconds s, more than $most_seconds"
  [ "$lines" -le "$most_lines" ] || fail "--lang $lang: $lines lines were changed, more than $most_lines"
  [ "$own" -lt "$lines" ] || fail "the page has no chip"
}
for lang in "$@"; do
  case $lang in
    c++) try c++ 1800 300 ;;
    c) try c 2400 350 ;;
    *) fail "unknown language '$lang': c++ or c" ;;
  esac
done
