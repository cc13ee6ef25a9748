// SPDX-License-Identifier: Apache-2.0
// Draws pipelines and runs them, a chunk at a time: what is learned of what applies holds within a
// chunk, so that a chunk is the same whoever runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "drawn_program.h"
#include "guided_draw.h"
#include "order_failure.h"

namespace stria::trust {

struct OrderOptions {
  uint64_t seed = 1;
  uint64_t count = 1000;
  size_t jobs = 1;
};

struct OrderReport {
  uint64_t pipelines = 0;
  std::map<std::string, Tally> by_pass;
  std::map<std::string, Tally> by_kind;  // of programs
  std::map<std::string, int64_t> refusals;
  std::vector<OrderFailure> failures;
  Tally all() const;
};

// `progress` is told how many pipelines have begun, and how many failed. Failures come in the order
// of their numbers.
OrderReport run_orders(const OrderOptions& options, const Programs& programs,
                       const std::vector<PassInfo>& passes,
                       const std::function<void(uint64_t begun, size_t failed)>& progress);

}  // namespace stria::trust
