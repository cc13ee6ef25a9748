// SPDX-License-Identifier: Apache-2.0
#include "company/plugin_copy.h"

namespace stria::conformance {

namespace fs = std::filesystem;

namespace {

// A disk with less than this is full.
constexpr uintmax_t kNoRoom = uintmax_t{64} << 10;

}  // namespace

Result<fs::path> copy_of_plugin(Subject& subject) {
  STRIA_ASSIGN(const fs::path scratch, subject.scratch());
  const fs::path copy = scratch / subject.options().directory.filename();
  std::error_code error;
  fs::copy(subject.options().directory, copy, fs::copy_options::recursive, error);
  if (!error) return copy;
  // The library says "Input/output error" where the disk was full in the middle of a file.
  std::error_code ignored;
  if (const fs::space_info room = fs::space(scratch, ignored); !ignored && room.available < kNoRoom)
    error = std::make_error_code(std::errc::no_space_on_device);
  // What is there of it takes the room of who comes next.
  subject.remove_scratch();
  return make_error(StatusCode::unavailable, "the plugin's folder cannot be copied to '{}': {}",
                    copy.string(), error.message());
}

}  // namespace stria::conformance
