// SPDX-License-Identifier: Apache-2.0
// The words with a meaning of their own in a selector.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stria {

// Those that take a value, as in mem>=8G.
const std::vector<std::string>& selector_keys();
// Those, and what stands alone: auto, real, isolated. A plugin of such a name is put in quotes.
const std::vector<std::string>& selector_words();
bool is_selector_word(std::string_view word);

}  // namespace stria
