// SPDX-License-Identifier: Apache-2.0
// Fresh names, which differ from each other and from all that are taken.
#pragma once

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace stria::passes {

// Gives out names that are not taken. A name that was given out or taken stays taken.
class FreshNames {
 public:
  void take(const std::string& name) { taken_.insert(name); }

  // The first of `base`, `base_0`, `base_1`, … that is not taken. It is taken from now on. n calls
  // with one base take n steps, not n².
  std::string fresh(const std::string& base) {
    std::string name = base;
    for (int& i = next_[base]; !taken_.insert(name).second; ++i)
      name = fmt::format("{}_{}", base, i);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // base -> the first number that may be free
};

}  // namespace stria::passes
