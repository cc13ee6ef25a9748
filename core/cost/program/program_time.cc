// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/program/program_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "stria/cost/block/flat_kernel.h"
#include "stria/cost/block/machine_bound.h"
#include "stria/cost/core/core_start.h"
#include "stria/cost/kernel/section_nests.h"
#include "stria/hwmodel/bus_width.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::Refinement;

// How much of the errors of kernels is common to all of one machine.
constexpr double kCommonPart = 0.5;
// Deviations to each side of an interval that holds nine of ten.
constexpr double kNineOfTen = 1.645;
// What a pipeline's kernels take over the bound, by experience; and what they take at most over
// that.
constexpr double kBoundSlack = 2;

// What a run takes beside its kernels.
TimeRange run_of(const HardwareModel& model) {
  const double seconds = model.run_us * 1e-6;
  return {seconds, seconds / kBoundSlack, seconds * kBoundSlack};
}

// The sum of what kernels take.
TimeRange sum_of(const std::vector<const PredictedTime*>& times) {
  double seconds = 0, deviations = 0, squares = 0;
  for (const PredictedTime* time : times) {
    if (time->seconds <= 0) continue;
    seconds += time->seconds;
    const double deviation =
        time->seconds * std::log(time->most_seconds / time->seconds) / kNineOfTen;
    deviations += deviation;
    squares += deviation * deviation;
  }
  if (seconds <= 0) return {};
  const double deviation =
      std::sqrt(kCommonPart * deviations * deviations + (1 - kCommonPart) * squares) / seconds;
  const double factor = std::exp(kNineOfTen * deviation);
  return {seconds, seconds / factor, seconds * factor};
}

// Bytes in a cycle of the model that come out of all instances of a memory; 0: not known.
double bytes_per_cycle(const HardwareModel& model, const MemoryUnit& memory) {
  const double own = memory.read_bytes_per_cycle *
                     static_cast<double>(std::max<int64_t>(memory.count, 1)) *
                     model.unit_cycles(memory.clock_mhz);
  double units = 0, buses = 0;
  for (const ExecutionUnit& unit : model.executors) {
    double best = 0;
    for (const auto& [type, rates] : unit.rates)
      if (const auto at = rates.read_bytes_per_cycle.find(memory.name);
          at != rates.read_bytes_per_cycle.end())
        best = std::max(best, at->second);
    units += best * static_cast<double>(unit.count) * model.unit_cycles(unit.clock_mhz);
  }
  for (const Bus& bus : model.buses)
    buses += bus_width(model, bus, bus.sources,
                       [&](const UnitInstance& source) { return source.name == memory.name; });
  return std::max({own, units, buses});
}

// Of the fastest memory that so many bytes fit into, or of the largest one.
double bytes_per_cycle(const HardwareModel& model, double bytes) {
  const auto capacity = [](const MemoryUnit& memory) {
    return static_cast<double>(memory.size_bytes) *
           static_cast<double>(std::max<int64_t>(memory.count, 1));
  };
  const MemoryUnit* main = nullptr;
  for (const MemoryUnit& memory : model.memories)
    if (!main || capacity(memory) > capacity(*main)) main = &memory;
  double out = main ? bytes_per_cycle(model, *main) : 0;
  // A memory that a program manages holds tiles, not tensors.
  for (const MemoryUnit& memory : model.memories)
    if (memory.policy == MemoryPolicy::lru && capacity(memory) >= bytes)
      out = std::max(out, bytes_per_cycle(model, memory));
  return out;
}

// What work takes that takes `cycles` if all cores do it and begin at once, by the best number of
// cores: a few do small work faster than all of them could begin.
double with_start(const HardwareModel& model, double cycles) {
  // Units that run groups of lanes have no cores that begin.
  for (const ExecutionUnit& unit : model.executors)
    if (unit.max_threads > 0) return cycles;
  for (const ExecutionUnit& unit : model.executors) {
    if (unit.vector_registers <= 0 || unit.count < 2) continue;
    const double all = static_cast<double>(unit.count);
    const auto with = [&](double cores) {
      return cycles * all / cores * busy_factor(unit, cores) + start_cycles(unit, cores);
    };
    double best = with(all);
    for (double cores = 1; cores < all; cores *= 2) best = std::min(best, with(cores));
    return best;
  }
  return cycles;
}

double bytes_of(const Refinement& ref) {
  return static_cast<double>(ref.shape.element_count()) *
         static_cast<double>(byte_size(ref.shape.type));
}

// Statements of main that passes usually make one kernel of: positions [begin, end).
struct Group {
  size_t begin = 0, end = 0;
};
std::vector<Group> groups_of(const Block& main) {
  std::vector<Group> out;
  for (size_t at = 0; at < main.stmts.size();) {
    const size_t end = at + 1 + following_kernels(main, at).size();
    out.push_back({at, end});
    at = end;
  }
  return out;
}

// The tensors of main that a statement reads and writes.
struct Uses {
  std::set<std::string> reads, writes;
};
Uses uses_of(const stripe::Statement& statement) {
  Uses out;
  if (const Block* block = statement.block()) {
    for (const Refinement& ref : block->refs) {
      if (ref.dir == stripe::RefDir::in || ref.dir == stripe::RefDir::inout)
        out.reads.insert(ref.from);
      if (stripe::is_written(ref)) out.writes.insert(ref.from);
    }
  } else if (const stripe::Special* special = statement.special()) {
    out.reads.insert(special->inputs.begin(), special->inputs.end());
    out.writes.insert(special->outputs.begin(), special->outputs.end());
  }
  return out;
}

}  // namespace

ProgramTime program_time(const stripe::Program& device, const HardwareModel& model) {
  ProgramTime out;
  const auto add = [&](const Block* section, bool prologue) {
    if (!section) return;
    const std::vector<SectionNest> nests = section_nests(*section, model, !prologue);
    auto nest = nests.begin();
    for (const stripe::Statement& statement : section->stmts) {
      const Block* kernel = statement.block();
      if (!kernel) {
        const stripe::Special* special = statement.special();
        out.kernels.push_back({special ? special->name : "", prologue, std::nullopt});
        continue;
      }
      out.kernels.push_back({kernel->name, prologue, kernel_time((nest++)->nest, model)});
    }
  };
  add(device.prologue(), true);
  add(device.main(), false);
  std::vector<const PredictedTime*> of_prologue, of_main;
  for (const ProgramTime::Kernel& kernel : out.kernels) {
    if (kernel.time) (kernel.prologue ? of_prologue : of_main).push_back(&*kernel.time);
    if (!kernel.time && !kernel.prologue) ++out.unknown;
  }
  out.prologue = sum_of(of_prologue);
  out.main = sum_of(of_main);
  if (out.main.seconds > 0) out.main = out.main + run_of(model);
  return out;
}

std::optional<TimeRange> program_bound(const stripe::Program& generic, const HardwareModel& model) {
  const Block* main = generic.main();
  if (!main || model.clock_mhz <= 0) return std::nullopt;
  std::map<std::string, const Refinement*> tensors;
  std::map<std::string, size_t> last;  // the last statement that reads it
  double all_bytes = 0;
  for (const Refinement& ref : main->refs) {
    tensors[ref.into] = &ref;
    all_bytes += bytes_of(ref);
    if (ref.dir == stripe::RefDir::out || ref.dir == stripe::RefDir::inout)
      last[ref.into] = main->stmts.size();
  }
  std::vector<Uses> uses;
  for (size_t at = 0; at < main->stmts.size(); ++at) {
    uses.push_back(uses_of(main->stmts[at]));
    for (const std::string& name : uses.back().reads) last[name] = std::max(last[name], at);
  }
  const double rate = bytes_per_cycle(model, all_bytes);
  if (rate <= 0) return std::nullopt;
  double seconds = 0;
  for (const Group& group : groups_of(*main)) {
    std::set<std::string> made, counted;
    double bytes = 0, cycles = 0;
    for (size_t at = group.begin; at < group.end; ++at) {
      if (const Block* block = main->stmts[at].block()) {
        const std::optional<double> operations = operation_cycles_at_least(*block, model);
        if (!operations) return std::nullopt;
        cycles += *operations;
      }
      for (const std::string& name : uses[at].reads)
        if (made.count(name) == 0 && counted.insert(name).second && tensors.count(name) > 0)
          bytes += bytes_of(*tensors.at(name));
      made.insert(uses[at].writes.begin(), uses[at].writes.end());
    }
    for (const std::string& name : made)
      if (tensors.count(name) > 0 && last[name] >= group.end) bytes += bytes_of(*tensors.at(name));
    seconds += with_start(model, std::max(cycles, bytes / rate)) * 1e-6 / model.clock_mhz +
               model.launch_us * 1e-6;
  }
  return TimeRange{seconds * kBoundSlack, seconds, seconds * kBoundSlack * kBoundSlack} +
         run_of(model);
}

}  // namespace stria::cost
