// SPDX-License-Identifier: Apache-2.0
// Mistakes of a code generator, each as lines of Stripe in the place of a line.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stria::blind {

class GeneratorMistakes {
 public:
  // A block begins with this line.
  void enter(std::string_view head, const std::vector<int64_t>& ranges);
  // What stands in the place of `line`. Statements have any number.
  std::vector<std::string> replace(std::string_view line);

 private:
  bool contraction_ = false;
  bool scatter_ = false;
  bool for_matrix_unit_ = false;
  std::set<std::string, std::less<>>
      computed_;  // scalars of the block that an operation in fp32 made
};

}  // namespace stria::blind
