// SPDX-License-Identifier: Apache-2.0
// A pass of this plugin: loops of a few points get the hint that it pays to write them out.
#pragma once

#include <string_view>
#include <vector>

#include "stria/sdk/library.h"

namespace own_pass {

// `options`: {"points": 8}, the most points of such a block, 2 to 64. Gives the new program, named
// "stripe", and a note how many blocks got the hint. Throws sdk::Error.
std::vector<stria::sdk::NamedText> unroll_short(std::string_view stripe, std::string_view options);

}  // namespace own_pass
