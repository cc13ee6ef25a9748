// SPDX-License-Identifier: Apache-2.0
// Files beside the model that hold bytes of its tensors. Each is mapped once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "stria/base/mapped_file.h"

namespace stria::onnx {

class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The file, which lies in the folder or below it.
  Result<std::shared_ptr<const MappedFile>> file(std::string_view location);

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
};

}  // namespace stria::onnx
