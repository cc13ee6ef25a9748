// SPDX-License-Identifier: Apache-2.0
// Reads the instructions of an execution unit, micro-kernels among them. An internal part of
// hardware_model.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/hwmodel/object_reader.h"

namespace stria {

// What a function's name is (base/text.h), for messages.
inline constexpr std::string_view kFunctionName =
    "must be the name of a function: letters, digits and '_', a letter first, 60 at most";

// Fails unless the model has the memory unit `name`, which stands at `key`.
Status check_memory(const ObjectReader& reader, const std::string& key, const std::string& name,
                    const std::vector<std::string>& memories, PlacedTexts::At at);

// `memories`: the names of the memory units, in order.
Status read_instruction(ObjectReader& reader, const std::vector<std::string>& memories,
                        Instruction& instruction);

}  // namespace stria
