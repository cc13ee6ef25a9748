// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/group_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/cost/group_plan.h"
#include "stria/cost/memory_use.h"
#include "stria/cost/tile_search.h"

namespace stria::cost {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr int64_t kFewestThreads = 32, kMostSums = 64;
constexpr int64_t kMostOutputs = 128, kMostSteps = 64;
// Of a lane that takes parts: more sums need no more of them to hide what lies between.
constexpr double kMostSumsOfParts = 16;
// Of lanes that fetch for themselves: points of all of a group's parts, and of one, in a step;
// accesses that come in the time that one takes; and sums.
constexpr int64_t kMostDirectSteps = 4096;
constexpr double kMostAhead = 16, kAhead = 16, kMostDirectSums = 32;
constexpr double kMostGroupsBeside = 32;
// Elements that a lane reads from local memory at once.
constexpr double kVector = 4, kRowBytes = 16;
// Instructions that a lane issues for a vector from local memory, and for an access that fetches and
// stages.
constexpr double kLoad = 2, kStaged = 4;
// The same from main memory, for a vector and for one element: what the unit takes for them, as
// instructions.
constexpr double kFarVector = 16, kFarElement = 32;
// A unit finds so much of a row of what lanes fetch at a time.
constexpr double kLookedUpBytes = 128;
// Pieces of rows that a group stages come so many times as slowly as what lanes fetch in a stream.
constexpr double kPieces = 2;
// And for each step, barrier included; without one.
constexpr double kStep = 32, kDirectStep = 16;
// And for a part's sum that is stored and added.
constexpr double kSummed = 6;
// Parts' sums that a lane adds up at once.
constexpr double kPartsAtOnce = 16;
// Bytes of registers of a lane besides its sums.
constexpr int64_t kOtherRegisters = 200;
// Steps' time that a group takes before its first and behind its last one.
constexpr double kEnds = 2;

// Of one tile.
struct Counts {
  double outputs = 1;     // points of what it writes
  double held = 1;        // the same as lanes hold them, which take powers of two of them
  double reductions = 1;  // points of a step
  int64_t longest = 1;    // of them, along one index
  double groups = 1, steps = 1;

  // Of a step, those of a lane's part.
  double of_part(int64_t parts) const {
    return reductions / static_cast<double>(longest) *
           static_cast<double>(ceil_div(longest, parts));
  }
};

// Lanes are powers of two: of other sizes some pause, for up to a quarter of the next power of two.
double held_of(int64_t size) {
  const int64_t quarter = std::max<int64_t>(1, power_of_two_above(size) / 4);
  return static_cast<double>(ceil_div(size, quarter) * quarter);
}

Counts counts_of(const TiledBlock& block, const Tile& tile) {
  Counts out;
  for (size_t i = 0; i < tile.size(); ++i) {
    const TiledBlock::Index& index = block.indices[i];
    const auto count = static_cast<double>(ceil_div(index.range, tile[i]));
    (index.reduction ? out.reductions : out.outputs) *= static_cast<double>(tile[i]);
    if (!index.reduction) out.held *= held_of(tile[i]);
    (index.reduction ? out.steps : out.groups) *= count;
    if (index.reduction) out.longest = std::max(out.longest, tile[i]);
  }
  return out;
}

bool is_staged(const TiledView& view) { return view.reads() && !view.writes(); }

// What a step brings into local memory.
struct Staged {
  double views = 0, elements = 0;
  double accesses = 0;     // of elements, or of vectors of them
  double local_bytes = 0;  // where they are staged
};

// Lie rows of it along an output, or along a reduction, where vectors of them begin at multiples of
// a vector? Staged, rows are those of outputs: others are turned.
enum class Rows { none, outputs, reductions };
Rows rows_of(const TiledBlock& block, const TiledView& view) {
  if (view.dims.empty() || view.dims[0].stride != 1 || view.dims[0].terms.size() != 1)
    return Rows::none;
  const TiledDim::Term& term = view.dims[0].terms[0];
  if (term.coefficient != 1) return Rows::none;
  for (size_t d = 1; d < view.dims.size(); ++d)
    if (view.dims[d].stride % static_cast<int64_t>(kVector) != 0) return Rows::none;
  return block.indices[term.index].reduction ? Rows::reductions : Rows::outputs;
}
bool is_in_vectors(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  return rows_of(block, view) == Rows::outputs &&
         tile[view.dims[0].terms[0].index] % static_cast<int64_t>(kVector) == 0;
}

// Accesses that stage an element: half of one fetches it, half of one stores it. `tile` null: the
// fewest of any.
double accesses_of_element(const TiledBlock& block, const TiledView& view, const Tile* tile) {
  const Rows rows = rows_of(block, view);
  if (rows == Rows::none ||
      (tile && (*tile)[view.dims[0].terms[0].index] % static_cast<int64_t>(kVector) != 0))
    return 1;
  return rows == Rows::outputs ? 1 / kVector : (1 / kVector + 1) / 2;
}

Staged staged_by(const TiledBlock& block, const Tile& tile, double reductions) {
  Staged out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    const double elements = elements_of(view, tile);
    out.elements += elements;
    out.accesses += elements * accesses_of_element(block, view, &tile);
    // Rows begin at multiples of a vector.
    out.local_bytes += elements * static_cast<double>(view.element_bytes) + kRowBytes * reductions;
    out.views += 1;
  }
  return out;
}

double far_bytes_of(const TiledBlock& block, const Tile& tile, const GroupRates& rates) {
  double out = 0;
  for (const TiledView& view : block.views)
    if (is_staged(view))
      out += lines_of(view, tile, rates.line_bytes) * static_cast<double>(rates.line_bytes);
  return out;
}

int64_t registers_of(double sums, double staged) {
  return static_cast<int64_t>(4 * (sums + 2 * std::sqrt(sums) + staged)) + kOtherRegisters;
}

// Does no dimension step over less than what those before it reach?
bool rows_lie_apart(const TiledView& view, const Tile& tile) {
  double reach = 1;
  for (const TiledDim& dim : view.dims) {
    const double size = extent(dim, tile), stride = static_cast<double>(dim.stride);
    if (size > 1 && stride < reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

// Of a tile with so many lanes in a group.
struct Lanes {
  double lanes = 0, sums = 0, loads = 0, warps = 0;
  double fit = 0;  // groups that a unit can run at once; 0: none
};

// The most that fit of tiles with at least so many outputs and staged elements.
Lanes lanes_of(double outputs, const Staged& staged, int64_t threads, const GroupRates& rates) {
  Lanes out;
  out.lanes = static_cast<double>(threads);
  out.sums = std::ceil(outputs / out.lanes);
  const int64_t registers = registers_of(out.sums, staged.elements / out.lanes);
  if (out.sums > kMostSums || registers > rates.lane_registers) return out;
  // Each of the views read has its side of the square that a lane's sums are.
  out.loads = staged.views * std::max(1.0, std::sqrt(out.sums) / kVector);
  out.warps = std::ceil(out.lanes / rates.multiply_adds);
  out.fit =
      std::min({std::floor(static_cast<double>(rates.registers) /
                           (out.lanes * static_cast<double>(registers))),
                std::floor(static_cast<double>(rates.most_lanes) / out.lanes), kMostGroupsBeside});
  return out;
}

// Cycles of a step of a group alone, and those that each further one takes of the unit.
double alone_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return rates.far_latency +
         reductions * (rates.local_latency + (of.sums + kLoad * of.loads) * of.warps) +
         kStaged * staged / of.lanes * of.warps;
}
double issue_cycles(const Lanes& of, double reductions, double staged, const GroupRates& rates) {
  return (of.lanes * (reductions * (of.sums + kLoad * of.loads) + kStep) + kStaged * staged) /
         rates.multiply_adds;
}

// What a lane fetches for itself for one point of its part.
struct Fetched {
  double vectors = 0, elements = 0;
  double looked_up =
      0;  // vectors, as so many of whole lines: a shorter row takes a look of its own
  double words() const { return kVector * vectors + elements; }
};

// Lanes take vectors of what lies in a row and as many of the other outputs as there are.
Fetched fetched_by(const TiledBlock& block, const Tile& tile, double outputs, double sums) {
  const bool vectors =
      std::fmod(sums, kVector) == 0 &&
      std::any_of(block.views.begin(), block.views.end(), [&](const TiledView& view) {
        return is_staged(view) && is_in_vectors(block, view, tile);
      });
  const double steps = vectors ? sums / kVector : sums;
  Fetched out;
  for (const TiledView& view : block.views) {
    if (!is_staged(view)) continue;
    double still = 1;  // outputs that use the same of its elements
    for (const size_t i : view.still)
      if (!block.indices[i].reduction) still *= static_cast<double>(tile[i]);
    if (vectors && is_in_vectors(block, view, tile)) {
      const double fetched = std::max(1.0, steps / still);
      const auto row = static_cast<double>(tile[view.dims[0].terms[0].index] * view.element_bytes);
      out.vectors += fetched;
      // What lies between a lane's vectors is its neighbours'.
      out.looked_up += fetched * std::max(1.0, kLookedUpBytes * fetched / row);
    } else {
      out.elements += std::min(steps, outputs / still);
    }
  }
  return out;
}

// Lanes that fetch for themselves, the points of a step, where constraints leave out none.
bool may_be_direct(const TiledBlock& block, const GroupForm& form) {
  return form.direct && block.constraints.empty();
}

// All ways of a group to share out a step among so many lanes: `visit(parts)`.
template <typename Visit>
void for_each_parts(double outputs, int64_t longest, int64_t threads, bool parts, double most_sums,
                    const Visit& visit) {
  visit(int64_t{1});
  if (!parts) return;
  for (int64_t count = 2; count <= std::min(longest, threads * static_cast<int64_t>(kVector));
       count *= 2) {
    if (std::ceil(outputs * static_cast<double>(count) / static_cast<double>(threads)) > most_sums)
      return;
    visit(count);
  }
}

// What the end of a group takes, that adds up its parts' sums: a group alone, and each.
struct PartsEnd {
  double alone = 0, issue = 0, bytes = 0;
};
PartsEnd parts_end(const TiledBlock& block, double outputs, int64_t parts,
                   const GroupRates& rates) {
  PartsEnd out;
  if (parts == 1) return out;
  double sum_bytes = 4;
  for (const TiledView& view : block.views)
    if (view.writes()) sum_bytes = static_cast<double>(view.sum_bytes);
  for (double left = static_cast<double>(parts); left > 1; left = std::ceil(left / kPartsAtOnce)) {
    out.alone += kStep + rates.local_latency;
    out.issue += kSummed * outputs * left / rates.multiply_adds;
    out.bytes += outputs * left * sum_bytes;
  }
  out.bytes += outputs * sum_bytes;
  return out;
}

// Of groups that share the units, so many at once on each.
struct Rounds {
  double full = 0, rest = 0;
};
Rounds rounds_of(double groups, double fit, const GroupRates& rates) {
  const double at_once = rates.units * fit, full = std::floor(groups / at_once);
  return {full, std::ceil((groups - full * at_once) / rates.units)};
}

// A tile's best time, so far.
class BestTime {
 public:
  BestTime(const TiledBlock& block, const Tile& tile, const GroupForm& form,
           const GroupRates& rates)
      : block_(block),
        tile_(tile),
        form_(form),
        rates_(rates),
        counts_(counts_of(block, tile)),
        staged_(staged_by(block, tile, counts_.reductions)) {
    best_.groups = counts_.groups;
    best_.steps = counts_.steps;
    best_.local_bytes = staged_.local_bytes * static_cast<double>(form.depth);
    best_.cycles = kNone;
    bytes_ = rates.far_bytes > 0 ? far_bytes_of(block, tile, rates) / rates.far_bytes : 0;
  }

  GroupTime run() {
    bool stages = staged_.local_bytes * static_cast<double>(form_.depth) <=
                  static_cast<double>(rates_.local_bytes);
    for (size_t i = 0; i < tile_.size(); ++i)
      stages = stages && (!block_.indices[i].reduction || tile_[i] <= kMostSteps);
    for (int64_t threads = kFewestThreads; threads <= rates_.most_threads; threads *= 2) {
      if (stages)
        for_each_parts(counts_.held, counts_.longest, threads, form_.parts, kMostSumsOfParts,
                       [&](int64_t parts) { staged(threads, parts); });
      if (may_be_direct(block_, form_))
        for_each_parts(counts_.held, counts_.longest, threads, form_.parts, kMostDirectSums,
                       [&](int64_t parts) { direct(threads, parts); });
    }
    return best_;
  }

 private:
  void staged(int64_t threads, int64_t parts) {
    const PartsEnd end = parts_end(block_, counts_.outputs, parts, rates_);
    GroupTime time = best_;
    time.local_bytes = staged_.local_bytes * static_cast<double>(form_.depth) + end.bytes;
    if (time.local_bytes > static_cast<double>(rates_.local_bytes)) return;
    const Lanes of = lanes_of(counts_.held * static_cast<double>(parts), staged_, threads, rates_);
    const double points = counts_.of_part(parts);
    const double alone = alone_cycles(of, points, staged_.accesses, rates_);
    const double issue = issue_cycles(of, points, staged_.accesses, rates_);
    time.direct = false;
    compare(time, of, threads, parts, end, counts_.steps + kEnds, 0, [&](double beside) {
      return std::max(alone + (beside - 1) * issue, beside * kPieces * bytes_);
    });
  }

  void direct(int64_t threads, int64_t parts) {
    const PartsEnd end = parts_end(block_, counts_.outputs, parts, rates_);
    GroupTime time = best_;
    time.local_bytes = end.bytes;
    const double points = counts_.of_part(parts),
                 outputs = counts_.held * static_cast<double>(parts);
    if (time.local_bytes > static_cast<double>(rates_.local_bytes) || points > kMostAhead) return;
    const double sums = std::ceil(outputs / static_cast<double>(threads));
    if (sums > kMostDirectSums) return;
    const Fetched fetched = fetched_by(block_, tile_, counts_.outputs, sums);
    Staged under_way;
    under_way.elements = points * fetched.words() * static_cast<double>(threads);
    const Lanes of = lanes_of(outputs, under_way, threads, rates_);
    const double issue =
        of.lanes *
        (points * (of.sums + kFarVector * fetched.looked_up + kFarElement * fetched.elements) +
         kDirectStep) /
        rates_.multiply_adds;
    const double waits = std::ceil(points * (fetched.vectors + fetched.elements) / kAhead);
    const double alone = waits * rates_.far_latency + bytes_ + issue;
    time.direct = true;
    compare(time, of, threads, parts, end, counts_.steps, rates_.far_latency,
            [&](double beside) { return std::max(alone + (beside - 1) * issue, beside * bytes_); });
  }

  // `ends`: cycles of a round besides its steps.
  template <typename Step>
  void compare(GroupTime time, const Lanes& of, int64_t threads, int64_t parts, const PartsEnd& end,
               double steps, double ends, const Step& step) {
    if (of.fit < 1) return;
    const Rounds rounds = rounds_of(counts_.groups, of.fit, rates_);
    const auto round = [&](double beside) {
      return steps * step(beside) + ends + end.alone + beside * end.issue;
    };
    time.cycles = rounds.full * round(of.fit) + (rounds.rest > 0 ? round(rounds.rest) : 0);
    if (time.cycles >= best_.cycles) return;
    time.threads = threads;
    time.parts = parts;
    time.sums = of.sums;
    time.beside = rounds.full > 0 ? of.fit : rounds.rest;
    time.step_cycles = step(time.beside);
    best_ = time;
  }

  const TiledBlock& block_;
  const Tile& tile_;
  const GroupForm& form_;
  const GroupRates& rates_;
  const Counts counts_;
  const Staged staged_;
  double bytes_ = 0;  // cycles that those of a group's step take
  GroupTime best_;
};

// Not above the time of any tile of a box.
class Bound {
 public:
  Bound(const TiledBlock& block, const Tile& low, const Tile& high, const GroupForm& form,
        const GroupRates& rates)
      : block_(block),
        form_(form),
        rates_(rates),
        least_(counts_of(block, low)),
        most_(counts_of(block, high)),
        few_staged_(staged_by(block, low, least_.reductions)) {
    stages_ = few_staged_.local_bytes * static_cast<double>(form.depth) <=
              static_cast<double>(rates.local_bytes);
    for (size_t i = 0; i < low.size(); ++i)
      stages_ = stages_ && (!block.indices[i].reduction || low[i] <= kMostSteps);
    // Of all steps of all groups, on one unit: multiply-adds, accesses that stage, cycles for their
    // bytes. A tile's share of them grows at least as its points.
    for (const TiledBlock::Index& index : block.indices)
      points_ *= static_cast<double>(index.range);
    points_ /= rates.units;
    for (const TiledView& view : block.views) {
      if (!is_staged(view)) continue;
      fetches_ += rows_of(block, view) == Rows::outputs ? kFarVector : kFarElement;
      const double elements = points_ * least_elements_of_point(view, low, high);
      const double accesses = accesses_of_element(block, view, nullptr);
      staged_ += elements * accesses;
      few_accesses_ += elements_of(view, low) * accesses;
      if (rows_lie_apart(view, high)) bytes_ += elements * static_cast<double>(view.element_bytes);
    }
    bytes_ = rates.far_bytes > 0 ? bytes_ / rates.far_bytes : 0;
    least_bytes_ = rates.far_bytes > 0 ? far_bytes_of(block, low, rates) / rates.far_bytes : 0;
    groups_ = std::ceil(most_.groups / rates.units);
  }

  double run() const {
    // So that rounding, here and in the time, never makes a bound too high.
    constexpr double kRounding = 1 - 1e-9;
    double out = kNone;
    for (int64_t threads = kFewestThreads; threads <= rates_.most_threads; threads *= 2) {
      if (stages_)
        for_each_parts(least_.held, most_.longest, threads, form_.parts, kMostSumsOfParts,
                       [&](int64_t parts) { out = std::min(out, staged(threads, parts)); });
      if (may_be_direct(block_, form_))
        for_each_parts(least_.held, most_.longest, threads, form_.parts, kMostDirectSums,
                       [&](int64_t parts) { out = std::min(out, direct(threads, parts)); });
    }
    return out * kRounding;
  }

 private:
  double staged(int64_t threads, int64_t parts) const {
    const auto shares = static_cast<double>(parts);
    const Lanes few = lanes_of(least_.held * shares, few_staged_, threads, rates_);
    if (few.fit < 1) return kNone;
    // Points of a lane's part in a step: what parts do not divide, one of them has more of.
    const double fewest = least_.reductions / shares,
                 most = std::min(most_.reductions,
                                 parts > 1 ? 2 * most_.reductions / shares : most_.reductions);
    const double sums = std::min(std::ceil(most_.held * shares / few.lanes),
                                 static_cast<double>(parts > 1 ? kMostSumsOfParts : kMostSums));
    const double steps = most_.steps + kEnds;
    // Rounds of `few.fit` groups: each takes what one takes alone, and `issue` for each further
    // one.
    const double rounds = std::ceil(groups_ / few.fit);
    const double alone = alone_cycles(few, fewest, few_accesses_, rates_),
                 issue = issue_cycles(few, fewest, few_accesses_, rates_);
    double cycles = steps * std::max({rounds * alone + (groups_ - rounds) * std::min(alone, issue),
                                      groups_ * kPieces * least_bytes_});
    // The same as work for all points, which tiles cut in parts, and what a round takes more.
    const double loads =
        kLoad * few_staged_.views * std::max(1 / sums, 1 / (kVector * std::sqrt(sums)));
    const double work = (points_ * (1 + loads) + kStaged * staged_ +
                         kStep * std::max(points_ / (sums * most), few.lanes * groups_ * steps)) /
                        rates_.multiply_adds;
    const double of_point = rates_.local_latency;
    const double of_step = rates_.far_latency - few.lanes * kStep / rates_.multiply_adds;
    const double more = of_step + of_point * fewest;
    if (more >= 0) {
      double latency = rounds * steps * more;
      if (of_step >= 0)
        latency = std::max(latency, points_ / (most_.outputs * few.fit) *
                                        (of_point / shares + of_step / most_.reductions));
      cycles = std::max(cycles, work + latency);
    }
    const Rounds all = rounds_of(most_.groups, few.fit, rates_);
    const PartsEnd end = parts_end(block_, least_.outputs, parts, rates_);
    return std::max(cycles, kPieces * bytes_) + (all.full + (all.rest > 0 ? 1 : 0)) * end.alone;
  }

  double direct(int64_t threads, int64_t parts) const {
    const auto lanes = static_cast<double>(threads), shares = static_cast<double>(parts);
    const double sums = std::min(std::ceil(most_.held * shares / lanes), kMostDirectSums);
    if (least_.reductions / shares > kMostAhead ||
        std::ceil(least_.held * shares / lanes) > kMostDirectSums)
      return kNone;
    const double fit =
        std::min(kMostGroupsBeside, std::floor(static_cast<double>(rates_.most_lanes) / lanes));
    if (fit < 1) return kNone;
    const double work = points_ * (1 + fetches_ / sums) / rates_.multiply_adds;
    const Rounds rounds = rounds_of(most_.groups, fit, rates_);
    const double wait = few_staged_.views > 0 ? rates_.far_latency : 0;
    const double latency = (rounds.full + (rounds.rest > 0 ? 1 : 0)) *
                           (most_.steps * (wait + least_bytes_) + rates_.far_latency);
    return std::max({work, bytes_, most_.steps * groups_ * least_bytes_, latency});
  }

  const TiledBlock& block_;
  const GroupForm& form_;
  const GroupRates& rates_;
  const Counts least_, most_;
  const Staged few_staged_;
  bool stages_ = true;
  double points_ = 1, staged_ = 0, bytes_ = 0, few_accesses_ = 0;  // of one unit
  // Instructions of a lane that fetches for itself: an access of each view, at least, for all of its
  // sums; of a vector where those may be.
  double fetches_ = 0;
  double least_bytes_ = 0;                                         // cycles of a group's step
  double groups_ = 0;                                              // of one unit
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
  out.units = static_cast<double>(std::max<int64_t>(1, unit->count));
  out.multiply_adds =
      unit->ops_per_cycle / (unit->operation == ExecutionUnit::Operation::mac ? 1 : 2);
  out.most_lanes = unit->max_threads;
  out.most_threads = model.settings->threads;
  out.registers =
      own->size_bytes * std::max<int64_t>(1, own->count / std::max<int64_t>(1, unit->count));
  out.lane_registers = own->size_bytes;
  out.local_bytes = shared->size_bytes;
  out.local_latency = shared->latency_cycles;
  if (model.settings->mem_width > 0) out.line_bytes = model.settings->mem_width;
  for (const MemoryUnit& memory : model.memories)
    if (memory.name != local && memory.name != registers &&
        memory.latency_cycles > out.far_latency) {
      out.far_latency = memory.latency_cycles;
      out.far_bytes = memory.read_bytes_per_cycle / out.units;
    }
  return out;
}

GroupTime group_time(const TiledBlock& block, const Tile& tile, const GroupForm& form,
                     const GroupRates& rates) {
  return BestTime(block, tile, form, rates).run();
}

double group_time_bound(const TiledBlock& block, const Tile& low, const Tile& high,
                        const GroupForm& form, const GroupRates& rates) {
  return Bound(block, low, high, form, rates).run();
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
  const Counts counts = counts_of(block, tile);
  if (counts.outputs > static_cast<double>(kMostSums * rates.most_threads)) return true;
  if (may_be_direct(block, form)) {
    // The most parts there may be leave the fewest points to each.
    const double lanes = static_cast<double>(rates.most_threads);
    const double parts = form.parts ? std::max(1.0, kMostDirectSums * lanes / counts.outputs) : 1;
    if (counts.outputs <= kMostDirectSums * lanes && counts.reductions <= kMostAhead * parts)
      return false;
  }
  for (size_t i = 0; i < tile.size(); ++i)
    if (block.indices[i].reduction && tile[i] > kMostSteps) return true;
  return staged_by(block, tile, counts.reductions).local_bytes * static_cast<double>(form.depth) >
         static_cast<double>(rates.local_bytes);
}

std::optional<GroupTile> shortest_tile(const TiledBlock& block, const GroupForm& form,
                                       const GroupRates& rates) {
  TileCost cost;
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
  if (time.threads == 0) return "no number of lanes holds it";
  return fmt::format(
      "groups={:.0f} threads={} {}{}sums={:.0f} beside={:.0f} local_bytes={:.0f} steps={:.0f} "
      "step_cycles={:.0f} cycles={:.0f}",
      time.groups, time.threads, time.parts > 1 ? fmt::format("parts={} ", time.parts) : "",
      time.direct ? "direct " : "", time.sums, time.beside, time.local_bytes, time.steps,
      time.step_cycles, time.cycles);
}

}  // namespace stria::cost
