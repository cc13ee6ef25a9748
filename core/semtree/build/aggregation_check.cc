// SPDX-License-Identifier: Apache-2.0
// Checks the aggregations of a kernel: the pass agg_init has spelled out their start, and no
// running value is rounded to a storage type on the way.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "stria/semtree/build/builder.h"

namespace stria::semtree {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

struct Target {
  Affine offset;  // over the names of `ranges`
  bool combines = false;
  size_t alive_since = 0;  // how many loops were open when the memory began to live
};

// Every index with more than one point as a loop of its own, unrolled or not.
struct Loops {
  std::vector<std::pair<std::string, int64_t>> ranges;
};

// Whether different points of the loops from `since` on always have different offsets: sorted by
// coefficient, each one steps over all that the smaller ones reach.
bool each_point_its_own(const Affine& offset, const Loops& loops, size_t since) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t i = since; i < loops.ranges.size(); ++i) {
    const int64_t coefficient = offset.coefficient(loops.ranges[i].first);
    if (coefficient == 0) return false;
    steps.emplace_back(coefficient < 0 ? -coefficient : coefficient, loops.ranges[i].second);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [step, range] : steps) {
    if (step <= reach) return false;
    reach += step * (range - 1);
  }
  return true;
}

class Check {
 public:
  explicit Check(const std::string& kernel) : kernel_(kernel) {}

  Status block(const Block& block, const std::map<std::string, Affine>& outer,
               const std::map<std::string, Target>& parents, bool is_kernel) {
    std::map<std::string, Affine> indices;
    const size_t open = loops_.ranges.size();
    for (const stripe::Index& index : block.idxs) {
      Affine value = index.affine ? index.affine->substitute(outer) : Affine(0);
      if (index.range > 1) {
        // The position makes the name unique.
        loops_.ranges.emplace_back(fmt::format("{}.{}", loops_.ranges.size(), index.name),
                                   index.range);
        value += Affine::of(loops_.ranges.back().first);
      }
      indices[index.name] = value;
    }
    std::map<std::string, Target> targets;
    for (const Refinement& ref : block.refs) {
      Target target;
      auto parent = parents.find(ref.from);
      if (ref.dir == RefDir::none) {
        target.alive_since = loops_.ranges.size();
      } else {
        if (!is_kernel && parent != parents.end()) target = parent->second;
        if (ref.agg && ref.dir == RefDir::out && !target.combines)
          return unsupported(
              "refinement '{}' of {} in kernel '{}' starts an aggregation from its identity; the "
              "pass "
              "agg_init must have replaced it",
              ref.into, name_of_block(block), kernel_);
        target.offset += ref.flat_access().substitute(indices);
      }
      target.combines = target.combines || ref.agg.has_value();
      targets[ref.into] = target;
    }
    for (const stripe::Statement& statement : block.stmts) {
      if (const Block* inner = statement.block())
        STRIA_RETURN_IF_ERROR(this->block(*inner, indices, targets, false));
      auto* store = std::get_if<stripe::Store>(&statement.op);
      const Refinement* ref = store ? block.find_ref(store->into) : nullptr;
      if (!ref || !ref->agg || ref->agg->type == ref->shape.type) continue;
      const Target& target = targets[ref->into];
      if (!each_point_its_own(target.offset, loops_, target.alive_since))
        return unsupported(
            "refinement '{}' of {} in kernel '{}' aggregates in {} into storage of type {}, so "
            "that "
            "partial results would be rounded; the running value needs an allocation of type {}",
            ref->into, name_of_block(block), kernel_, name_of(ref->agg->type),
            name_of(ref->shape.type), name_of(ref->agg->type));
    }
    loops_.ranges.resize(open);
    return {};
  }

 private:
  std::string kernel_;
  Loops loops_;
};

}  // namespace

Status check_aggregations(const Block& kernel) {
  return Check(kernel.name).block(kernel, {}, {}, true);
}

}  // namespace stria::semtree
