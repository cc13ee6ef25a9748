// SPDX-License-Identifier: Apache-2.0
// What many questions about integer sets may cost together. While a SolverBudget lives, every
// question that its thread asks the solver draws on it; once it is used up, further ones answer
// `unknown` at once. So a reader of foreign programs is done in bounded time however many hard sets
// they hold, and since steps are counted, not seconds, in the same way on every machine.
//
// Without one each question has only the limit of its own, kQuestionSteps.
#pragma once

#include <cstdint>

namespace stria {

// A step is the work of one operation of the solver on one word of the set's matrix: 1 to 2 ns for
// what compilers ask, which takes a thousandth of this, and up to 10 ns for what is made to be
// hard.
inline constexpr int64_t kQuestionSteps = 70'000'000;

// To be made and ended on one thread, last made first ended. An inner budget leaves the outer one
// alone while it lives and counts against it when it ends.
class SolverBudget {
 public:
  explicit SolverBudget(int64_t steps);
  ~SolverBudget();
  SolverBudget(const SolverBudget&) = delete;
  SolverBudget& operator=(const SolverBudget&) = delete;

  int64_t limit() const { return limit_; }
  // At most `limit`.
  int64_t used() const { return used_; }
  int64_t questions() const { return questions_; }  // that reached the solver
  // Whether one of them needed more than was left.
  bool exhausted() const { return exhausted_; }

  // The innermost one of this thread; null if there is none.
  static SolverBudget* current();

 private:
  friend class SetSolver;
  void charge(int64_t steps);

  int64_t limit_;
  int64_t used_ = 0;
  int64_t questions_ = 0;
  bool exhausted_ = false;
  SolverBudget* outer_;
};

}  // namespace stria
