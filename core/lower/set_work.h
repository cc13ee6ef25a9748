// SPDX-License-Identifier: Apache-2.0
// How much the solver may do to find a program's index sets. Each set has a share, so that a long
// program has as much for its last statement as a short one has. All sets have a total that only
// thousands of hard sets reach. What is only sought because it would be better is counted apart: it
// never takes from what is needed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stria/base/status.h"
#include "stria/poly/solver_budget.h"

namespace stria::lower_detail {

// Steps of the solver (solver_budget.h).
struct SetLimits {
  int64_t share = 300'000'000;
  int64_t needed = 400'000'000;  // of all sets together
  int64_t sought_share = 20'000'000;
  int64_t sought = 600'000'000;
};

// One for each program that is lowered, on one thread.
class SetWork {
 public:
  explicit SetWork(const SetLimits& limits = {})
      : limits_(limits), needed_left_(limits.needed), sought_left_(limits.sought) {}

  // Calls `find` for something that the program cannot be lowered without, and returns its Result;
  // `unknown` if its share or the total is used up.
  template <typename Find>
  auto needed(Find find) -> decltype(find()) {
    const bool last = needed_left_ < limits_.share;
    SolverBudget budget(std::min(limits_.share, needed_left_));
    auto out = find();
    needed_left_ -= budget.used();
    if (!out.ok() && out.status().code() == StatusCode::unknown && last && budget.exhausted())
      return make_error(StatusCode::unknown,
                        "the index sets of all statements need more than {} solver steps together",
                        limits_.needed);
    return out;
  }

  // Calls `find` for something that the caller can do without, and returns its Result.
  template <typename Find>
  auto sought(Find find) -> decltype(find()) {
    SolverBudget budget(std::min(limits_.sought_share, sought_left_));
    auto out = find();
    sought_left_ -= budget.used();
    return out;
  }

 private:
  SetLimits limits_;
  int64_t needed_left_, sought_left_;
};

}  // namespace stria::lower_detail
