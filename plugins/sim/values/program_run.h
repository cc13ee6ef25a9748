// SPDX-License-Identifier: Apache-2.0
// One run of a whole device program, without a device: prologue, then main.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::sim {

// The order in which a part's statements run; empty: as they stand.
struct PartOrder {
  std::vector<size_t> prologue, main;
};

// `tensors`: the memory of the caller's tensors, by the name of the entry's allocation and of its
// size. What the prologue makes for main is allocated here. invalid_argument: a tensor without
// memory.
Status run_program(const stripe::Program& program, const PartOrder& order,
                   const std::map<std::string, void*>& tensors);

}  // namespace stria::sim
