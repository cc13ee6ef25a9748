// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/bus_ways.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"

namespace stria {

std::string to_string(const UnitInstance& unit) {
  return fmt::format("{}[{}]", unit.name, unit.instance);
}

std::vector<int64_t> instances_on_buses(const HardwareModel& model, std::string_view unit) {
  std::set<int64_t> out;
  for (const Bus& bus : model.buses)
    for (const auto* ends : {&bus.sources, &bus.sinks})
      for (const UnitInstance& end : *ends)
        if (end.name == unit) out.insert(end.instance);
  if (out.empty()) return {0};
  return {out.begin(), out.end()};
}

BusMap::BusMap(const HardwareModel& model) {
  for (const Bus& bus : model.buses) {
    for (const UnitInstance& source : bus.sources)
      from_[{source.name, source.instance}].push_back(buses_.size());
    buses_.push_back({bus.sinks, bus.bytes_per_cycle > 0});
  }
  for (const TransferUnit& unit : model.transfers) transfers_.insert(unit.name);
}

BusReach::BusReach(const BusMap& map, const UnitInstance& from, const UnitInstance* until) {
  reached_.push_back({from});
  position_[{from.name, from.instance}] = 0;
  for (size_t at = 0; at < reached_.size(); ++at) {
    const UnitInstance unit = reached_[at].unit;
    const size_t steps = reached_[at].steps + 1;
    const uint64_t ways = reached_[at].ways;
    // All ways of as many steps have been seen.
    if (until && unit == *until) return;
    if (at > 0 && map.transfers_.count(unit.name) == 0) continue;
    const auto out = map.from_.find({unit.name, unit.instance});
    if (out == map.from_.end()) continue;
    for (const size_t b : out->second) {
      const BusMap::Branch& bus = map.buses_[b];
      for (const UnitInstance& next : bus.sinks) {
        const auto [known, added] =
            position_.try_emplace({next.name, next.instance}, reached_.size());
        if (added)
          reached_.push_back({next, steps, ways, at, b, bus.carries});
        else if (reached_[known->second].steps == steps)
          reached_[known->second].ways += ways;
      }
    }
  }
}

Result<std::vector<size_t>> BusReach::way_to(const UnitInstance& to) const {
  const std::string from = to_string(reached_[0].unit);
  const auto end = position_.find({to.name, to.instance});
  if (end == position_.end() || end->second == 0)
    return not_found("the hardware model has no way over buses from '{}' to '{}'", from,
                     to_string(to));
  const Reached& last = reached_[end->second];
  if (last.ways > 1)
    return invalid_argument(
        "the hardware model has {} ways of {} {} from '{}' to '{}': which one is meant cannot be "
        "said",
        last.ways, last.steps, last.steps == 1 ? "bus" : "buses", from, to_string(to));
  std::vector<size_t> buses;
  for (size_t at = end->second; at != 0; at = reached_[at].before) {
    const Reached& step = reached_[at];
    if (!step.carries)
      return make_error(StatusCode::out_of_range,
                        "the bus from '{}' to '{}' carries 0 bytes per cycle",
                        to_string(reached_[step.before].unit), to_string(step.unit));
    buses.push_back(step.bus);
  }
  std::reverse(buses.begin(), buses.end());
  return buses;
}

Result<TransferWay> transfer_way(const HardwareModel& model, const UnitInstance& from,
                                 const UnitInstance& through, const UnitInstance& to) {
  const BusMap map(model);
  return transfer_way(map, BusReach(map, from, &through), through, to);
}

Result<TransferWay> transfer_way(const BusMap& map, const BusReach& from,
                                 const UnitInstance& through, const UnitInstance& to) {
  const auto what = [&] {
    return fmt::format("from '{}' to '{}' over '{}'", to_string(from.start()), to_string(to),
                       to_string(through));
  };
  Result<std::vector<size_t>> in = from.way_to(through);
  if (!in.ok()) return in.status().with_context(what());
  Result<std::vector<size_t>> out = BusReach(map, through, &to).way_to(to);
  if (!out.ok()) return out.status().with_context(what());
  return TransferWay{std::move(*in), std::move(*out)};
}

}  // namespace stria
