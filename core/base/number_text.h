// SPDX-License-Identifier: Apache-2.0
// Numbers as options, environment variables and tables give them: decimal digits with a minus
// before them, and for those that need not be whole a point and an exponent ("-2.5e3"). Nothing
// else is a number: no blanks, no "+5", "0x10", "inf" or "nan", nothing behind it.
#pragma once

#include <cstdint>
#include <string_view>

#include "stria/base/status.h"

namespace stria {

// Both limits are legal. invalid_argument: "'x' is not a whole number from 1 to 4096".
Result<int64_t> parse_integer(std::string_view text, int64_t least, int64_t most);
Result<uint64_t> parse_unsigned(std::string_view text, uint64_t least, uint64_t most);
// "'nan' is not a number from 0 to 86400".
Result<double> parse_number(std::string_view text, double least, double most);

}  // namespace stria
