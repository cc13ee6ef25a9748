// SPDX-License-Identifier: Apache-2.0
// Which features of Stripe programs have: what a test of generated programs has covered.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::trust {

class Coverage {
 public:
  void add(const stripe::Program& program);
  // A line for each feature: how many programs have it.
  std::string to_string() const;
  // Those of the features wanted that no program has.
  std::vector<std::string> missing(const std::vector<std::string>& wanted) const;
  int64_t programs() const { return programs_; }

 private:
  std::map<std::string, int64_t> counts_;
  int64_t programs_ = 0;
};

// The features that DESIGN.md's generator is asked for.
std::vector<std::string> wanted_features();

}  // namespace stria::trust
