// SPDX-License-Identifier: Apache-2.0
// Names that differ from each other.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace stria::passes {

// Hands out names that differ from each other and from those that are taken, which stay taken.
class FreshNames {
 public:
  void take(const std::string& name) { taken_.insert(name); }

  // `base` or `base_0`, `base_1`, …: the first that is not taken, and from now on is. Asked n times
  // for one base it takes n steps, not n².
  std::string fresh(const std::string& base) {
    std::string name = base;
    for (int& i = next_[base]; !taken_.insert(name).second; ++i)
      name = fmt::format("{}_{}", base, i);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // of a base: the numbers below are taken
};

}  // namespace stria::passes
