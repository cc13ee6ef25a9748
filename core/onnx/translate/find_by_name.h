// SPDX-License-Identifier: Apache-2.0
// Tables of things that have a domain and a name, both std::string_view.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace stria::onnx {

// Ordered by domain and name, as find_by_name needs it.
template <typename Named>
std::vector<Named> sorted_by_name(std::vector<Named> all) {
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
    return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
  });
  return all;
}

// Null if there is none.
template <typename Named>
const Named* find_by_name(std::span<const Named> sorted, std::string_view domain,
                          std::string_view name) {
  const auto at = std::lower_bound(
      sorted.begin(), sorted.end(), std::tie(domain, name), [](const Named& a, const auto& wanted) {
        return std::tuple(a.domain, a.name) < std::tuple(std::get<0>(wanted), std::get<1>(wanted));
      });
  const bool found = at != sorted.end() && at->domain == domain && at->name == name;
  return found ? &*at : nullptr;
}

}  // namespace stria::onnx
