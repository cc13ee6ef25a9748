// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/core/register_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/block/memory_use.h"
#include "stria/cost/block/numbers.h"
#include "stria/cost/core/cache_fill.h"
#include "stria/cost/search/tile_search.h"

namespace stria::cost {
namespace {

// A copy in panels has to promise so much less time than no copy.
constexpr double kWorthCopying = 0.97;
// And so has another order of the tiles than the one that reads the least. With 0.9, products of 24
// terms took up to 1.1 times as long.
constexpr double kWorthTurning = 0.85;
// What a bound leaves for the rounding of sums in another order.
constexpr double kRounded = 1 - 1e-9;

// A core has a whole number of units. A busy machine measures fewer, and a little more if its clock
// changed in between.
double whole_units(double measured, const CoreFacts& facts) {
  return std::max(1.0, std::ceil(measured / facts.rate_error));
}

// Vectors along the lanes of a tile.
int64_t vectors_of(const RegisterTiling& tiling, const Tile& tile) {
  for (size_t i = 0; i < tile.size(); ++i)
    if (tiling.roles[i] == RegisterRole::lanes && !tiling.lanes_are_sums)
      return ceil_div(tile[i], tiling.lanes);
  return 1;
}

double rows_of(const RegisterTiling& tiling, const Tile& tile) {
  double out = 1;
  for (size_t i : tiling.rows) out *= as_double(tile[i]);
  return out;
}

// How many values of the view one step of the tile uses, in registers each.
double loads_of(const RegisterTiling& tiling, const TiledView& view, const Tile& tile) {
  double out = 1;
  for (size_t i = 0; i < tile.size(); ++i) {
    if (std::find(view.still.begin(), view.still.end(), i) != view.still.end()) continue;
    if (tiling.roles[i] == RegisterRole::row) out *= as_double(tile[i]);
    if (tiling.roles[i] == RegisterRole::lanes && !tiling.lanes_are_sums)
      out *= as_double(ceil_div(tile[i], tiling.lanes));
  }
  return out;
}

enum class PointOrder { block, reversed };

// Registers that hold a view's values in a step. The points of the tile come one after the other in
// the block's order, or in the reversed one. A value has to be held if an inner index moves the
// view while an outer one does not, for it is used again. Any other value passes through one
// register.
double held_of(const RegisterTiling& tiling, const TiledView& view, const Tile& tile,
               PointOrder order) {
  double out = 1;
  bool again = false;
  for (size_t n = 0; n < tile.size(); ++n) {
    const size_t i = order == PointOrder::block ? n : tile.size() - 1 - n;
    if (tiling.summed(i)) continue;
    const double size = tiling.roles[i] == RegisterRole::lanes
                            ? as_double(ceil_div(tile[i], tiling.lanes))
                            : as_double(tile[i]);
    if (size == 1) continue;
    const bool still = std::find(view.still.begin(), view.still.end(), i) != view.still.end();
    if (again && !still) out *= size;
    again = again || still;
  }
  return out;
}

// Is all of the index one vector of fewer lanes, as processors have them?
bool is_short_vector(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                     size_t i) {
  return tile[i] == block.indices[i].range && tile[i] < tiling.lanes &&
         power_of_two_above(tile[i]) == tile[i];
}

// Is the view a single value for all lanes?
bool fills_lanes(const RegisterTiling& tiling, const TiledView& view) {
  if (tiling.lanes_are_sums) return false;
  return std::any_of(view.still.begin(), view.still.end(),
                     [&](size_t i) { return tiling.roles[i] == RegisterRole::lanes; });
}

// (a^power + b^power)^(1/power): of two times that are about the same, each waits for the other at
// times.
double together(double a, double b, double power) {
  const double shorter = std::min(a, b), longer = std::max(a, b);
  return longer > 0 ? longer * std::pow(1 + std::pow(shorter / longer, power), 1 / power) : 0;
}

// One step of a tile of these sizes.
struct Step {
  double accumulators = 0, loads = 0, registers = 0, cycles = 0;
  const char* waits_for = "";
};
Step step_of(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
             const CoreRates& rates, bool tested = true) {
  Step out;
  out.accumulators = as_double(vectors_of(tiling, tile)) * rows_of(tiling, tile);
  double held = 0, reversed = 0, broadcasts = 0;
  for (const TiledView& view : block.views) {
    if (view.dir != stripe::RefDir::in) continue;
    const double loads = loads_of(tiling, view, tile);
    out.loads += loads;
    if (fills_lanes(tiling, view)) broadcasts += loads;
    held += held_of(tiling, view, tile, PointOrder::block);
    reversed += held_of(tiling, view, tile, PointOrder::reversed);
  }
  // With products in registers of their own, code generators take the better of two orders. What
  // the block's order holds is needed in any case.
  out.registers =
      out.accumulators + std::max(held, std::min(held, reversed) + rates.facts.product_registers);
  for (size_t i = 0; i < tile.size(); ++i)
    if (tested && tiling.roles[i] == RegisterRole::lanes && !tiling.lanes_are_sums &&
        block.indices[i].range % tile[i] != 0)
      out.registers +=
          std::max(0.0, as_double(ceil_div(tile[i], tiling.lanes)) - rates.facts.held_masks);
  const double multiply = rates.facts.multiply_factor *
                          (out.accumulators + rates.facts.broadcast_multiply_adds * broadcasts) /
                          rates.multiply_adds,
               load = rates.facts.load_factor * out.loads / rates.loads,
               latency = as_double(rates.latency_cycles);
  const double summing = together(multiply, latency, rates.facts.latency_power);
  out.waits_for = load > summing ? "loads" : multiply >= latency ? "multiply_adds" : "latency";
  out.cycles =
      std::max(summing, load) + rates.facts.loop_cycles + rates.facts.load_cycles * out.loads;
  for (size_t i = 0; i < tile.size(); ++i)
    if (tested && tiling.roles[i] == RegisterRole::lanes && !tiling.lanes_are_sums &&
        tile[i] % tiling.lanes != 0 && !is_short_vector(block, tiling, tile, i))
      out.cycles *= 1 + (rates.facts.mask_factor - 1) / as_double(vectors_of(tiling, tile));
  return out;
}

// Cycles of the start and the end of a tile. In parts of the reduction, a tile begins with what the
// part before it has left.
double tile_cycles_of(const RegisterTiling& tiling, double accumulators, bool in_parts,
                      const CoreRates& rates) {
  return rates.facts.tile_cycles + accumulators * (in_parts ? 2 : 1) +
         (tiling.lanes_are_sums ? accumulators * rates.facts.lane_sum_cycles : 0);
}

// How a tile of these sizes goes through the reduction: the steps in a tile, and the parts one
// after the other.
struct Passage {
  double steps = 1, parts = 1;
};
Passage passage_of(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile) {
  Passage out;
  for (size_t i = 0; i < tile.size(); ++i) {
    if (!tiling.summed(i)) continue;
    out.steps *= as_double(tiling.roles[i] == RegisterRole::lanes ? ceil_div(tile[i], tiling.lanes)
                                                                  : tile[i]);
    out.parts *= as_double(ceil_div(block.indices[i].range, tile[i]));
  }
  return out;
}

// The times of all steps and tiles, beside what comes into the first cache meanwhile. `tested`:
// masks leave lanes beyond the end out; otherwise these run like the others.
void add_compute(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                 const CoreRates& rates, const CacheFill& first_cache, bool tested,
                 RegisterTime& out) {
  const Step step = step_of(block, tiling, tile, rates, tested);
  out.step_cycles = step.cycles;
  out.compute_cycles = out.edge_cycles = out.first_cache_cycles = 0;
  const auto [steps, parts] = passage_of(block, tiling, tile);
  out.steps = steps;
  out.tiles = 1;
  double uncut = 1;
  std::vector<size_t> cut;  // indices with a shorter tile at the end
  for (size_t i = 0; i < tile.size(); ++i) {
    if (tiling.summed(i)) continue;
    const int64_t range = block.indices[i].range, size = tile[i];
    out.tiles *= as_double(ceil_div(range, size));
    if (range % size != 0 && (tested || tiling.roles[i] != RegisterRole::lanes))
      cut.push_back(i);
    else
      uncut *= as_double(ceil_div(range, size));
  }
  out.tile_cycles = tile_cycles_of(tiling, out.accumulators, parts > 1, rates);
  // What comes into the first cache for a tile: `first_cache` says it of a whole tile, in bytes;
  // for tiles of other sizes in proportion to what they read.
  const double bytes_per_cycle = rates.caches.empty() ? 1 : rates.caches[0].bytes_per_cycle;
  const auto comes_in = [&](const Tile& sizes) {
    double bytes = first_cache.written / (parts * out.tiles);
    for (size_t v = 0; v < first_cache.read.size(); ++v)
      if (first_cache.read[v] > 0)
        bytes += first_cache.read[v] / (parts * out.tiles) * elements_of(block.views[v], sizes) /
                 elements_of(block.views[v], tile);
    return bytes / bytes_per_cycle;
  };
  // One class of tiles for each set of indices at whose end the tiles are.
  for (size_t at_end = 0; at_end < (size_t{1} << cut.size()); ++at_end) {
    Tile sizes = tile;
    double count = uncut;
    for (size_t c = 0; c < cut.size(); ++c) {
      const int64_t range = block.indices[cut[c]].range, size = tile[cut[c]];
      if (at_end >> c & 1)
        sizes[cut[c]] = range % size;
      else
        count *= as_double(range / size);
    }
    const double cycles = (at_end == 0 ? 1 : rates.facts.edge_factor) *
                          step_of(block, tiling, sizes, rates, tested).cycles;
    const double of_tile = out.steps * cycles + out.tile_cycles, fill = comes_in(sizes);
    out.compute_cycles += parts * count * of_tile;
    out.first_cache_cycles +=
        parts * count *
        (std::max(of_tile, fill) + (1 - rates.facts.hidden_part) * std::min(of_tile, fill));
    if (at_end > 0) out.edge_cycles += parts * count * of_tile;
  }
}

// The time if views are read from the panels in `packed`.
void add_times(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
               const CoreRates& rates, const TileLoops& loops, const PackedViews& packed,
               bool tested, RegisterTime& out) {
  out.cache_cycles.clear();
  CacheFill first_cache;
  double longest = 0, sum = 0;
  for (const CoreRates::Level& cache : rates.caches) {
    CacheFill fill = cache_fill(block, tiling, tile, loops, packed, cache);
    const double cycles = fill.cycles(cache);
    out.cache_cycles.push_back(cycles);
    if (out.cache_cycles.size() == 1) {
      first_cache = std::move(fill);
      continue;
    }
    longest = std::max(longest, cycles);
    sum += cycles;
  }
  add_compute(block, tiling, tile, rates, first_cache, tested, out);
  longest = std::max(longest, out.first_cache_cycles);
  sum += out.first_cache_cycles;
  out.cycles = longest + (1 - rates.facts.hidden_part) * (sum - longest) + out.copy_cycles;
}

// Does each tile read elements of its own? Then they come at the rate of the memory behind the
// caches, wherever they lie: products of one to seven rows took 1.3 to 1.6 times as long with
// panels.
bool is_read_once(const TiledBlock& block, const TiledView& view, const Tile& tile) {
  return std::all_of(view.still.begin(), view.still.end(),
                     [&](size_t i) { return tile[i] >= block.indices[i].range; });
}

// The index that lanes of outputs walk along, if there is one.
std::optional<size_t> lane_index(const RegisterTiling& tiling) {
  for (size_t i = 0; i < tiling.roles.size(); ++i)
    if (tiling.roles[i] == RegisterRole::lanes && !tiling.lanes_are_sums) return i;
  return std::nullopt;
}

// The time of a tile that fits, with its loops in that order and with the copies in panels that
// make it shorter. It is added to what `out` says of a step.
void add_times_with_panels(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates, const TileLoops& loops, RegisterTime& out) {
  PackedViews packed(block.views.size());
  add_times(block, tiling, tile, rates, loops, packed, true, out);
  const std::optional<size_t> lanes = lane_index(tiling);
  for (size_t v = 0; lanes && v < tiling.panels.size(); ++v) {
    const PanelRule& rule = tiling.panels[v];
    if (!rule.possible || rule.multiple % tile[*lanes] != 0) continue;
    if (is_read_once(block, block.views[v], tile)) continue;
    packed[v].emplace(block, block.views[v], *lanes, tile);
    RegisterTime other = out;
    other.panels.push_back(v);
    // Panels are there for all lanes: only the end of a tile tests them (drop_tail_masks).
    const auto moves = [&](size_t w) {
      const TiledView& view = block.views[w];
      return view.dir == stripe::RefDir::in &&
             std::find(view.still.begin(), view.still.end(), *lanes) == view.still.end();
    };
    bool tested = false;
    for (size_t w = 0; w < block.views.size(); ++w) tested = tested || (moves(w) && !packed[w]);
    if (!rule.free)
      other.copy_cycles += copy_cycles(block, block.views[v], *lanes, tiling.lanes, rates);
    add_times(block, tiling, tile, rates, loops, packed, tested, other);
    if (other.cycles < kWorthCopying * out.cycles)
      out = std::move(other);
    else
      packed[v].reset();
  }
}

}  // namespace

std::optional<CoreRates> core_rates(const HardwareModel& model, const std::string& core,
                                    DataType type, int64_t lanes) {
  const ExecutionUnit* unit = model.find_executor(core);
  if (!unit || unit->vector_registers <= 0 || unit->vector_bytes <= 0) return std::nullopt;
  CoreRates out;
  out.facts = unit->calibration.core;
  out.registers = unit->vector_registers;
  out.latency_cycles = std::max<int64_t>(unit->fma_latency_cycles, 1);
  const auto found = unit->rates.find(type);
  const TypeRates rates = found == unit->rates.end() ? TypeRates() : found->second;
  const double operations =
      rates.ops_per_cycle > 0
          ? rates.ops_per_cycle
          : unit->ops_per_cycle * (unit->operation == ExecutionUnit::Operation::mac ? 2 : 1);
  out.multiply_adds =
      operations > 0 ? whole_units(operations / 2 / as_double(lanes), out.facts) : 1;
  std::vector<const MemoryUnit*> memories;
  for (const MemoryUnit& memory : model.memories)
    if (memory.policy == MemoryPolicy::lru && memory.size_bytes > 0) memories.push_back(&memory);
  std::stable_sort(memories.begin(), memories.end(), [](const MemoryUnit* a, const MemoryUnit* b) {
    return a->size_bytes < b->size_bytes;
  });
  const auto rate_of = [&](const std::string& memory) {
    auto rate = rates.read_bytes_per_cycle.find(memory);
    return rate == rates.read_bytes_per_cycle.end() ? 0 : rate->second;
  };
  double rate = as_double(unit->vector_bytes);
  if (!memories.empty() && rate_of(memories[0]->name) > 0) rate = rate_of(memories[0]->name);
  out.loads = whole_units(rate / as_double(unit->vector_bytes), out.facts);
  std::string home;
  double largest = 0;
  for (const MemoryUnit& memory : model.memories)
    if (memory.policy != MemoryPolicy::lru && as_double(memory.size_bytes) > largest) {
      largest = as_double(memory.size_bytes);
      home = memory.name;
    }
  for (size_t m = 0; m < memories.size(); ++m) {
    CoreRates::Level level;
    level.name = memories[m]->name;
    level.behind = m + 1 < memories.size() ? memories[m + 1]->name : home;
    level.bytes = as_double(memories[m]->size_bytes);
    level.line_bytes = std::max<int64_t>(memories[m]->line_bytes, 1);
    if (m + 1 < memories.size()) level.ways = memories[m]->ways;
    if (level.ways > 0) level.sets = sets_of(*memories[m]);
    const double given = rate_of(level.behind);
    rate = given > 0 ? given : rate * out.facts.next_memory_part;
    level.bytes_per_cycle = std::max(rate, out.facts.least_bytes_per_cycle);
    level.run_lines = out.facts.run_lines;
    level.filled_part = out.facts.filled_part;
    out.caches.push_back(std::move(level));
  }
  return out;
}

RegisterTime register_time(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates) {
  RegisterTime out;
  const Step step = step_of(block, tiling, tile, rates);
  out.accumulators = step.accumulators;
  out.registers = step.registers;
  out.multiply_adds = step.accumulators;
  out.loads = step.loads;
  out.waits_for = step.waits_for;
  for (size_t r = 1; r < tiling.rows.size(); ++r) {
    const size_t inner = tiling.rows[r - 1];
    const bool free = tiling.lanes_are_sums && r == 1;
    if (!free && tile[tiling.rows[r]] > 1 && tile[inner] < block.indices[inner].range)
      out.registers = std::numeric_limits<double>::infinity();
  }
  if (out.registers > as_double(rates.registers)) {
    out.cycles = std::numeric_limits<double>::infinity();
    return out;
  }
  const RegisterTime step_alone = out;
  const TileLoops loops = tile_loops(block, tiling, tile);
  add_times_with_panels(block, tiling, tile, rates, loops, out);
  if (rates.caches.size() < 2 || !written_decides(block, rates.caches[1])) return out;
  if (const std::optional<size_t> along = along_written(block, tiling, tile, loops)) {
    RegisterTime other = step_alone;
    other.along = along;
    add_times_with_panels(block, tiling, tile, rates, tile_loops(block, tiling, tile, along),
                          other);
    if (other.cycles < kWorthTurning * out.cycles) out = std::move(other);
  }
  return out;
}

TileSpace register_tiles(const TiledBlock& block, const RegisterTiling& tiling,
                         const CoreRates& rates) {
  TileSpace out;
  for (size_t i = 0; i < block.indices.size(); ++i) {
    const int64_t range = block.indices[i].range;
    std::set<int64_t> sizes;
    switch (tiling.roles[i]) {
      case RegisterRole::steps: sizes.insert(range); break;
      case RegisterRole::single: sizes.insert(1); break;
      case RegisterRole::row:
        // Equal parts: the last one is shorter by less than the number of parts.
        for (int64_t size = 1; size <= std::min(range, rates.registers); ++size)
          sizes.insert(ceil_div(range, ceil_div(range, size)));
        break;
      case RegisterRole::lanes:
        if (tiling.lanes_are_sums) {
          sizes.insert(range);
          break;
        }
        for (int64_t vectors = 1; vectors <= rates.registers; ++vectors) {
          sizes.insert(std::min(range, vectors * tiling.lanes));
          if (vectors * tiling.lanes >= range) break;
        }
        break;
    }
    out.emplace_back(sizes.begin(), sizes.end());
  }
  return out;
}

std::optional<Tile> fastest_register_tile(const TiledBlock& block, const RegisterTiling& tiling,
                                          const CoreRates& rates) {
  SearchCost cost;
  cost.of = [&](const Tile& tile) { return register_time(block, tiling, tile, rates).cycles; };
  cost.bound = [&](const Tile& low, const Tile& high) {
    return low == high ? register_time_bound(block, tiling, low, rates) : 0;
  };
  cost.hopeless = [&](const Tile& tile) { return all_larger_are_over(block, tiling, tile, rates); };
  const Ranking ranking = exhaustive(register_tiles(block, tiling, rates), cost);
  if (ranking.best.empty()) return std::nullopt;
  return ranking.best[0].tile;
}

double register_time_bound(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                           const CoreRates& rates) {
  const Step step = step_of(block, tiling, tile, rates, false);
  const auto [steps, parts] = passage_of(block, tiling, tile);
  double tiles = 1;
  for (size_t i = 0; i < tile.size(); ++i)
    if (!tiling.summed(i)) tiles *= as_double(block.indices[i].range / tile[i]);
  return kRounded * parts * tiles *
         (steps * step.cycles + tile_cycles_of(tiling, step.accumulators, parts > 1, rates));
}

bool all_larger_are_over(const TiledBlock& block, const RegisterTiling& tiling, const Tile& tile,
                         const CoreRates& rates) {
  // A larger tile may divide its range and need no tests.
  return step_of(block, tiling, tile, rates, false).registers > as_double(rates.registers);
}

std::string to_string(const RegisterTime& time, const CoreRates& rates) {
  std::string out = fmt::format(
      "accumulators={:.0f} registers={:.0f} of {} multiply_adds={:.0f} loads={:.0f} "
      "step_cycles={:.4g} (waits for {}) steps={:.0f} tile_cycles={:.4g} tiles={:.5g}\n"
      "compute_cycles={:.5g} edge_cycles={:.5g} first_cache_cycles={:.5g}",
      time.accumulators, time.registers, rates.registers, time.multiply_adds, time.loads,
      time.step_cycles, time.waits_for, time.steps, time.tile_cycles, time.tiles,
      time.compute_cycles, time.edge_cycles, time.first_cache_cycles);
  for (size_t i = 0; i < time.cache_cycles.size(); ++i)
    out += fmt::format(" {}<-{}_cycles={:.5g}", rates.caches[i].name, rates.caches[i].behind,
                       time.cache_cycles[i]);
  if (!time.panels.empty())
    out += fmt::format(" copies in panels={} copy_cycles={:.5g}", time.panels.size(),
                       time.copy_cycles);
  if (time.along) out += " tiles follow each other along the result";
  return out + fmt::format("\ncycles={:.6g}", time.cycles);
}

}  // namespace stria::cost
