// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/shared_memory.h"

#include <algorithm>

#include "stria/type/tensor_shape.h"

namespace stria::interp {
namespace {

std::string text_of(const Agents& all, const SharedAccess& access) {
  const char* verb = "";
  switch (access.touch) {
    case Touch::load: verb = "load"; break;
    case Touch::store: verb = "store"; break;
    case Touch::combine: verb = "aggregation"; break;
    case Touch::free: verb = "end of the allocation"; break;
  }
  return fmt::format("{} in block {} by {}", verb, access.block->name,
                     all[static_cast<size_t>(access.agent)]->name);
}

std::string element_text(const Buffer& buffer, int64_t offset) {
  std::string out;
  for (const Dim& dim : buffer.shape->dims) {
    const bool counts = dim.stride != 0 && dim.size > 1;
    out += fmt::format("{}{}", out.empty() ? "" : ", ",
                       counts ? (offset / dim.stride) % std::max<int64_t>(dim.size, 1) : 0);
  }
  return out;
}

}  // namespace

Status SharedMemory::touch(const Agents& all, const Agent& agent, int64_t offset, Touch how,
                           const Aggregating* into, const BlockPlan& block) {
  const SharedAccess now{agent.id, agent.count(), how, into, &block};
  Seen& seen = seen_[offset];
  const auto race = [&](const SharedAccess& before) {
    return invalid_argument("race on {}[{}]: {} and {} may happen in any order", name,
                            element_text(*buffer, offset), text_of(all, before), text_of(all, now));
  };
  const auto ordered = [&](const SharedAccess& before) {
    return before.agent == agent.id ||
           knows(agent.clock, static_cast<size_t>(before.agent), before.count);
  };
  if (seen.write.agent >= 0 && !ordered(seen.write)) return race(seen.write);
  const bool alone = how == Touch::store || how == Touch::free;
  for (const SharedAccess& other : seen.others) {
    const bool together = !alone && other.touch == how && other.into == into;
    if (!together && !ordered(other)) return race(other);
    unordered_combinations |= how == Touch::combine && !ordered(other);
  }
  if (alone) {
    seen.write = now;
    seen.others.clear();
    return {};
  }
  for (SharedAccess& other : seen.others)
    if (other.agent == agent.id && other.touch == how && other.into == into) {
      other = now;
      return {};
    }
  seen.others.push_back(now);
  return {};
}

Status SharedMemory::end(const Agents& all, const Agent& agent, const BlockPlan& block) {
  for (const auto& [offset, unused] : seen_)
    STRIA_RETURN_IF_ERROR(touch(all, agent, offset, Touch::free, nullptr, block));
  return {};
}

}  // namespace stria::interp
