// SPDX-License-Identifier: Apache-2.0
// A kernel on units that run groups of lanes. Terms, of the unit that has the most groups:
//
//   instructions  of all lanes / multiply-adds in a cycle: operations by element, accesses of local
//                 memory (local_load_instructions) and of main memory
//                 (uncached_vector_instructions, uncached_element_instructions), and barriers
//                 (step_instructions)
//   waits         groups that fit beside each other run in rounds; in each a group waits for main
//                 memory when it begins, and at steps that load from it, of which accesses_ahead
//                 are under way at once; times group_wait_factor
//   CACHE         bytes / what the cache that all units share gives; what fits into the local
//                 memory of a unit comes once for each of its groups
//   MEMORY        bytes / what main memory gives; what fits into the cache before it comes once
//
// Sources: the facts' own (hwmodel/group_facts.def); stria_predict_bench has the errors.
#include <algorithm>
#include <cmath>

#include "stria/cost/block/numbers.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/cost/kernel/kernel_traffic.h"
#include "stria/hwmodel/waited_memory.h"

namespace stria::cost {
namespace {

using Kind = NestOperation::Kind;

class GroupKernel {
 public:
  GroupKernel(const KernelNest& nest, const HardwareModel& model, const ExecutionUnit& unit)
      : nest_(nest), model_(model), unit_(unit), facts_(unit.calibration.group) {
    for (const NestLoop& loop : nest.loops)
      if (loop.parallel && loop.unit == unit.name) groups_ *= loop.range;
    // The lanes of a group go through its other loops together: they are the inner ones.
    for (NestPiece& piece : nest_.pieces)
      std::stable_partition(piece.loops.begin(), piece.loops.end(),
                            [&](size_t loop) { return !of_lanes(nest_.loops[loop]); });
    lanes_ = lanes();
    // Lanes that no group holds together come in groups as large as any.
    if (groups_ == 1 && lanes_ > facts_.group_lanes) {
      groups_ = std::ceil(lanes_ / facts_.group_lanes);
      lanes_ = facts_.group_lanes;
    }
    if (const MemoryUnit* waited = waited_memory(model)) latency_ = waited->latency_cycles;
    for (const MemoryUnit& memory : model.memories) {
      if (!main_ || memory.size_bytes > main_->size_bytes) main_ = &memory;
      if (memory.policy == MemoryPolicy::lru && (!cache_ || memory.size_bytes > cache_->size_bytes))
        cache_ = &memory;
      if (memory.banks > 0) local_bytes_ = std::max(local_bytes_, as_double(memory.size_bytes));
    }
  }

  KernelCycles run() {
    double instructions = 0, waits = 0;
    for (const NestPiece& piece : nest_.pieces) add(piece, instructions, waits);
    const double units = as_double(std::max<int64_t>(unit_.count, 1));
    const double of_unit = std::ceil(groups_ / units);
    const double multiply_adds =
        unit_.ops_per_cycle / (unit_.operation == ExecutionUnit::Operation::mac ? 1 : 2);
    const double rounds = std::ceil(of_unit / beside());
    KernelCycles out;
    out.terms = {{"instructions", of_unit * instructions / groups_ / multiply_adds},
                 {"waits", rounds * (latency_ + waits / groups_) * facts_.group_wait_factor}};
    const auto moved = [&](const MemoryUnit* memory, double capacity) {
      if (memory && memory->read_bytes_per_cycle > 0)
        out.terms.push_back(
            {memory->name, bytes(*memory, capacity) / memory->read_bytes_per_cycle});
    };
    if (cache_ != main_) moved(cache_, local_bytes_);
    // Without a cache in the model nobody knows: all is brought once.
    moved(main_, cache_ ? as_double(cache_->size_bytes) : 1e300);
    out.shown_part = facts_.group_shown_part;
    out.spread_factor = facts_.group_spread_factor;
    return out;
  }

 private:
  bool in_main(const NestTensor& tensor) const {
    return !main_ || tensor.memory.empty() || tensor.memory == main_->name || tensor.outside;
  }
  // Local memory: banks that the lanes of a group share.
  bool in_local(const NestTensor& tensor) const {
    const MemoryUnit* memory = model_.find_memory(tensor.memory);
    return !tensor.outside && memory && memory->banks > 0;
  }
  bool in_registers(const NestTensor& tensor) const {
    return !in_main(tensor) && !in_local(tensor);
  }

  // Vectors that a piece's access is, for each of its runs.
  double vectors(const NestPiece& piece, int64_t element_bytes) const {
    return std::ceil(as_double(piece.lanes * element_bytes) / facts_.vector_bytes);
  }
  static bool in_a_row(const KernelNest& nest, const NestAccess& access) {
    for (const auto& [loop, stride] : access.form)
      if (nest.loops[loop].lanes) return magnitude(stride) == 1;
    return false;
  }

  void add(const NestPiece& piece, double& instructions, double& waits) {
    bool loads_from_main = false;
    for (const NestOperation& operation : piece.operations) {
      const double runs = nest_.runs(piece, operation);
      if (operation.kind != Kind::access) {
        const double factor = operation.instructions > 1 ? facts_.group_function_factor : 1;
        instructions += runs * operation.instructions * factor * as_double(piece.lanes);
        continue;
      }
      const NestTensor& tensor = nest_.tensors[operation.access.tensor];
      if (in_registers(tensor)) continue;
      const bool row = piece.lanes > 1 && in_a_row(nest_, operation.access);
      const double pieces = row ? vectors(piece, tensor.element_bytes)
                                : as_double(operation.access.form.empty() ? 1 : piece.lanes);
      if (in_local(tensor)) {
        instructions += runs * pieces * facts_.local_load_instructions * facts_.group_access_factor;
      } else {
        instructions +=
            runs * pieces * facts_.group_access_factor *
            (row ? facts_.uncached_vector_instructions : facts_.uncached_element_instructions);
        loads_from_main = loads_from_main || !operation.access.stores;
      }
    }
    if (piece.barrier) instructions += nest_.points(piece) * facts_.step_instructions * lanes_;
    if (loads_from_main) waits += waits_of(piece) * latency_;
  }

  // How often the lanes of all groups wait for main memory: at each step of the loops around the
  // piece that are not written out, as far as accesses do not come while others are under way.
  double waits_of(const NestPiece& piece) const {
    double out = groups_;
    for (size_t loop : piece.loops) {
      const NestLoop& of = nest_.loops[loop];
      if (!of.parallel && !of.lanes && !of.unrolled) out *= of.range;
    }
    return out / facts_.accesses_ahead;
  }

  bool of_lanes(const NestLoop& loop) const {
    return loop.lanes || (loop.parallel && loop.unit != unit_.name);
  }
  // Lanes of a group.
  double lanes() const {
    double most = 1;
    for (const NestPiece& piece : nest_.pieces) {
      double own = 1;
      for (size_t loop : piece.loops)
        if (nest_.loops[loop].parallel && nest_.loops[loop].unit != unit_.name)
          own *= nest_.loops[loop].range;
      most = std::max(most, own);
    }
    return most;
  }

  // Groups that a unit runs at once.
  double beside() const {
    double local = 0, registers = facts_.other_register_bytes * lanes_;
    const MemoryUnit* shared = nullptr;
    for (const NestTensor& tensor : nest_.tensors) {
      if (in_local(tensor)) {
        local += tensor.bytes;
        shared = model_.find_memory(tensor.memory);
      } else if (in_registers(tensor)) {
        registers += tensor.bytes;
      }
    }
    double out = std::min(facts_.most_groups_beside, as_double(unit_.max_threads) / lanes_);
    if (shared && local > 0)
      out = std::min(out, as_double(std::max(shared->unit_bytes, shared->size_bytes)) / local);
    for (const MemoryUnit& memory : model_.memories)
      if (memory.policy != MemoryPolicy::lru && memory.banks == 0 && &memory != main_ &&
          memory.size_bytes > 0)
        out = std::min(out, as_double(memory.size_bytes) *
                                as_double(std::max<int64_t>(1, memory.count)) /
                                as_double(std::max<int64_t>(1, unit_.count)) / registers);
    return std::max(1.0, std::floor(out));
  }

  // That move between a memory and what holds `capacity` bytes before it; what that cannot hold
  // comes again.
  double bytes(const MemoryUnit& memory, double capacity) const {
    const auto behind = [&](const NestTensor& tensor) { return in_main(tensor); };
    KernelCache cache;
    cache.capacity = capacity;
    cache.line_bytes =
        memory.line_bytes > 0 ? memory.line_bytes : static_cast<int64_t>(facts_.line_bytes);
    return traffic_of(nest_, cache, behind).bytes();
  }

  KernelNest nest_;
  const HardwareModel& model_;
  const ExecutionUnit& unit_;
  const GroupFacts& facts_;
  double groups_ = 1, lanes_ = 1, latency_ = 0, local_bytes_ = 0;
  const MemoryUnit *main_ = nullptr, *cache_ = nullptr;
};

}  // namespace

KernelCycles group_cycles(const KernelNest& nest, const HardwareModel& model,
                          const ExecutionUnit& unit) {
  return GroupKernel(nest, model, unit).run();
}

}  // namespace stria::cost
