// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/unit_times.h"

namespace stria::sim {
namespace {

// The longest chain from `from` (kNoTask: from any start) to each node.
std::vector<double> chains(const Machine& machine, const std::vector<TaskKind>& kinds,
                           const TaskGraph& graph, uint32_t from);

double longest(const std::vector<double>& chain) {
  double out = 0;
  for (double one : chain) out = std::max(out, one);
  return out;
}

double ticks_of_node(const Machine& machine, const std::vector<TaskKind>& kinds,
                     const TaskGraph& graph, size_t node) {
  if (!graph.is_loop(node))
    return static_cast<double>(least_ticks_alone(machine, kinds[graph.kind[node]]));
  const Loop& loop = graph.loop(node);
  const double once = longest(chains(machine, kinds, *loop.body, kNoTask));
  // Points wait for the point that makes room, and hand on to the next what it waits for.
  const auto points = static_cast<double>(loop.points);
  double out = static_cast<double>((loop.points - 1) / loop.depth + 1) * once;
  for (const Loop::Carried& carried : loop.carried) {
    const double step = chains(machine, kinds, *loop.body, carried.node)[carried.before];
    out = std::max(out, points * step);
  }
  return out;
}

std::vector<double> chains(const Machine& machine, const std::vector<TaskKind>& kinds,
                           const TaskGraph& graph, uint32_t from) {
  constexpr double kNone = -1;  // no chain leads there
  std::vector<double> out(graph.size(), kNone);
  for (size_t node = from == kNoTask ? 0 : from; node < graph.size(); ++node) {
    double before = from == kNoTask || node == from ? 0 : kNone;
    for (uint32_t w = graph.first_wait[node]; w < graph.first_wait[node + 1]; ++w)
      before = std::max(before, out[graph.waits[w]]);
    if (before >= 0) out[node] = before + ticks_of_node(machine, kinds, graph, node);
  }
  return out;
}

}  // namespace

double longest_chain(const Machine& machine, const TaskGraph& graph) {
  return longest(chains(machine, graph.kinds, graph, kNoTask));
}

}  // namespace stria::sim
