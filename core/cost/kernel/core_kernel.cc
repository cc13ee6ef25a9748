// SPDX-License-Identifier: Apache-2.0
// A kernel on cores with vector registers. All terms are of the core that has the most parts.
//
//   operations   vectors of multiply-adds and of other operations / multiply-adds in a cycle, times
//                multiply_factor; broadcast_multiply_adds for a single value that all lanes get;
//                and kernel_loop_cycles for each step of an innermost loop
//   accesses     loads / loads in a cycle, and stores, one in a cycle; an element that lies apart
//                from its neighbours is an access of its own
//   sums         of a piece whose running values wait for each other: the latency of each step
//   CACHE        bytes / the rate of the memory behind, for each cache that cannot hold it all, or
//                from which the program has pushed out what the kernel uses (since_bytes of its
//                tensors). What is written is read first, unless it is streamed
//
// Operations, accesses and sums of one piece run beside each other: the longest one counts.
// Sources: the facts' own (hwmodel/core_facts.def); stria_predict_bench has the errors.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "stria/cost/block/numbers.h"
#include "stria/cost/core/core_start.h"
#include "stria/cost/core/register_time.h"
#include "stria/cost/kernel/kernel_time.h"
#include "stria/cost/kernel/kernel_traffic.h"

namespace stria::cost {
namespace {

using Kind = NestOperation::Kind;

// In what numbers of that type are computed: 16-bit floats as fp32.
int64_t computed_bytes(DataType type) {
  return is_float(type) ? std::max<int64_t>(byte_size(type), byte_size(DataType::fp32))
                        : byte_size(type);
}

class CoreKernel {
 public:
  CoreKernel(const KernelNest& nest, const HardwareModel& model, const ExecutionUnit& unit)
      : nest_(nest), model_(model), unit_(unit), facts_(unit.calibration.core) {
    double parts = 1;
    for (const NestLoop& loop : nest.loops)
      if (loop.parallel) parts *= loop.range;
    cores_ = std::min(parts, as_double(std::max<int64_t>(unit.count, 1)));
    parts_of_core_ = std::ceil(parts / cores_);
    share_ = parts_of_core_ / parts;
    parallel_ = parts > 1;
  }

  KernelCycles run() {
    double operations = 0, accesses = 0, sums = 0;
    for (const NestPiece& piece : nest_.pieces) add(piece, operations, accesses, sums);
    KernelCycles out;
    out.terms = {{"operations", operations * share_},
                 {"accesses", accesses * share_},
                 {"sums", sums * share_}};
    add_caches(out.terms);
    for (KernelCycles::Term& term : out.terms) term.cycles *= busy_factor(unit_, cores_);
    out.shown_part = facts_.kernel_shown_part;
    if (parallel_)
      out.beside = start_cycles(unit_, cores_) + parts_of_core_ * facts_.kernel_part_cycles;
    out.spread_factor = facts_.spread_factor;
    return out;
  }

 private:
  const CoreRates& rates(DataType type) {
    auto found = rates_.find(type);
    if (found == rates_.end()) {
      const int64_t lanes = std::max<int64_t>(1, unit_.vector_bytes / computed_bytes(type));
      found = rates_.emplace(type, *core_rates(model_, unit_.name, type, lanes)).first;
    }
    return found->second;
  }

  bool in_registers(const NestTensor& tensor) const {
    if (tensor.outside) return false;
    const MemoryUnit* memory = model_.find_memory(tensor.memory);
    return tensor.bytes <= as_double(tensor.element_bytes) ||
           (memory && memory->policy == MemoryPolicy::managed &&
            memory->size_bytes <= unit_.vector_bytes * unit_.vector_registers);
  }

  double instructions(const NestOperation& operation) const {
    return operation.instructions > 1 ? operation.instructions * facts_.kernel_function_factor
                                      : operation.instructions;
  }

  double vectors(const NestPiece& piece, int64_t element_bytes) const {
    return piece.lanes == 1
               ? 1
               : std::ceil(as_double(piece.lanes * element_bytes) / as_double(unit_.vector_bytes));
  }

  void add(const NestPiece& piece, double& operations, double& accesses, double& sums) {
    double computing = 0, loads = 0, stores = 0, waiting = 0;
    for (const NestOperation& operation : piece.operations) {
      const double runs = nest_.runs(piece, operation);
      if (operation.kind != Kind::access) {
        computing += runs * instructions(operation) *
                     vectors(piece, computed_bytes(operation.type)) /
                     rates(operation.type).multiply_adds;
        continue;
      }
      const NestAccess& access = operation.access;
      const NestTensor& tensor = nest_.tensors[access.tensor];
      if (access.adds) waiting = std::max(waiting, wait(piece, access));
      if (in_registers(tensor)) continue;
      const double each = runs * accesses_of(piece, access, tensor);
      if (access.stores) {
        stores += each;
        if (access.adds) loads += each;
      } else {
        loads += each;
        if (fills_lanes(piece, access))
          computing += runs * facts_.broadcast_multiply_adds /
                       rates(multiplied(piece).value_or(DataType::fp32)).multiply_adds;
      }
    }
    computing = computing * facts_.multiply_factor + steps(piece) * facts_.kernel_loop_cycles;
    const double moving =
        std::max(loads / rates(DataType::fp32).loads * facts_.kernel_access_factor,
                 stores * facts_.kernel_store_factor);
    const double longest = std::max({computing, moving, waiting});
    (longest == computing ? operations : longest == moving ? accesses : sums) += longest;
  }

  // A single value that all lanes get.
  bool fills_lanes(const NestPiece& piece, const NestAccess& access) const {
    return piece.lanes > 1 && !access.chosen &&
           std::none_of(access.form.begin(), access.form.end(),
                        [&](const auto& term) { return nest_.loops[term.first].lanes; });
  }

  // How many accesses one vector of the piece is.
  double accesses_of(const NestPiece& piece, const NestAccess& access,
                     const NestTensor& tensor) const {
    if (piece.lanes == 1) return 1;
    if (access.chosen) return as_double(piece.lanes);
    for (const auto& [loop, stride] : access.form)
      if (nest_.loops[loop].lanes)
        return magnitude(stride) == 1 ? vectors(piece, tensor.element_bytes)
                                      : as_double(piece.lanes);
    return 1;
  }

  // Cycles in which sums wait for the ones before.
  double wait(const NestPiece& piece, const NestAccess& access) {
    const auto moves = [&](size_t loop) {
      return std::any_of(access.form.begin(), access.form.end(),
                         [&](const auto& term) { return term.first == loop; });
    };
    double steps = piece.part;
    bool sums = false;
    for (size_t loop : piece.loops) {
      const NestLoop& of = nest_.loops[loop];
      if (of.lanes) {
        if (!moves(loop)) steps *= std::log2(of.range);  // added up by halves
      } else if (!of.unrolled || !moves(loop)) {
        steps *= of.range;
        sums = !moves(loop);
      }
    }
    return sums ? steps * as_double(rates(DataType::fp32).latency_cycles) : 0;
  }

  // Steps of the piece's innermost loop that is one; pieces of one loop share it.
  double steps(const NestPiece& piece) {
    double out = piece.part;
    std::optional<size_t> innermost;
    for (size_t loop : piece.loops)
      if (!nest_.loops[loop].lanes && !nest_.loops[loop].unrolled) {
        out *= nest_.loops[loop].range;
        innermost = loop;
      }
    return innermost && counted_.insert(*innermost).second ? out : 0;
  }

  void add_caches(std::vector<KernelCycles::Term>& terms) {
    const CoreRates& of = rates(type_of_memory());
    const auto behind = [&](const NestTensor& tensor) { return !in_registers(tensor); };
    for (const CoreRates::Level& level : of.caches) {
      const MemoryUnit* memory = model_.find_memory(level.name);
      KernelCache cache;
      cache.line_bytes = level.line_bytes;
      // Of the memory's instances, each serves so many cores.
      cache.units = memory ? std::min(cores_, as_double(std::max<int64_t>(memory->count, 1))) : 1;
      const double capacity = level.bytes * level.filled_part;
      const auto pushed_out = [&](const NestTensor& tensor) {
        return behind(tensor) && tensor.outside && tensor.since_bytes > capacity * cache.units;
      };
      cache.capacity = 1e300;
      // If the cache keeps all of it, only what the program has pushed out since comes in.
      const bool keeps = traffic_of(nest_, cache, behind).bytes() / cache.units <= capacity;
      if (!keeps) cache.capacity = capacity;
      cache.ways = level.ways;
      cache.sets = level.sets;
      cache.run_lines = facts_.kernel_run_lines;
      const KernelTraffic traffic =
          keeps ? traffic_of(nest_, cache, pushed_out) : traffic_of(nest_, cache, behind);
      if (keeps && traffic.bytes() == 0) break;
      // What is written is read first, and goes out.
      const double bytes = traffic.read_bytes + 2 * traffic.written_bytes + traffic.streamed_bytes;
      terms.push_back(
          {level.name + " from " + level.behind, bytes * share_ / level.bytes_per_cycle});
    }
  }

  static std::optional<DataType> multiplied(const NestPiece& piece) {
    for (const NestOperation& operation : piece.operations)
      if (operation.kind == Kind::multiply_add) return operation.type;
    return std::nullopt;
  }

  DataType type_of_memory() const {
    for (const NestPiece& piece : nest_.pieces)
      if (const auto type = multiplied(piece)) return *type;
    return DataType::fp32;
  }

  const KernelNest& nest_;
  const HardwareModel& model_;
  const ExecutionUnit& unit_;
  const CoreFacts& facts_;
  double cores_ = 1, parts_of_core_ = 1, share_ = 1;
  bool parallel_ = false;
  std::map<DataType, CoreRates> rates_;
  std::set<size_t> counted_;
};

}  // namespace

KernelCycles core_cycles(const KernelNest& nest, const HardwareModel& model,
                         const ExecutionUnit& unit) {
  return CoreKernel(nest, model, unit).run();
}

}  // namespace stria::cost
