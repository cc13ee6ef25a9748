// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/solver_budget.h"

#include <algorithm>

namespace stria {
namespace {

thread_local SolverBudget* innermost = nullptr;

}  // namespace

SolverBudget::SolverBudget(int64_t steps) : limit_(steps), outer_(innermost) { innermost = this; }

SolverBudget::~SolverBudget() {
  innermost = outer_;
  if (outer_ == nullptr) return;
  outer_->charge(used_);
  outer_->questions_ += questions_;
}

SolverBudget* SolverBudget::current() { return innermost; }

void SolverBudget::charge(int64_t steps) { used_ += std::min(steps, limit_ - used_); }

}  // namespace stria
