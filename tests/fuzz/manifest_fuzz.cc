// SPDX-License-Identifier: Apache-2.0
// plugin.json: what is accepted names only files inside the plugin's directory.
#include <algorithm>

#include "fuzzer.h"
#include "stria/hal/files/manifest.h"

namespace {

void check_inside(const std::filesystem::path& path) {
  STRIA_CHECK(!path.empty() && path.is_relative(), "'{}' is not relative", path.string());
  const std::filesystem::path normal = path.lexically_normal();
  STRIA_CHECK(normal.begin()->string() != "..", "'{}' leaves the directory", path.string());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  Result<hal::Manifest> manifest = hal::parse_manifest(fuzz::text_of(data, size), "plugin.json");
  if (!manifest.ok()) {
    STRIA_CHECK(!manifest.status().message().empty(), "a failure without a message");
    return 0;
  }
  STRIA_CHECK(!manifest->id.empty(), "a plugin without an id");
  check_inside(manifest->library);
  for (const hal::DeviceKind& kind : manifest->devices) {
    check_inside(kind.hw);
    check_inside(kind.pipeline);
    const hal::DeviceKind* found = manifest->find_kind(kind.name);
    STRIA_CHECK(found == &kind, "device kind '{}' is there twice", kind.name);
  }
  for (const auto& [file, digest] : manifest->sha256) {
    check_inside(file);
    STRIA_CHECK(digest.size() == 64, "'{}' is no digest", digest);
  }
  for (const hal::VersionRange& range : {manifest->abi, manifest->stripe})
    STRIA_CHECK(range.minor_min <= range.minor_max, "an empty range");
  return 0;
}
