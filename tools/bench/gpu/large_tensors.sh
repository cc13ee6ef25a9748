#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs on tensors of 5 to 10 GiB, on a device that has 24 GiB of memory or more; 30 GiB of the
# host's. Each result is compared with the interpreter's at 300 elements, the first and the last
# among them.
#
#   large_tensors.sh STRIA DEVICE [SHRINK]     SHRINK: divides the rows, to try the script
#
# Integers are exact. Sums of floats have few enough terms for their bounds to be far below them.
# Tensors of the program itself (the product of two vectors) cost the host nothing.
set -euo pipefail
stria=$1 device=$2 shrink=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# run NAME TEXT INPUT=ROWS,COLUMNS:TYPE…: ROWS with an r behind it are divided by SHRINK.
run() {
  local name=$1 words=() input rows shape type out begin=$SECONDS
  echo "$2" >"$folder/$name.tile"
  shift 2
  for input in "$@"; do
    shape=${input#*=} type=${input##*:}
    shape=${shape%:*}
    [[ $shape =~ ^([0-9,]*,)?([0-9]+)r(.*)$ ]] &&
      shape="${BASH_REMATCH[1]}$((BASH_REMATCH[2] / shrink))${BASH_REMATCH[3]}"
    words+=(--input "${input%%=*}=random:${#words[@]}:$type" --shape "${input%%=*}=$shape")
  done
  if out=$("$stria" run "$folder/$name.tile" --device "$device" --check=sample:300 "${words[@]}" 2>&1)
  then
    printf '%-24s %4d s  %s\n' "$name" $((SECONDS - begin)) "$(grep ^check <<<"$out" | tr '\n' ' ')"
  else
    printf '%-24s FAILED: %s\n' "$name" "$out"
    failed=1
  fi
}

# 5.1 GiB of words, whose numbers have 32 bits, and 9.3 GiB, whose numbers have not.
outer='function (A[M], B[N]) -> (R, S) {
  T[m, n : M, N] = +(A[m] * B[n]);
  R[m : M] = +(T[m, n]);
  S[n : N] = +(T[m, n]);
}'
run outer_words "$outer" A=40000r:i32 B=34000:i32
run outer_more_words "$outer" A=50000r:i32 B=50000:i32
# 5 GiB to the device and back.
run bytes 'function (A[M, N]) -> (R) { R = A + A; }' A=81920r,65536:u8
run halves 'function (A[M, N]) -> (R) { R = A < 0 ? 0 : A; }' A=81920r,32768:fp16
# Products, whose first operand has 5 GiB.
product='function (A[M, K], B[K, N]) -> (R) { R[m, n : M, N] = +(A[m, k] * B[k, n]); }'
run product_of_bytes "$product" A=5242880r,1024:i8 B=1024,64:i8
run product_of_halves "$product" A=2621440r,1024:fp16 B=1024,128:fp16
# Rows of 160 MiB: the sixteen of a matrix are 2.5 GiB apart.
run product_of_long_rows \
  'function (A[K, N], B[M, K]) -> (R) { R[m, n : M, N] = +(B[m, k] * A[k, n]); }' \
  A=32,83886080r:fp16 B=32,32:fp16
exit $failed
