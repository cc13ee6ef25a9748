// SPDX-License-Identifier: Apache-2.0
// How options name indices: "x", or "#tag" for those that have the tag.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

inline bool names_index(std::string_view option, const stripe::Index& index) {
  return option.starts_with('#') ? index.tags.has(option.substr(1)) : index.name == option;
}

inline bool names_index(const std::vector<std::string>& options, const stripe::Index& index) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& option) { return names_index(option, index); });
}

}  // namespace stria::passes
