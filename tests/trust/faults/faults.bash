# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Faults in passes, which every_pass_test has to find. STRIA_TRUST_PROGRAMS: programs for each, 300 if
# not set.
target=every_pass_test
copied=(core/passes core/rewrite)
count=31 least=28
judge() {
  STRIA_TRUST_STOP=1 STRIA_TRUST_PROGRAMS=${STRIA_TRUST_PROGRAMS:-300} timeout 300 "$work/faulty" > "$work/log" 2>&1
}
words() { grep -m 1 -A 2 -E '^Failed$|broken assumption' "$work/log" | tail -n 2 | tr '\n' ' ' | cut -c 1-150; }
