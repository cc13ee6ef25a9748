// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/group_time.h"

#include "stria/cost/search/tile_search.h"
#include "stria/cost/workgroup/group_copies.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/group_work.h"
#include "stria/hwmodel/waited_memory.h"

namespace stria::cost {
namespace {

using namespace group;

// The largest sizes of tiles that are looked at: of an output; of a reduction if lanes fetch for
// themselves, all of a group's parts together.
constexpr int64_t kMostOutputs = 128, kMostDirectSteps = 4096;

// The best time of a tile that has been found so far.
class BestTime {
 public:
  BestTime(const TiledBlock& block, const Tile& tile, const GroupForm& form,
           const GroupRates& rates)
      : block_(block),
        tile_(tile),
        form_(form),
        rates_(rates),
        counts_(counts_of(block, tile, rates.facts)),
        staged_(staged_by(block, tile, rates)),
        copies_(block, tile, rates) {
    best_.groups = counts_.groups;
    best_.steps = counts_.steps;
    best_.local_bytes = staged_.local_bytes * static_cast<double>(form.depth);
    best_.cycles = kNone;
    bytes_ = rates.global_bytes > 0 ? global_bytes_of(block, tile, rates) / rates.global_bytes : 0;
  }

  GroupTime run() {
    bool stages = staged_.local_bytes * static_cast<double>(form_.depth) <=
                  static_cast<double>(rates_.local_bytes);
    for (size_t i = 0; i < tile_.size(); ++i)
      stages = stages && (!block_.indices[i].reduction || tile_[i] <= kMostSteps);
    for (int64_t group_lanes = fewest_group_lanes(rates_.facts);
         group_lanes <= rates_.most_group_lanes; group_lanes *= 2) {
      if (stages)
        for_each_parts(counts_.held, counts_.longest, group_lanes, form_.parts, kMostSumsOfParts,
                       [&](int64_t parts) { staged(group_lanes, parts); });
      if (may_be_direct(block_, form_))
        for_each_parts(counts_.held, counts_.longest, group_lanes, form_.parts, kMostDirectSums,
                       [&](int64_t parts) { direct(group_lanes, parts); });
    }
    return best_;
  }

 private:
  void staged(int64_t group_lanes, int64_t parts) {
    const PartsEnd end = parts_end(block_, counts_.outputs, parts, 0, rates_);
    GroupTime time = best_;
    time.local_bytes = staged_.local_bytes * static_cast<double>(form_.depth) + end.bytes;
    if (time.local_bytes > static_cast<double>(rates_.local_bytes)) return;
    const Lanes of = lanes_of(counts_.held * static_cast<double>(parts), counts_.conditions,
                              staged_, loads_of, group_lanes, rates_);
    const double points = counts_.of_part(parts), copying = copies_.instructions(group_lanes);
    const double subgroups =
        static_cast<double>(group_lanes) / static_cast<double>(fewest_group_lanes(rates_.facts));
    const double alone = alone_cycles(of, points, copying, counts_.waits, rates_) +
                         counts_.barrier_waits * subgroups;
    const double issue = issue_cycles(of, points, copying, rates_);
    const double fetching =
        rates_.facts.piece_factor * bytes_ + rates_.facts.line_cycles * staged_.lines;
    time.direct = false;
    compare(time, of, group_lanes, parts, end, counts_.steps, 0, [&](double beside) {
      return std::max(alone + (beside - 1) * issue, beside * fetching);
    });
  }

  void direct(int64_t group_lanes, int64_t parts) {
    // Neighbouring parts lie an odd number of elements apart (rollup.h).
    const double apart = std::fmod(counts_.outputs, 2) == 0 ? 1 : 0;
    const PartsEnd end = parts_end(block_, counts_.outputs, parts, apart, rates_);
    GroupTime time = best_;
    time.local_bytes = end.bytes;
    const double points = counts_.of_part(parts),
                 outputs = counts_.held * static_cast<double>(parts);
    if (time.local_bytes > static_cast<double>(rates_.local_bytes) || points > kMostAhead) return;
    const double sums = std::ceil(outputs / static_cast<double>(group_lanes));
    if (sums > kMostDirectSums) return;
    const Fetched fetched = fetched_by(block_, tile_, counts_.outputs, sums, rates_.facts);
    Staged under_way;
    under_way.elements = points * fetched.words() * static_cast<double>(group_lanes);
    const Lanes of = lanes_of(outputs, 1, under_way, loads_of, group_lanes, rates_);
    const double issue =
        of.lanes *
        (points * (of.sums + rates_.facts.uncached_vector_instructions * fetched.looked_up +
                   rates_.facts.uncached_element_instructions * fetched.elements) +
         rates_.facts.direct_step_instructions) /
        rates_.multiply_adds;
    const double waits =
        std::ceil(points * (fetched.vectors + fetched.elements) / rates_.facts.accesses_ahead);
    const double alone = waits * rates_.global_latency + bytes_ + issue;
    time.direct = true;
    compare(time, of, group_lanes, parts, end, counts_.steps, rates_.global_latency,
            [&](double beside) { return std::max(alone + (beside - 1) * issue, beside * bytes_); });
  }

  // `ends`: cycles of a round besides its steps.
  template <typename Step>
  void compare(GroupTime time, const Lanes& of, int64_t group_lanes, int64_t parts,
               const PartsEnd& end, double steps, double ends, const Step& step) {
    const double fit = fit_in_local(of.fit, time.local_bytes, rates_);
    if (fit < 1) return;
    const Rounds rounds = rounds_of(counts_.groups, fit, rates_);
    const auto round = [&](double beside) {
      return steps * step(beside) + ends + end.alone + beside * end.issue;
    };
    time.cycles = rounds.full * round(fit) + (rounds.rest > 0 ? round(rounds.rest) : 0);
    if (time.cycles >= best_.cycles) return;
    time.group_lanes = group_lanes;
    time.parts = parts;
    time.sums = of.sums;
    time.beside = rounds.full > 0 ? fit : rounds.rest;
    time.step_cycles = step(time.beside);
    best_ = time;
  }

  const TiledBlock& block_;
  const Tile& tile_;
  const GroupForm& form_;
  const GroupRates& rates_;
  const Counts counts_;
  const Staged staged_;
  const Copies copies_;
  double bytes_ = 0;  // cycles that those of a group's step take
  GroupTime best_;
};

}  // namespace

std::optional<GroupRates> group_rates(const HardwareModel& model, const std::string& group,
                                      const std::string& local, const std::string& registers) {
  const ExecutionUnit* unit = model.find_executor(group);
  const MemoryUnit* shared = model.find_memory(local);
  const MemoryUnit* own = model.find_memory(registers);
  if (!unit || !shared || !own || unit->ops_per_cycle <= 0 || unit->max_threads <= 0 ||
      shared->size_bytes <= 0 || own->size_bytes <= 0 || !model.settings ||
      model.settings->threads <= 0)
    return std::nullopt;
  GroupRates out;
  out.facts = unit->calibration.group;
  out.units = static_cast<double>(std::max<int64_t>(1, unit->count));
  out.multiply_adds =
      unit->ops_per_cycle / (unit->operation == ExecutionUnit::Operation::mac ? 1 : 2);
  out.most_lanes = unit->max_threads;
  out.most_group_lanes = model.settings->threads;
  out.registers =
      own->size_bytes * std::max<int64_t>(1, own->count / std::max<int64_t>(1, unit->count));
  out.lane_registers = own->size_bytes;
  out.local_bytes = shared->size_bytes;
  out.unit_local_bytes = shared->unit_bytes;
  out.bank_bytes = shared->banks * shared->bank_bytes;
  out.local_latency = shared->latency_cycles;
  out.line_bytes = model.settings->mem_width > 0
                       ? model.settings->mem_width
                       : static_cast<int64_t>(out.facts.transaction_bytes);
  if (const MemoryUnit* waited = waited_memory(model)) {
    out.global_latency = waited->latency_cycles;
    out.global_bytes = waited->read_bytes_per_cycle / out.units;
  }
  return out;
}

GroupTime group_time(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                     const GroupRates& rates) {
  return BestTime(block, tile, form, rates).run();
}

TileSpace group_tiles(const TiledBlock& block, const GroupForm& form) {
  const int64_t most_steps = may_be_direct(block, form) ? kMostDirectSteps : kMostSteps;
  TileSpace out;
  for (const TiledBlock::Index& index : block.indices) {
    const int64_t most = index.reduction ? most_steps : kMostOutputs;
    std::vector<int64_t>& sizes = out.emplace_back();
    for (int64_t size = 1; size < index.range && size <= most; size *= 2) sizes.push_back(size);
    if (index.range <= most || sizes.empty()) sizes.push_back(index.range);
  }
  return out;
}

bool all_larger_are_over(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                         const GroupRates& rates) {
  const Counts counts = counts_of(block, tile, rates.facts);
  if (counts.outputs > static_cast<double>(kMostSums * rates.most_group_lanes)) return true;
  if (may_be_direct(block, form)) {
    // With the most parts, each has the fewest points.
    const double lanes = static_cast<double>(rates.most_group_lanes);
    const double parts = form.parts ? std::max(1.0, kMostDirectSums * lanes / counts.outputs) : 1;
    if (counts.outputs <= kMostDirectSums * lanes && counts.reductions <= kMostAhead * parts)
      return false;
  }
  for (size_t i = 0; i < tile.size(); ++i)
    if (block.indices[i].reduction && tile[i] > kMostSteps) return true;
  return staged_by(block, tile, rates).least_bytes * static_cast<double>(form.depth) >
         static_cast<double>(rates.local_bytes);
}

std::optional<GroupTile> shortest_tile(const TiledBlock& block, const GroupForm& form,
                                       const GroupRates& rates) {
  SearchCost cost;
  cost.of = [&](const Tile& tile) { return group_time(block, tile, form, rates).cycles; };
  cost.bound = [&](const Tile& low, const Tile& high) {
    return group_time_bound(block, low, high, form, rates);
  };
  cost.hopeless = [&](const Tile& tile) { return all_larger_are_over(block, tile, form, rates); };
  const Ranking ranking = exhaustive(group_tiles(block, form), cost);
  if (ranking.best.empty()) return std::nullopt;
  const Tile& tile = ranking.best[0].tile;
  return GroupTile{tile, group_time(block, tile, form, rates)};
}

std::string to_string(const GroupTime& time) {
  if (time.group_lanes == 0) return "no number of lanes holds it";
  return fmt::format(
      "groups={:.0f} group_lanes={} {}{}sums={:.0f} beside={:.0f} local_bytes={:.0f} steps={:.0f} "
      "step_cycles={:.0f} cycles={:.0f}",
      time.groups, time.group_lanes, time.parts > 1 ? fmt::format("parts={} ", time.parts) : "",
      time.direct ? "direct " : "", time.sums, time.beside, time.local_bytes, time.steps,
      time.step_cycles, time.cycles);
}

}  // namespace stria::cost
