// SPDX-License-Identifier: Apache-2.0
// The analysis of delay_stores: which statement of a row stores it, beside which statement of the
// next row that store runs, and in which pieces.
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
  bool stream = true;            // only stores that bypass the caches
  int64_t min_instructions = 0;  // of the host for each element that is stored, at least
};

struct DelayPlan {
  // A loop of the host, the corresponding loop of the store, and how many iterations of the latter
  // run in one iteration of the former.
  struct Piece {
    std::string host, store;
    int64_t count = 1;
  };
  std::string row;  // the index of the loop over rows
  int64_t rows = 0;
  // Statements of the loop: the last one, which stores, and the one of the next row beside which it
  // runs.
  size_t store = 0, host = 0;
  std::vector<Piece> pieces;          // one for each loop of the host
  std::set<std::string> handed_over;  // allocations of the loop that the store reads
  // Those that the next row writes before the store has read them. The store reads a copy instead.
  std::set<std::string> copied;
};

// `loop` is the only statement of `around` and holds the work on a row. `names` are the tensors of
// `around`. Refuses rows whose stores cannot be delayed, or gain nothing by it.
Refusal plan_delay(const stripe::Block& around, const stripe::Block& loop, const TensorNames& names,
                   const DelayRules& rules, DelayPlan& plan);

}  // namespace stria::passes
