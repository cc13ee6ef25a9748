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
// Tiles, up to which all of them are looked at.
constexpr double kMostTiles = 4096;
// Parts that are not even are worth no more than this: where the best even ones take longer, none
// are looked at.
constexpr double kUneven = 1.25;
// Parts of an index that are looked at if they are not even.
constexpr int64_t kMostParts = 64;
// Sizes of the steps of a sum that are looked at.
constexpr int kMostSteps = 4;

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
        const ChainTensors& tensors, double below)
      : ranges_(ranges), tensors_(tensors), below_(below) {
    best_.cycles = kUneven * below;
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
    if (!tells_) return;
    const Link& last = links_.back();
    for (size_t c = 0; c < ranges.size(); ++c) {
      summed_.push_back(last.kernels[0].tiled().indices[last.position[c]].reduction);
      tells_ &= !summed_[c] || last.kernels[0].may_cut_reductions();
    }
    tells_ &= least_busy() < below;
    find_sum();
  }

  std::optional<ChainChoice> best() {
    if (!tells_) return std::nullopt;
    double tiles = 1;
    for (int64_t range : ranges_) {
      sizes_.push_back(sizes_of(range));
      tiles *= static_cast<double>(sizes_.back().size());
    }
    std::vector<int64_t> tile(ranges_.size(), 1);
    if (tiles <= kMostTiles)
      look_at_sizes(tile, 0);
    else
      descend();
    if (best_.tile.empty()) return std::nullopt;
    refine();
    if (best_.cycles >= below_) return std::nullopt;
    if (best_.step > 0) best_.sum = sum_->name;
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
    std::vector<bool> by;          // the common indices that move it
    size_t views = 0, by_sum = 0;  // of all kernels; those that move with the first one's steps
    bool reads = false, writes = false;
    bool adds = false;               // the last kernel writes it
    std::pair<size_t, size_t> view;  // of the first kernel that has one
  };
  struct Load {
    const ExecutionUnit* unit = nullptr;
    double busy = 0, port = 0;
  };
  using Parts = std::map<std::string, Part>;
  struct Run {
    double takes = 0, first = 0, last = 0;  // of all kernels; of the first and the last one
    std::vector<Load> loads;                // by kernel
    std::vector<const ChainWay*> ways;
  };
  // How the kernels are cut.
  struct Cut {
    std::vector<int64_t> tile;  // of each common index
    std::vector<bool> outer;    // those of the loop around
    int64_t step = 0;           // points of the first kernel's sum in each of its steps; 0: all
  };

  // What the busiest unit needs, as far as it is known which one runs a kernel.
  double least_busy() const {
    double out = 0;
    std::map<const ExecutionUnit*, double> busy;
    for (const Link& link : links_) {
      double least = kNone;
      bool one_unit = true;
      for (size_t w = 0; w < link.kernels.size(); ++w) {
        least = std::min(least, link.kernels[w].least_busy());
        one_unit &= link.ways[w]->rates.unit == link.ways[0]->rates.unit;
      }
      out = std::max({out, least, one_unit ? busy[link.ways[0]->rates.unit] += least : 0});
    }
    return out;
  }

  // The longest sum of the first kernel, if it may be added up in steps.
  void find_sum() {
    const Link& first = links_[0];
    if (links_.size() < 2 || !first.kernels[0].may_cut_reductions()) return;
    for (const TiledBlock::Index& index : first.kernels[0].tiled().indices)
      if (index.reduction && (!sum_ || index.range > sum_->range)) sum_ = &index;
    if (!sum_) return;
    sum_position_ = static_cast<size_t>(sum_ - first.kernels[0].tiled().indices.data());
    for (const Refinement* view : first.views)
      sum_moves_.push_back(std::any_of(view->access.begin(), view->access.end(),
                                       [&](const Affine& form) { return form.uses(sum_->name); }));
  }

  void look_at_sizes(std::vector<int64_t>& tile, size_t c) {
    if (c < tile.size()) {
      for (int64_t size : sizes_[c]) {
        tile[c] = size;
        look_at_sizes(tile, c + 1);
      }
      return;
    }
    look_at_tile(tile);
  }

  // Where there are many tiles: index by index gets its best size, from the best of a few tiles.
  void descend() {
    best_.cycles = kNone;
    std::vector<int64_t> middle;
    for (const std::vector<int64_t>& sizes : sizes_) middle.push_back(sizes[sizes.size() / 2]);
    look_at_tile(std::vector<int64_t>(ranges_.size(), 1));
    look_at_tile(middle);
    for (size_t c = 0; c < ranges_.size(); ++c) {
      std::vector<int64_t> tile = ranges_;
      tile[c] = middle[c];
      look_at_tile(tile);
    }
    for (double before = 0; !best_.tile.empty() && best_.cycles != before;) {
      before = best_.cycles;
      for (size_t c = 0; c < ranges_.size(); ++c) {
        std::vector<int64_t> tile = best_.tile;
        for (int64_t size : sizes_[c]) {
          if (size == best_.tile[c]) continue;
          tile[c] = size;
          look_at_tile(tile);
        }
      }
    }
    if (best_.cycles >= kUneven * below_) best_ = {};
  }

  void look_at_tile(const std::vector<int64_t>& tile) {
    if (tile == ranges_) return;
    std::vector<std::vector<bool>> loops;  // one loop, or two
    loops.emplace_back(tile.size(), true);
    for (size_t o = 0; o < tile.size(); ++o) {
      std::vector<bool> outer(tile.size());
      outer[o] = true;
      if (points(tile, outer, true) > 1 && points(tile, outer, false) > 1) loops.push_back(outer);
    }
    // One loop around one kernel is what the kernel is by itself.
    if (links_.size() < 2) loops.erase(loops.begin());
    if (loops.empty() || !look_at_loops({tile, {}, 0}, loops) || !sum_) return;
    // Of the steps that fit the largest ones: what they bring altogether is the same.
    const std::vector<int64_t> steps = sizes_of(sum_->range);
    int looked_at = 0;
    for (size_t n = steps.size() - 1; n-- > 0 && looked_at < kMostSteps;)
      looked_at += look_at_loops({tile, {}, steps[n]}, {loops[0]});
  }

  // Parts that are not even, index by index, as long as they take less time.
  void refine() {
    double before = kNone;
    while (best_.cycles < before) {
      before = best_.cycles;
      for (size_t c = 0; c < ranges_.size(); ++c) {
        std::vector<int64_t> tile = best_.tile;
        const int64_t most = std::min(kMostParts, ranges_[c]);
        for (int64_t parts = 1; parts <= most; ++parts) {
          const int64_t size = ceil_div(ranges_[c], parts);
          if (ranges_[c] % size == 0 || size == tile[c]) continue;
          tile[c] = size;
          look_at_tile(tile);
        }
      }
    }
  }

  // False: nothing of the tile is worth looking at, or it has no room.
  bool look_at_loops(Cut cut, const std::vector<std::vector<bool>>& loops) {
    const Parts parts = parts_of(cut);
    const bool has_room = may_fit(parts);
    // What does not fit as a whole may fit in steps.
    if (least(parts, cut) >= best_.cycles) return false;
    if (!has_room) return cut.step == 0;
    const Run run = run_of(cut);
    const bool others = std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
      const auto at = tensors_.find(part.first);
      return at != tensors_.end() && at->second.temporary && !at->second.inside;
    });
    for (const std::vector<bool>& outer : loops) {
      cut.outer = outer;
      for (int stays = 0; stays < (others ? 2 : 1); ++stays) look_at(cut, parts, run, stays > 0);
    }
    return true;
  }

  // The sizes of a kernel's tile.
  Tile tile_of(size_t k, const Cut& cut) const {
    Tile out = links_[k].kernels[0].tiled().ranges();
    for (size_t c = 0; c < cut.tile.size(); ++c) out[links_[k].position[c]] = cut.tile[c];
    if (k == 0 && cut.step > 0) out[sum_position_] = cut.step;
    return out;
  }

  Parts parts_of(const Cut& cut) const {
    Parts out;
    std::vector<double> held, moved;
    for (size_t k = 0; k < links_.size(); ++k) {
      const Link& link = links_[k];
      link.kernels[0].shown(tile_of(k, cut), held, moved);
      for (size_t v = 0; v < link.views.size(); ++v) {
        const auto [at, added] = out.try_emplace(link.views[v]->from);
        Part& part = at->second;
        if (added) part.view = {k, v};
        part.held = std::max(part.held, held[v]);
        part.moved = std::max(part.moved, moved[v]);
        part.by.resize(cut.tile.size());
        for (size_t c = 0; c < cut.tile.size(); ++c)
          if (link.moved[v][c] && cut.tile[c] < ranges_[c]) part.by[c] = true;
        ++part.views;
        part.by_sum += k == 0 && cut.step > 0 && sum_moves_[v];
        part.reads |= link.views[v]->dir != RefDir::out;
        part.writes |= link.views[v]->dir != RefDir::in;
        part.adds |= k + 1 == links_.size() && link.views[v]->dir != RefDir::in;
      }
    }
    return out;
  }

  // Is there room for one point at least?
  bool may_fit(const Parts& parts) const {
    const StagedRates& rates = links_[0].ways[0]->rates;
    double all = 0;
    for (const auto& [name, part] : parts) {
      if (part.held > static_cast<double>(rates.bank_bytes)) return false;
      all += part.held;
    }
    return all <= static_cast<double>(rates.banks * rates.bank_bytes);
  }

  // No way to run the tiles takes less: each tile of a tensor comes once at least.
  double least(const Parts& parts, const Cut& cut) const {
    const StagedRates& rates = links_[0].ways[0]->rates;
    double in = 0, out = 0;
    for (const auto& [name, part] : parts) {
      const auto at = tensors_.find(name);
      if (at == tensors_.end() || at->second.temporary) continue;
      double times = part.by_sum > 0 ? steps_of(cut) : 1;
      for (size_t c = 0; c < cut.tile.size(); ++c)
        if (part.by[c]) times *= static_cast<double>(ceil_div(ranges_[c], cut.tile[c]));
      const double bytes = std::min(part.moved * times, static_cast<double>(at->second.bytes));
      if (part.reads) in += bytes;
      if (part.writes) out += bytes;
    }
    in = rates.in.together > 0 ? in / rates.in.together : 0;
    out = rates.out.together > 0 ? out / rates.out.together : 0;
    return rates.in_turns ? in + out : std::max(in, out);
  }

  double steps_of(const Cut& cut) const {
    return cut.step > 0 ? static_cast<double>(ceil_div(sum_->range, cut.step)) : 1;
  }

  int64_t points(const std::vector<int64_t>& tile, const std::vector<bool>& outer,
                 bool of_outer) const {
    int64_t out = 1;
    for (size_t c = 0; c < tile.size(); ++c)
      if (outer[c] == of_outer) out *= ceil_div(ranges_[c], tile[c]);
    return out;
  }

  // Does the last kernel add up parts of its sums from point to point?
  bool adds(const std::vector<int64_t>& tile) const {
    for (size_t c = 0; c < tile.size(); ++c)
      if (summed_[c] && tile[c] < ranges_[c]) return true;
    return false;
  }

  // Each kernel runs the way that takes it the shortest time.
  Run run_of(const Cut& cut) const {
    Run out;
    for (size_t k = 0; k < links_.size(); ++k) {
      const Link& link = links_[k];
      const bool goes_on = (k == 0 && cut.step > 0) || (k + 1 == links_.size() && adds(cut.tile));
      const Tile own = tile_of(k, cut);
      StagedKernel::Alone shortest;
      const ChainWay* way = nullptr;
      for (size_t w = 0; w < link.kernels.size(); ++w) {
        const StagedKernel::Alone next = link.kernels[w].alone(own, goes_on);
        if (way && next.takes >= shortest.takes) continue;
        shortest = next;
        way = link.ways[w];
      }
      out.ways.push_back(way);
      out.takes += shortest.takes;
      if (k == 0) out.first = shortest.takes;
      out.last = shortest.takes;
      out.loads.push_back({way->rates.unit, shortest.busy, shortest.port});
    }
    return out;
  }

  struct Transfers {
    double in_a_row = 0, bytes = 0, of_row = 0;
    void add(const StagedRates::Way& way, double moved) {
      in_a_row += way.latency + (way.bytes > 0 ? std::ceil(moved / way.bytes) : 0);
      bytes += moved;
    }
    void add(const Transfers& other, double times) {
      in_a_row += times * other.in_a_row;
      bytes += times * other.bytes;
    }
    double busy(const StagedRates::Way& way, double movers) const {
      return std::max(in_a_row / movers, way.together > 0 ? bytes / way.together : 0);
    }
  };

  // A part of a sum stays where it is until it is whole: the loop that adds to it moves nothing
  // that is written. Otherwise all of the result is in the scratchpad.
  bool is_added_in_place(const Cut& cut, const Part& part) const {
    if (!part.adds) return false;
    bool in_outer = false, in_inner = false;  // sums
    bool outer_moves = false, inner_moves = false;
    for (size_t c = 0; c < cut.tile.size(); ++c) {
      if (cut.tile[c] >= ranges_[c]) continue;
      if (summed_[c]) (cut.outer[c] ? in_outer : in_inner) = true;
      if (part.by[c]) (cut.outer[c] ? outer_moves : inner_moves) = true;
    }
    return (in_outer && (outer_moves || inner_moves)) || (in_inner && inner_moves);
  }

  // `stays`: temporaries of others stay in the scratchpad as a whole.
  void look_at(const Cut& cut, const Parts& parts, const Run& run, bool stays) {
    const auto& [tile, outer, step] = cut;
    const StagedRates& rates = links_[0].ways[0]->rates;
    const bool two = std::find(outer.begin(), outer.end(), false) != outer.end(),
               in_steps = step > 0;
    Transfers whole_in, whole_out, in, out, in_of_step, out_of_step;
    std::vector<std::pair<size_t, size_t>> tile_by_tile;
    std::vector<double> once, by_point, by_step;  // bytes
    for (const auto& [name, part] : parts) {
      const auto at = tensors_.find(name);
      if (at == tensors_.end()) return;
      const ChainTensor& tensor = at->second;
      if (tensor.inside) {
        (in_steps ? by_point : by_step).push_back(part.held);
        continue;
      }
      // A tensor that moves with steps is one that nobody else reads.
      if (part.by_sum > 0 && part.by_sum < part.views) return;
      bool moves = part.by_sum > 0, moves_inside = part.by_sum > 0;
      for (size_t c = 0; c < tile.size(); ++c) {
        moves |= part.by[c];
        moves_inside |= part.by[c] && !outer[c];
      }
      if (part.reads && part.writes) return;
      if (!moves || (stays && tensor.temporary) || is_added_in_place(cut, part)) {
        once.push_back(static_cast<double>(tensor.bytes));
        if (tensor.temporary) continue;
        if (part.reads) whole_in.add(rates.in, once.back());
        if (part.writes) whole_out.add(rates.out, once.back());
        continue;
      }
      tile_by_tile.push_back(part.view);
      (moves_inside ? by_step : by_point).push_back(part.held);
      if (part.reads) (moves_inside ? in_of_step : in).add(rates.in, part.moved);
      if (part.writes) (moves_inside ? out_of_step : out).add(rates.out, part.moved);
    }
    // What a unit moves, and what others do at the same bank meanwhile; the first kernel and the
    // others run so often.
    const double port_rate = rates.port_rate(PortUse::copy_in);
    const auto busiest = [&](double first, double others, double bytes) {
      const auto times = [&](size_t k) { return k == 0 ? first : others; };
      double all = port_rate > 0 ? bytes / port_rate : 0, longest = 0;
      for (size_t k = 0; k < run.loads.size(); ++k) all += times(k) * run.loads[k].port;
      for (size_t k = 0; k < run.loads.size(); ++k) {
        double busy = 0, port = 0;
        for (size_t n = 0; n < run.loads.size(); ++n) {
          if (run.loads[n].unit != run.loads[k].unit) continue;
          busy += times(n) * run.loads[n].busy;
          port += times(n) * run.loads[n].port;
        }
        const double beside = (all - port) / static_cast<double>(rates.banks);
        longest = std::max({longest, busy, port + beside});
      }
      return longest;
    };
    const auto longest = [&](const Transfers& bring, const Transfers& take) {
      const double a = bring.busy(rates.in, rates.movers), b = take.busy(rates.out, rates.movers);
      return rates.in_turns ? a + b : std::max(a, b);
    };
    const auto outer_points = static_cast<double>(points(tile, outer, true)),
               steps = in_steps ? steps_of(cut) : static_cast<double>(points(tile, outer, false));
    Transfers ins = in, outs = out;
    ins.add(in_of_step, steps);
    outs.add(out_of_step, steps);
    if (outer_points * longest(ins, outs) >= best_.cycles) return;
    // One after the other adds to one sum.
    const double in_turn = in_steps ? run.first : adds(tile) ? run.last : 0;
    const double in_step = in_steps ? run.first : run.takes, after = run.takes - in_step;
    for (int64_t depth = 1; depth <= kMostUnderWay; ++depth)
      for (int64_t step_depth = 1; step_depth <= (steps > 1 ? kMostUnderWay : 1); ++step_depth) {
        if (static_cast<double>(depth) > outer_points || static_cast<double>(step_depth) > steps)
          continue;
        if (!fits(once, by_point, by_step, depth, step_depth)) break;
        const double one = in_of_step.in_a_row + in_step + out_of_step.in_a_row;
        const double period = std::max(
            {busiest(1, in_steps ? 0 : 1, in_of_step.bytes + out_of_step.bytes),
             longest(in_of_step, out_of_step), one / static_cast<double>(step_depth), in_turn});
        const double loop = one + (steps - 1) * period,
                     all = in.in_a_row + loop + after + out.in_a_row;
        const double outer_period = std::max(
            {busiest(steps, in_steps ? 1 : steps, ins.bytes + outs.bytes), longest(ins, outs),
             two        ? loop
             : in_steps ? 0
                        : in_turn,
             all / static_cast<double>(depth)});
        const double cycles = whole_in.in_a_row / rates.movers + whole_out.in_a_row / rates.movers +
                              all + (outer_points - 1) * outer_period;
        if (cycles >= best_.cycles) continue;
        best_ = {tile, outer, depth, step_depth, "", step, run.ways, tile_by_tile, cycles};
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
  const double below_;
  std::vector<Link> links_;
  std::vector<std::vector<int64_t>> sizes_;  // of each common index
  std::vector<bool> summed_;                 // by common index: the last kernel sums over it
  const TiledBlock::Index* sum_ = nullptr;   // of the first kernel; null: it stays whole
  size_t sum_position_ = 0;                  // of it in the kernel's tiles
  std::vector<bool> sum_moves_;              // the kernel's views
  bool tells_ = true;
  ChainChoice best_;
};

}  // namespace

std::optional<ChainChoice> best_chain(const std::vector<ChainKernel>& kernels,
                                      const std::vector<int64_t>& ranges,
                                      const ChainTensors& tensors, double below) {
  return Chain(kernels, ranges, tensors, below).best();
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
  const std::string step = choice.step > 0 ? fmt::format(" step={}", choice.step) : "";
  return fmt::format("tile [{}]{} under_way={} steps_under_way={} cycles={:.0f}", join(sizes, ", "),
                     step, choice.under_way, choice.steps_under_way, choice.cycles);
}

}  // namespace stria::cost
