// SPDX-License-Identifier: Apache-2.0
// Pictures as tensors: PNG files through libpng, 1 to 16 bits, grey, RGB, palette, with or without
// alpha, interlaced or not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/type/host_tensor.h"

namespace stria {

// [H, W, C], C as in the file: 1 grey, 2 grey + alpha, 3 RGB, 4 RGB + alpha; a palette is replaced
// by its colours, a transparent colour by an alpha channel, 1, 2 and 4 bit grey stretched to 8
// bits.
//   fp32: value / 255 or value / 65535, so in 0..1
//   u8:   the 8-bit values; a 16-bit picture is refused
//   u16:  the 16-bit values; those of an 8-bit picture as they are, 0..255, not stretched to
//         0..65535
// data_loss if the file is cut short or a checksum fails, invalid_argument if it is no PNG.
Result<HostTensor> parse_png(std::string_view bytes, std::string_view name, DataType type);
Result<HostTensor> read_png(const std::filesystem::path& path, DataType type);

// Ok if format_png takes tensors of that type and shape.
Status check_png_shape(DataType type, const std::vector<int64_t>& sizes, std::string_view name);

// From [H, W] or [H, W, 1|3|4]: floats clamped to 0..1 (NaN to 0), times 255, rounded half to even;
// u8 and u16 as they are. Other shapes and types: invalid_argument.
Result<std::string> format_png(const HostTensor& tensor, std::string_view name);

}  // namespace stria
