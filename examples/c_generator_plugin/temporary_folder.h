// SPDX-License-Identifier: Apache-2.0
// A folder of its own for a few files, which goes with its object.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "stria/sdk/error.h"

namespace c_generator {

class TemporaryFolder {
 public:
  // In TMPDIR or /tmp, readable by the user alone.
  TemporaryFolder() {
    std::error_code error;
    const std::filesystem::path around = std::filesystem::temp_directory_path(error);
    path_ = ((error ? "/tmp" : around) / "stria_c_generator_XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw stria::sdk::Error(STRIA_UNAVAILABLE,
                              "cannot make a folder like " + path_ + ": " + strerror(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace c_generator
