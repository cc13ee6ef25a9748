// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/external_data.h"

namespace stria::onnx {

Result<std::shared_ptr<const MappedFile>> ExternalData::file(std::string_view location) {
  // A name ends at a zero byte for the system, and would be another one than messages show.
  if (location.empty() || location.find('\0') != std::string_view::npos)
    return invalid_argument("the location is no path");
  std::shared_ptr<const MappedFile>& known = files_[std::string(location)];
  if (known == nullptr) {
    STRIA_ASSIGN(known, MappedFile::open_below(folder_, location));
  }
  return known;
}

}  // namespace stria::onnx
