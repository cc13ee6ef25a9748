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

namespace {

std::string name_of(const std::vector<UnitInstance>& ends) {
  return ends.size() > 1 ? to_string(ends[0]) + ", …" : to_string(ends[0]);
}

// Of the links of a mesh, those of a router: in, out, to its neighbours.
enum LinkOfRouter : size_t { kIn, kOut, kLeft, kRight, kUp, kDown, kLinksOfRouter };

void add_mesh(const Bus& bus, size_t number, std::vector<BusLink>& links) {
  const int64_t columns = bus.mesh->columns, routers = bus.mesh->routers();
  for (int64_t router = 0; router < routers; ++router)
    for (size_t link = 0; link < kLinksOfRouter; ++link) {
      BusLink of{"", bus.clock_mhz, bus.bytes_per_cycle, bus.latency_cycles, bus.pj_per_byte};
      if (link == kIn) of.latency_cycles = of.pj_per_byte = 0;
      if (link == kIn || link == kOut) {
        of.name = fmt::format("mesh {}: {} {}", number, link == kIn ? "into" : "out of", router);
      } else {
        const int64_t steps[] = {-1, 1, -columns, columns}, next = router + steps[link - kLeft];
        const bool along_row = link == kLeft || link == kRight;
        if (next < 0 || next >= routers || (along_row && next / columns != router / columns))
          of.bytes_per_cycle = 0;  // the end of the mesh
        else
          of.name = fmt::format("mesh {}: {} -> {}", number, router, next);
      }
      links.push_back(std::move(of));
    }
}

}  // namespace

int64_t Mesh::routers() const {
  int64_t last = 0;
  for (const auto& [unit, router] : places) last = std::max(last, router);
  return (last / columns + 1) * columns;
}

BusMap::BusMap(const HardwareModel& model) {
  auto net = std::make_shared<Net>();
  for (const Bus& bus : model.buses) {
    for (const UnitInstance& source : bus.sources)
      from_[{source.name, source.instance}].push_back(net->buses.size());
    net->buses.push_back({bus.sinks, bus.bytes_per_cycle > 0, net->links.size(), bus.mesh});
    if (bus.mesh)
      add_mesh(bus, net->buses.size() - 1, net->links);
    else
      net->links.push_back({fmt::format("{} -> {}", name_of(bus.sources), name_of(bus.sinks)),
                            bus.clock_mhz, bus.bytes_per_cycle, bus.latency_cycles,
                            bus.pj_per_byte});
  }
  net_ = std::move(net);
  for (const TransferUnit& unit : model.transfers) transfers_.insert(unit.name);
}

void BusMap::append_links(const Branch& bus, const UnitInstance& from, const UnitInstance& to,
                          std::vector<size_t>& out) {
  if (!bus.mesh) return out.push_back(bus.first_link);
  const int64_t columns = bus.mesh->columns;
  const auto router_of = [&](const UnitInstance& unit) {
    return bus.mesh->places.at({unit.name, unit.instance});
  };
  int64_t at = router_of(from);
  const int64_t end = router_of(to);
  const auto take = [&](LinkOfRouter link) {
    out.push_back(bus.first_link + static_cast<size_t>(at) * kLinksOfRouter + link);
  };
  take(kIn);
  for (; at % columns > end % columns; --at) take(kLeft);
  for (; at % columns < end % columns; ++at) take(kRight);
  for (; at > end; at -= columns) take(kUp);
  for (; at < end; at += columns) take(kDown);
  take(kOut);
}

BusReach::BusReach(const BusMap& map, const UnitInstance& from, const UnitInstance* until)
    : net_(map.net_) {
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
      const BusMap::Branch& bus = net_->buses[b];
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
  std::vector<size_t> steps, links;
  for (size_t at = end->second; at != 0; at = reached_[at].before) {
    const Reached& step = reached_[at];
    if (!step.carries)
      return make_error(StatusCode::out_of_range,
                        "the bus from '{}' to '{}' carries 0 bytes per cycle",
                        to_string(reached_[step.before].unit), to_string(step.unit));
    steps.push_back(at);
  }
  for (auto at = steps.rbegin(); at != steps.rend(); ++at)
    BusMap::append_links(net_->buses[reached_[*at].bus], reached_[reached_[*at].before].unit,
                         reached_[*at].unit, links);
  return links;
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
