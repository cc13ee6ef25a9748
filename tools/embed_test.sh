#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that an installed stria can be embedded: builds examples/ against it and runs them.
#   tools/embed_test.sh --build BUILD   installs from a build folder, moves the installation, then as below
#   tools/embed_test.sh PREFIX          checks the installation in PREFIX
# Needs, besides what is in PREFIX and examples/ (beside tools/): cmake, g++, make or ninja-build to build;
# libisl23, libgmp10, libzstd1, zlib1g to run. That is all a user of the package needs on Debian 12.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() { printf 'embed_test: %s\n' "$*" >&2; exit 1; }
say() { printf '== %s\n' "$*"; }

[ $# -ge 1 ] || { sed -n '4,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$1" = --build ]; then
  say "install, and move the prefix"
  cmake --install "$2" --prefix "$work/first" >/dev/null
  mv "$work/first" "$work/moved prefix"
  prefix="$work/moved prefix"
else
  prefix=$(cd "$1" && pwd)
fi
library=$(readlink -f "$prefix/lib/libstria.so")
[ -f "$library" ] || fail "there is no libstria.so in $prefix/lib"

# Runs a command with nothing set but what follows as NAME=VALUE.
bare() { env -i PATH=/usr/bin:/bin "$@"; }

# expect TEXT COMMAND…: runs it and looks for the text in what it prints.
expect() {
  local text=$1 out
  shift
  out=$(bare "$@" 2>&1) || fail "'$*' failed: $out"
  printf '%s\n' "$out"
  grep -qF -- "$text" <<<"$out" || fail "'$*' does not print '$text'"
}

say "devices, with nothing set"
expect "reference:0" "$prefix/bin/stria" devices
expect "llvm_cpu:0" "$prefix/bin/stria" devices --json >/dev/null

say "links between installed texts hold"
texts=$prefix/share/doc/stria
[ -f "$texts/README.md" ] || fail "there are no texts in $texts"
(cd "$texts" && find . -name '*.md' | sort | while IFS= read -r page; do
  # Not what stands in blocks of code and in quotes of code, addresses, and places in the page itself.
  awk '/^ *```/ { inside = !inside; next } !inside' "$page" | sed 's/`[^`]*`//g' | { grep -oE '\]\([^)# ]+' || true; } |
    sed 's/^](//' | { grep -vE '^[a-z]+:' || true; } | sort -u | while IFS= read -r link; do
    echo "$page $link"
  done
done) >"$work/links"
[ "$(wc -l <"$work/links")" -gt 200 ] || fail "the texts have too few links: $(wc -l <"$work/links")"
broken=$(while read -r page link; do
  [ -e "$texts/$(dirname "$page")/$link" ] || echo "$page names $link"
done <"$work/links")
[ -z "$broken" ] || fail "links of installed texts that do not hold: $broken"

say "the README is for whoever has the package alone, and its first commands run"
for word in build/release demo.sh tools/ '<!--' '-->'; do
  ! grep -nF -- "$word" "$texts/README.md" || fail "the installed README says '$word'"
done
mkdir "$work/first_program" "$work/home"
{
  echo 'set -euo pipefail'
  awk '/^These commands list the devices/ { inside = 1 } /^An ONNX model/ { inside = 0 } inside && /^    /' "$texts/README.md"
} >"$work/first_program/commands.sh"
awk '/`matmul.tile`:$/ { inside = 1 } /^These commands/ { inside = 0 } inside && /^    /' "$texts/README.md" |
  sed 's/^    //' >"$work/first_program/matmul.tile"
[ "$(grep -c 'stria ' "$work/first_program/commands.sh")" -eq 2 ] || fail "the README has no first commands"
(cd "$work/first_program" && env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$work/home" bash commands.sh) >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; fail "a command of the README fails"; }
grep -q '^check C: .*: ok$' "$work/log" || fail "the README's first program is not checked: $(cat "$work/log")"

say "the library exports the public classes and nothing else, and needs what is promised"
public='Runtime|Device|Pick|Tensor|MappedTensor|Program|ProgramInput|OnnxModel|OnnxInput|Executable|Event|HostTensor|Status|DeviceSelector|SelectorTerm|ProgramRunner'
public+='|SplitExecutable|SplitRun|SplitRunner|SplitTensor|MoveRate|DeviceLink|Conformance|Quarantine'
functions='name_of|parse_data_type|data_type_names|byte_size|bit_width|is_float|is_integer|is_signed_integer'
functions+='|parse_tensor_type|tensor_type_names|is_packed|held_type|bytes_of'
functions+='|parse_device_selector|default_device_selector|select|check_any_kept|check_can_be_kept|text_of|idle_names|objective_of|choose|is_software|asks_predictions'
functions+='|measure_topology|measure_link|measure_to_device|copy_tensor'
functions+='|is_unsigned_integer|has_all_values_of|accumulation_type|compute_type|end_without_value'
edsl='Dim|Index|Form|Tensor|Access|Term|Equality|Default|Input|Function'
edsl_functions='input|named|call|default_to|cond|function|program|operator(\+|\*|==)'
exported=$(nm -D --defined-only "$library" | cut -d' ' -f3- | c++filt | sort)
[ -n "$exported" ] || fail "the library exports nothing"
if others=$(grep -vE "^stria::(($public)::|($functions)\(|($functions)\[abi|edsl::(($edsl)::|($edsl_functions)[[(]))" <<<"$exported") ||
    others=$(grep '::State::' <<<"$exported"); then
  fail "the library exports: $others"
fi
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if others=$(grep -vE '^(libisl|libgmp|libstdc\+\+|libm|libgcc_s|libc|ld-linux-x86-64)\.so' <<<"$needed"); then
  fail "the library needs: $others"
fi

say "the headers include the prefix and the standard library only"
(cd "$prefix/include" && find stria -name '*.h' ! -path 'stria/sdk/*' ! -name plugin.h ! -name experimental.h | sort |
  sed 's/.*/#include <&>/') >"$work/all.cc"
[ "$(wc -l <"$work/all.cc")" -gt 10 ] || fail "there are no headers in $prefix/include"
# Every header that the compiler opens, one a line.
headers_of() { g++ -std=c++20 -M -I "$prefix/include" "$1" | tr -d '\\' | tr ' ' '\n' | grep '\.h$\|/c++/' | sort -u; }
echo '#include <bits/stdc++.h>' >"$work/standard.cc"
if others=$(headers_of "$work/all.cc" | comm -23 - <(headers_of "$work/standard.cc") | grep -v '/stria/'); then
  fail "reachable from a public header: $others"
fi

say "texts and licence are there; nothing names the folder it was built in"
for file in LICENSE docs/tags.md sdk/guide/README.md sdk/guide/slots/executor.submit.md examples/acme_plugin/acme.cc; do
  [ -f "$prefix/share/doc/stria/$file" ] || fail "there is no $file in the package"
done
if others=$(grep -rlF "$root/" "$prefix"); then fail "the source folder is named in: $others"; fi

say "build the examples"
# Ninja where it is, else make.
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
cmake -S "$root/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "cmake failed"; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the examples do not build"; }

say "run them"
for device in auto reference llvm_cpu; do
  expect "4 5 10 11 on" "$work/build/matrix_product/matrix_product" "$device"
done
for device in reference llvm_cpu; do
  expect "5 5 5 5 5 5 on" "$work/build/dense_layer/dense_layer" "$device" 8 4 3 | tail -1
done
expect "Y2 = relu(XW2 + B2);" "$work/build/dense_layer/dense_layer" reference 8 4 3 >/dev/null
out=$(bare "$work/build/convolution/convolution") || fail "convolution: $out"
printf '%s\n' "$out"
for device in reference:0 llvm_cpu:0; do
  grep -E "^$device .*: same$" <<<"$out" >/dev/null || fail "convolution did not run on $device"
done
for device in reference llvm_cpu; do
  expect "all three give the same result" "$work/build/own_pipeline/own_pipeline" \
    "$root/examples/own_pipeline/pipeline.json" "$device" | tail -1
done

say "train a network, and draw its loss"
example="$root/examples/train_convnet"
(cd "$work" && expect "of unseen pictures right" "$work/build/train_convnet/train_convnet" "$example" llvm_cpu)
expect "" "$prefix/bin/stria" run "$example/loss_curve.tile" --device llvm_cpu \
  --input "Loss=$work/loss.npy" --output "Picture=$work/loss.png"
[ -s "$work/loss.png" ] || fail "there is no picture of the loss"

say "a plugin from outside the tree"
expect "Acme 300" STRIA_PLUGIN_PATH="$work/build/lib/stria/plugins" "$prefix/bin/stria" devices
expect "4 5 10 11 on Acme 300" STRIA_PLUGIN_PATH="$work/build/lib/stria/plugins" \
  "$work/build/matrix_product/matrix_product" acme
(umask 002 && cmake --install "$work/build" --prefix "$work/elsewhere" >/dev/null)
expect "Acme 300" HOME="$work/home" STRIA_PLUGIN_PATH="$work/elsewhere/lib/stria/plugins" \
  "$prefix/bin/stria" devices
say "a plugin from outside the tree that generates code"
mkdir "$work/tmp"
generator=(STRIA_PLUGIN_PATH="$work/build/lib/stria/plugins" TMPDIR="$work/tmp")
expect "4 5 10 11 on this machine, in C" "${generator[@]}" "$work/build/matrix_product/matrix_product" c_generator
printf 'function (A[N], B[N]) -> (R, S) { R = tanh(A) * B; S[] = +(R[i]); }\n' >"$work/p.tile"
profile=$(expect "compiled in" "${generator[@]}" "$prefix/bin/stria" run "$work/p.tile" --device c_generator \
  --input A=random:1 --shape A=1000 --input B=random:2 --shape B=1000 --check --profile)
! grep -q interpreted <<<"$profile" || fail "c_generator leaves a kernel to the interpreter: $profile"
! ls "$work/tmp" | grep stria_c_generator || fail "c_generator leaves files behind"
printf 'function (A[M, K], B[K, N]) -> (C) { C[m, n : M, N] = +(A[m, k] * B[k, n]); }\n' >"$work/m.tile"
expect "kernel_0: product_8x8" "${generator[@]}" "$prefix/bin/stria" run "$work/m.tile" --device c_generator \
  --input A=random:1 --shape A=64,40 --input B=random:2 --shape B=40,48 --check --profile >/dev/null
say "a plugin from outside the tree with a pass of its own"
printf 'function (A[N, K]) -> (R) { R[n : N] = +(A[n, k]); }\n' >"$work/s.tile"
expect "" "${generator[@]}" "$prefix/bin/stria" compile "$work/s.tile" --device own_pass --shape A=5,6 -o "$work/s.stripe"
grep -q '#unroll_hint block \[k:6\]' "$work/s.stripe" || fail "own_pass leaves no hint"

say "the reader from C, without CMake"
cat >"$work/reader.c" <<'END'
#include <stdio.h>
#include "stria/reader.h"
int main(void) {
  const char text[] = "stripe 1.0\n0: #program block [] () {\n  0: #main block [] ) {}\n}\n";
  stria_reader_program* program = 0;
  const stria_string name = {"text", 4}, all = {text, sizeof text - 1};
  stria_error* error = stria_reader_read(name, all, &program);
  if (!error) return 1;
  printf("%.*s\n", (int)error->place.size, error->place.data);
  error->release(error);
  return 0;
}
END
isl=$(basename "$(ls /usr/lib/*/libisl.so.[0-9]* /lib/*/libisl.so.[0-9]* 2>/dev/null | grep -m1 'so\.[0-9]*$')")
cc -std=c11 -Wall -Wextra -Werror -pedantic -I "$prefix/include" "$work/reader.c" "$prefix/lib/libstria_reader.a" \
  "-l:$isl" -lstdc++ -lm -o "$work/reader" || fail "a program in C does not link the reader"
expect "text:3:21" "$work/reader"
[ -z "$(nm -g --defined-only "$prefix/lib/libstria_reader.a" | grep ' [A-Z] ' | grep -v ' stria_reader_')" ] ||
  fail "the archive of the reader has other names than those of its header"
say "embed_test: all well"
