// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/large_views.h"

#include "stria/stripe/footprint.h"

namespace stria::passes {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

bool can_be_fetched(const Refinement& ref) {
  return (ref.dir == RefDir::in || ref.dir == RefDir::out) && !ref.agg && !ref.swizzle;
}

double bytes_of(const HardwareModel& model, const std::string& memory, int64_t percent) {
  const MemoryUnit* unit = model.find_memory(memory);
  return unit ? static_cast<double>(unit->size_bytes) * static_cast<double>(percent) / 100 : 0;
}

std::set<std::string> large_views(const Block& kernel, double least) {
  std::set<std::string> out;
  for (const Refinement& ref : kernel.refs) {
    if (!can_be_fetched(ref)) continue;
    double bytes = static_cast<double>(byte_size(ref.shape.type));
    for (const Interval& range : stripe::reach(kernel, ref, kernel.index_box()))
      bytes *= static_cast<double>(range.upper) - static_cast<double>(range.lower) + 1;
    if (bytes >= least) out.insert(ref.into);
  }
  return out;
}

std::set<std::string> seen_inside(const Block& block, const std::set<std::string>& names) {
  std::set<std::string> out;
  for (const Refinement& ref : block.refs)
    if (can_be_fetched(ref) && names.count(ref.from)) out.insert(ref.into);
  return out;
}

}  // namespace stria::passes
