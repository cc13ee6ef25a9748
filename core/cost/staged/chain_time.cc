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
// Exponent of the norm that stands for queues: between the sum of times and the longest one. Of 60
// chains in steps that were simulated on four machines, 2026-11, it predicts the middle one right.
constexpr double kQueues = 6;
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
      : ranges_(ranges), below_(below) {
    best_.cycles = kUneven * below;
    for (const ChainKernel& kernel : kernels) {
      Link link;
      link.kernels = kernels_of(*kernel.block, *kernel.ways, tensors, link.ways);
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
    tells_ &= ranges.size() <= kMostCommon;
    if (!tells_) return;
    const Link& last = links_.back();
    for (size_t c = 0; c < ranges.size(); ++c) {
      if (!last.kernels[0].tiled().indices[last.position[c]].reduction) continue;
      summed_ |= bit(c);
      tells_ &= last.kernels[0].may_cut_reductions();
    }
    tells_ &= least_busy() < below;
    find_sum();
    find_tensors(kernels, tensors);
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
    for (size_t c = 0; c < ranges_.size(); ++c) best_.outer.push_back(has(outer_, c));
    for (size_t t = 0; t < tensors_.size(); ++t)
      if (has(tile_by_tile_, t)) best_.tile_by_tile.push_back(tensors_[t].view);
    if (best_.step > 0) best_.sum = sum_->name;
    return best_;
  }

 private:
  // Of common indices, or of tensors.
  using Set = uint64_t;
  static constexpr size_t kMostCommon = std::numeric_limits<Set>::digits;
  static Set bit(size_t n) { return Set{1} << n; }
  static bool has(Set set, size_t n) { return (set >> n & 1) > 0; }

  struct Link {
    std::vector<StagedKernel> kernels;  // by way
    std::vector<const ChainWay*> ways;
    std::vector<size_t> position;  // by common index: its position in a tile
    std::vector<size_t> tensor;    // by view without allocations: its position in `tensors_`
    mutable size_t way = 0;        // that was the best one last
    mutable Tile tile;             // what is looked at
  };
  struct Tensor {
    ChainTensor of;
    Set by = 0;                    // the common indices that move it
    size_t views = 0, by_sum = 0;  // of all kernels; those that move with the first one's steps
    bool reads = false, writes = false;
    bool adds = false;               // the last kernel writes it
    std::pair<size_t, size_t> view;  // of the first kernel that has one
  };
  // A tensor as a tile of the chain sees it.
  struct Part {
    double held = 0, moved = 0, rows = 0;
  };
  struct Load {
    const ExecutionUnit* unit = nullptr;
    double busy = 0, port = 0, parts = 1;
  };
  struct Run {
    double takes = 0, first = 0, last = 0;  // of all kernels; of the first and the last one
    std::vector<Load> loads;                // by kernel
    std::vector<const ChainWay*> ways;
  };
  // How the kernels are cut.
  struct Cut {
    const std::vector<int64_t>& tile;  // of each common index
    Set cut = 0;                       // those of which it is a part
    Set outer = 0;                     // of these, those of the loop around
    int64_t step = 0;  // points of the first kernel's sum in each of its steps; 0: all
    bool in_steps() const { return step > 0; }
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
    for (int64_t size : sizes_of(sum_->range))
      if (size < sum_->range) steps_.push_back(size);
  }

  void find_tensors(const std::vector<ChainKernel>& kernels, const ChainTensors& known) {
    std::map<std::string, Tensor> all;
    const auto views_of = [&](size_t k, const auto& look_at) {
      size_t v = 0;
      for (const Refinement& ref : kernels[k].block->refs)
        if (ref.dir != RefDir::none) look_at(ref, v++);
    };
    const auto uses = [](const Refinement& ref, const std::string& index) {
      return std::any_of(ref.access.begin(), ref.access.end(),
                         [&](const Affine& form) { return form.uses(index); });
    };
    for (size_t k = 0; k < kernels.size(); ++k)
      views_of(k, [&](const Refinement& ref, size_t v) {
        const auto at = known.find(ref.from);
        tells_ &= at != known.end();
        if (!tells_) return;
        const auto [found, added] = all.try_emplace(ref.from);
        Tensor& tensor = found->second;
        if (added) tensor.of = at->second;
        if (added) tensor.view = {k, v};
        for (size_t c = 0; c < ranges_.size(); ++c)
          if (uses(ref, kernels[k].common[c])) tensor.by |= bit(c);
        ++tensor.views;
        tensor.by_sum += k == 0 && sum_ && uses(ref, sum_->name);
        tensor.reads |= ref.dir != RefDir::out;
        tensor.writes |= ref.dir != RefDir::in;
        tensor.adds |= k + 1 == kernels.size() && ref.dir != RefDir::in;
      });
    tells_ &= all.size() <= kMostCommon;
    if (!tells_) return;
    std::map<std::string, size_t> position;
    for (auto& [name, tensor] : all) {
      position[name] = tensors_.size();
      others_ |= tensor.of.temporary && !tensor.of.inside;
      tensors_.push_back(tensor);
    }
    for (size_t k = 0; k < kernels.size(); ++k)
      views_of(k, [&](const Refinement& ref, size_t) {
        links_[k].tensor.push_back(position[ref.from]);
      });
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
    Cut cut{tile};
    for (size_t c = 0; c < tile.size(); ++c)
      if (tile[c] < ranges_[c]) cut.cut |= bit(c);
    loops_.clear();  // one loop, or two
    // One loop around one kernel is what the kernel is by itself.
    if (links_.size() > 1) loops_.push_back(cut.cut);
    for (size_t o = 0; o < tile.size(); ++o)
      if (has(cut.cut, o) && cut.cut != bit(o)) loops_.push_back(bit(o));
    if (loops_.empty() || !look_at_loops(cut, loops_.size()) || !sum_) return;
    // Of the steps that fit the largest ones: what they bring altogether is the same.
    int looked_at = 0;
    for (size_t n = steps_.size(); n-- > 0 && looked_at < kMostSteps;) {
      cut.step = steps_[n];
      looked_at += look_at_loops(cut, 1);
    }
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

  // With the first ones of `loops_`. False: nothing of the tile is worth looking at, or it has no
  // room.
  bool look_at_loops(Cut& cut, size_t loops) {
    set_parts(cut);
    const bool has_room = may_fit();
    // What does not fit as a whole may fit in steps.
    if (least(cut) >= best_.cycles) return false;
    if (!has_room) return !cut.in_steps();
    set_run(cut);
    for (size_t n = 0; n < loops; ++n) {
      cut.outer = loops_[n];
      for (int stays = 0; stays < (others_ ? 2 : 1); ++stays) look_at(cut, stays > 0);
    }
    return true;
  }

  // The sizes of a kernel's tile.
  const Tile& tile_of(size_t k, const Cut& cut) const {
    Tile& out = links_[k].tile;
    out = links_[k].kernels[0].tiled().ranges();
    for (size_t c = 0; c < cut.tile.size(); ++c) out[links_[k].position[c]] = cut.tile[c];
    if (k == 0 && cut.in_steps()) out[sum_position_] = cut.step;
    return out;
  }

  void set_parts(const Cut& cut) {
    parts_.assign(tensors_.size(), Part());
    for (size_t k = 0; k < links_.size(); ++k) {
      const Link& link = links_[k];
      link.kernels[0].shown(tile_of(k, cut), held_, moved_, rows_of_views_);
      for (size_t v = 0; v < link.tensor.size(); ++v) {
        Part& part = parts_[link.tensor[v]];
        part.held = std::max(part.held, held_[v]);
        part.moved = std::max(part.moved, moved_[v]);
        part.rows = std::max(part.rows, rows_of_views_[v]);
      }
    }
  }

  // Is there room for one point at least?
  bool may_fit() const {
    const StagedRates& rates = this->rates();
    double all = 0;
    for (const Part& part : parts_) {
      if (part.held > static_cast<double>(rates.bank_bytes)) return false;
      all += part.held;
    }
    return all <= static_cast<double>(rates.banks * rates.bank_bytes);
  }

  const StagedRates& rates() const { return links_[0].ways[0]->rates; }

  // No way to run the tiles takes less: each tile of a tensor comes once at least.
  double least(const Cut& cut) const {
    const StagedRates& rates = this->rates();
    double in = 0, out = 0;
    for (size_t t = 0; t < tensors_.size(); ++t) {
      const Tensor& tensor = tensors_[t];
      if (tensor.of.temporary) continue;
      double times = cut.in_steps() && tensor.by_sum > 0 ? steps_of(cut) : 1;
      times *= points(cut, tensor.by);
      const double bytes = std::min(parts_[t].moved * times, static_cast<double>(tensor.of.bytes));
      if (tensor.reads) in += bytes;
      if (tensor.writes) out += bytes;
    }
    in = rates.in.together > 0 ? in / rates.in.together : 0;
    out = rates.out.together > 0 ? out / rates.out.together : 0;
    return rates.in_turns ? in + out : std::max(in, out);
  }

  double steps_of(const Cut& cut) const {
    return cut.in_steps() ? static_cast<double>(ceil_div(sum_->range, cut.step)) : 1;
  }

  // Of the loops over these indices.
  double points(const Cut& cut, Set of) const {
    int64_t out = 1;
    for (size_t c = 0; c < cut.tile.size(); ++c)
      if (has(of & cut.cut, c)) out *= ceil_div(ranges_[c], cut.tile[c]);
    return static_cast<double>(out);
  }

  // Does the last kernel add up parts of its sums from point to point?
  bool adds(const Cut& cut) const { return (summed_ & cut.cut) > 0; }

  // Each kernel runs the way that takes it the shortest time; of equals the first one.
  void set_run(const Cut& cut) {
    run_ = Run{0, 0, 0, std::move(run_.loads), std::move(run_.ways)};
    run_.loads.clear();
    run_.ways.clear();
    for (size_t k = 0; k < links_.size(); ++k) {
      const Link& link = links_[k];
      const bool goes_on = this->goes_on(k, cut);
      const Tile& own = tile_of(k, cut);
      // Mostly it is the one that was the best one before.
      size_t best = std::min(link.way, link.kernels.size() - 1);
      StagedKernel::Alone shortest = link.kernels[best].alone(own, goes_on);
      for (size_t w = 0; w < link.kernels.size(); ++w) {
        if (w == link.way || link.kernels[w].least_alone(own) > shortest.takes) continue;
        const StagedKernel::Alone next = link.kernels[w].alone(own, goes_on);
        if (next.takes > shortest.takes || (next.takes == shortest.takes && w > best)) continue;
        shortest = next;
        best = w;
      }
      link.way = best;
      run_.ways.push_back(link.ways[best]);
      run_.takes += shortest.takes;
      if (k == 0) run_.first = shortest.takes;
      run_.last = shortest.takes;
      run_.loads.push_back(
          {link.ways[best]->rates.unit, shortest.busy, shortest.port, shortest.parts});
    }
    set_operands(cut);
  }

  // What the kernels move of each tensor.
  void set_operands(const Cut& cut) {
    const size_t ports = rates().ports.size();
    of_first_.assign(tensors_.size() * ports, 0);
    of_others_.assign(tensors_.size() * ports, 0);
    for (size_t k = 0; k < links_.size(); ++k) {
      const Link& link = links_[k];
      link.kernels[link.way].operand_cycles(tile_of(k, cut), goes_on(k, cut), operands_);
      std::vector<double>& to = k == 0 ? of_first_ : of_others_;
      for (size_t v = 0; v < link.tensor.size(); ++v)
        for (size_t p = 0; p < ports; ++p)
          to[link.tensor[v] * ports + p] += operands_[v * ports + p];
    }
  }

  // Does the kernel add to what it has left at the point before?
  bool goes_on(size_t k, const Cut& cut) const {
    return (k == 0 && cut.in_steps()) || (k + 1 == links_.size() && adds(cut));
  }

  struct Transfers {
    double in_a_row = 0, bytes = 0, rows = 0;
    void add(const StagedRates::Way& way, double moved, double row_cycles) {
      in_a_row +=
          way.latency + std::max(way.bytes > 0 ? std::ceil(moved / way.bytes) : 0, row_cycles);
      bytes += moved;
      rows += row_cycles;
    }
    void add(const Transfers& other, double times) {
      in_a_row += times * other.in_a_row;
      bytes += times * other.bytes;
      rows += times * other.rows;
    }
    double busy(const StagedRates::Way& way, double movers) const {
      return std::max(in_a_row / movers, way.together > 0 ? bytes / way.together : 0);
    }
    // With nothing beside them; all movers share the rows.
    double alone(double movers) const { return std::max(in_a_row / movers, rows); }
  };

  // A part of a sum stays where it is until it is whole: the loop that adds to it moves nothing
  // that is written. Otherwise all of the result is in the scratchpad.
  bool is_added_in_place(const Cut& cut, const Tensor& tensor) const {
    if (!tensor.adds) return false;
    const Set inner = cut.cut & ~cut.outer, moves = tensor.by & cut.cut;
    return ((summed_ & cut.outer) > 0 && moves > 0) ||
           ((summed_ & inner) > 0 && (moves & inner) > 0);
  }

  // What a unit moves, and what others do at the same bank meanwhile; the first kernel and the
  // others run so often.
  double busiest(double first, double others, double bytes) const {
    const double port_rate = rates().port_rate(PortUse::copy_in);
    const auto times = [&](size_t k) { return k == 0 ? first : others; };
    double all = port_rate > 0 ? bytes / port_rate : 0, longest = 0;
    for (size_t k = 0; k < run_.loads.size(); ++k) all += times(k) * run_.loads[k].port;
    for (size_t k = 0; k < run_.loads.size(); ++k) {
      double busy = 0, port = 0;
      for (size_t n = 0; n < run_.loads.size(); ++n) {
        if (run_.loads[n].unit != run_.loads[k].unit) continue;
        busy += times(n) * run_.loads[n].busy;
        port += times(n) * run_.loads[n].port;
      }
      const double beside = (all - port) / static_cast<double>(rates().banks);
      longest = std::max({longest, busy, port + beside});
    }
    return longest;
  }

  // Transfers of so many cycles, while the kernels run. Where there is one port, what a transfer
  // gets of it is as much as each part of a tile gets (staged_time: share_port), as long as they
  // move operands.
  double slowed(double transfers, double first, double others) const {
    const StagedRates& rates = this->rates();
    if (!rates.one_port || rates.banks > 1 || rates.in.bytes <= 0) return transfers;
    double longer = 0, slowest = 1;
    for (size_t k = 0; k < run_.loads.size(); ++k) {
      const Load& load = run_.loads[k];
      const double share = std::min(1.0, rates.ports[0] / (load.parts + 1) / rates.in.bytes);
      longer += (k == 0 ? first : others) * load.port * (1 - share);
      slowest = std::min(slowest, share);
    }
    return std::min(transfers + longer, transfers / slowest);
  }

  // Cycles of the busiest port, if each tensor lies in a bank: whoever writes a tensor and whoever
  // reads it move at one port. `copies`: bytes of each that are copied meanwhile.
  double busiest_port(double first, double others, const std::vector<double>& copies) const {
    const size_t ports = rates().ports.size();
    double longest = 0;
    for (size_t p = 0; p < ports; ++p) {
      double all = 0;
      for (size_t t = 0; t < tensors_.size(); ++t) {
        double of = first * of_first_[t * ports + p] + others * of_others_[t * ports + p];
        if (tensors_[t].reads &&
            rates().port_of[static_cast<size_t>(PortUse::copy_in)] == static_cast<int>(p))
          of += copies[t] / rates().ports[p];
        if (tensors_[t].writes &&
            rates().port_of[static_cast<size_t>(PortUse::copy_out)] == static_cast<int>(p))
          of += copies[t] / rates().ports[p];
        all += of;
        longest = std::max(longest, of);
      }
      longest = std::max(longest, all / static_cast<double>(rates().banks));
    }
    return longest;
  }

  // `stays`: temporaries of others stay in the scratchpad as a whole.
  void look_at(const Cut& cut, bool stays) {
    const StagedRates& rates = this->rates();
    const bool two = cut.outer != cut.cut, in_steps = cut.in_steps();
    const Set inner = cut.cut & ~cut.outer;
    Transfers whole_in, whole_out, in, out, in_of_step, out_of_step;
    Set tile_by_tile = 0;
    once_.clear();
    by_point_.clear();
    by_step_.clear();
    copies_of_point_.assign(tensors_.size(), 0);
    copies_of_step_.assign(tensors_.size(), 0);
    for (size_t t = 0; t < tensors_.size(); ++t) {
      const Tensor& tensor = tensors_[t];
      const Part& part = parts_[t];
      if (tensor.of.inside) {
        (in_steps ? by_point_ : by_step_).push_back(part.held);
        continue;
      }
      // A tensor that moves with steps is one that nobody else reads.
      const bool by_sum = in_steps && tensor.by_sum > 0;
      if (by_sum && tensor.by_sum < tensor.views) return;
      if (tensor.reads && tensor.writes) return;
      const bool moves = by_sum || (tensor.by & cut.cut) > 0,
                 moves_inside = by_sum || (tensor.by & inner) > 0;
      if (!moves || (stays && tensor.of.temporary) || is_added_in_place(cut, tensor)) {
        once_.push_back(static_cast<double>(tensor.of.bytes));
        if (tensor.of.temporary) continue;
        const double rows = rates.dram ? rates.row_cycles(walk_of_bytes(once_.back())) : 0;
        if (tensor.reads) whole_in.add(rates.in, once_.back(), rows);
        if (tensor.writes) whole_out.add(rates.out, once_.back(), rows);
        continue;
      }
      tile_by_tile |= bit(t);
      (moves_inside ? by_step_ : by_point_).push_back(part.held);
      (moves_inside ? copies_of_step_ : copies_of_point_)[t] = part.moved;
      if (tensor.reads) (moves_inside ? in_of_step : in).add(rates.in, part.moved, part.rows);
      if (tensor.writes) (moves_inside ? out_of_step : out).add(rates.out, part.moved, part.rows);
    }
    const auto longest = [&](const Transfers& bring, const Transfers& take) {
      const double a = bring.busy(rates.in, rates.movers), b = take.busy(rates.out, rates.movers);
      // Both directions share the rows.
      return std::max(rates.in_turns ? a + b : std::max(a, b), bring.rows + take.rows);
    };
    const double outer_points = points(cut, cut.outer),
                 steps = in_steps ? steps_of(cut) : points(cut, inner);
    Transfers ins = in, outs = out;
    ins.add(in_of_step, steps);
    outs.add(out_of_step, steps);
    const double others = in_steps ? 1 : steps;
    const double moving = slowed(longest(ins, outs), steps, others);
    if (outer_points * moving >= best_.cycles) return;
    for (size_t t = 0; t < tensors_.size(); ++t) copies_of_point_[t] += steps * copies_of_step_[t];
    const double working = std::max(busiest(steps, others, ins.bytes + outs.bytes),
                                    busiest_port(steps, others, copies_of_point_));
    if ((outer_points - 1) * working >= best_.cycles) return;
    // One after the other adds to one sum.
    const double in_turn = in_steps ? run_.first : adds(cut) ? run_.last : 0;
    const double in_step = in_steps ? run_.first : run_.takes, after = run_.takes - in_step;
    const double one = in_of_step.in_a_row + in_step + out_of_step.in_a_row;
    const double least_period =
        std::max({busiest(1, in_steps ? 0 : 1, in_of_step.bytes + out_of_step.bytes),
                  busiest_port(1, in_steps ? 0 : 1, copies_of_step_),
                  slowed(longest(in_of_step, out_of_step), 1, in_steps ? 0 : 1), in_turn});
    for (int64_t depth = 1; depth <= kMostUnderWay; ++depth)
      for (int64_t step_depth = 1; step_depth <= (steps > 1 ? kMostUnderWay : 1); ++step_depth) {
        if (static_cast<double>(depth) > outer_points || static_cast<double>(step_depth) > steps)
          continue;
        const double period = std::max(least_period, one / static_cast<double>(step_depth));
        const double loop = one + (steps - 1) * period,
                     all = in.in_a_row + loop + after + out.in_a_row;
        // Steps add to a sum of their point; the last kernel may add to one of all points.
        const double outer_in_turn = two ? loop : adds(cut) ? run_.last : in_steps ? 0 : in_turn;
        const double waits = all / static_cast<double>(depth);
        const double outer_period = std::max(
            in_steps ? in_queues(working, moving, waits) : std::max({working, moving, waits}),
            outer_in_turn);
        const double cycles = whole_in.alone(rates.movers) + whole_out.alone(rates.movers) + all +
                              (outer_points - 1) * outer_period;
        if (cycles >= best_.cycles) continue;
        if (!fits(depth, step_depth)) break;
        best_ = {
            cut.tile, {}, depth, step_depth, "", cut.step, run_.ways, {}, {working, moving, all},
            cycles};
        outer_ = two ? cut.outer : ~Set{0};
        tile_by_tile_ = tile_by_tile;
      }
  }

  // Steps of several points stand in queues before the same units: what is nearly the longest time
  // makes it longer.
  static double in_queues(double a, double b, double c) {
    return std::pow(std::pow(a, kQueues) + std::pow(b, kQueues) + std::pow(c, kQueues),
                    1 / kQueues);
  }

  // Do all buffers find banks? The largest comes first, and each goes into the first with room.
  bool fits(int64_t depth, int64_t step_depth) {
    needs_ = once_;
    for (double bytes : by_point_) needs_.push_back(bytes * static_cast<double>(depth));
    for (double bytes : by_step_)
      needs_.push_back(bytes * static_cast<double>(depth) * static_cast<double>(step_depth));
    std::sort(needs_.begin(), needs_.end(), std::greater<>());
    left_.assign(static_cast<size_t>(rates().banks), static_cast<double>(rates().bank_bytes));
    return std::all_of(needs_.begin(), needs_.end(), [&](double need) {
      const auto bank =
          std::find_if(left_.begin(), left_.end(), [&](double b) { return b >= need; });
      if (bank != left_.end()) *bank -= need;
      return bank != left_.end();
    });
  }

  const std::vector<int64_t>& ranges_;
  const double below_;
  std::vector<Link> links_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<int64_t>> sizes_;  // of each common index
  Set summed_ = 0;                           // the common indices over which the last kernel sums
  bool others_ = false;                      // there are temporaries that others use
  const TiledBlock::Index* sum_ = nullptr;   // of the first kernel; null: it stays whole
  size_t sum_position_ = 0;                  // of it in the kernel's tiles
  std::vector<int64_t> steps_;               // sizes that its parts may have
  bool tells_ = true;
  // Of what is looked at.
  std::vector<Part> parts_;  // by tensor
  Run run_;
  std::vector<Set> loops_;                         // indices of the loop around
  std::vector<double> once_, by_point_, by_step_;  // bytes that are held
  std::vector<double> held_, moved_, rows_of_views_, needs_, left_, operands_;
  std::vector<double> of_first_, of_others_;              // by tensor and port: cycles of operands
  std::vector<double> copies_of_point_, copies_of_step_;  // by tensor: bytes
  ChainChoice best_;
  Set outer_ = 0, tile_by_tile_ = 0;  // of the best one
};

}  // namespace

std::optional<ChainChoice> best_chain(const std::vector<ChainKernel>& kernels,
                                      const std::vector<int64_t>& ranges,
                                      const ChainTensors& tensors, double below) {
  return Chain(kernels, ranges, tensors, below).best();
}

AloneCost::AloneCost(const stripe::Block& kernel, const std::vector<ChainWay>& ways,
                     const ChainTensors& tensors)
    : kernels_(kernels_of(kernel, ways, tensors, way_of_)) {}

double AloneCost::least() {
  if (least_) return *least_;
  double out = kNone;
  for (const StagedKernel& kernel : kernels_) {
    const Tile largest = kernel.tiled().ranges();
    out = std::min(out, kernel.bound(Tile(largest.size(), 1), largest));
  }
  return *(least_ = out == kNone ? 0 : out);
}

double AloneCost::best(bool rough) {
  std::optional<double>& out = rough ? rough_ : best_;
  if (out) return *out;
  out = kNone;
  if (kernels_.empty()) return *out;
  const Result<TileSpace> space = kernels_[0].space({});
  if (!space.ok()) return *out;
  SearchCost search;
  search.of = [&](const Tile& tile) {
    double cost = kNone;
    for (const StagedKernel& kernel : kernels_)
      if (kernel.bound(tile, tile) < cost) cost = std::min(cost, kernel.time(tile).cost);
    return cost;
  };
  search.bound = [&](const Tile& low, const Tile& high) {
    double cost = kNone;
    for (const StagedKernel& kernel : kernels_) cost = std::min(cost, kernel.bound(low, high));
    return cost;
  };
  search.hopeless = [&](const Tile& tile) { return kernels_[0].missing(tile).has_value(); };
  search.rough = rough;
  search.asked = &asked_;
  const Ranking found = quick(*space, search);
  if (!found.best.empty()) out = found.best.front().score;
  return *out;
}

std::string to_string(const ChainChoice& choice) {
  std::vector<std::string> sizes;
  for (size_t c = 0; c < choice.tile.size(); ++c)
    sizes.push_back(fmt::format("{}{}", choice.tile[c], choice.outer[c] ? "" : " inside"));
  const std::string step = choice.step > 0 ? fmt::format(" step={}", choice.step) : "";
  const ChainChoice::Point& point = choice.point;
  return fmt::format(
      "tile [{}]{} under_way={} steps_under_way={} busy={:.0f} moving={:.0f} alone={:.0f} "
      "cycles={:.0f}",
      join(sizes, ", "), step, choice.under_way, choice.steps_under_way, point.busy, point.moving,
      point.alone, choice.cycles);
}

}  // namespace stria::cost
