// SPDX-License-Identifier: Apache-2.0
// Who does something while others do: the kernel itself, each of its roles (S18), and each
// asynchronous block that has begun (S17). An agent holds the blocks that it is in, each with the
// values of its point, and knows by its clock whose work is done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stria/interp/clock.h"
#include "stria/interp/memory.h"
#include "stria/interp/plan.h"
#include "stria/interp/value.h"

namespace stria::interp {

struct SharedMemory;

struct SharedView {
  std::shared_ptr<SharedMemory> memory;
  int64_t offset = 0;
  std::shared_ptr<Aggregating> aggregating;
};

// A block that an agent is in.
struct Activation {
  const BlockPlan* plan = nullptr;
  // The block around it. Of an asynchronous block, a copy as it was at the beginning.
  std::shared_ptr<const Activation> outer;
  std::vector<int64_t> start, range, position;  // of each index
  std::vector<int64_t> forms;                   // at the current point
  std::vector<SharedView> views;
  std::vector<int64_t> bases;  // offsets of the views that `views` are made of
  std::vector<TypedValue> scalars;
  size_t next = 0;        // statement of the point
  bool begun = false;     // it has had a point
  bool at_point = false;  // statements of the point are left

  // Sets `forms` for `position`; whether all constraints hold.
  bool evaluate();
  // The next point that meets all constraints, in lexicographic order; false past the last one.
  bool advance();
  // Coordinates in its allocation of the view's element, or nothing where a view changes the rank.
  std::vector<int64_t> coordinates(size_t slot) const;
  std::string where() const;  // "kernel_0/2 at k=3, c=0"
};

// The block at its start. `fixed`: positions of located indices, or -1; empty if all are free.
std::shared_ptr<Activation> enter(const BlockPlan& plan, std::shared_ptr<const Activation> outer,
                                  const std::vector<int64_t>& fixed);

struct PhaseOf {
  SharedView view;
  int64_t phase = 0;
  std::string name;  // "full[1]"
};

struct Agent {
  int id = 0;
  std::string name;  // "role kernel_0/1 at w=1", "asynchronous kernel_0/2 at k=3"
  bool is_async = false;
  int root = 0;  // the role, or the kernel, that began it
  std::vector<std::shared_ptr<Activation>> stack;
  Clock clock;
  std::vector<PhaseOf> arrives_at;  // once it has ended
  std::vector<int> joins;           // roles that have to end first
  int after = -1;                   // another one that has to end first (#in_order)
  const PhaseOf* waits = nullptr;   // for this phase
  PhaseOf waited;                   // what `waits` points to
  int64_t priority = 0;
  bool ended = false;

  uint32_t count() const { return clock[static_cast<size_t>(id)]; }
};

}  // namespace stria::interp
