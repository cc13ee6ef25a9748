// SPDX-License-Identifier: Apache-2.0
// Pictures in JPEG files as tensors, through libjpeg-turbo: 8 bits, grey or in colours, baseline or
// progressive. What a camera noted of the way it was held is not looked at.
#pragma once

#include <filesystem>
#include <string_view>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

// [H, W, C], C = 1 grey or 3 RGB.
//   fp32: value / 255, so in 0..1
//   u8:   the values
// data_loss if the file is cut short or damaged, invalid_argument if it is no JPEG, unsupported for
// CMYK.
Result<HostTensor> parse_jpeg(std::string_view bytes, std::string_view name, DataType type);
Result<HostTensor> read_jpeg(const std::filesystem::path& path, DataType type);

}  // namespace stria
