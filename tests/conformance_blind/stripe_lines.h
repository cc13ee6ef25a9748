// SPDX-License-Identifier: Apache-2.0
// Device Stripe line by line: enough of its text for mistakes of a code generator. They are made in
// the program, which the host's interpreter then computes as it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stria::blind {

// The program with the chosen mistake, if that is one of numbers; else the text as it is.
std::string with_wrong_numbers(std::string_view stripe);

// Points of all kernels, by the boxes of their indices.
uint64_t points_of(std::string_view stripe);

}  // namespace stria::blind
