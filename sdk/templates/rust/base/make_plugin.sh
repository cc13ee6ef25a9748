#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the plugin and makes its directory, target/plugins/acme, which stria loads.
#   ./make_plugin.sh PREFIX [FOLDER]   where stria is installed; where else the directory is made, such as
#                                      PREFIX/lib/stria/plugins
set -eu
export STRIA_PREFIX=${1:?"usage: make_plugin.sh PREFIX [FOLDER]"}
STRIA_PREFIX=$(cd "$STRIA_PREFIX" && pwd)
[ $# -lt 2 ] || { mkdir -p "$2" && out=$(cd "$2" && pwd)/acme; }
cd "$(dirname "${BASH_SOURCE[0]}")"
out=${out:-$PWD/target/plugins/acme}
cargo build --release --offline
mkdir -p "$out"
cp -r plugin.json README.md hw passes "${CARGO_TARGET_DIR:-target}/release/libstria_acme.so" "$out"
# Messages about the JSON files name the ones to edit. What is installed has no sources.
[ $# -gt 1 ] || echo "$PWD" > "$out/copied_from.txt"
# stria trusts only what nobody else may write.
chmod -R go-w "$out"
echo "$out"
