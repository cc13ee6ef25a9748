// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/lane_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/workgroup/sum_lanes.h"
#include "stria/rewrite/in_order.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

int64_t step_of(const Refinement& ref, int64_t around, const std::string& without) {
  const Affine flat = ref.flat_access();
  int64_t step = std::gcd(around, flat.constant());
  for (const auto& [name, coefficient] : flat.terms())
    if (name != without) step = std::gcd(step, coefficient);
  return step;
}

const Refinement* LanePlanner::global_view(const GroupWork& work) const {
  const Refinement* best = nullptr;
  std::pair<int, int64_t> best_rank = {-1, 0};
  for (const Refinement& ref : work.block->refs) {
    if (ref.dir == RefDir::none) continue;
    const Affine flat = ref.flat_access();
    int64_t touched = 1;
    for (const Index& index : work.block->idxs)
      if (flat.uses(index.name)) touched = cost::saturating_product(touched, index.range);
    const std::pair<int, int64_t> rank = {2 * is_outside(work, ref) + (ref.dir != RefDir::in),
                                          touched};
    if (rank <= best_rank) continue;
    best = &ref;
    best_rank = rank;
  }
  return best;
}

bool LanePlanner::is_outside(const GroupWork& work, const Refinement& ref) const {
  const std::string& name = work.tensor.at(ref.into);
  const Refinement* own = name.empty() ? nullptr : group_.find_ref(name);
  return own && own->dir != RefDir::none;
}

bool LanePlanner::begins_at_runs(const GroupWork& work, const Refinement& ref,
                                 const std::string& index, int64_t run) {
  return step_of(ref, work.around.at(ref.into), index) % run == 0;
}

int64_t LanePlanner::elements(const Refinement& ref) const {
  return std::max<int64_t>(1, options_.access_bytes / byte_size(ref.shape.type));
}

LaneSplit LanePlanner::plan(const GroupWork& work,
                            const std::map<std::string, int64_t>& runs) const {
  if (work.outputs.empty()) return {};
  const Refinement& global = *global_view(work);
  const Affine flat = global.flat_access();
  const bool adds = std::any_of(work.block->refs.begin(), work.block->refs.end(),
                                [](const Refinement& ref) { return ref.agg.has_value(); });
  std::vector<int64_t> ranges, strides;
  for (const IndexRole& role : work.outputs) {
    const auto run = runs.find(role.name);
    const int64_t elements = run == runs.end() ? 1 : run->second;
    ranges.push_back(role.range / elements);
    // For a copy, the distance between the elements of neighbouring lanes, counted in single
    // elements.
    strides.push_back(flat.coefficient(role.name) * (adds ? elements : 1));
  }
  // The output to which each entry belongs. The row of a transposing copy has two entries.
  std::vector<size_t> output(work.outputs.size());
  std::iota(output.begin(), output.end(), size_t{0});
  if (const std::optional<TurnedRow> row = turned_row(work, global, runs)) {
    output.push_back(row->output);
    ranges.push_back(ranges[row->output] / row->lanes);
    strides.push_back(row->lanes * runs.begin()->second);
    ranges[row->output] = row->lanes;
  }
  LaneSplit split;
  split.runs = runs;
  for (const auto& [name, run] : runs)
    if (!adds && flat.coefficient(name) == 1) split.vector = name;
  const auto put = [&](size_t i, int64_t lanes) {
    if (lanes <= 1) return;
    split.shares.push_back({work.outputs[output[i]].name, lanes});
  };
  const auto reads = std::count_if(
      work.block->refs.begin(), work.block->refs.end(),
      [&](const Refinement& ref) { return ref.dir == RefDir::in && is_outside(work, ref); });
  if (adds && (!runs.empty() || (global.dir == RefDir::in && reads > 1))) {
    split.shares = plan_sums(work, global, runs, ranges, strides);
    return split;
  }
  if (!adds || global.dir == RefDir::in) {
    const cost::CopyLanes copy = cost::plan_copy(ranges, strides, options_.group_lanes,
                                                 elements(global), banked(work, global, runs));
    for (size_t i : copy.order) put(i, copy.lanes[i]);
    return split;
  }
  cost::FlatKernel kernel;
  for (size_t i = 0; i < ranges.size(); ++i)
    kernel.indices.push_back({work.outputs[i].name, ranges[i]});
  kernel.output.type = global.shape.type;
  kernel.output.strides = strides;
  GroupSettings settings;
  settings.threads = options_.group_lanes;
  settings.mem_width = options_.access_bytes;
  for (const cost::LanePlan::Index& index : cost::plan_lanes(kernel, ranges, settings).indices)
    put(index.index, index.lanes);
  return split;
}

std::optional<LanePlanner::TurnedRow> LanePlanner::turned_row(
    const GroupWork& work, const Refinement& global,
    const std::map<std::string, int64_t>& runs) const {
  if (!work.block->tags.has(stripe::tag::kCopy) || runs.size() != 1) return std::nullopt;
  const auto& [name, run] = *runs.begin();
  const bool turned = std::any_of(
      work.block->refs.begin(), work.block->refs.end(), [&, &name = name](const Refinement& ref) {
        return &ref != &global && ref.flat_access().coefficient(name) > 1;
      });
  int64_t line_bytes = 0;
  for (const MemoryUnit& memory : model_.memories)
    line_bytes = std::max(line_bytes, memory.line_bytes);
  const int64_t lanes = line_bytes / (run * byte_size(global.shape.type));
  for (size_t i = 0; i < work.outputs.size(); ++i) {
    if (work.outputs[i].name != name) continue;
    const int64_t vectors = work.outputs[i].range / run;
    if (turned && lanes > 1 && vectors > lanes && vectors % lanes == 0) return TurnedRow{i, lanes};
  }
  return std::nullopt;
}

cost::BankedSide LanePlanner::banked(const GroupWork& work, const Refinement& global,
                                     const std::map<std::string, int64_t>& runs) const {
  cost::BankedSide out;
  if (!runs.empty() || !work.block->tags.has(stripe::tag::kCopy))
    return out;  // vectors take consecutive banks
  for (const Refinement& ref : work.block->refs) {
    if (&ref == &global || ref.location.empty()) continue;
    const MemoryUnit* memory = model_.find_memory(ref.location.path.back().name);
    if (!memory || memory->bank_bytes != byte_size(ref.shape.type)) continue;
    out.banks = memory->banks;
    const Affine flat = ref.flat_access();
    for (const IndexRole& role : work.outputs) out.strides.push_back(flat.coefficient(role.name));
    break;
  }
  return out;
}

std::vector<LaneSplit::Share> LanePlanner::plan_sums(const GroupWork& work,
                                                     const Refinement& global,
                                                     const std::map<std::string, int64_t>& runs,
                                                     const std::vector<int64_t>& ranges,
                                                     const std::vector<int64_t>& strides) const {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(strides[a] == 0, std::abs(strides[a])) <
           std::pair(strides[b] == 0, std::abs(strides[b]));
  });
  std::vector<int64_t> shared_out;
  for (const size_t i : order) shared_out.push_back(ranges[i]);
  std::vector<cost::SumRead> reads;
  for (const Refinement& ref : work.block->refs) {
    if (ref.dir != RefDir::in) continue;
    const Affine flat = ref.flat_access();
    cost::SumRead& read = reads.emplace_back();
    for (const size_t i : order) {
      const auto run = runs.find(work.outputs[i].name);
      read.moved.push_back(flat.uses(work.outputs[i].name));
      if (read.moved.back() && run != runs.end()) read.elements *= run->second;
    }
  }
  const int64_t step = std::max<int64_t>(1, std::abs(strides[order[0]]));
  const std::vector<int64_t> lanes = cost::plan_sum_lanes(shared_out, reads, options_.group_lanes,
                                                          ceil_div(elements(global), step));
  std::vector<LaneSplit::Share> out;
  for (size_t i = 0; i < order.size(); ++i)
    if (lanes[i] > 1) out.push_back({work.outputs[order[i]].name, lanes[i]});
  return out;
}

void LanePlanner::interleave(const Block& block, LaneSplit& split) const {
  if (options_.pairs <= 1 || split.runs.empty() || split.shares.size() < 2) return;
  LaneSplit::Share& second = split.shares[1];
  const auto run = split.runs.find(second.index);
  const int64_t range =
      block.find_index(second.index)->range / (run == split.runs.end() ? 1 : run->second);
  // Other lengths leave lanes beyond the end of the index, which would need a second constraint.
  if (second.lanes % options_.pairs != 0 || range % second.lanes != 0) return;
  LaneSplit::Share pairs = {second.index, options_.pairs};
  second.lanes /= options_.pairs;
  if (second.lanes == 1) split.shares.erase(split.shares.begin() + 1);
  split.shares.insert(split.shares.begin(), std::move(pairs));
}

bool LanePlanner::copies_vectors(const GroupWork& work, const std::string& row, int64_t run,
                                 bool across) const {
  const Refinement& global = *global_view(work);
  const Affine flat = global.flat_access();
  std::vector<int64_t> ranges, strides, ordered;
  for (const IndexRole& role : work.outputs) {
    ranges.push_back(role.range);
    strides.push_back(flat.coefficient(role.name));
  }
  cost::CopyRows rows;
  rows.vector = run;
  rows.across = across;
  for (const size_t i :
       cost::plan_copy(ranges, strides, options_.group_lanes, elements(global)).order) {
    if (work.outputs[i].name == row) rows.index = ordered.size();
    ordered.push_back(ranges[i]);
  }
  return cost::copy_rounds(ordered, rows, options_.group_lanes).in_vectors;
}

std::map<std::string, int64_t> LanePlanner::copied_runs(const GroupWork& work) const {
  std::map<std::string, int64_t> runs;
  if (!work.block->tags.has(stripe::tag::kCopy) || !is_leaf(*work.block)) return runs;
  const Refinement* global = global_view(work);
  for (const IndexRole& role : work.outputs) {
    // A lane takes as many elements as a vector has of the widest type.
    int64_t run = options_.run_bytes;
    bool fits = true, across = false;
    for (const Refinement& ref : work.block->refs) {
      fits = fits && ref.dir != RefDir::none && !ref.agg && !ref.swizzle;
      run = std::min(run, options_.run_bytes / byte_size(ref.shape.type));
    }
    fits =
        fits && run > 1 && std::has_single_bit(static_cast<uint64_t>(run)) && role.range % run == 0;
    for (const Refinement& ref : work.block->refs) {
      if (!fits) break;
      const int64_t step = ref.flat_access().coefficient(role.name);
      // One value for all elements of a run is loaded once.
      fits = step == 1 ? begins_at_runs(work, ref, role.name, run)
                       : &ref != global && (step > 1 || (step == 0 && ref.dir == RefDir::in));
      across = across || step > 1;
    }
    if (!fits || !copies_vectors(work, role.name, run, across)) continue;
    runs[role.name] = run;
    break;
  }
  return runs;
}

std::string LanePlanner::describe(const GroupWork& work) const {
  std::vector<std::string> parts;
  for (const LaneSplit::Share& share : work.split->shares)
    parts.push_back(fmt::format("{} {}", share.index, share.lanes));
  std::string text = fmt::format("{}: block {}: {}", group_.name, work.path,
                                 parts.empty() ? "one lane" : "lanes " + join(parts, " x "));
  const int64_t lanes =
      std::min(static_cast<int64_t>(model_.group_facts().fewest_group_lanes), work.split->total());
  for (const Refinement& ref : work.block->refs) {
    const Refinement* own = group_.find_ref(work.tensor.at(ref.into));
    if (ref.dir == RefDir::none || !own || own->dir == RefDir::none || lanes <= 1) continue;
    text += fmt::format("; {} neighbours touch {} of {} B of '{}'", lanes,
                        segments(work, ref, lanes), options_.access_bytes, ref.into);
  }
  int64_t parting = 0;
  for (const Affine& constraint : work.block->constraints)
    parting +=
        std::any_of(work.split->shares.begin(), work.split->shares.end(),
                    [&](const LaneSplit::Share& share) { return constraint.uses(share.index); });
  if (parting > 0) text += fmt::format("; {} constraints may part them", parting);
  return text;
}

int64_t LanePlanner::segments(const GroupWork& work, const Refinement& ref, int64_t lanes) const {
  const Affine flat = ref.flat_access();
  std::set<int64_t> touched;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t offset = 0, rest = lane;
    for (size_t i = 0; i < work.split->shares.size(); ++i) {
      const auto& [name, count] = work.split->shares[i];
      offset += flat.coefficient(name) * (rest % count) * work.split->before(i);
      rest /= count;
    }
    touched.insert(floor_div(offset, elements(ref)));
  }
  return static_cast<int64_t>(touched.size());
}

}  // namespace stria::passes
