#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the package onnx on every plugin and on ONNX Runtime, prints one table, and compares ours
# with tests/onnx/expected.json. Makes what is missing: packages, build, cases.
#   tools/onnx_conformance.sh [option of tools/onnx/onnx_conformance.py…]     --only 'test_conv*' for some
#   tools/onnx_conformance.sh --table tests/onnx/results_MACHINE.txt          publishes the table

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

case "${1:-}" in -h|--help) sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
install_packages "${build_packages[@]}"
tools/onnx/packages.sh
build_preset release onnx_case stria_plugins
python=build/onnx/venv/bin/python
"$python" tools/onnx/onnx_cases.py build/onnx/cases
# As in the tests: lavapipe, so that no GPU is taken by accident, unless the caller names a driver.
if [ -z "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ]; then
  VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json
  export VK_DRIVER_FILES VK_ICD_FILENAMES=$VK_DRIVER_FILES
fi
export POCL_CACHE_DIR=$root/build/release/pocl_cache MESA_SHADER_CACHE_DIR=$root/build/release/mesa_cache
devices=()
for device in reference llvm_cpu opencl vulkan sim onnxruntime; do devices+=(--device "$device"); done
"$python" tools/onnx/onnx_conformance.py --cases build/onnx/cases "${devices[@]}" \
  --expected tests/onnx/expected.json --limit 900 "$@"
