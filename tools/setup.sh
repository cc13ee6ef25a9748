#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build and test stria on Debian 12, then configures and builds a preset.
# Sourced by demo.sh and test.sh; safe to repeat: a second run installs and builds nothing.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '== %s\n' "$*"; }

build_packages=(
  g++ cmake ninja-build binutils
  llvm-19-dev libzstd-dev libz3-dev libxml2-dev zlib1g-dev
  libisl-dev libgmp-dev libboost-dev nlohmann-json3-dev libcli11-dev libfmt-dev libpng-dev
  libjpeg62-turbo-dev
  libgtest-dev libgmock-dev verilator
  opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd
  libvulkan-dev spirv-headers libvulkan1 mesa-vulkan-drivers
)
# Only for tests: the browser that looks at pages.
test_packages=(chromium)
# Only for tools/test.sh --fuzz.
fuzz_packages=(clang-19 libclang-rt-19-dev)

# Installs the packages of "$@" that dpkg does not list as installed.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "packages: all ${#} are installed"
    return
  fi
  local sudo=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: not root and no sudo; please install: ${missing[*]}" >&2; exit 1; }
    sudo=sudo
  fi
  say "packages: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get -qq -o DPkg::Lock::Timeout=300 update
  $sudo apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
}

# build_preset NAME [-Doption=value | target]…: configures and builds build/NAME; without targets, all.
build_preset() {
  local preset=$1 options=() targets=() word
  shift
  for word in "$@"; do
    case $word in -D*) options+=("$word") ;; *) targets+=("$word") ;; esac
  done
  say "build: preset $preset (build/$preset)"
  local log
  log=$(mktemp)
  cmake --preset "$preset" ${options[@]+"${options[@]}"} >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
  rm -f "$log"
  # As many jobs as cores, but no more than fit in memory: the largest source files need 1.5 GiB.
  local jobs memory_kib
  jobs=$(nproc)
  memory_kib=$(awk '/MemAvailable/ {print $2}' /proc/meminfo)
  [ "$jobs" -le $((memory_kib / 1572864 + 1)) ] || jobs=$((memory_kib / 1572864 + 1))
  local build=(cmake --build --preset "$preset" -j "$jobs")
  [ ${#targets[@]} -eq 0 ] || build+=(--target "${targets[@]}")
  "${build[@]}"
}
