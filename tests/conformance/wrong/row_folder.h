// SPDX-License-Identifier: Apache-2.0
// The folder of a plugin with a mistake.
#pragma once

#include "rows.h"

namespace stria::wrong {

// A folder with everything in it, which goes with this object.
class RowFolder {
 public:
  // Below `parent`. The board's files, the shared objects, and the row's changes.
  static Result<RowFolder> make(const std::filesystem::path& parent, const Row& row);
  RowFolder(RowFolder&& other) noexcept;
  RowFolder& operator=(RowFolder&&) = delete;
  ~RowFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit RowFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace stria::wrong
