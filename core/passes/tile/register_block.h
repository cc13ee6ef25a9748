// SPDX-License-Identifier: Apache-2.0
// A block as the cost of register tiles sees it: which index makes the lanes, which ones rows of
// running values, which views could be read from copies. `autotile` chooses tiles by it,
// `block_reduction` asks which tile that will be.
#pragma once

#include <optional>
#include <string>

#include "stria/cost/core/register_time.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct RegisterBlock {
  cost::RegisterTiling tiling;
  cost::CoreRates rates;
};

// `block` is in `program`, its lanes walk along `vector`, whose index is one of the block's, on a
// core of `unit` of the model. `panels`: inputs may be copied. nullopt: the model does not say how
// many vector registers there are.
std::optional<RegisterBlock> register_block(const stripe::Program& program,
                                            const stripe::Block& block, const VectorChoice& vector,
                                            const HardwareModel& model, const std::string& unit,
                                            bool panels);

}  // namespace stria::passes
