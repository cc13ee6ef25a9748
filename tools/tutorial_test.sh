#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of sdk/guide/tutorial.md, as they stand there, in a bare folder against an
# installed stria; prints how long they took and how many lines of the project were changed.
#   tools/tutorial_test.sh --build BUILD   installs from a build folder, then as below
#   tools/tutorial_test.sh PREFIX          with the installation in PREFIX
set -euo pipefail
fail() { printf 'tutorial_test: %s\n' "$*" >&2; exit 1; }
[ $# -ge 1 ] || { sed -n '5,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --build ]; then
  cmake --install "$2" --prefix "$work/prefix" >/dev/null
  prefix=$work/prefix
else
  prefix=$(cd "$1" && pwd)
fi
text=$prefix/share/doc/stria/sdk/guide/tutorial.md
[ -f "$text" ] || fail "there is no $text"

# The blocks of the page, one after the other; the project as it was made is kept for the count.
{
  echo 'set -euo pipefail'
  awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0; next } inside' "$text" |
    sed 's#^cd mychip$#cp -r mychip as_made \&\& cd mychip#'
} >"$work/commands.sh"
[ "$(grep -c '^stria ' "$work/commands.sh")" -ge 5 ] || fail "the page has too few commands"
# A command that is to fail stands in an `if`: `set -e` looks away from what follows a `!`.
! grep -nE '^ *! ' "$work/commands.sh" || fail "a command with '!' cannot fail the test: write 'if …; then false; fi'"
# The page says so to whoever has ninja and no make.
generator=()
if ! PATH=/usr/bin:/bin command -v make >/dev/null; then generator=(CMAKE_GENERATOR=Ninja); fi
mkdir "$work/home" "$work/bare"
begin=$(date +%s)
(cd "$work/bare" && env -i PATH="/usr/bin:/bin" HOME="$work/home" STRIA="$prefix" "${generator[@]}" ${CC:+CC="$CC"} ${CXX:+CXX="$CXX"} \
  bash "$work/commands.sh") >"$work/log" 2>&1 || { tail -40 "$work/log" >&2; fail "a command of the page fails"; }
seconds=$(($(date +%s) - begin))
lines=$(diff -rN -x build -x installed "$work/bare/as_made" "$work/bare/mychip" | grep -c '^>' || true)
echo "tutorial: $seconds s, $lines lines written or changed (goals: 1800 s, 300 lines)"
[ "$lines" -le 300 ] || fail "$lines lines were changed, more than 300"
