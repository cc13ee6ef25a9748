// SPDX-License-Identifier: Apache-2.0
#include "engine/machine.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/text.h"

namespace stria::sim {
namespace {

// Clocks are told apart by kHz. With more ticks in a cycle, too few would be left for long runs.
constexpr double kHzPerMhz = 1000, kMhzPerGhz = 1000;
constexpr uint64_t kMostTicksPerCycle = 1'000'000;
constexpr int64_t kMostInstances = 1'000'000;  // of all units together

// "read SRAM[0]", "SRAM[0]" if it serves reads and writes, "first SRAM[0]" if it serves one use.
std::string name_of_port(const MemoryPort& port, const std::string& memory) {
  constexpr std::array<const char*, kPortUses> kNames = {"first",   "second",  "sums",
                                                         "results", "copy_in", "copy_out"};
  std::vector<std::string> names;
  for (size_t use = 0; use < kPortUses; ++use)
    if (port.serves[use]) names.emplace_back(kNames[use]);
  if (names.size() == kPortUses) return memory;
  if (port.serves == reading_uses()) return "read " + memory;
  if (port.serves == writing_uses()) return "write " + memory;
  return join(names, " ") + " " + memory;
}

}  // namespace

Result<Machine> Machine::make(const HardwareModel& model) {
  Machine out;
  out.model_ = model;
  out.map_.emplace(model);
  int64_t instances = 0;
  const auto room_for = [&](const auto& units) -> Status {
    for (const auto& unit : units) {
      if (unit.count > kMostInstances - instances)
        return make_error(StatusCode::out_of_range,
                          "'{}': {} of '{}', a simulation has room for {} units of all kinds",
                          model.name, unit.count, unit.name, kMostInstances);
      instances += unit.count;
    }
    return {};
  };
  STRIA_RETURN_IF_ERROR(room_for(model.memories));
  STRIA_RETURN_IF_ERROR(room_for(model.executors));
  STRIA_RETURN_IF_ERROR(room_for(model.transfers));
  // A tick is the longest time of which each clock's cycle is a whole multiple.
  std::set<double> clocks = {model.clock_mhz};
  const auto own = [&](double clock) {
    if (clock > 0) clocks.insert(clock);
  };
  for (const MemoryUnit& unit : model.memories) own(unit.clock_mhz);
  for (const ExecutionUnit& unit : model.executors) own(unit.clock_mhz);
  for (const TransferUnit& unit : model.transfers) own(unit.clock_mhz);
  for (const Bus& bus : model.buses) own(bus.clock_mhz);
  if (clocks.size() > 1) {
    if (model.clock_mhz <= 0)
      return invalid_argument(
          "'{}': units have clocks of their own, but the model has no clock_mhz", model.name);
    uint64_t common = 1;
    for (double clock : clocks) {
      const auto khz = static_cast<uint64_t>(std::llround(clock * kHzPerMhz));
      if (khz == 0)
        return invalid_argument("'{}': a clock of {} MHz is too slow", model.name, clock);
      common = std::lcm(common, khz);
      if (common / khz > kMostTicksPerCycle)
        return invalid_argument(
            "'{}': the clocks have no common time base of at most {} ticks in a cycle: {} MHz",
            model.name, kMostTicksPerCycle, fmt::join(clocks, ", "));
    }
    for (double clock : clocks)
      out.ticks_by_clock_[clock] = common / static_cast<uint64_t>(std::llround(clock * kHzPerMhz));
    if (out.ticks_by_clock_.rbegin()->second > kMostTicksPerCycle ||
        out.ticks_by_clock_.begin()->second > kMostTicksPerCycle)
      return invalid_argument(
          "'{}': the clocks have no common time base of at most {} ticks in a cycle: {} MHz",
          model.name, kMostTicksPerCycle, fmt::join(clocks, ", "));
    out.ticks_per_cycle_ = out.ticks_by_clock_.at(model.clock_mhz);
  }
  const auto whole = [](double cycles, uint64_t ticks) {
    return static_cast<uint64_t>(std::ceil(cycles * static_cast<double>(ticks) - 1e-9));
  };
  for (const BusLink& link : out.map_->links()) {
    const uint64_t ticks = out.ticks_of(link.clock_mhz);
    out.channels_.push_back({link.name, Channel::Kind::bus,
                             link.bytes_per_cycle / static_cast<double>(ticks),
                             whole(link.latency_cycles, ticks), link.pj_per_byte});
  }
  for (const MemoryUnit& unit : model.memories) {
    const auto ticks = static_cast<double>(out.ticks_of(unit.clock_mhz));
    // The banks together have a width. A port is not wider.
    const double banks = static_cast<double>(unit.banks) * static_cast<double>(unit.bank_bytes);
    const auto width = [&](double port) {
      return banks > 0 && port > 0 ? std::min(banks, port) : std::max(banks, port);
    };
    const std::vector<MemoryPort> all = ports_of(unit);
    for (int64_t i = 0; i < unit.count; ++i) {
      Ports ports;
      for (const MemoryPort& port : all) {
        const double bytes = width(port.bytes_per_cycle);
        if (bytes <= 0) continue;
        for (size_t use = 0; use < kPortUses; ++use)
          if (port.serves[use]) ports.channels[use] = static_cast<int32_t>(out.channels_.size());
        out.channels_.push_back({name_of_port(port, to_string(UnitInstance{unit.name, i})),
                                 Channel::Kind::port, bytes / ticks, 0, 0});
      }
      out.ports_[{unit.name, i}] = ports;
    }
  }
  for (const MemoryUnit& unit : model.memories) {
    if (!unit.dram) continue;
    if (model.clock_mhz <= 0)
      return invalid_argument(
          "'{}': the times of the rows of '{}' are nanoseconds, but the model has no clock_mhz",
          model.name, unit.name);
    const double ticks_per_ns =
        static_cast<double>(out.ticks_per_cycle_) * model.clock_mhz / kMhzPerGhz;
    for (int64_t i = 0; i < unit.count; ++i) {
      out.rows_[{unit.name, i}] = static_cast<uint32_t>(out.channels_.size());
      out.channels_.push_back({"rows " + to_string(UnitInstance{unit.name, i}), Channel::Kind::rows,
                               unit.dram->bytes_per_ns() / ticks_per_ns, 0, 0});
    }
  }
  for (const ExecutionUnit& unit : model.executors) {
    out.execution_[unit.name] = static_cast<uint32_t>(out.groups_.size());
    out.groups_.push_back({unit.name, unit.name, false, static_cast<uint32_t>(unit.count),
                           out.instances_, out.ticks_of(unit.clock_mhz)});
    out.instances_ += static_cast<uint32_t>(unit.count);
  }
  return out;
}

uint64_t Machine::ticks_of(double clock_mhz) const {
  if (clock_mhz <= 0) return ticks_per_cycle_;
  const auto at = ticks_by_clock_.find(clock_mhz);
  return at == ticks_by_clock_.end() ? 1 : at->second;
}

double Machine::seconds(uint64_t ticks) const {
  if (model_.clock_mhz <= 0) return 0;
  return static_cast<double>(ticks) /
         (static_cast<double>(ticks_per_cycle_) * model_.clock_mhz * 1e6);
}

Result<uint32_t> Machine::execution_group(std::string_view unit) const {
  const auto at = execution_.find(std::string(unit));
  if (at != execution_.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [name, group] : execution_) names.push_back(name);
  return not_found("the hardware model has no execution unit '{}'{}", unit,
                   did_you_mean(std::string(unit), names));
}

Machine::Ports Machine::ports(const UnitInstance& memory) const {
  const auto at = ports_.find({memory.name, memory.instance});
  return at == ports_.end() ? Ports() : at->second;
}

std::optional<uint32_t> Machine::rows(const UnitInstance& memory) const {
  const auto at = rows_.find({memory.name, memory.instance});
  return at == rows_.end() ? std::nullopt : std::optional(at->second);
}

bool Machine::on_buses(std::string_view unit) const {
  const auto is = [&](const UnitInstance& end) { return end.name == unit; };
  return std::any_of(model_.buses.begin(), model_.buses.end(), [&](const Bus& bus) {
    return std::any_of(bus.sources.begin(), bus.sources.end(), is) ||
           std::any_of(bus.sinks.begin(), bus.sinks.end(), is);
  });
}

Result<std::vector<uint32_t>> Machine::path(const UnitInstance& from, const UnitInstance& to) {
  const auto [reach, added] = reach_.try_emplace({from.name, from.instance}, *map_, from);
  STRIA_ASSIGN(const std::vector<size_t> links, reach->second.way_to(to));
  return std::vector<uint32_t>(links.begin(), links.end());
}

uint32_t Machine::transfer_group(const TransferUnit& unit, const std::string& memory) {
  const std::string from = unit.half_duplex ? "" : memory;
  const auto [at, added] =
      transfer_.emplace(std::pair(unit.name, from), static_cast<uint32_t>(groups_.size()));
  if (added) {
    groups_.push_back({unit.half_duplex ? unit.name : unit.name + " from " + from, unit.name, true,
                       static_cast<uint32_t>(unit.count), instances_, ticks_of(unit.clock_mhz)});
    instances_ += static_cast<uint32_t>(unit.count);
  }
  return at->second;
}

Result<Route> Machine::route(const UnitInstance& from, std::string_view unit_name, int64_t instance,
                             const std::vector<UnitInstance>& to) {
  const TransferUnit* unit = model_.find_transfer(unit_name);
  if (!unit) return not_found("the hardware model has no transfer unit '{}'", unit_name);
  const auto whole = [](double cycles, uint64_t ticks) {
    return static_cast<uint64_t>(std::ceil(cycles * static_cast<double>(ticks) - 1e-9));
  };
  const auto what = [&](const UnitInstance& through) {
    return fmt::format("from '{}' to '{}'{} over '{}'", to_string(from), to_string(to.front()),
                       to.size() > 1 ? ", …" : "", to_string(through));
  };
  Route out;
  out.ways.resize(static_cast<size_t>(unit->count));
  Status why;
  size_t usable = 0;
  for (int64_t i = 0; i < unit->count; ++i) {
    if (instance >= 0 && instance != i) continue;
    const UnitInstance through{unit->name, i};
    Route::Way way;
    Result<std::vector<uint32_t>> leg = path(from, through);
    if (leg.ok()) way.channels = *leg;
    const auto latency = [&](const std::vector<uint32_t>& channels) {
      uint64_t ticks = 0;
      for (uint32_t channel : channels) ticks += channels_[channel].latency_ticks;
      return ticks;
    };
    uint64_t longest = 0;  // of the ways to the memories
    for (size_t t = 0; t < to.size() && leg.ok(); ++t) {
      if (t == 0) way.latency_ticks = latency(way.channels);
      leg = path(through, to[t]);
      if (!leg.ok()) break;
      longest = std::max(longest, latency(*leg));
      for (uint32_t channel : *leg)
        if (std::find(way.channels.begin(), way.channels.end(), channel) == way.channels.end())
          way.channels.push_back(channel);
    }
    if (!leg.ok()) {
      leg = leg.status().with_context(what(through));
      // Several shortest ways, or one that carries nothing, are a mistake in the model. No way is a
      // mistake only if no other instance has one.
      if (leg.status().code() != StatusCode::not_found) return leg.status();
      if (why.ok()) why = leg.status();
      continue;
    }
    way.latency_ticks += longest + whole(unit->latency_cycles, ticks_of(unit->clock_mhz));
    const auto memory = [&](const UnitInstance& at, bool writes) {
      const MemoryUnit* model = model_.find_memory(at.name);
      if (!model) return;
      if (!writes) way.latency_ticks += whole(model->latency_cycles, ticks_of(model->clock_mhz));
      const Ports has_ports = ports(at);
      const int32_t channel = has_ports.of(writes ? PortUse::copy_in : PortUse::copy_out);
      if (channel >= 0 &&
          std::find(way.channels.begin(), way.channels.end(), channel) == way.channels.end())
        way.channels.push_back(static_cast<uint32_t>(channel));
    };
    memory(from, false);
    for (const UnitInstance& sink : to) memory(sink, true);
    out.ways[static_cast<size_t>(i)] = std::move(way);
    out.instance = static_cast<int32_t>(i);
    ++usable;
  }
  if (usable == 0)
    return why.ok() ? not_found("the hardware model has {} of '{}', there is no number {}",
                                unit->count, unit->name, instance)
                    : why;
  // Only some of several instances have a way: the last one found is taken, so that a transfer is
  // for any instance or for one.
  if (usable == out.ways.size() && usable > 1) out.instance = -1;
  out.group = transfer_group(*unit, from.name);
  return out;
}

Result<std::vector<uint32_t>> Machine::global_channels(const UnitInstance& memory, bool writes) {
  std::optional<Status> why;
  for (const TransferUnit& unit : model_.transfers)
    for (int64_t i = 0; i < unit.count; ++i) {
      const UnitInstance through{unit.name, i};
      Result<std::vector<uint32_t>> channels =
          writes ? path(through, memory) : path(memory, through);
      if (channels.ok()) return channels;
      if (!why) why = channels.status();
    }
  return why ? *why
             : not_found("the hardware model has no transfer unit, and so no way to '{}'",
                         to_string(memory));
}

}  // namespace stria::sim
