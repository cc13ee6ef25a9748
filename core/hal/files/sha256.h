// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for the manifest's pinned file contents.
#pragma once

#include <string>
#include <string_view>

namespace stria::hal {

// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace stria::hal
