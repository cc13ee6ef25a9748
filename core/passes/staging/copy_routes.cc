// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/copy_routes.h"

#include <algorithm>
#include <optional>

#include "stria/base/text.h"
#include "stria/hwmodel/bus_ways.h"

namespace stria::passes {
namespace {

struct Instances {
  std::string name;
  int64_t first = 0, end = 1;
};

// The instance that the location names, or else the first `count`.
Instances instances_of(const stripe::LocationUnit& unit, int64_t count) {
  if (unit.units.size() != 1 || !unit.units[0].is_constant()) return {unit.name, 0, count};
  return {unit.name, unit.units[0].constant(), unit.units[0].constant() + 1};
}

// Does this instance of the transfer unit connect the global memory, if that is known, with all
// banks of the scratchpad, in the directions that are needed?
Status check_ways(const BusMap& map, const std::optional<BusReach>& home, const UnitInstance& unit,
                  const Instances& banks, bool in, bool out) {
  const auto over = [&](const UnitInstance& from, const UnitInstance& to) {
    return fmt::format("from '{}' to '{}' over '{}'", to_string(from), to_string(to),
                       to_string(unit));
  };
  const UnitInstance first{banks.name, banks.first};
  const UnitInstance far = home ? home->start() : unit;
  if (home && in) STRIA_RETURN_IF_ERROR(home->way_to(unit).status().with_context(over(far, first)));
  const BusReach reach(map, unit);
  if (home && out) STRIA_RETURN_IF_ERROR(reach.way_to(far).status().with_context(over(first, far)));
  for (int64_t i = banks.first; i < banks.end; ++i) {
    const UnitInstance bank{banks.name, i};
    if (in) STRIA_RETURN_IF_ERROR(reach.way_to(bank).status().with_context(over(far, bank)));
    if (out)
      STRIA_RETURN_IF_ERROR(
          BusReach(map, bank, &unit).way_to(unit).status().with_context(over(bank, far)));
  }
  return {};
}

using BankSet = std::vector<bool>;

// Does a bus that carries something connect the two, in either direction?
bool joined(const HardwareModel& model, const UnitInstance& a, const UnitInstance& b) {
  auto has = [](const std::vector<UnitInstance>& ends, const UnitInstance& unit) {
    return std::find(ends.begin(), ends.end(), unit) != ends.end();
  };
  return std::any_of(model.buses.begin(), model.buses.end(), [&](const Bus& bus) {
    return bus.bytes_per_cycle > 0 && ((has(bus.sources, a) && has(bus.sinks, b)) ||
                                       (has(bus.sources, b) && has(bus.sinks, a)));
  });
}

bool on_a_bus(const HardwareModel& model, const std::string& unit) {
  auto is = [&](const UnitInstance& end) { return end.name == unit; };
  return std::any_of(model.buses.begin(), model.buses.end(), [&](const Bus& bus) {
    return std::any_of(bus.sources.begin(), bus.sources.end(), is) ||
           std::any_of(bus.sinks.begin(), bus.sinks.end(), is);
  });
}

// The banks that all instances of the unit reach; if there are none, those that any instance
// reaches.
Result<BankSet> banks_of_unit(const HardwareModel& model, const ScheduleOptions& options,
                              const std::string& name, int64_t first, int64_t end) {
  BankSet all(static_cast<size_t>(options.num_banks), true), any(all.size(), false);
  if (!on_a_bus(model, name)) return all;
  const stripe::LocationUnit& near = options.mem_loc.path.back();
  const int64_t only =
      near.units.size() == 1 && near.units[0].is_constant() ? near.units[0].constant() : 0;
  for (size_t bank = 0; bank < all.size(); ++bank)
    for (int64_t unit = first; unit < end; ++unit) {
      const bool reached =
          joined(model, {near.name, only + static_cast<int64_t>(bank)}, {name, unit});
      any[bank] = any[bank] || reached;
      all[bank] = all[bank] && reached;
    }
  auto some = [](const BankSet& banks) {
    return std::find(banks.begin(), banks.end(), true) != banks.end();
  };
  if (!some(any))
    return not_found("the hardware model has no bus between '{}' and '{}'", near.name, name);
  return some(all) ? all : any;
}

// Restricts the banks to those that are reached by all units which run the block or a block inside.
Status narrow(const stripe::Block& block, const ScheduleOptions& options,
              const HardwareModel& model, BankSet& banks) {
  if (!block.location.empty()) {
    const stripe::LocationUnit& at = block.location.path.back();
    if (const ExecutionUnit* unit = model.find_executor(at.name)) {
      int64_t first = 0, end = unit->count;
      if (at.units.size() == 1 && at.units[0].is_constant()) {
        first = at.units[0].constant();
        end = first + 1;
      }
      STRIA_ASSIGN(const BankSet reached, banks_of_unit(model, options, at.name, first, end));
      for (size_t bank = 0; bank < banks.size(); ++bank) banks[bank] = banks[bank] && reached[bank];
      if (std::find(banks.begin(), banks.end(), true) == banks.end())
        return unsupported("{}: no bank of '{}' is reached by all of its units",
                           block.name.empty() ? "a block" : block.name,
                           options.mem_loc.path.back().name);
    }
  }
  for (const stripe::Statement& stmt : block.stmts)
    if (const stripe::Block* inner = stmt.block())
      STRIA_RETURN_IF_ERROR(narrow(*inner, options, model, banks));
  return {};
}

}  // namespace

Status check_routes(const HardwareModel& model, const ScheduleOptions& options,
                    const stripe::Location& far, bool in, bool out) {
  if (options.xfer_loc.empty() || model.buses.empty()) return {};
  const stripe::LocationUnit& unit = options.xfer_loc.path.back();
  const bool is_one = unit.units.size() == 1 && unit.units[0].is_constant();
  const BusMap map(model);
  std::optional<BusReach> home;
  if (!far.empty())
    home.emplace(map, UnitInstance{far.path.back().name, instances_of(far.path.back(), 1).first});
  const Instances banks = instances_of(options.mem_loc.path.back(), options.num_banks);
  Status why;
  for (const int64_t i : is_one ? std::vector<int64_t>{unit.units[0].constant()}
                                : instances_on_buses(model, unit.name)) {
    const Status here = check_ways(map, home, {unit.name, i}, banks, in, out);
    if (here.ok()) return {};
    if (why.ok()) why = here;
  }
  return why;
}

Result<std::vector<std::vector<bool>>> banks_of_kernels(const stripe::Block& block,
                                                        const ScheduleOptions& options,
                                                        const HardwareModel& model) {
  std::vector<BankSet> banks;
  for (const stripe::Statement& stmt : block.stmts) {
    banks.emplace_back(static_cast<size_t>(options.num_banks), true);
    if (model.buses.empty()) continue;
    if (const stripe::Block* kernel = stmt.block())
      STRIA_RETURN_IF_ERROR(narrow(*kernel, options, model, banks.back()));
  }
  return banks;
}

}  // namespace stria::passes
