// SPDX-License-Identifier: Apache-2.0
// Text in XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace stria::conformance {

// As text, and as an attribute's value; bytes that XML does not know, and those that are no UTF-8,
// become U+FFFD.
std::string escaped(std::string_view text);

}  // namespace stria::conformance
