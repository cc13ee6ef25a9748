// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/lane_split.h"

#include <bit>

#include "stria/poly/holds_together.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

// Replaces `name` by run * name + a new index, whose name is returned.
std::string split_runs(Block& block, const std::string& name, int64_t run) {
  Index& index = *block.find_index(name);
  Index part;
  part.name = block.fresh_name(name + "_run");
  part.range = run;
  index.range /= run;
  substitute_indices(block, {{name, Affine::of(name) * run + Affine::of(part.name)}});
  for (Affine& constraint : block.constraints)
    if (holds_together(constraint, part.name, part.range))
      constraint.add_term(part.name, -constraint.coefficient(part.name));
  block.idxs.push_back(part);
  return part.name;
}

// Replaces `name` by lanes * name + lane, and returns the name of the lane's index. That is `name`
// itself if the lanes take all of it.
std::string strip_index(Block& block, const std::string& name, int64_t lanes) {
  const int64_t range = block.find_index(name)->range;
  const int64_t steps = ceil_div(range, lanes);
  if (steps == 1) {
    block.find_index(name)->range = lanes;
    if (lanes != range) block.constraints.push_back(Affine(range - 1) - Affine::of(name));
    return name;
  }
  Index lane;
  lane.name = block.fresh_name(name + "_lane");
  lane.range = lanes;
  substitute_indices(block, {{name, Affine::of(name) * lanes + Affine::of(lane.name)}});
  if (range % lanes != 0)
    block.constraints.push_back(Affine(range - 1) - Affine::of(name) * lanes -
                                Affine::of(lane.name));
  block.find_index(name)->range = steps;
  block.idxs.push_back(lane);
  return lane.name;
}

}  // namespace

int64_t LaneSplit::total() const {
  int64_t all = 1;
  for (const Share& share : shares) all *= share.lanes;
  return all;
}

int64_t LaneSplit::before(size_t share) const {
  int64_t all = 1;
  for (size_t i = 0; i < share; ++i)
    if (shares[i].index == shares[share].index) all *= shares[i].lanes;
  return all;
}

void split_over_lanes(Block& block, const LaneSplit& split, const std::string& lane,
                      const std::vector<std::string>& inner_set) {
  std::map<std::string, int64_t> tile;
  std::map<std::string, std::string> run_index;
  Affine number;
  int64_t factor = 1;
  for (const auto& [name, run] : split.runs) run_index[name] = split_runs(block, name, run);
  for (const auto& [name, lanes] : split.shares) {
    const std::string index = strip_index(block, name, lanes);
    tile[index] = 1;
    number.add_term(index, factor);
    factor *= lanes;
  }
  split_block(block, tile);
  Block& inner = *block.stmts[0].block();
  inner.tags.set_all(inner_set);
  if (!split.vector.empty()) {
    std::map<std::string, int64_t> outside;
    for (const Index& index : inner.idxs)
      if (index.name != run_index.at(split.vector)) outside[index.name] = 1;
    split_block(inner, outside);
    Block& vector = *inner.stmts[0].block();
    drop_single_values(vector, run_index.at(split.vector));
    vector.tags.set(stripe::tag::kVector);
  }
  stripe::LocationUnit unit;
  unit.name = lane;
  unit.units = {number};
  block.location.path = {std::move(unit)};
}

int64_t distribute_over_lanes(Refinement& ref, const HeldLanes& held,
                              const std::string& lane_name) {
  stripe::BitFieldForm lane, slot;
  int64_t factor = 1;
  std::vector<int64_t> together = held.runs;
  for (const auto& [d, lanes] : held.shares) {
    const int bits = std::countr_zero(static_cast<uint64_t>(lanes));
    const int low = std::countr_zero(static_cast<uint64_t>(together[d]));
    lane.fields.push_back({static_cast<int>(d), low, bits, factor});
    factor *= lanes;
    together[d] *= lanes;
  }
  factor = 1;
  const auto take_run = [&](size_t d) {
    if (held.runs[d] <= 1) return;
    slot.fields.push_back(
        {static_cast<int>(d), 0, std::countr_zero(static_cast<uint64_t>(held.runs[d])), factor});
    factor *= held.runs[d];
  };
  if (held.vector) take_run(*held.vector);
  for (size_t d = held.runs.size(); d-- > 0;)
    if (held.vector != d) take_run(d);
  for (size_t d = held.runs.size(); d-- > 0;) {
    const int64_t steps = ceil_div(ref.shape.dims[d].size, together[d]);
    if (steps <= 1) continue;
    const int low = std::countr_zero(static_cast<uint64_t>(together[d]));
    const int bits = std::bit_width(static_cast<uint64_t>(steps - 1));
    slot.fields.push_back({static_cast<int>(d), low, bits, factor});
    factor *= steps;
  }
  stripe::LocationUnit& unit = ref.location.path.back();
  std::string owner = lane_name;
  for (char& c : owner) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  unit.owners = {{owner, std::move(lane)}, {"slot", std::move(slot)}};
  return factor;
}

}  // namespace stria::passes
