// SPDX-License-Identifier: Apache-2.0
// Whether two kernels take less time apart than fused, by a cost of tiles. Fused, a long sum cannot
// be cut into steps, since what follows it needs all of it.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "stria/base/refusal.h"
#include "stria/cost/models/cost_models.h"
#include "stria/pass/pass_context.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// For one step of a pipeline, on one thread. Borrows all it is given.
class ApartCost {
 public:
  ApartCost(const cost::CostChoice& choice, const std::string& memory, const HardwareModel& model)
      : choice_(choice), memory_(memory), model_(model) {}

  // Why not to fuse; none if the cost cannot tell of one of the three. They see the tensors of
  // `section`.
  Refusal against(const stripe::Block& section, const stripe::Block& a, const stripe::Block& b,
                  const stripe::Block& fused);

 private:
  class Asked;
  // Kernels that differ in names alone cost the same.
  struct Known {
    cost::TiledBlock block;
    std::shared_ptr<const cost::CostKey> key;
    bool tells = false;          // the cost can
    bool has_tile = false;       // some tile fits, as far as that is known
    double least = 0;            // no tile costs less
    double rough = 0, best = 0;  // of the tiles that searches found; 0: not searched
  };
  // With `least`; holds as long as this object.
  Known& look_at(const Asked& asked);
  // The cost of the best tile that is found, or of one that costs no more than `enough`.
  double search(const Asked& asked, double enough, bool rough);

  const cost::CostChoice& choice_;
  const std::string& memory_;
  const HardwareModel& model_;
  std::deque<Known> known_;
};

}  // namespace stria::passes
