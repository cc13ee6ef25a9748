// SPDX-License-Identifier: Apache-2.0
// A block as the cost `registers` sees it: which index becomes lanes, which indices make rows of
// running values, and which views could be read from copies. `autotile` chooses tiles by it, and
// `block_reduction` asks which tile that will be.
#pragma once

#include <optional>
#include <string>

#include "stria/cost/core/register_time.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/block.h"

namespace stria::cost {

struct RegisterBlock {
  RegisterTiling tiling;
  CoreRates rates;
};

// `block` is in `program` and runs on a core, which is `unit` of the model. Its lanes walk along
// the index of `vector`, which is one of the block's. With `panels`, inputs may be copied. nullopt
// if the model does not say how many vector registers there are.
std::optional<RegisterBlock> register_block(const stripe::Program& program,
                                            const stripe::Block& block,
                                            const passes::VectorChoice& vector,
                                            const HardwareModel& model, const std::string& unit,
                                            bool panels);

}  // namespace stria::cost
