// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/models/cost_models.h"

#include <algorithm>

// A test lists one more.
#ifndef STRIA_TILE_COSTS
#define STRIA_TILE_COSTS "stria/cost/models/cost_models.def"
#endif

namespace stria::cost {

#define STRIA_TILE_COST(name, help) std::unique_ptr<TileCost> make_##name##_cost();
#include STRIA_TILE_COSTS
#undef STRIA_TILE_COST

namespace {

struct Listed {
  const char *name, *help;
  std::unique_ptr<TileCost> (*make)();
};
constexpr Listed kCosts[] = {
#define STRIA_TILE_COST(name, help) {#name, help, make_##name##_cost},
#include STRIA_TILE_COSTS
#undef STRIA_TILE_COST
};

}  // namespace

CostChoice::CostChoice() : name_(kCosts[0].name) {
  for (const Listed& listed : kCosts) costs_.emplace_back(listed.name, listed.make());
}

void CostChoice::describe(const char* name, const char* help, OptionFields& fields) {
  std::vector<Alternative> alternatives;
  for (size_t i = 0; i < costs_.size(); ++i)
    alternatives.push_back({costs_[i].first, kCosts[i].help,
                            [cost = costs_[i].second](OptionFields& own) { cost->describe(own); }});
  fields.one_of(name, name_, help, alternatives);
}

const TileCost& CostChoice::cost() const {
  return *std::find_if(costs_.begin(), costs_.end(), [&](const auto& one) {
            return one.first == name_;
          })->second;
}

}  // namespace stria::cost
