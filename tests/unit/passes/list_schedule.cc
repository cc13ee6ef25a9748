// SPDX-License-Identifier: Apache-2.0
#include "list_schedule.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>

#include "stria/base/text.h"
#include "stria/cost/block/block_time.h"
#include "stria/cost/block/tiled_block.h"

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::Refinement;

// A thing that one statement at a time has: an instance of a unit, a bus.
struct Resource {
  double free_at = 0;
};

struct Demand {
  std::vector<size_t> any_of;  // resources
  double cycles = 0;           // that it is held
};

struct Task {
  std::vector<Demand> demands;  // all from the start on
  double cycles = 0;
  bool transfers = false;
};

class Machine {
 public:
  explicit Machine(const HardwareModel& model) : model_(model) {
    for (const ExecutionUnit& unit : model.executors) add_unit(unit.name, unit.count);
    for (const TransferUnit& unit : model.transfers) add_unit(unit.name, unit.count);
    for (const Bus& bus : model.buses) {
      buses_.push_back(resources.size());
      names.push_back(fmt::format("{} -> {}", name_of(bus.sources), name_of(bus.sinks)));
      instances.push_back(1);
      resources.emplace_back();
    }
  }

  Result<Task> task(const Block& block) const {
    if (block.location.empty())
      return unsupported("block '{}' runs nowhere: it has no unit", block.name);
    const stripe::LocationUnit& at = block.location.path.back();
    if (model_.find_transfer(at.name)) return transfer(block, at);
    const ExecutionUnit* unit = model_.find_executor(at.name);
    if (!unit)
      return not_found("block '{}' runs on '{}', which the model has not", block.name, at.name);
    const TiledBlock tiled = tiled_block(block);
    const BlockTime time = time_of(tiled, tiled.ranges(), model_, nullptr, 1, {unit, 1});
    if (time.ops_per_cycle <= 0)
      return unsupported("the hardware model has no rate of '{}'", at.name);
    Task task;
    task.cycles = time.operations / time.ops_per_cycle +
                  unit->overhead_cycles / model_.unit_cycles(unit->clock_mhz);
    task.demands.push_back({instances_of(at), task.cycles});
    return task;
  }

  std::vector<Resource> resources;
  std::vector<std::string> names;  // by resource; instances of a unit share one
  std::vector<int64_t> instances;  // of what has that name

 private:
  void add_unit(const std::string& name, int64_t count) {
    first_[name] = resources.size();
    for (int64_t i = 0; i < count; ++i) {
      resources.emplace_back();
      names.push_back(name);
      instances.push_back(count);
    }
  }

  static std::string name_of(const std::vector<UnitInstance>& ends) {
    std::string name = ends.empty() ? "" : fmt::format("{}[{}]", ends[0].name, ends[0].instance);
    return ends.size() > 1 ? name + ", …" : name;
  }

  std::vector<size_t> instances_of(const stripe::LocationUnit& at) const {
    const size_t first = first_.at(at.name);
    const auto count = static_cast<size_t>(instances[first]);
    if (at.units.size() == 1 && at.units[0].is_constant() && at.units[0].constant() >= 0 &&
        static_cast<size_t>(at.units[0].constant()) < count)
      return {first + static_cast<size_t>(at.units[0].constant())};
    std::vector<size_t> all;
    for (size_t i = 0; i < count; ++i) all.push_back(first + i);
    return all;
  }

  // Where a refinement lies; a memory without a number is its first instance.
  static UnitInstance memory_of(const Refinement& ref) {
    const auto& path = ref.location.path;
    if (path.empty()) return {};
    const auto& units = path.back().units;
    return {path.back().name,
            units.size() == 1 && units[0].is_constant() ? units[0].constant() : 0};
  }

  std::vector<size_t> joined(const UnitInstance& from, const std::string& to, bool outward) const {
    std::vector<size_t> found;
    for (size_t b = 0; b < buses_.size(); ++b) {
      const Bus& bus = model_.buses[b];
      const auto& ends = outward ? bus.sinks : bus.sources;
      const auto& units = outward ? bus.sources : bus.sinks;
      if (bus.bytes_per_cycle > 0 && std::find(ends.begin(), ends.end(), from) != ends.end() &&
          std::any_of(units.begin(), units.end(),
                      [&](const UnitInstance& unit) { return unit.name == to; }))
        found.push_back(b);
    }
    return found;
  }

  Result<Task> transfer(const Block& block, const stripe::LocationUnit& at) const {
    Task task;
    task.transfers = true;
    double points = 1;
    for (const stripe::Index& index : block.idxs) points *= static_cast<double>(index.range);
    for (const Refinement& ref : block.refs) {
      if (ref.dir == stripe::RefDir::none) continue;
      const bool outward = ref.dir != stripe::RefDir::in;
      const UnitInstance memory = memory_of(ref);
      const std::vector<size_t> ways = joined(memory, at.name, outward);
      if (ways.empty())
        return not_found("no bus joins '{}[{}]' and '{}'", memory.name, memory.instance, at.name);
      const double bytes = points * static_cast<double>(ref.shape.element_count()) *
                           static_cast<double>(byte_size(ref.shape.type));
      const Bus& bus = model_.buses[ways[0]];
      const double cycles = bytes / bus.bytes_per_cycle;
      std::vector<size_t> any;
      for (size_t way : ways)
        if (model_.buses[way].bytes_per_cycle == bus.bytes_per_cycle) any.push_back(buses_[way]);
      task.demands.push_back({std::move(any), cycles});
      task.cycles = std::max(task.cycles, cycles + bus.latency_cycles);
    }
    task.cycles += model_.find_transfer(at.name)->latency_cycles;
    task.demands.push_back({instances_of(at), task.cycles});
    return task;
  }

  const HardwareModel& model_;
  std::map<std::string, size_t> first_;
  std::vector<size_t> buses_;  // resources
};

}  // namespace

Result<Makespan> list_schedule(const Block& block, const HardwareModel& model) {
  Machine machine(model);
  Makespan out;
  std::vector<Task> tasks;
  const size_t count = block.stmts.size();
  std::vector<std::vector<size_t>> waits(count);
  std::vector<double> way(count);  // to the end of each statement, kernels alone
  double longest = 0;
  for (size_t i = 0; i < count; ++i) {
    const Block* inner = block.stmts[i].block();
    if (!inner) return unsupported("statement {} of '{}' is no block", i, block.name);
    STRIA_ASSIGN(Task task, machine.task(*inner));
    if (block.tags.has("deps")) {
      for (int64_t dep : block.stmts[i].deps) waits[i].push_back(static_cast<size_t>(dep));
    } else if (i > 0) {
      waits[i].push_back(i - 1);
    }
    for (size_t w : waits[i]) way[i] = std::max(way[i], way[w]);
    if (!task.transfers) way[i] += task.cycles;
    longest = std::max(longest, way[i]);
    out.one_at_a_time += task.cycles;
    for (const Demand& demand : task.demands)
      out.busy[machine.names[demand.any_of[0]]] += demand.cycles;
    tasks.push_back(std::move(task));
  }
  out.at_least = longest;
  for (size_t r = 0; r < machine.resources.size(); ++r) {
    auto busy = out.busy.find(machine.names[r]);
    if (busy != out.busy.end())
      out.at_least =
          std::max(out.at_least, busy->second / static_cast<double>(machine.instances[r]));
  }

  out.statements.resize(count);
  std::vector<bool> done(count);
  size_t left = count, first = 0;
  // Times at which something may start.
  std::priority_queue<double, std::vector<double>, std::greater<>> times;
  times.push(0);
  while (left > 0) {
    const double now = times.top();
    while (!times.empty() && times.top() <= now) times.pop();
    while (first < count && done[first]) ++first;
    for (size_t i = first; i < count; ++i) {
      if (done[i]) continue;
      bool ready = std::all_of(waits[i].begin(), waits[i].end(),
                               [&](size_t w) { return done[w] && out.statements[w].end <= now; });
      std::vector<size_t> taken;
      for (const Demand& demand : tasks[i].demands) {
        if (!ready) break;
        auto free = std::find_if(demand.any_of.begin(), demand.any_of.end(),
                                 [&](size_t r) { return machine.resources[r].free_at <= now; });
        ready = free != demand.any_of.end();
        if (ready) taken.push_back(*free);
      }
      if (!ready) continue;
      for (size_t d = 0; d < taken.size(); ++d) {
        machine.resources[taken[d]].free_at = now + tasks[i].demands[d].cycles;
        times.push(now + tasks[i].demands[d].cycles);
      }
      out.statements[i] = {now, now + tasks[i].cycles, tasks[i].transfers};
      times.push(now + tasks[i].cycles);
      out.cycles = std::max(out.cycles, now + tasks[i].cycles);
      done[i] = true;
      --left;
    }
  }
  return out;
}

}  // namespace stria::cost
