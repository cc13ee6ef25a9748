// SPDX-License-Identifier: Apache-2.0
// Picture files that hold their pixels as they are: BMP, PGM and PPM, TIFF without compression.
#pragma once

#include <optional>
#include <string_view>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria::onnx {

// u8 [height, width, 1 or more channels], colours as red, green, blue. nullopt for files of other
// kinds. unsupported for what these kinds can hold beside plain pixels of 8 bits a channel,
// data_loss if the file ends too early.
Result<std::optional<HostTensor>> parse_plain_picture(std::string_view bytes);

}  // namespace stria::onnx
