#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the main job: a convolution with ReLU on every device found,
# checked, and a photograph through an edge filter.
#   tools/demo.sh
# The first time takes about 4 minutes with two cores, most of it the build; a second run some 10 seconds.

case "${1:-}" in
  "") ;;
  -h|--help) sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "demo.sh: unknown option '$1'" >&2; exit 2 ;;
esac

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_packages "${build_packages[@]}"
build_preset release stria_package

stria=build/release/bin/stria
say "devices"
"$stria" devices

# The selector of every available device, one per line.
devices=$("$stria" devices --json |
  awk -F'"' '$2 == "selector" { selector = $4 } $2 == "available" && /true/ { print selector }')
[ -n "$devices" ] || { echo "demo: no device is available; '$stria doctor' says why" >&2; exit 1; }

# What interprets (reference, sim) gets small work, the others what keeps them busy for some milliseconds.
failed=0
out=build/release/demo
mkdir -p "$out"
count=$(wc -w <<< "$devices") number=0
for device in $devices; do
  number=$((number + 1))
  size=224 photo=tools/demo/lake.png pixels=1920x1080
  case $device in reference* | sim*) size=28 photo=tools/demo/lake_small.png pixels=480x270 ;; esac
  say "device $number of $count, $device: 3x3 convolution + ReLU, ${size}x${size}, 64 to 64 channels"
  "$stria" run tools/demo/conv_relu.tile --device "$device" --profile --check=sample:200 \
    --input D=random:1 --shape "D=1,$size,$size,64" --input K=random:2 --shape K=3,3,64,64 || failed=1
  picture="$out/edges_${device//[:\/]/_}.png"
  say "device $number of $count, $device: edges of a photograph ($photo, $pixels), in $picture"
  "$stria" run tools/demo/edges.tile --device "$device" --input "Photo=$photo" --output "Edges=$picture" || failed=1
done
[ "$failed" -eq 0 ] && say "demo: all done" || { echo "demo: something failed, see above" >&2; exit 1; }
