// SPDX-License-Identifier: Apache-2.0
// Runs a kernel in which several agents go on at once (S16 to S19), under one interleaving of
// theirs. A step is a point of a block without blocks, or one statement that waits, arrives, begins
// or ends a block. What the rules forbid is an error in any interleaving in which it shows:
// invalid_argument for races; failed_precondition for phases out of order and for waits that nobody
// ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/agent.h"
#include "stria/interp/interleaving.h"
#include "stria/interp/interpret.h"
#include "stria/interp/shared_memory.h"

namespace stria::interp {

class Machine {
 public:
  // `around` is the block that the kernel is a statement of, at its point. All is borrowed.
  Machine(const BlockPlan& kernel, std::shared_ptr<const Activation> around,
          const InterpOptions& options, const Interleaving& how);
  Status run();
  int64_t steps() const { return steps_; }
  const Events& events() const { return events_; }

 private:
  enum class Went { on, waits, ended };

  Agent& begin(const BlockPlan& block, std::shared_ptr<const Activation> outer,
               const std::vector<int64_t>& fixed, std::string name, const Agent* by);
  void begin_roles(Agent& agent, const Activation& top);
  void begin_async(Agent& agent, const Activation& top, const BlockPlan& block);
  Result<Went> step(Agent& agent);
  Status begin_point(Agent& agent, Activation& top);
  Status end_point(Agent& agent, Activation& top);
  Status leave(Agent& agent);
  Status end(Agent& agent);

  Result<PhaseOf> phase_of(const Activation& top, size_t slot, bool arrives) const;
  Status arrive(Agent& agent, const PhaseOf& at);
  bool is_blocked(const Agent& agent) const;
  Status pass(Agent& agent);  // what is_blocked waited for has come
  Agent* pick(Agent* current);
  Status stuck() const;

  Status load(Agent& agent, Activation& top, const StmtPlan& stmt);
  Status store(Agent& agent, Activation& top, const StmtPlan& stmt);
  Status put(Agent& agent, Activation& top, size_t slot, int64_t offset, const TypedValue& value);
  Status aggregate(Agent& agent, Activation& top, const StmtPlan& stmt, int64_t offset,
                   const TypedValue& value);
  Status whole_view(Agent& agent, Activation& top, const StmtPlan& stmt);
  Result<TypedValue> element(Agent& agent, Activation& top, size_t slot, DataType type,
                             int64_t offset);
  // A value that was never written reaches a tensor of the caller. A race may be why: the run goes
  // on, and tells this in the end if there is none.
  Status poisoned(const Activation& top, size_t slot, int64_t offset);
  Status outside(const Activation& top, size_t slot, int64_t offset, std::string_view what) const;

  const BlockPlan& kernel_;
  std::shared_ptr<const Activation> around_;
  InterpOptions options_;
  Interleaving how_;
  Agents agents_;
  std::map<std::string, int> last_in_order_;  // "role/unit": the last agent of theirs
  int64_t steps_ = 0;
  size_t next_switch_ = 0;
  int64_t lowest_ = 0;
  Events events_;
  Status poison_;
};

}  // namespace stria::interp
