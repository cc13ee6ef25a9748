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

}  // namespace stria::passes
