// SPDX-License-Identifier: Apache-2.0
#include "engine/task_graph.h"

#include <algorithm>

namespace stria::sim {
namespace {

constexpr uint64_t kMostNumbers = uint64_t{1} << 53;

// kMostNumbers + 1 stands for all larger numbers.
uint64_t count(const TaskGraph& graph) {
  uint64_t out = 0;
  for (size_t node = 0; node < graph.size() && out <= kMostNumbers; ++node) {
    if (!graph.is_loop(node)) {
      ++out;
      continue;
    }
    const Loop& loop = graph.loop(node);
    const uint64_t body = count(*loop.body);
    if (loop.points > 0 && body > kMostNumbers / loop.points) return kMostNumbers + 1;
    out += body * loop.points;
  }
  return std::min(out, kMostNumbers + 1);
}

void add_kinds(const TaskGraph& graph, uint64_t times, std::vector<uint64_t>& out) {
  for (size_t node = 0; node < graph.size(); ++node) {
    if (graph.is_loop(node))
      add_kinds(*graph.loop(node).body, times * graph.loop(node).points, out);
    else
      out[graph.kind[node]] += times;
  }
}

class Unrolling {
 public:
  explicit Unrolling(const TaskGraph& graph) {
    out_.graph.kinds = graph.kinds;
    join_ = static_cast<uint32_t>(out_.graph.kinds.size());
    out_.graph.kinds.push_back({});
    append(graph, {}, kNoTask, std::vector<std::vector<uint32_t>>(graph.size()));
  }
  Unrolled take() { return std::move(out_); }

 private:
  uint32_t joined(const std::vector<uint32_t>& nodes) {
    if (nodes.size() == 1) return nodes[0];
    out_.number.push_back(UINT64_MAX);
    return out_.graph.add(join_, nodes);
  }

  // Appends `graph`, and returns what each node has become. `before`: nodes that wait for nothing
  // in `graph` wait for these. `carried`: what else each node waits for.
  std::vector<uint32_t> append(const TaskGraph& graph, const std::vector<uint32_t>& before,
                               uint32_t slot, const std::vector<std::vector<uint32_t>>& carried) {
    std::vector<uint32_t> became;
    for (size_t node = 0; node < graph.size(); ++node) {
      std::vector<uint32_t> waits;
      for (uint32_t w = graph.first_wait[node]; w < graph.first_wait[node + 1]; ++w)
        waits.push_back(became[graph.waits[w]]);
      const bool enters = waits.empty();
      if (enters) waits = before;
      const uint32_t own = graph.slot[node] != kNoTask ? became[graph.slot[node]]
                           : enters                    ? slot
                                                       : kNoTask;
      waits.insert(waits.end(), carried[node].begin(), carried[node].end());
      if (graph.is_loop(node)) {
        became.push_back(append_points(graph.loop(node), waits, own));
        continue;
      }
      const bool join = out_.graph.kinds[graph.kind[node]].work == TaskKind::Work::join;
      out_.number.push_back(join ? UINT64_MAX : number_);
      ++number_;
      became.push_back(out_.graph.add(graph.kind[node], waits, own));
    }
    return became;
  }

  // The node at the end of all points.
  uint32_t append_points(const Loop& loop, const std::vector<uint32_t>& before, uint32_t slot) {
    std::vector<uint32_t> ends, last;
    uint32_t room = kNoTask;  // what makes room for the point
    std::vector<bool> waited(loop.body->size(), false);
    for (uint32_t node : loop.body->waits) waited[node] = true;
    for (uint64_t p = 0; p < loop.points; ++p) {
      if (p >= loop.depth) {
        const uint32_t end = ends[p - loop.depth];
        room = room == kNoTask || end == room ? end : joined({end, room});
      }
      std::vector<std::vector<uint32_t>> carried(loop.body->size());
      if (p > 0)
        for (const Loop::Carried& of : loop.carried) carried[of.node].push_back(last[of.before]);
      last = room == kNoTask ? append(*loop.body, before, slot, carried)
                             : append(*loop.body, {room}, room, carried);
      std::vector<uint32_t> exits;
      for (size_t node = 0; node < last.size(); ++node)
        if (!waited[node]) exits.push_back(last[node]);
      ends.push_back(joined(exits));
    }
    return joined(
        {ends.end() - static_cast<std::ptrdiff_t>(std::min(loop.points, loop.depth)), ends.end()});
  }

  Unrolled out_;
  uint32_t join_ = 0;
  uint64_t number_ = 0;
};

}  // namespace

Result<uint64_t> numbers_of(const TaskGraph& graph) {
  const uint64_t out = count(graph);
  if (out > kMostNumbers)
    return make_error(StatusCode::out_of_range, "more than 2^53 operations and transfers");
  return out;
}

std::vector<uint64_t> tasks_of_kinds(const TaskGraph& graph) {
  std::vector<uint64_t> out(graph.kinds.size());
  add_kinds(graph, 1, out);
  return out;
}

Result<Unrolled> unroll(const TaskGraph& graph, uint64_t most_tasks) {
  if (const uint64_t numbers = count(graph); numbers > most_tasks)
    return make_error(StatusCode::out_of_range,
                      "{}{} operations and transfers, one by one at most {} can be looked at",
                      numbers > kMostNumbers ? "more than " : "", std::min(numbers, kMostNumbers),
                      most_tasks);
  return Unrolling(graph).take();
}

}  // namespace stria::sim
