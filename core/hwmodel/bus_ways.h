// SPDX-License-Identifier: Apache-2.0
// Ways over the buses of a hardware model: from a memory to a transfer unit to a memory. Rule C5 of
// docs/semantics.md: the shortest way over buses and other transfer units, never through a memory
// or an execution unit. No way, several shortest ways, and a way that carries nothing are errors,
// which name both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stria/base/result.h"
#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria {

// "DRAM[0]".
std::string to_string(const UnitInstance& unit);

// The instances of the unit that buses begin or end at, in ascending order; the first one alone if
// there are none. A model may have more instances than can be looked at one by one.
std::vector<int64_t> instances_on_buses(const HardwareModel& model, std::string_view unit);

// Wires that bytes share: a bus, or a part of a mesh. Those that would lead out of a mesh have no
// name and carry nothing.
struct BusLink {
  std::string name;  // "DRAM[0] -> DMA[0], …"; of a mesh "mesh 1: 0 -> 1", "mesh 1: into 0"
  double clock_mhz = 0;
  double bytes_per_cycle = 0;
  double latency_cycles = 0;
  double pj_per_byte = 0;
};

// Which buses lead from which unit, looked up once for all questions about a model. Keeps no
// reference to it.
class BusMap {
 public:
  explicit BusMap(const HardwareModel& model);

  // All links. A bus is one. A mesh has one into its router for each router that units are at, one
  // to each neighbour, and one out of it. Bytes that go from router a to router b take the one in,
  // those along a's row, those along b's column, and the one out. They pass as many routers as
  // links, but for the first, which takes no time and no energy.
  const std::vector<BusLink>& links() const { return net_->links; }

 private:
  friend class BusReach;
  struct Branch {
    std::vector<UnitInstance> sinks;
    bool carries = true;
    size_t first_link = 0;
    std::optional<Mesh> mesh;
  };
  struct Net {
    std::vector<Branch> buses;  // as in the model
    std::vector<BusLink> links;
  };
  // Appends the links from one unit on the bus to another.
  static void append_links(const Branch& bus, const UnitInstance& from, const UnitInstance& to,
                           std::vector<size_t>& out);

  std::shared_ptr<const Net> net_;
  // By unit: positions in buses, in their order.
  std::map<std::pair<std::string, int64_t>, std::vector<size_t>> from_;
  std::set<std::string> transfers_;  // units that ways lead through
};

// All units that are reached from one unit. Keeps no reference to the map.
class BusReach {
 public:
  // `until`, if it is not null: units that are not closer than it need not be reached.
  BusReach(const BusMap& map, const UnitInstance& from, const UnitInstance* until = nullptr);
  BusReach(const HardwareModel& model, const UnitInstance& from,
           const UnitInstance* until = nullptr)
      : BusReach(BusMap(model), from, until) {}

  // The way: positions in BusMap::links(), in the order in which they are passed. not_found:
  // there is no way, or `to` is where it starts. invalid_argument: several shortest ways.
  // out_of_range: a bus on the way carries 0 bytes per cycle.
  Result<std::vector<size_t>> way_to(const UnitInstance& to) const;
  const UnitInstance& start() const { return reached_[0].unit; }

 private:
  struct Reached {
    UnitInstance unit;
    size_t steps = 0;
    uint64_t ways = 1;  // how many shortest ways there are
    size_t before = 0;  // the unit that it is reached from, and the bus
    size_t bus = 0;
    bool carries = true;  // the bus
  };
  std::shared_ptr<const BusMap::Net> net_;
  std::vector<Reached> reached_;  // the start, then by steps
  std::map<std::pair<std::string, int64_t>, size_t> position_;
};

struct TransferWay {
  std::vector<size_t> in, out;  // links to the transfer unit, and from it
};
// From one memory over the transfer unit to the other. Errors as those of BusReach::way_to; they
// begin with the two memories and the unit.
Result<TransferWay> transfer_way(const HardwareModel& model, const UnitInstance& from,
                                 const UnitInstance& through, const UnitInstance& to);
// The same, with what is reached from the first memory: for many units, each takes only the time of
// its own way.
Result<TransferWay> transfer_way(const BusMap& map, const BusReach& from,
                                 const UnitInstance& through, const UnitInstance& to);

}  // namespace stria
