// SPDX-License-Identifier: Apache-2.0
// What the code generator makes of a program: device Stripe with the chosen mistake in it.
#pragma once

#include <string>
#include <string_view>

namespace third_chip {

std::string generate(std::string_view stripe);

}  // namespace third_chip
