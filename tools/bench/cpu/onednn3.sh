#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder for STRIA_BENCH_ONEDNN3 with pip: the library of the newest oneDNN for processors that a
# framework brings in its wheel (3.6.2 in this version), built with OpenMP, and headers that are not newer. Takes 200 MB.
#   tools/bench/cpu/onednn3.sh FOLDER
set -euo pipefail
case "${1:-}" in "" | -h | --help) sed -n '3,5s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip download --quiet --no-deps --dest "$work" paddlepaddle==3.3.1 onednn-devel==2025.0.0
mkdir -p "$folder/lib"
unzip -qo -j "$work"/paddlepaddle-*.whl paddle/libs/libdnnl.so.3 -d "$folder/lib"
unzip -qo "$work"/onednn_devel-*.whl '*/include/*' -d "$work"
rm -rf "$folder/include"
mv "$work"/onednn_devel-*.data/data/include "$folder/include"
echo "$folder: cmake --preset release -DSTRIA_BUILD_BENCH=ON -DSTRIA_BENCH_ONEDNN3=$folder"
