// SPDX-License-Identifier: Apache-2.0
#include "engine/graph_plan.h"

namespace stria::sim {
namespace {

// Pairs (from, to) as lists of the `to` of each `from`, in the order in which they are given.
template <typename Visit>
void list_by_first(size_t count, const Visit& visit, std::vector<uint32_t>& first,
                   std::vector<uint32_t>& all) {
  first.assign(count + 1, 0);
  visit([&](uint32_t from, uint32_t) { ++first[from + 1]; });
  for (size_t n = 0; n < count; ++n) first[n + 1] += first[n];
  all.resize(first[count]);
  std::vector<uint32_t> at(first.begin(), first.end() - 1);
  visit([&](uint32_t from, uint32_t to) { all[at[from]++] = to; });
}

}  // namespace

GraphPlan::GraphPlan(const TaskGraph& of) : graph(&of) {
  const size_t count = of.size();
  list_by_first(
      count,
      [&](const auto& add) {
        for (uint32_t node = 0; node < count; ++node)
          for (uint32_t w = of.first_wait[node]; w < of.first_wait[node + 1]; ++w)
            add(of.waits[w], node);
      },
      first, after);
  for (const Loop& loop : of.loops) {
    LoopPlan plan;
    plan.loop = &loop;
    plan.body = std::make_unique<GraphPlan>(*loop.body);
    list_by_first(
        loop.body->size(),
        [&](const auto& add) {
          for (const Loop::Carried& carried : loop.carried) add(carried.before, carried.node);
        },
        plan.first_carried, plan.carried);
    loops.push_back(std::move(plan));
  }
  number.reserve(count + 1);
  number.push_back(0);
  for (uint32_t node = 0; node < count; ++node) {
    if (waits_of(node) == 0) entries.push_back(node);
    const uint64_t size =
        of.is_loop(node) ? loop(node).body->number.back() * of.loop(node).points : 1;
    number.push_back(number.back() + size);
  }
}

}  // namespace stria::sim
