#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of requirements.txt into build/onnx/venv, for the tests of ONNX. Safe to repeat: a
# second run installs nothing.
#   tools/onnx/packages.sh

source "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

folder=build/onnx/venv
wanted=tools/onnx/requirements.txt
fail() { echo "packages.sh: $*" >&2; exit 1; }

if cmp -s "$wanted" "$folder/FROM"; then
  say "packages for tests of onnx: all in $folder"
  exit 0
fi
[ "$(uname -m)" = x86_64 ] || fail "$wanted has wheels for x86_64 alone, this is $(uname -m)"
install_packages python3-venv ca-certificates
python=$(command -v python3)
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
  fail "$wanted has wheels for CPython 3.11 (Debian 12), $python is $("$python" --version)"
say "packages for tests of onnx: installing $wanted into $folder"
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --retries 3 -r "$wanted" || fail "pip cannot install $wanted: is the network there?"
cp "$wanted" "$folder/FROM"
say "packages for tests of onnx: all in $folder"
