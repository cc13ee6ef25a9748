# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Faults in the reference plugin, most of them in the helper that it is made of. The conformance suite
# has to find each by the case that cases.txt names.
target=stria_plugin_reference
copied=(sdk/include plugins/reference)
unit=plugins/reference/plugin.cc
count=42 least=40
judge() {
  local plugin=$work/plugins/reference name level ending case rest
  read -r name level ending case rest < <(grep "^$1 " "$folder/cases.txt")
  rm -rf "$plugin"
  mkdir -p "$work/plugins"
  cp -r "$build_dir/lib/stria/plugins/reference" "$plugin"
  cp "$work/faulty" "$plugin/libstria_reference.so"
  chmod -R go-w "$plugin"
  timeout 300 "$build_dir/bin/stria" conform "$plugin" --level "$level" --only "$case" > "$work/log" 2>&1 || true
  ! grep -qE "^($ending) +${case//./\\.}( |\$)" "$work/log"
}
words() { grep -m 1 -A 1 -E '^(FAIL|CRASH|HANG|LEAK) ' "$work/log" | tr -s '\n ' ' ' | cut -c 1-150; }
# Each fault has its case.
check() {
  local patch failed=0
  for patch in "${patches[@]}"; do
    grep -q "^$(basename "$patch" .patch) " "$folder/cases.txt" || { echo "no case: $(basename "$patch")"; failed=1; }
  done
  return $failed
}
