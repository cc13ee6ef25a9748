// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/near_routes.h"

#include <algorithm>

namespace stria::passes {
namespace {

// Instances of the near memory all have to be reached.
Status check_bus(const HardwareModel& model, const ScheduleOptions& options,
                 const std::string& from, const std::string& to) {
  const std::string& near = options.mem_loc.path.back().name;
  auto all_of = [&](const std::vector<UnitInstance>& ends, const std::string& name) {
    int64_t first = 0, end = 1;
    if (name == near) end = options.num_banks;
    const auto& units = options.mem_loc.path.back().units;
    if (name == near && units.size() == 1 && units[0].is_constant()) {
      first = units[0].constant();
      end = first + 1;
    }
    for (int64_t i = first; i < end; ++i)
      if (std::find(ends.begin(), ends.end(), UnitInstance{name, i}) == ends.end()) return false;
    return true;
  };
  bool slow = false;
  for (const Bus& bus : model.buses) {
    if (!all_of(bus.sources, from) || !all_of(bus.sinks, to)) continue;
    if (bus.bytes_per_cycle > 0) return {};
    slow = true;
  }
  if (slow)
    return make_error(StatusCode::out_of_range,
                      "the bus from '{}' to '{}' carries 0 bytes per cycle", from, to);
  return not_found("the hardware model has no bus from '{}' to {}'{}'", from,
                   to == near && options.num_banks > 1 ? "all banks of " : "", to);
}

using Banks = std::vector<bool>;

// Does a bus that carries something lead from one to the other, either way?
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

// Which banks the unit's instances reach: all of them, if there are such banks, else any.
Result<Banks> banks_of_unit(const HardwareModel& model, const ScheduleOptions& options,
                            const std::string& name, int64_t first, int64_t end) {
  Banks all(static_cast<size_t>(options.num_banks), true), any(all.size(), false);
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
  auto some = [](const Banks& banks) {
    return std::find(banks.begin(), banks.end(), true) != banks.end();
  };
  if (!some(any))
    return not_found("the hardware model has no bus between '{}' and '{}'", near.name, name);
  return some(all) ? all : any;
}

// Narrows the banks to those of all units that run the block or a block inside.
Status narrow(const stripe::Block& block, const ScheduleOptions& options,
              const HardwareModel& model, Banks& banks) {
  if (!block.location.empty()) {
    const stripe::LocationUnit& at = block.location.path.back();
    if (const ExecutionUnit* unit = model.find_executor(at.name)) {
      int64_t first = 0, end = unit->count;
      if (at.units.size() == 1 && at.units[0].is_constant()) {
        first = at.units[0].constant();
        end = first + 1;
      }
      STRIA_ASSIGN(const Banks reached, banks_of_unit(model, options, at.name, first, end));
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
  const std::string home = far.empty() ? "" : far.path.back().name;
  const std::string& unit = options.xfer_loc.path.back().name;
  const std::string& near = options.mem_loc.path.back().name;
  if (in) {
    if (!home.empty()) STRIA_RETURN_IF_ERROR(check_bus(model, options, home, unit));
    STRIA_RETURN_IF_ERROR(check_bus(model, options, unit, near));
  }
  if (out) {
    STRIA_RETURN_IF_ERROR(check_bus(model, options, near, unit));
    if (!home.empty()) STRIA_RETURN_IF_ERROR(check_bus(model, options, unit, home));
  }
  return {};
}

Result<std::vector<std::vector<bool>>> banks_of_kernels(const stripe::Block& block,
                                                        const ScheduleOptions& options,
                                                        const HardwareModel& model) {
  std::vector<Banks> banks;
  for (const stripe::Statement& stmt : block.stmts) {
    banks.emplace_back(static_cast<size_t>(options.num_banks), true);
    if (model.buses.empty()) continue;
    if (const stripe::Block* kernel = stmt.block())
      STRIA_RETURN_IF_ERROR(narrow(*kernel, options, model, banks.back()));
  }
  return banks;
}

}  // namespace stria::passes
