// SPDX-License-Identifier: Apache-2.0
// A hardware model made ready for simulated time: one time base for all its clocks, the channels
// that bytes move over, the units that work, and the routes between memories.
//
// Time is counted in ticks. A cycle of every clock is a whole number of ticks. With one clock, a
// tick is a cycle.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/bus_ways.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::sim {

// A channel is what transfers share: a bus, a port of one memory instance, or the rows of one that
// is not flat. Rows are busy as with bytes at the rate of the pins (cost/block/dram_time.h).
struct Channel {
  enum class Kind { bus, port, rows };
  std::string name;  // "DRAM[0] -> DMA[0]", "read SRAM[3]", "rows DRAM[0]"
  Kind kind = Kind::bus;
  double bytes_per_tick = 0;
  uint64_t latency_ticks = 0;
  double pj_per_byte = 0;
};

// Instances that each do one thing at a time: those of an execution unit, or those of a transfer
// unit for one kind of source memory (for all kinds, if the unit is half duplex).
struct Group {
  std::string name;  // "CONV", "DMA from DRAM"
  std::string unit;  // "CONV", "DMA"
  bool transfers = false;
  uint32_t count = 1;
  uint32_t first = 0;            // number of its first instance among all groups' instances
  uint64_t ticks_per_cycle = 1;  // of its clock
};

// The route of a transfer: over any instance of a group, or over one of them.
struct Route {
  uint32_t group = 0;
  int32_t instance = -1;  // -1: any
  struct Way {
    std::vector<uint32_t> channels;  // that it passes, each once
    uint64_t latency_ticks = 0;      // of unit, channels and memories
  };
  std::vector<Way> ways;  // by instance; other instances have no channels
};

class Machine {
 public:
  // invalid_argument: clocks without a common time base, rows whose nanoseconds are no cycles since
  // the model has no clock. out_of_range: too many units. Messages say names and limits.
  static Result<Machine> make(const HardwareModel& model);

  const HardwareModel& model() const { return model_; }
  const std::vector<Channel>& channels() const { return channels_; }
  const std::vector<Group>& groups() const { return groups_; }
  uint32_t instances() const { return instances_; }
  // In a cycle of the model's clock.
  uint64_t ticks_per_cycle() const { return ticks_per_cycle_; }
  uint64_t cycles(uint64_t ticks) const {
    return (ticks + ticks_per_cycle_ - 1) / ticks_per_cycle_;
  }
  double seconds(uint64_t ticks) const;  // 0 if the model has no clock

  // not_found, with the nearest name.
  Result<uint32_t> execution_group(std::string_view unit) const;
  // The channels of a memory instance's ports, by PortUse; -1: there is no limit.
  struct Ports {
    std::array<int32_t, kPortUses> channels{-1, -1, -1, -1, -1, -1};
    int32_t of(PortUse use) const { return channels[static_cast<size_t>(use)]; }
  };
  Ports ports(const UnitInstance& memory) const;
  // The channel of the memory instance's rows; none: the memory is flat.
  std::optional<uint32_t> rows(const UnitInstance& memory) const;

  // The route from one memory through the unit (`instance` -1: through any instance) to other
  // memories, which get the same bytes. A bus on the way to several of them carries the bytes once.
  // The route follows buses through other transfer units, never through memories, on the shortest
  // way. not_found: no way; the message has both ends. invalid_argument: several shortest ways.
  // out_of_range: a bus on the way carries nothing.
  Result<Route> route(const UnitInstance& from, std::string_view unit, int64_t instance,
                      const std::vector<UnitInstance>& to);
  // The channels between a global memory and the first transfer unit that reaches it: each access
  // of a unit that works on that memory directly crosses them (C8). They lead into the memory if
  // `writes`.
  Result<std::vector<uint32_t>> global_channels(const UnitInstance& memory, bool writes);
  // Does a bus begin or end at the unit?
  bool on_buses(std::string_view unit) const;

 private:
  Result<std::vector<uint32_t>> path(const UnitInstance& from, const UnitInstance& to);
  uint64_t ticks_of(double clock_mhz) const;
  uint32_t transfer_group(const TransferUnit& unit, const std::string& memory);

  HardwareModel model_;
  std::optional<BusMap> map_;  // of the model's buses
  std::vector<Channel> channels_;
  std::vector<Group> groups_;
  std::map<std::string, uint32_t> execution_;
  std::map<std::pair<std::string, std::string>, uint32_t> transfer_;
  std::map<std::pair<std::string, int64_t>, Ports> ports_;
  std::map<std::pair<std::string, int64_t>, uint32_t> rows_;
  std::map<std::pair<std::string, int64_t>, BusReach> reach_;  // from what was asked for
  uint32_t instances_ = 0;
  uint64_t ticks_per_cycle_ = 1;
  double ticks_per_mhz_ = 0;  // ticks in a microsecond over MHz of the base clock
  std::map<double, uint64_t> ticks_by_clock_;
};

}  // namespace stria::sim
