// SPDX-License-Identifier: Apache-2.0
// Where the time of each instance went: what it did, and what it waited for while it did nothing.
// Each tick has exactly one reason, so that they add up to the whole time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/simulate.h"

namespace stria::sim {

struct InstanceTimes {
  std::array<uint64_t, kSpentKinds> ticks{};
  uint64_t tasks = 0;
  uint64_t busy() const;
  uint64_t total() const;
  uint64_t operator[](Spent spent) const { return ticks[static_cast<size_t>(spent)]; }
};

// All tasks of one kind on one instance.
struct KindTimes {
  uint32_t kind = 0, instance = 0;
  uint64_t tasks = 0, ticks = 0;  // ticks: the sum of theirs
};

// Sums over a timeline that comes in pieces.
class UnitTimes {
 public:
  // Both must outlive it.
  UnitTimes(const Machine& machine, const TaskGraph& graph);
  void add(const Timeline& piece);
  // `ticks`: of the whole timeline.
  void finish(uint64_t ticks);

  // By instance, among all groups' instances.
  const std::vector<InstanceTimes>& instances() const { return out_; }
  std::vector<KindTimes> kinds() const;  // by kind, then by instance

 private:
  const Machine& machine_;
  const TaskGraph& graph_;
  std::vector<InstanceTimes> out_;
  std::vector<uint64_t> last_;  // end of the last task of each
  std::map<std::pair<uint32_t, uint32_t>, KindTimes> sums_;
};

// The times of a whole timeline.
std::vector<InstanceTimes> unit_times(const Machine& machine, const TaskGraph& graph,
                                      const Timeline& timeline);

// Ticks that a task takes with nothing else on its channels.
uint64_t ticks_alone(const Machine& machine, const TaskKind& kind, uint32_t instance);

// The same on the instance where it takes least; for a join its compute_ticks.
uint64_t least_ticks_alone(const Machine& machine, const TaskKind& kind);

// The least ticks from the start of a graph to its end: the longest chain, loops included, with
// nothing else on the channels.
double longest_chain(const Machine& machine, const TaskGraph& graph);

}  // namespace stria::sim
