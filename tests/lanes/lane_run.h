// SPDX-License-Identifier: Apache-2.0
// Statements of a kernel as one lane runs them on its own, and the variables of all lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate.h"
#include "fault_text.h"
#include "stria/base/result.h"
#include "stria/semtree/tree/tree.h"
#include "touched_memory.h"

namespace stria::lanes {

class LaneRun {
 public:
  // Both must outlive it.
  LaneRun(const semtree::Function& function, TouchedMemory& memory)
      : function_(function), text_(function), memory_(memory), evaluator_(function) {}

  // No variable has a value.
  void begin_group(int64_t group);
  void set(int64_t lane, int var, int64_t value);
  // Of a scalar that decides where or whether something is done.
  Result<int64_t> number(const semtree::Expr& expr, int64_t lane,
                         const semtree::Statement& statement);

  // `element`: of the matrices that the statements touch; -1: they touch none.
  Status run(std::span<const semtree::Statement> statements, int64_t lane, int64_t element = -1);

 private:
  Value* variables(int64_t lane) {
    return variables_.data() + static_cast<size_t>(lane) * evaluator_.variable_values();
  }
  Status run(const semtree::Load& load, int64_t lane, const semtree::Statement& statement);
  Status run(const semtree::Store& store, int64_t lane, const semtree::Statement& statement);
  Status evaluate(const semtree::Expr& expr, int64_t lane, Value* out,
                  const semtree::Statement& statement);
  Status touch(const semtree::Place& place, int64_t lane, bool writes,
               const semtree::Statement& statement);
  Status touch_matrix(const semtree::Place& place, int64_t lane,
                      const semtree::Statement& statement);

  const semtree::Function& function_;
  const FaultText text_;
  TouchedMemory& memory_;
  Evaluator evaluator_;
  int64_t group_ = 0;
  std::vector<Value> variables_;  // lane by lane
  // Of the statement that runs.
  std::vector<TouchedMemory::Element> places_;
  std::vector<Value> stored_, offsets_, masks_;
  int64_t element_ = -1;
};

}  // namespace stria::lanes
