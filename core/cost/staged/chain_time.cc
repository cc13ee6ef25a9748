// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged/chain_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stria/base/text.h"
#include "stria/cost/search/tile_search.h"

namespace stria::cost {
namespace {

using stripe::RefDir;
using stripe::Refinement;

constexpr double kNone = std::numeric_limits<double>::infinity();
// Points of a loop that are under way: more than there are kinds of units find nothing to do.
constexpr int64_t kMostUnderWay = 4;

std::vector<StagedTensor> tensors_of(const stripe::Block& block, const ChainTensors& tensors) {
  std::vector<StagedTensor> out;
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) continue;
    const auto at = tensors.find(ref.from);
    out.push_back(at == tensors.end()
                      ? StagedTensor{ref.shape.element_count() * byte_size(ref.shape.type), false}
                      : StagedTensor{at->second.bytes, at->second.temporary});
  }
  return out;
}

std::vector<StagedKernel> kernels_of(const stripe::Block& block, const std::vector<ChainWay>& ways,
                                     const ChainTensors& tensors,
                                     std::vector<const ChainWay*>& way_of) {
  std::vector<StagedKernel> out;
  for (const ChainWay& way : ways) {
    Result<StagedKernel> made = StagedKernel::make(block, tensors_of(block, tensors), way.rates);
    if (!made.ok()) continue;
    out.push_back(*std::move(made));
    way_of.push_back(&way);
  }
  return out;
}

// Divisors of the range: parts of equal size.
std::vector<int64_t> sizes_of(int64_t range) {
  std::vector<int64_t> out;
  for (int64_t size = 1; size <= range; ++size)
    if (range % size == 0) out.push_back(size);
  return out;
}

class Chain {
 public:
  Chain(const std::vector<ChainKernel>& kernels, const std::vector<int64_t>& ranges,
        const ChainTensors& tensors)
      : ranges_(ranges), tensors_(tensors) {
    for (const ChainKernel& kernel : kernels) {
      Link link;
      link.block = kernel.block;
      link.kernels = kernels_of(*kernel.block, *kernel.ways, tensors, link.ways);
      for (const Refinement& ref : kernel.block->refs) {
        if (ref.dir == RefDir::none) continue;
        std::vector<bool> moved;
        for (const std::string& name : kernel.common)
          moved.push_back(std::any_of(ref.access.begin(), ref.access.end(),
                                      [&](const Affine& form) { return form.uses(name); }));
        link.moved.push_back(std::move(moved));
        link.views.push_back(&ref);
      }
      if (!link.kernels.empty()) {
        const TiledBlock& tiled = link.kernels[0].tiled();
        for (const std::string& name : kernel.common)
          for (size_t i = 0; i < tiled.indices.size(); ++i)
            if (tiled.indices[i].name == name) link.position.push_back(i);
        tells_ &= link.position.size() == kernel.common.size();
      } else {
        tells_ = false;
      }
      links_.push_back(std::move(link));
    }
  }

  std::optional<ChainChoice> best() {
    if (!tells_) return std::nullopt;
    std::vector<int64_t> tile(ranges_.size(), 1);
    look_at_sizes(tile, 0);
    if (best_.cycles == 0) return std::nullopt;
    return best_;
  }

 private:
  struct Link {
    const stripe::Block* block = nullptr;
    std::vector<StagedKernel> kernels;  // by way
    std::vector<const ChainWay*> ways;
    std::vector<size_t> position;          // by common index: its position in a tile
    std::vector<const Refinement*> views;  // without allocations
    std::vector<std::vector<bool>> moved;  // by view and common index
  };
  // A tensor as a tile of the chain sees it.
  struct Part {
    double held = 0, moved = 0;
    std::vector<bool> by;  // the common indices that move it
    bool reads = false, writes = false;
    std::pair<size_t, size_t> view;  // of the first kernel that has one
  };
  struct Run {
    double takes = 0;
    struct Load {
      double busy = 0, port = 0;
    };
    std::map<const ExecutionUnit*, Load> units;
    std::vector<const ChainWay*> ways;
    std::map<std::string, Part> parts;
  };

  void look_at_sizes(std::vector<int64_t>& tile, size_t c) {
    if (c < tile.size()) {
      for (int64_t size : sizes_of(ranges_[c])) {
        tile[c] = size;
        look_at_sizes(tile, c + 1);
      }
      return;
    }
    if (tile == ranges_) return;
    const Run run = run_of(tile);
    for (int stays = 0; stays < 2; ++stays) {
      // One loop, or two.
      look_at(tile, std::vector<bool>(tile.size(), true), run, stays > 0);
      for (size_t o = 0; o < tile.size(); ++o) {
        std::vector<bool> outer(tile.size());
        outer[o] = true;
        if (points(tile, outer, true) > 1 && points(tile, outer, false) > 1)
          look_at(tile, outer, run, stays > 0);
      }
    }
  }

  int64_t points(const std::vector<int64_t>& tile, const std::vector<bool>& outer,
                 bool of_outer) const {
    int64_t out = 1;
    for (size_t c = 0; c < tile.size(); ++c)
      if (outer[c] == of_outer) out *= ceil_div(ranges_[c], tile[c]);
    return out;
  }

  // Each kernel runs the way that takes it the shortest time.
  Run run_of(const std::vector<int64_t>& tile) const {
    Run out;
    for (const Link& link : links_) {
      Tile own = link.kernels[0].tiled().ranges();
      for (size_t c = 0; c < tile.size(); ++c) own[link.position[c]] = tile[c];
      StagedKernel::Alone shortest;
      const ChainWay* way = nullptr;
      for (size_t w = 0; w < link.kernels.size(); ++w) {
        StagedKernel::Alone next = link.kernels[w].alone(own, false);
        if (way && next.takes >= shortest.takes) continue;
        shortest = std::move(next);
        way = link.ways[w];
      }
      out.ways.push_back(way);
      out.takes += shortest.takes;
      out.units[way->rates.unit].busy += shortest.busy;
      out.units[way->rates.unit].port += shortest.port;
      for (size_t v = 0; v < link.views.size(); ++v) {
        const auto [at, added] = out.parts.try_emplace(link.views[v]->from);
        Part& part = at->second;
        if (added) part.view = {out.ways.size() - 1, v};
        part.held = std::max(part.held, shortest.held[v]);
        part.moved = std::max(part.moved, shortest.moved[v]);
        part.by.resize(tile.size());
        for (size_t c = 0; c < tile.size(); ++c)
          if (link.moved[v][c] && tile[c] < ranges_[c]) part.by[c] = true;
        part.reads |= link.views[v]->dir != RefDir::out;
        part.writes |= link.views[v]->dir != RefDir::in;
      }
    }
    return out;
  }

  struct Transfers {
    double in_a_row = 0, bytes = 0, of_row = 0;
    void add(const StagedRates::Way& way, double moved) {
      in_a_row += way.latency + (way.bytes > 0 ? std::ceil(moved / way.bytes) : 0);
      bytes += moved;
    }
    double busy(const StagedRates::Way& way, double movers) const {
      return std::max(in_a_row / movers, way.together > 0 ? bytes / way.together : 0);
    }
  };

  // `stays`: temporaries of others stay in the scratchpad as a whole.
  void look_at(const std::vector<int64_t>& tile, const std::vector<bool>& outer, const Run& run,
               bool stays) {
    const StagedRates& rates = links_[0].ways[0]->rates;
    const bool two = std::find(outer.begin(), outer.end(), false) != outer.end();
    Transfers whole_in, whole_out, in, out, in_of_step, out_of_step;
    std::vector<std::pair<size_t, size_t>> tile_by_tile;
    std::vector<double> once, by_point, by_step;  // bytes
    for (const auto& [name, part] : run.parts) {
      const auto at = tensors_.find(name);
      if (at == tensors_.end()) return;
      const ChainTensor& tensor = at->second;
      if (tensor.inside) {
        by_step.push_back(part.held);
        continue;
      }
      bool moves = false, in_steps = false;
      for (size_t c = 0; c < tile.size(); ++c) {
        moves |= part.by[c];
        in_steps |= part.by[c] && !outer[c];
      }
      if (part.reads && part.writes) return;
      if (!moves || (stays && tensor.temporary)) {
        once.push_back(static_cast<double>(tensor.bytes));
        if (tensor.temporary) continue;
        if (part.reads) whole_in.add(rates.in, once.back());
        if (part.writes) whole_out.add(rates.out, once.back());
        continue;
      }
      tile_by_tile.push_back(part.view);
      (in_steps ? by_step : by_point).push_back(part.held);
      if (part.reads) (in_steps ? in_of_step : in).add(rates.in, part.moved);
      if (part.writes) (in_steps ? out_of_step : out).add(rates.out, part.moved);
    }
    // What a unit moves, and what others do at the same bank meanwhile.
    const double port_rate = rates.port_rate(PortUse::copy_in);
    const auto busiest = [&](double times, double bytes) {
      double all = port_rate > 0 ? bytes / port_rate : 0, out = 0;
      for (const auto& [unit, load] : run.units) all += times * load.port;
      for (const auto& [unit, load] : run.units) {
        const double others = (all - times * load.port) / static_cast<double>(rates.banks);
        out = std::max({out, times * load.busy, times * load.port + others});
      }
      return out;
    };
    const auto longest = [&](const Transfers& bring, const Transfers& take) {
      const double a = bring.busy(rates.in, rates.movers), b = take.busy(rates.out, rates.movers);
      return rates.in_turns ? a + b : std::max(a, b);
    };
    const auto outer_points = static_cast<double>(points(tile, outer, true)),
               steps = static_cast<double>(points(tile, outer, false));
    for (int64_t depth = 1; depth <= kMostUnderWay; ++depth)
      for (int64_t step_depth = 1; step_depth <= (two ? kMostUnderWay : 1); ++step_depth) {
        if (static_cast<double>(depth) > outer_points || static_cast<double>(step_depth) > steps)
          continue;
        if (!fits(once, by_point, by_step, depth, step_depth)) break;
        const double one = in_of_step.in_a_row + run.takes + out_of_step.in_a_row;
        const double period =
            std::max({busiest(1, in_of_step.bytes + out_of_step.bytes),
                      longest(in_of_step, out_of_step), one / static_cast<double>(step_depth)});
        const double all = in.in_a_row + one + (steps - 1) * period + out.in_a_row;
        Transfers ins = in, outs = out;
        ins.in_a_row += steps * in_of_step.in_a_row;
        ins.bytes += steps * in_of_step.bytes;
        outs.in_a_row += steps * out_of_step.in_a_row;
        outs.bytes += steps * out_of_step.bytes;
        const double outer_period =
            std::max({busiest(steps, ins.bytes + outs.bytes), longest(ins, outs),
                      two ? one + (steps - 1) * period : 0, all / static_cast<double>(depth)});
        const double cycles = whole_in.in_a_row / rates.movers + whole_out.in_a_row / rates.movers +
                              all + (outer_points - 1) * outer_period;
        if (best_.cycles > 0 && cycles >= best_.cycles) continue;
        best_ = {tile, outer, depth, step_depth, run.ways, tile_by_tile, cycles};
      }
  }

  // Do all buffers find banks? The largest comes first, and each goes into the first with room.
  bool fits(const std::vector<double>& once, const std::vector<double>& by_point,
            const std::vector<double>& by_step, int64_t depth, int64_t step_depth) const {
    const StagedRates& rates = links_[0].ways[0]->rates;
    std::vector<double> needs = once, left(static_cast<size_t>(rates.banks),
                                           static_cast<double>(rates.bank_bytes));
    for (double bytes : by_point) needs.push_back(bytes * static_cast<double>(depth));
    for (double bytes : by_step)
      needs.push_back(bytes * static_cast<double>(depth) * static_cast<double>(step_depth));
    std::sort(needs.begin(), needs.end(), std::greater<>());
    return std::all_of(needs.begin(), needs.end(), [&](double need) {
      const auto bank = std::find_if(left.begin(), left.end(), [&](double b) { return b >= need; });
      if (bank != left.end()) *bank -= need;
      return bank != left.end();
    });
  }

  const std::vector<int64_t>& ranges_;
  const ChainTensors& tensors_;
  std::vector<Link> links_;
  bool tells_ = true;
  ChainChoice best_;
};

}  // namespace

std::optional<ChainChoice> best_chain(const std::vector<ChainKernel>& kernels,
                                      const std::vector<int64_t>& ranges,
                                      const ChainTensors& tensors) {
  return Chain(kernels, ranges, tensors).best();
}

double best_alone(const stripe::Block& block, const std::vector<ChainWay>& ways,
                  const ChainTensors& tensors, bool rough, double enough) {
  std::vector<const ChainWay*> way_of;
  const std::vector<StagedKernel> kernels = kernels_of(block, ways, tensors, way_of);
  if (kernels.empty()) return kNone;
  TileFilter filter;
  filter.cut_reductions = kernels[0].may_cut_reductions();
  const Result<TileSpace> space = tile_space(kernels[0].tiled(), filter);
  if (!space.ok()) return kNone;
  SearchCost search;
  search.of = [&](const Tile& tile) {
    double out = kNone;
    for (const StagedKernel& kernel : kernels)
      if (kernel.bound(tile, tile) < out) out = std::min(out, kernel.time(tile).cost);
    return out;
  };
  search.bound = [&](const Tile& low, const Tile& high) {
    double out = kNone;
    for (const StagedKernel& kernel : kernels) out = std::min(out, kernel.bound(low, high));
    return out;
  };
  search.hopeless = [&](const Tile& tile) { return kernels[0].missing(tile).has_value(); };
  search.rough = rough;
  search.enough = std::max(enough, 0.0);
  const Ranking found = quick(*space, search);
  return found.best.empty() ? kNone : found.best.front().score;
}

double least_alone(const stripe::Block& block, const std::vector<ChainWay>& ways,
                   const ChainTensors& tensors) {
  ChainTensors known = tensors;
  // A temporary that is larger than a bank comes and goes.
  for (auto& [name, tensor] : known)
    tensor.temporary &= !ways.empty() && tensor.bytes <= ways[0].rates.bank_bytes;
  std::vector<const ChainWay*> way_of;
  double out = kNone;
  for (const StagedKernel& kernel : kernels_of(block, ways, known, way_of)) {
    const Tile largest = kernel.tiled().ranges();
    out = std::min(out, kernel.bound(Tile(largest.size(), 1), largest));
  }
  return out == kNone ? 0 : out;
}

std::string to_string(const ChainChoice& choice) {
  std::vector<std::string> sizes;
  for (size_t c = 0; c < choice.tile.size(); ++c)
    sizes.push_back(fmt::format("{}{}", choice.tile[c], choice.outer[c] ? "" : " inside"));
  return fmt::format("tile [{}] under_way={} steps_under_way={} cycles={:.0f}", join(sizes, ", "),
                     choice.under_way, choice.steps_under_way, choice.cycles);
}

}  // namespace stria::cost
