// SPDX-License-Identifier: Apache-2.0
// Patterns of names.
#pragma once

#include <string_view>

namespace stria {

// Does `text` match `pattern` (* any characters, ? one, [a-z] [!a-z] one of a set), whatever the
// case of ASCII letters? A character is one of UTF-8; a byte that belongs to none counts as one.
// Takes at worst the product of both lengths.
bool glob_match(std::string_view pattern, std::string_view text);

// Has it one of * ? [ ?
bool is_pattern(std::string_view text);

}  // namespace stria
