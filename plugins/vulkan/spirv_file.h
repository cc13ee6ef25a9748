// SPDX-License-Identifier: Apache-2.0
// Modules as files, for people and for spirv-val.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stria::vulkan {

// Writes the module to $STRIA_KEEP_SPIRV/<hash of its words>.spv if that variable is set and the
// process is not elevated; what cannot be written is an error: whoever sets it relies on the files.
// Throws sdk::Error. Thread-safe.
void keep_if_asked(std::span<const uint32_t> words);

// For messages: keeps a module that a driver refuses in the user's cache folder, and says where.
std::string place_of_refused(std::span<const uint32_t> words);

}  // namespace stria::vulkan
