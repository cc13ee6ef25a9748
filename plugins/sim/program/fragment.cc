// SPDX-License-Identifier: Apache-2.0
#include "program/fragment.h"

namespace stria::sim {

std::vector<uint32_t> append(TaskGraph& to, const Fragment& from,
                             const std::vector<uint32_t>& before, uint32_t slot,
                             const std::vector<Loop::Carried>& carried) {
  const auto first = static_cast<uint32_t>(to.size());
  std::vector<uint32_t> waits;
  for (size_t t = 0; t < from.graph.size(); ++t) {
    waits.clear();
    for (uint32_t w = from.graph.first_wait[t]; w < from.graph.first_wait[t + 1]; ++w)
      waits.push_back(first + from.graph.waits[w]);
    const uint32_t own = from.graph.slot[t];
    const bool enters = waits.empty();
    if (enters) waits = before;
    for (const Loop::Carried& besides : carried)
      if (besides.node == t) waits.push_back(besides.before);
    const uint32_t slot_of = own != kNoTask ? first + own : enters ? slot : kNoTask;
    if (from.graph.is_loop(t))
      to.add_loop(from.graph.loop(t), waits, slot_of);
    else
      to.add(from.graph.kind[t], waits, slot_of);
  }
  if (from.graph.size() == 0) return before;
  std::vector<uint32_t> exits;
  for (uint32_t exit : from.exits) exits.push_back(first + exit);
  return exits;
}

}  // namespace stria::sim
