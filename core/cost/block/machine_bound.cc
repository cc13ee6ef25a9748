// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/machine_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/block/block_work.h"
#include "stria/cost/block/dram_time.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/hwmodel/bus_width.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::Refinement;

// So many points are counted one by one; where there are more, none is certain.
constexpr double kMostPoints = 4e6;
constexpr double kMhzPerGhz = 1000;

// Points of these indices of the block that meet the constraints, which name no other index.
double points_that_meet(const Block& block, const std::vector<size_t>& indices,
                        const std::vector<const Affine*>& constraints) {
  double points = 1;
  for (size_t i : indices) points *= static_cast<double>(block.idxs[i].range);
  if (constraints.empty()) return points;
  if (points > kMostPoints) return 0;
  std::map<std::string, int64_t> at;
  for (size_t i : indices) at[block.idxs[i].name] = 0;
  double out = 0;
  for (bool more = points > 0; more;) {
    out += std::all_of(constraints.begin(), constraints.end(),
                       [&](const Affine* form) { return form->evaluate(at) >= 0; });
    more = false;
    for (size_t i : indices) {
      int64_t& value = at[block.idxs[i].name];
      if (++value < block.idxs[i].range) {
        more = true;
        break;
      }
      value = 0;
    }
  }
  return out;
}

// The part of the block's points that its constraints let pass; not above it where that is hard to
// count. Indices that share no constraint are counted apart.
double part_that_counts(const Block& block) {
  std::vector<size_t> group(block.idxs.size());
  std::iota(group.begin(), group.end(), size_t{0});
  const auto uses = [&](const Affine& form, size_t i) { return form.uses(block.idxs[i].name); };
  for (const Affine& form : block.constraints) {
    size_t first = group.size();
    for (size_t i = 0; i < group.size(); ++i) {
      if (!uses(form, i)) continue;
      if (first == group.size()) first = i;
      const size_t old = group[i], with = group[first];
      std::replace(group.begin(), group.end(), old, with);
    }
  }
  double out = 1;
  for (size_t g : std::set<size_t>(group.begin(), group.end())) {
    std::vector<size_t> indices;
    double all = 1;
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] == g) {
        indices.push_back(i);
        all *= static_cast<double>(block.idxs[i].range);
      }
    std::vector<const Affine*> constraints;
    for (const Affine& form : block.constraints)
      if (std::any_of(indices.begin(), indices.end(), [&](size_t i) { return uses(form, i); }))
        constraints.push_back(&form);
    if (!constraints.empty() && all > 0) out *= points_that_meet(block, indices, constraints) / all;
  }
  return out;
}

// Only points outside of a tensor are left out: each constraint says that some access is not below
// its first element, or not beyond its last one.
bool only_keeps_to_tensors(const Block& block, const std::map<std::string, const Refinement*>& of) {
  return std::all_of(block.constraints.begin(), block.constraints.end(), [&](const Affine& form) {
    return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
      const auto tensor = of.find(ref.from);
      if (tensor == of.end()) return false;
      for (size_t d = 0; d < ref.access.size(); ++d)
        if (form == ref.access[d] ||
            form == Affine(tensor->second->shape.dims[d].size - 1) - ref.access[d])
          return true;
      return false;
    });
  });
}

// Is the element of a load or a store chosen by values, somewhere inside?
bool chooses_by_values(const Block& block, const std::string& name) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const stripe::Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op))
      return load->from == name && !load->at.empty();
    if (const auto* store = std::get_if<stripe::Store>(&stmt.op))
      return store->into == name && !store->at.empty();
    if (const Block* inner = stmt.block())
      return std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& ref) {
        return ref.from == name && chooses_by_values(*inner, ref.into);
      });
    return stmt.special() != nullptr;
  });
}

// Elements of the tensor that the block's points are certain to touch. Sums of n indices that go in
// steps take at least 1 + the sum of (range - 1) values; an index counts in one dimension alone.
// Values before the first element and behind the last one are left out.
double elements_at_least(const Block& block, const Refinement& ref, const Refinement& tensor) {
  std::set<std::string> used;
  double out = 1;
  for (size_t d = 0; d < ref.access.size(); ++d) {
    const auto size = static_cast<double>(tensor.shape.dims[d].size);
    double values = static_cast<double>(ref.shape.dims[d].size);
    double low = static_cast<double>(ref.access[d].constant()), high = low + values - 1;
    for (const stripe::Index& index : block.idxs) {
      if (index.affine) continue;
      const double moves = static_cast<double>(ref.access[d].coefficient(index.name)) *
                           static_cast<double>(index.range - 1);
      if (moves == 0) continue;
      (moves < 0 ? low : high) += moves;
      if (used.insert(index.name).second) values += static_cast<double>(index.range - 1);
    }
    values -= std::max(0.0, -low) + std::max(0.0, high - (size - 1));
    out *= std::clamp(values, 0.0, size);
  }
  return out;
}

// By name of #main's tensors, the bytes that its statements are certain to use.
std::map<std::string, double> used_bytes(const Block& main) {
  std::map<std::string, const Refinement*> tensors;
  for (const Refinement& ref : main.refs) tensors[ref.into] = &ref;
  std::map<std::string, double> out;
  for (const stripe::Statement& statement : main.stmts) {
    const Block* block = statement.block();
    if (!block || !only_keeps_to_tensors(*block, tensors)) continue;
    for (const Refinement& ref : block->refs) {
      const auto tensor = tensors.find(ref.from);
      if (ref.dir == stripe::RefDir::none || tensor == tensors.end()) continue;
      const Refinement& of = *tensor->second;
      if (of.access.size() != ref.access.size() || chooses_by_values(*block, ref.into)) continue;
      const double bytes =
          elements_at_least(*block, ref, of) * static_cast<double>(byte_size(of.shape.type));
      out[ref.from] = std::max(out[ref.from], bytes);
    }
  }
  return out;
}

// Operations of one kind that an instance does in a cycle of the model's clock; 0: none.
double rate_of(const HardwareModel& model, const ExecutionUnit& unit, const std::string& kind) {
  // So many that nothing is rounded.
  constexpr double kMany = 1e6;
  if (kind.starts_with("mac.") && unit.systolic) {
    const auto& [rows, columns] = std::pair(unit.systolic->rows, unit.systolic->columns);
    return static_cast<double>(rows * columns) * model.unit_cycles(unit.clock_mhz);
  }
  BlockWork work;
  work.operations[kind] = kMany;
  (kind.starts_with("mac.") ? work.macs : work.others) = kMany;
  const Result<double> cycles = operation_cycles(unit, work);
  if (!cycles.ok() || *cycles <= 0) return 0;
  return kMany / *cycles * model.unit_cycles(unit.clock_mhz);
}

// By kind, operations at the points that count; moves are none.
using Counts = std::map<std::string, double>;
void add_counts(const Block& statement, Counts& counts) {
  const double part = part_that_counts(statement);
  for (const auto& [kind, count] : work_of(statement).operations)
    if (!kind.starts_with("move")) counts[kind] += part * count;
}

void add_operations(const Counts& counts, const HardwareModel& model,
                    std::vector<MachineBound>& bounds) {
  double all = 0, alone = 0, instances = 0;
  std::set<std::string> units;
  for (const auto& [kind, count] : counts) {
    double together = 0, fastest = 0;
    std::string on;
    for (const ExecutionUnit& unit : model.executors) {
      const double rate = rate_of(model, unit, kind);
      if (rate <= 0) continue;
      together += static_cast<double>(unit.count) * rate;
      fastest = std::max(fastest, rate);
      on += (on.empty() ? "" : " and ") + unit.name;
      units.insert(unit.name);
    }
    if (together <= 0) continue;
    bounds.push_back({fmt::format("{:.0f} {} on {}", count, kind, on), count / together});
    alone = std::max(alone, count / together);
    all += count / fastest;
  }
  std::string on;
  for (const ExecutionUnit& unit : model.executors)
    if (units.count(unit.name)) {
      instances += static_cast<double>(unit.count);
      on += (on.empty() ? "" : " and ") + unit.name;
    }
  if (instances > 0 && all / instances > alone)
    bounds.push_back({fmt::format("all operations on {}", on), all / instances});
}

// Of a memory of rows: all bytes lie together, and each row is opened once.
double rows_ns_at_least(const MemoryUnit& memory, double bytes) {
  const DramRows& dram = *memory.dram;
  RowWalk walk;
  walk.bursts = bytes / static_cast<double>(dram.burst_bytes);
  walk.rows = bytes / static_cast<double>(dram.row_bytes);
  walk.banks_in_turn = std::numeric_limits<double>::infinity();
  return dram_ns(dram, walk) / static_cast<double>(std::max<int64_t>(memory.count, 1));
}

void add_transfers(const Block& main, const HardwareModel& model, const std::string& memory,
                   std::vector<MachineBound>& bounds) {
  const std::map<std::string, double> used = used_bytes(main);
  double read = 0, written = 0;
  for (const Refinement& ref : main.refs) {
    const auto bytes = used.find(ref.into);
    if (bytes == used.end()) continue;
    if (ref.dir != stripe::RefDir::out && ref.dir != stripe::RefDir::none) read += bytes->second;
    if (stripe::is_written(ref)) written += bytes->second;
  }
  double from = 0, to = 0, both = 0;  // bytes in a cycle
  bool one_way = true;                // no bus carries both directions
  const auto is_memory = [&](const UnitInstance& end) { return end.name == memory; };
  for (const Bus& bus : model.buses) {
    const double out = bus_width(model, bus, bus.sources, is_memory);
    const double in = bus_width(model, bus, bus.sinks, is_memory);
    from += out;
    to += in;
    both += bus.mesh ? out + in : std::max(out, in);
    one_way &= bus.mesh.has_value() || out == 0 || in == 0;
  }
  const auto add = [&](double bytes, double width, const char* direction) {
    if (bytes > 0 && width > 0)
      bounds.push_back(
          {fmt::format("{:.0f} bytes {} {}", bytes, direction, memory), bytes / width});
  };
  add(read, from, "from");
  add(written, to, "to");
  if (!one_way) add(read + written, both, "from and to");
  const MemoryUnit* unit = model.find_memory(memory);
  if (unit && unit->dram && model.clock_mhz > 0 && read + written > 0)
    bounds.push_back({fmt::format("{:.0f} bytes in rows of {}", read + written, memory),
                      rows_ns_at_least(*unit, read + written) * model.clock_mhz / kMhzPerGhz});
}

}  // namespace

std::vector<MachineBound> machine_bounds(const stripe::Program& generic, const HardwareModel& model,
                                         const std::string& main_memory) {
  std::vector<MachineBound> out;
  if (const Block* main = generic.main()) {
    Counts counts;
    for (const stripe::Statement& statement : main->stmts)
      if (statement.block()) add_counts(*statement.block(), counts);
    add_operations(counts, model, out);
    if (!main_memory.empty()) add_transfers(*main, model, main_memory, out);
  }
  std::stable_sort(out.begin(), out.end(), [](const MachineBound& a, const MachineBound& b) {
    return a.cycles > b.cycles;
  });
  return out;
}

std::optional<double> operation_cycles_at_least(const stripe::Block& statement,
                                                const HardwareModel& model) {
  Counts counts;
  add_counts(statement, counts);
  std::vector<MachineBound> bounds;
  add_operations(counts, model, bounds);
  if (bounds.empty() && !counts.empty()) return std::nullopt;
  double out = 0;
  for (const MachineBound& bound : bounds) out = std::max(out, bound.cycles);
  return out;
}

}  // namespace stria::cost
