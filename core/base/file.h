// SPDX-License-Identifier: Apache-2.0
// Whole-file reads and atomic writes, with messages that name the path and the cause.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria {

// The whole file as bytes. not_found, permission_denied, or invalid_argument if it is a directory
// or larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              size_t max_bytes = size_t{1} << 40);

// Writes beside the target and renames: a reader sees the old file or the new one, never a part,
// and a failed write leaves nothing behind. A link is followed. A target that is not a regular file
// (/dev/null, a pipe) or that is open under a number (/dev/stdout) is written directly.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

struct FileText {
  std::filesystem::path path;
  std::string text;
};
// Writes all of them or none, each as write_file does: what is written directly comes first, then
// what lies beside its targets is renamed. Only a rename that fails can leave some without the rest.
Status write_files(std::span<const FileText> files);

}  // namespace stria
