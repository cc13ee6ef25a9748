// SPDX-License-Identifier: Apache-2.0
// All costs by name (cost_models.def), and the choice of one with its options.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stria/cost/tile_cost.h"

namespace stria::cost {

// A cost by name, with the options of each; copies share them, so that they must not change once
// the options are bound.
class CostChoice {
 public:
  CostChoice();
  // Adds the option `name` and those of the cost that it names.
  void describe(const char* name, const char* help, OptionFields& fields);
  const std::string& name() const { return name_; }
  const TileCost& cost() const;

 private:
  std::string name_;
  std::vector<std::pair<const char*, std::shared_ptr<TileCost>>> costs_;
};

}  // namespace stria::cost
