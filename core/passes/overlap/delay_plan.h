// SPDX-License-Identifier: Apache-2.0
// What delay_stores does with a kernel's rows: which statement of a row stores it, beside which
// statement of the next row that runs, and in which pieces.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct DelayRules {
  bool stream = true;             // only stores past the caches
  int64_t min_instructions = 16;  // of the host for each element that is stored
};

struct DelayPlan {
  // A loop of the host, the one of the store that goes with it, and how many of its turns in each.
  struct Piece {
    std::string host, store;
    int64_t count = 1;
  };
  std::string row;  // index of the loop over the rows
  int64_t rows = 0;
  // Statements of the loop: the last one, and the one of the next row that it runs beside.
  size_t store = 0, host = 0;
  std::vector<Piece> pieces;          // one for each loop of the host
  std::set<std::string> handed_over;  // allocations of the loop that the store reads
  // Of these: what the next row writes before the store has read it, so that it reads a copy.
  std::set<std::string> copied;
};

// `loop`, the only statement of `around`, holds what is done with a row. `names`: of the tensors of
// `around`. Refuses rows whose stores cannot be delayed, or gain nothing by it.
Refusal plan_delay(const stripe::Block& around, const stripe::Block& loop, const TensorNames& names,
                   const DelayRules& rules, DelayPlan& plan);

}  // namespace stria::passes
