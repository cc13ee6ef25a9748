// SPDX-License-Identifier: Apache-2.0
#include "spirv_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

std::string_view bytes_of(std::span<const uint32_t> words) {
  return {reinterpret_cast<const char*>(words.data()), words.size_bytes()};
}

}  // namespace

void keep_if_asked(std::span<const uint32_t> words) {
  const char* folder = ::secure_getenv("STRIA_KEEP_SPIRV");
  if (!folder || !*folder) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw sdk::Error(STRIA_PERMISSION_DENIED,
                     fmt::format("STRIA_KEEP_SPIRV is '{}': {}", folder, error.message()));
  const std::string_view bytes = bytes_of(words);
  const Result<bool> written = write_new_file(
      std::filesystem::path(folder) / fmt::format("{:016x}.spv", stable_hash(bytes)), bytes);
  code_generator::require(written.status());
}

std::string place_of_refused(std::span<const uint32_t> words) {
  const std::filesystem::path folder = user_cache_folder();
  if (folder.empty()) return "the module is not kept, as there is no cache folder";
  const std::string_view bytes = bytes_of(words);
  const std::filesystem::path file =
      folder / "refused" / fmt::format("vulkan_{:016x}.spv", stable_hash(bytes));
  (void)make_cache_folder(file.parent_path());
  const Status written = write_cache_file(file, bytes);
  return written.ok() ? "the module is " + file.string()
                      : "the module cannot be kept: " + written.message();
}

}  // namespace stria::vulkan
