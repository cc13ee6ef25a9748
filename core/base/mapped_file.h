// SPDX-License-Identifier: Apache-2.0
// A whole file as bytes that take no memory of their own: the kernel reads the pages that are
// looked at, and may drop them again. For files that may be larger than what there is of memory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "stria/base/status.h"

namespace stria {

class InputFile;

class MappedFile {
 public:
  // A stream cannot be mapped: it is read, up to so many bytes.
  static constexpr size_t kMaxStreamBytes = size_t{2} << 30;

  // What InputFile may read, with its failures. Nobody may make the file shorter while it is
  // mapped: who looks at bytes that are gone gets a SIGBUS. A file that is replaced (renamed over)
  // stays as it was.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  // A regular file that lies in `folder` or below it once links are followed. permission_denied if
  // it does not, or if `name` is absolute or has "..". What is looked at is the opened file, so
  // that nothing can be put in its place in between.
  static Result<std::shared_ptr<const MappedFile>> open_below(const std::filesystem::path& folder,
                                                              const std::filesystem::path& name);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  static Result<std::shared_ptr<const MappedFile>> map(InputFile file);

  std::string_view bytes_;
  std::string read_;  // of a stream: what bytes_ shows
};

}  // namespace stria
