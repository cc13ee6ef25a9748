#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the main job: a convolution with ReLU on every device found,
# checked, and a photograph through an edge filter.
#   tools/demo.sh

case "${1:-}" in
  "") ;;
  -h|--help) sed -n '3,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "demo.sh: unknown option '$1'" >&2; exit 2 ;;
esac

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_packages "${build_packages[@]}"
build_preset release stria stria_plugins

stria=build/release/bin/stria
say "devices"
"$stria" devices

# The selector of every available device, one per line.
devices=$("$stria" devices --json |
  awk -F'"' '$2 == "selector" { selector = $4 } $2 == "available" && /true/ { print selector }')
[ -n "$devices" ] || { echo "demo: no device is available; '$stria doctor' says why" >&2; exit 1; }

failed=0
for device in $devices; do
  # The interpreter behind `reference` is not built for speed.
  size=224
  case $device in reference*) size=56 ;; esac
  say "3x3 convolution + ReLU, ${size}x${size}, 64 to 64 channels, on $device"
  "$stria" run tools/demo/conv_relu.tile --device "$device" --profile --check=sample:200 \
    --input D=random:1 --shape "D=1,$size,$size,64" --input K=random:2 --shape K=3,3,64,64 || failed=1
done

out=build/release/demo
mkdir -p "$out"
for device in $devices; do
  picture="$out/edges_${device//[:\/]/_}.png"
  say "photograph (tools/demo/lake.png, 1920x1080): edges on $device, in $picture"
  "$stria" run tools/demo/edges.tile --device "$device" --input Photo=tools/demo/lake.png --output "Edges=$picture" || failed=1
done
[ "$failed" -eq 0 ] && say "demo: all done" || { echo "demo: something failed, see above" >&2; exit 1; }
