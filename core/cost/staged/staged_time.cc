// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged/staged_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stria/base/text.h"
#include "stria/cost/block/tile.h"

namespace stria::cost {
namespace {

// Time is worth so much more than energy: a cost is cycles times this power of the energy.
constexpr double kEnergyPower = 0.03;
constexpr double kNone = std::numeric_limits<double>::infinity();

// Of each tiled index, its position in the block.
std::vector<size_t> positions(const stripe::Block& block, const TiledBlock& tiled) {
  std::vector<size_t> out;
  for (const TiledBlock::Index& index : tiled.indices)
    for (size_t i = 0; i < block.idxs.size(); ++i)
      if (block.idxs[i].name == index.name) out.push_back(i);
  return out;
}

}  // namespace

StagedKernel::StagedKernel(const stripe::Block& block, std::vector<StagedTensor> tensors,
                           const StagedRates& rates)
    : tiled_(tiled_block(block)),
      shape_(block, positions(block, tiled_)),
      views_(spread_views(block, *rates.unit)),
      tensors_(std::move(tensors)),
      rates_(&rates) {
  std::vector<size_t> by_size(tensors_.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return tensors_[a].bytes > tensors_[b].bytes; });
  orders_.push_back(by_size);
  // Temporaries stay as long as they can.
  std::stable_partition(by_size.begin(), by_size.end(),
                        [&](size_t v) { return !tensors_[v].temporary; });
  if (by_size != orders_[0]) orders_.push_back(by_size);
  for (const TiledView& view : tiled_.views) {
    if (!view.writes() || !outputs_.empty()) continue;
    std::vector<std::pair<int64_t, size_t>> by_stride;
    for (size_t i = 0; i < tiled_.indices.size(); ++i) {
      int64_t stride = 0;
      for (const TiledDim& dim : view.dims)
        for (const TiledDim::Term& term : dim.terms)
          if (term.index == i) stride += term.coefficient * dim.stride;
      if (stride > 0) by_stride.emplace_back(-stride, i);
    }
    std::sort(by_stride.begin(), by_stride.end());
    for (const auto& [stride, i] : by_stride) outputs_.push_back(i);
  }
}

Result<StagedKernel> StagedKernel::make(const stripe::Block& block,
                                        std::vector<StagedTensor> tensors,
                                        const StagedRates& rates) {
  if (tensors.size() > kMostViews)
    return unsupported("'{}' has {} tensors; the cost staged_time looks at {} at most", block.name,
                       tensors.size(), kMostViews);
  StagedKernel out(block, std::move(tensors), rates);
  BlockWork work = work_of(block);
  if (const auto& array = rates.unit->systolic) {
    // Every element of the array works in every cycle.
    for (const Product& product : work.products)
      out.least_operation_ += product.batch * product.m * product.n * product.k /
                              static_cast<double>(array->rows * array->columns);
    work.products.clear();
  }
  STRIA_ASSIGN(out.pace_, OperationPace::of(*rates.unit, work_of(block)));
  STRIA_ASSIGN(const double rest, operation_cycles(*rates.unit, work));
  out.least_operation_ += rest;
  out.all_points_ = points_of(out.tiled_.ranges());
  std::vector<double> moved;
  std::vector<Used> used;
  for (size_t v = 0; v < out.tensors_.size(); ++v) {
    moved.push_back(static_cast<double>(out.tensors_[v].bytes));
    used.push_back(out.once(v, moved[v]));
  }
  out.least_energy_ = out.energy(moved, used);
  const std::vector<Move> whole = out.moves(out.tiled_.ranges());
  out.scratchpad_banks_ = out.places(whole, out.in_tiles({}));
  if (!out.scratchpad_banks_.empty() && !rates.spread)
    out.one_operation_ = out.all_in_scratchpad(1, out.work(out.tiled_.ranges(), whole), whole);
  return out;
}

double StagedKernel::lines(const Footprint& footprint) const {
  if (rates_->line_bytes <= 0) return footprint.bytes;
  const auto line = static_cast<double>(rates_->line_bytes);
  return footprint.runs * std::ceil(footprint.run_bytes / line) * line;
}

const std::vector<StagedKernel::Move>& StagedKernel::moves(const Tile& tile) const {
  std::vector<Move>& out = moves_;
  if (!out.empty() && tile == moves_of_) return out;
  moves_of_ = tile;
  out.resize(shape_.views());
  for (size_t v = 0; v < out.size(); ++v) {
    const Footprint footprint = shape_.footprint(v, tile);
    out[v].bytes = lines(footprint);
    out[v].held = footprint.bytes;
    out[v].whole = static_cast<double>(tensors_[v].bytes);
    if (rates_->dram) {
      out[v].rows = rates_->row_cycles(shape_.walk(v, tile));
      out[v].whole_rows = rates_->row_cycles(walk_of_bytes(out[v].whole));
    }
    out[v].temporary = tensors_[v].temporary;
    out[v].reads = tiled_.views[v].reads();
    out[v].writes = tiled_.views[v].writes();
  }
  return out;
}

StagedKernel::Staging StagedKernel::in_tiles(ViewSet in_parts) const {
  Staging out;
  out.in_parts = in_parts;
  return out;
}

double StagedKernel::Staging::held(const Move& move, size_t view) const {
  if (!in_parts[view]) return move.whole;
  return move.held * static_cast<double>(under_way) *
         static_cast<double>(by_step[view] ? steps_under_way : 1);
}

// The bank of each view, or nothing if there is no room. Views are placed by falling size, each
// into the bank with the fewest views among those with room. The answer holds until the next call.
const std::vector<size_t>& StagedKernel::places(const std::vector<Move>& moves,
                                                const Staging& staging, Missing* missing) const {
  auto& [order, need, left, crowd, banks] = places_;
  const auto room = static_cast<double>(rates_->bank_bytes);
  order.clear();
  need.clear();
  double all = 0, most = 0;
  for (size_t v = 0; v < moves.size(); ++v) {
    need.push_back(staging.held(moves[v], v));
    all += need[v];
    most = std::max(most, need[v]);
  }
  // Mostly that is all there is to say.
  const bool has_room = most <= room && all <= room * static_cast<double>(rates_->banks);
  if (!missing && (!has_room || rates_->banks == 1)) {
    banks.assign(has_room ? moves.size() : 0, 0);
    return banks;
  }
  for (size_t v = 0; v < moves.size(); ++v) {
    // There are few views: each goes behind those that need as much.
    size_t at = v;
    while (at > 0 && need[order[at - 1]] < need[v]) --at;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), v);
  }
  left.assign(static_cast<size_t>(rates_->banks), room);
  crowd.assign(left.size(), 0);
  banks.assign(moves.size(), 0);
  for (size_t v : order) {
    size_t best = left.size();
    for (size_t bank = 0; bank < left.size() && (best == left.size() || crowd[best] > 0); ++bank)
      if (left[bank] >= need[v] && (best == left.size() || crowd[bank] < crowd[best])) best = bank;
    if (best == left.size()) {
      if (missing)
        *missing = {tiled_.views[v].name, need[v], *std::max_element(left.begin(), left.end())};
      banks.clear();
      return banks;
    }
    left[best] -= need[v];
    ++crowd[best];
    banks[v] = best;
  }
  return banks;
}

std::optional<StagedKernel::Missing> StagedKernel::missing(const Tile& tile) const {
  if (!scratchpad_banks_.empty()) return std::nullopt;
  const std::vector<Move>& parts = moves(tile);
  ViewSet in_parts;
  for (size_t v = 0; v < parts.size(); ++v) in_parts[v] = !(parts[v].reads && parts[v].writes);
  Missing out;
  if (!places(parts, in_tiles(in_parts), &out).empty()) return std::nullopt;
  return out;
}

// Cycles of the busiest port for one tile: the operands, and what is copied in and out meanwhile.
double StagedKernel::ports(const std::vector<Move>& moves, const std::vector<size_t>& banks,
                           const ViewSet& transferred) const {
  std::vector<double>& bytes = port_bytes_;
  bytes.assign(static_cast<size_t>(rates_->banks) * rates_->ports.size(), 0);
  for (size_t v = 0; v < moves.size(); ++v) {
    const auto add = [&](size_t use, double moved) {
      if (rates_->port_of[use] >= 0)
        bytes[banks[v] * rates_->ports.size() + static_cast<size_t>(rates_->port_of[use])] += moved;
    };
    const Move& move = moves[v];
    for (size_t use = 0; use < kPortUses; ++use) add(use, move.operand[use]);
    if (transferred[v] && move.reads) add(static_cast<size_t>(PortUse::copy_in), move.held);
    if (transferred[v] && move.writes) add(static_cast<size_t>(PortUse::copy_out), move.held);
  }
  double out = 0;
  for (size_t n = 0; n < bytes.size(); ++n)
    out = std::max(out, bytes[n] / rates_->ports[n % rates_->ports.size()]);
  return out;
}

StagedKernel::Transfers StagedKernel::transfers(const std::vector<Move>& moves,
                                                const ViewSet& which, bool writes,
                                                bool whole) const {
  const StagedRates::Way& way = writes ? rates_->out : rates_->in;
  Transfers out;
  double longest = 0, bytes = 0;
  for (size_t v = 0; v < moves.size(); ++v) {
    if (!which[v] || !(writes ? moves[v].writes : moves[v].reads)) continue;
    if (whole && moves[v].temporary) continue;
    const double moved = whole ? moves[v].whole : moves[v].bytes,
                 rows = whole ? moves[v].whole_rows : moves[v].rows;
    const double takes =
        way.latency + std::max(way.bytes > 0 ? std::ceil(moved / way.bytes) : 0, rows);
    out.rows += rows;
    out.in_a_row += takes;
    longest = std::max(longest, takes);
    bytes += moved;
  }
  out.busy = std::max(
      {out.in_a_row / rates_->movers, way.together > 0 ? bytes / way.together : 0, out.rows});
  out.beside = std::max(out.busy, longest);
  return out;
}

double StagedKernel::whole_cycles(const BlockWork& work) const {
  return std::ceil(pace_.cycles(work) - 1e-9) * rates_->unit_cycle;
}

const StagedKernel::TileWork& StagedKernel::work(const Tile& tile,
                                                 const std::vector<Move>& moves) const {
  TileWork& out = work_;
  if (!out.bytes.empty() && tile == work_of_) return out;
  work_of_ = tile;
  Tile& part = part_;
  part = tile;
  out.parts = out.rounds = 1;
  out.bytes.clear();
  if (rates_->spread) {
    const auto instances = static_cast<int64_t>(rates_->instances);
    const PartChoice cut = spread_parts(
        shape_, views_, tile, outputs_,
        {rates_->unit, &pace_, rates_, rates_->unit_cycle, instances, rates_->banks}, known_parts_);
    for (size_t n = 0; n < outputs_.size(); ++n) part[outputs_[n]] = cut.tiles[n];
    out.parts = static_cast<double>(cut.parts);
    out.rounds = static_cast<double>(ceil_div(cut.parts, instances));
  }
  out.whole.assign(moves.size(), 1);
  out.in_part = out.whole;
  std::vector<int64_t> packed;
  const BlockWork& work = shape_.work(part);
  for (size_t v = 0; v < moves.size(); ++v) {
    out.bytes.push_back(views_.uses[v].bytes(work, shape_.footprint(v, part)));
    if (rates_->port_banks <= 1) continue;
    const auto conflicts = [&](int64_t stride_bytes) {
      return bank_conflicts(stride_bytes, rates_->port_banks, rates_->port_bank_bytes);
    };
    out.whole[v] = conflicts(shape_.inner_stride(v, part));
    // In the scratchpad a tile lies packed.
    shape_.packed_strides(v, tile, packed);
    out.in_part[v] = conflicts(shape_.inner_stride(v, part, packed));
  }
  out.computes = whole_cycles(work);
  return out;
}

StagedKernel::Operation StagedKernel::operation(const TileWork& work, std::vector<Move>& moves,
                                                const Staging& staging,
                                                const std::vector<size_t>& banks) const {
  const double parts = work.parts, rounds = work.rounds, computes = work.computes;
  for (size_t v = 0; v < moves.size(); ++v) {
    const OperandBytes& bytes = work.bytes[v];
    const double times = parts * (staging.in_parts[v] ? work.in_part[v] : work.whole[v]);
    const bool goes_on = moves[v].reads || staging.steps > 1;
    moves[v].operand = {};
    const auto add = [&](PortUse use, double moved) {
      moves[v].operand[static_cast<size_t>(use)] += times * moved;
    };
    add(views_.read_uses[v], bytes.read);
    add(PortUse::sums, bytes.sums_inside + (goes_on ? bytes.sums_before : 0));
    add(PortUse::results, bytes.written);
  }
  const double port = ports(moves, banks, {});
  const double overhead = rates_->unit->overhead_cycles * rates_->unit_cycle;
  Operation out;
  out.parts = parts;
  out.part_takes = overhead + computes;
  out.port = port;
  for (const Move& move : moves)
    out.part_bytes += std::accumulate(move.operand.begin(), move.operand.end(), 0.0) / parts;
  out.takes = rounds * overhead + std::max(rounds * computes, port);
  // Tiles with fewer parts than there are instances run as a whole beside each other. Others fill
  // the instances.
  const double beside = std::floor(rates_->instances / parts);
  out.busy = !rates_->spread
                 ? out.takes / rates_->instances
                 : std::max(beside >= 1 ? (overhead + computes) / beside
                                        : parts * (overhead + computes) / rates_->instances,
                            port);
  return out;
}

// Parts run in rounds, as many at once as there are instances, while the next tile is copied in.
// Operands move as fast as they can (C7): while they do, nobody gets less of the port than another
// one, unless it wants less (C6). After that the transfers have it alone.
void StagedKernel::share_port(const Operation& operation, StagedTime& time) const {
  const double port = rates_->ports[0], transfer = narrower_rate(rates_->in.bytes, port);
  double left = time.bring * transfer;  // bytes of the transfer
  double brings = 0, takes = 0, moving = 0;
  for (double parts_left = operation.parts; parts_left > 0; parts_left -= rates_->instances) {
    const double parts = std::min(parts_left, rates_->instances);
    double operands = parts * operation.part_bytes / port, beside = 0;
    if (left > 0) {
      const double share = std::min(transfer, port / (parts + 1));
      beside = std::min(left / share, parts * operation.part_bytes / (port - share));
      operands += beside * share / port;
      left -= beside * share;
    }
    const double round = std::max(operation.part_takes, operands);
    const double alone = std::min(left / transfer, std::max(0.0, round - operands));
    brings += beside + alone;
    left -= alone * transfer;
    if (left < 1e-6) left = 0;
    takes += round;
    moving += operands;
  }
  time.bring = brings + left / transfer;
  time.operation = std::max(time.operation, takes);
  // A copy-out is beside the operands of all steps of another tile.
  moving *= time.steps;
  const double back = narrower_rate(rates_->out.bytes, port), bytes = time.take_away * back;
  const double share = std::min(back, port / (std::min(operation.parts, rates_->instances) + 2));
  time.take_away =
      bytes <= share * moving ? bytes / share : moving + (bytes - share * moving) / back;
}

void StagedKernel::fill_room(const std::vector<Move>& moves, Staging& staging) const {
  const double most = std::min(staging.tiles, static_cast<double>(rates_->depth));
  int64_t fits_with = 0, too_many = static_cast<int64_t>(most) + 1;
  // Mostly there is room for all, or for none.
  for (int64_t next = too_many - 1; fits_with + 1 < too_many; next = (fits_with + too_many) / 2) {
    staging.under_way = next;
    (!places(moves, staging).empty() ? fits_with : too_many) = next;
  }
  staging.under_way = fits_with;
}

StagedTime StagedKernel::all_in_scratchpad(double tiles, const TileWork& work,
                                           const std::vector<Move>& moves) const {
  std::vector<Move>& parts = parts_;
  parts = moves;
  StagedTime out;
  const ViewSet once = ViewSet().set();
  out.tiles = tiles;
  out.under_way = rates_->spread ? 1 : static_cast<int64_t>(std::min(out.tiles, rates_->instances));
  out.whole =
      transfers(parts, once, false, true).beside + transfers(parts, once, true, true).beside;
  const Operation operation = this->operation(work, parts, in_tiles({}), scratchpad_banks_);
  out.operation = operation.takes;
  const auto beside = static_cast<double>(out.under_way);
  out.period = std::max(operation.takes / beside, operation.port);
  out.cycles = out.whole + std::max(std::ceil(out.tiles / beside) * operation.takes,
                                    out.tiles * operation.port);
  moved_.clear();
  used_.clear();
  for (size_t v = 0; v < parts.size(); ++v) {
    moved_.push_back(parts[v].whole);
    used_.push_back(used(work, v, out.tiles, out.tiles));
  }
  out.energy_pj = energy(moved_, used_);
  out.cost = weighed(out.cycles, out.energy_pj);
  return out;
}

StagedTime StagedKernel::tile_by_tile(const TileWork& work, const std::vector<Move>& moves,
                                      const Staging& staging) const {
  std::vector<Move>& parts = parts_;
  parts = moves;
  StagedTime out;
  out.tiles = staging.tiles;
  out.steps = staging.steps;
  out.under_way = staging.under_way;
  out.steps_under_way = staging.steps_under_way;
  const ViewSet once = ~staging.in_parts, each_step = staging.in_parts & staging.by_step,
                each_tile = staging.in_parts & ~staging.by_step;
  const bool has_steps = staging.steps > 1;
  out.whole =
      transfers(parts, once, false, true).beside + transfers(parts, once, true, true).beside;
  const std::vector<size_t>& banks = places(parts, staging);
  const Operation operation = this->operation(work, parts, staging, banks);
  out.operation = operation.takes;
  const Transfers of_step = transfers(parts, has_steps ? each_step : each_tile, false, false),
                  of_results = transfers(parts, each_tile, true, false),
                  of_tile = has_steps ? transfers(parts, each_tile, false, false) : Transfers();
  out.bring = of_step.in_a_row;
  out.take_away = of_results.in_a_row;
  if (rates_->spread && rates_->one_port && rates_->banks == 1) share_port(operation, out);
  // What takes longer beside the operands keeps the transfer unit so much longer.
  const auto busy = [](const Transfers& alone, double takes) {
    return alone.in_a_row > 0 ? alone.busy * takes / alone.in_a_row : 0;
  };
  const double first = of_tile.in_a_row;  // before the steps of a tile
  double port = ports(parts, banks, has_steps ? each_step : each_tile);
  const double step =
      std::max({out.operation, out.bring,
                (out.bring + out.operation) / static_cast<double>(staging.steps_under_way), port});
  const double in = of_tile.busy + staging.steps * busy(of_step, out.bring),
               back = busy(of_results, out.take_away);
  const double one = first + out.bring + out.operation + (staging.steps - 1) * step + out.take_away;
  if (has_steps) port = staging.steps * port + ports(parts, banks, staging.in_parts) - port;
  const double rows = of_tile.rows + staging.steps * of_step.rows + of_results.rows;
  out.period =
      std::max({staging.steps * operation.busy, rates_->in_turns ? in + back : std::max(in, back),
                rows, port, one / static_cast<double>(staging.under_way)});
  out.cycles = out.whole + one + (out.tiles - 1) * out.period + late_start(parts, staging, out);
  moved_.clear();
  used_.clear();
  for (size_t v = 0; v < parts.size(); ++v) {
    const double times = out.tiles * (each_step[v] ? out.steps : 1);
    moved_.push_back(staging.in_parts[v] ? times * parts[v].bytes : parts[v].whole);
    used_.push_back(used(work, v, out.tiles * out.steps, out.tiles));
  }
  out.energy_pj = energy(moved_, used_);
  out.cost = out.cycles;
  // Whoever reads a temporary that could have stayed has to bring it.
  ViewSet gone;
  for (size_t v = 0; v < parts.size(); ++v)
    if (staging.in_parts[v] && parts[v].temporary && parts[v].writes &&
        tensors_[v].bytes <= rates_->bank_bytes) {
      gone[v] = true;
      parts[v].temporary = false;
      parts[v].reads = true;
    }
  out.cost = weighed(out.cost + transfers(parts, gone, false, true).beside, out.energy_pj);
  return out;
}

// A tile's transfers follow one another. Other instances of the transfer unit bring the next tiles
// meanwhile. If one of them fills the bus, all of these come together, and the first one late: the
// bus waits for an operation once, or the operations for the bus.
double StagedKernel::late_start(const std::vector<Move>& parts, const Staging& staging,
                                const StagedTime& time) const {
  double bytes = 0;
  for (size_t v = 0; v < parts.size(); ++v)
    if (parts[v].reads && staging.in_parts[v] && (staging.steps <= 1 || staging.by_step[v]))
      bytes += parts[v].bytes;
  if (bytes <= 0 || rates_->in.together <= 0) return 0;
  const double all = staging.tiles * staging.steps,
               under_way = static_cast<double>(staging.under_way * staging.steps_under_way);
  const double together = std::min({rates_->movers, under_way, all});
  const double one = bytes / rates_->in.together;
  // With more tiles under way than instances, a bus that is busiest always has one to bring.
  const bool catches_up = time.period / staging.steps <= one && under_way > rates_->movers;
  return catches_up ? 0 : std::clamp(together * one - time.bring, 0.0, time.operation);
}

StagedKernel::Used StagedKernel::once(size_t view, double bytes) const {
  return {tiled_.views[view].reads() ? bytes : 0, tiled_.views[view].writes() ? bytes : 0};
}

StagedKernel::Used StagedKernel::used(const TileWork& work, size_t view, double operations,
                                      double first) const {
  const OperandBytes& bytes = work.bytes[view];
  const double go_on = operations - (tiled_.views[view].reads() ? 0 : first);
  return {work.parts * (operations * (bytes.read + bytes.sums_inside) + go_on * bytes.sums_before),
          work.parts * operations * bytes.written};
}

double StagedKernel::energy(const std::vector<double>& moved, const std::vector<Used>& used) const {
  double out = 0;
  for (size_t v = 0; v < tiled_.views.size(); ++v) {
    const TiledView& view = tiled_.views[v];
    out += used[v].read * rates_->read_pj + used[v].written * rates_->write_pj;
    if (tensors_[v].temporary) continue;
    if (view.reads()) out += moved[v] * rates_->in.pj;
    if (view.writes()) out += moved[v] * rates_->out.pj;
  }
  return out;
}

double StagedKernel::weighed(double cycles, double energy_pj) const {
  if (least_energy_ <= 0 || energy_pj <= least_energy_) return cycles;
  return cycles * std::pow(energy_pj / least_energy_, kEnergyPower);
}

StagedKernel::ViewSet StagedKernel::moved_by_steps(const Tile& tile) const {
  ViewSet out;
  for (size_t v = 0; v < tiled_.views.size(); ++v) {
    const TiledView& view = tiled_.views[v];
    const auto moves = [&](const TiledDim::Term& term) {
      const TiledBlock::Index& index = tiled_.indices[term.index];
      return index.reduction && tile[term.index] < index.range;
    };
    out[v] = std::any_of(view.dims.begin(), view.dims.end(), [&](const TiledDim& dim) {
      return std::any_of(dim.terms.begin(), dim.terms.end(), moves);
    });
  }
  return out;
}

bool StagedKernel::may_cut_reductions() const {
  return std::none_of(tiled_.views.begin(), tiled_.views.end(), [](const TiledView& view) {
    return view.writes() && (view.reads() || view.sum_bytes != view.element_bytes);
  });
}

Result<TileSpace> StagedKernel::space(TileFilter filter) const {
  filter.cut_reductions &= may_cut_reductions();
  Result<TileSpace> out = tile_space(tiled_, filter);
  if (!out.ok() || !filter.cut_reductions) return out;
  const std::vector<TiledBlock::Index>& indices = tiled_.indices;
  size_t longest = indices.size();
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i].reduction &&
        (longest == indices.size() || indices[i].range > indices[longest].range))
      longest = i;
  TileSpace fewer = *out;
  Tile smallest;
  for (size_t i = 0; i < fewer.size(); ++i) {
    if (indices[i].reduction && i != longest) fewer[i] = {fewer[i].back()};
    smallest.push_back(fewer[i].front());
  }
  return missing(smallest) ? *std::move(out) : fewer;
}

StagedTime StagedKernel::time(const Tile& tile) const {
  const std::vector<Move>& parts = moves(tile);
  const TileWork& work = this->work(tile, parts);
  const double tiles = tiles_of(tiled_, tile), results = output_tiles_of(tiled_, tile);
  StagedTime out;
  out.tiles = tiles;
  out.cycles = out.cost = kNone;
  if (!scratchpad_banks_.empty()) {
    if (!rates_->spread) {
      out = one_operation_;
      out.tiles = tiles;
    }
    // Tiles that add to one part of the result have to wait for each other.
    if (results == tiles && (rates_->spread || rates_->instances > 1)) {
      StagedTime beside = all_in_scratchpad(tiles, work, parts);
      if (beside.cost < out.cost) out = std::move(beside);
    }
  }
  if (tiles < 2) return out;
  ViewSet in_parts;
  const auto try_with = [&](Staging staging) {
    fill_room(parts, staging);
    if (staging.under_way == 0) return;
    const StagedTime next = tile_by_tile(work, parts, staging);
    if (next.cost >= out.cost) return;
    out = next;
    in_parts = staging.in_parts;
  };
  const auto look_at = [&](const std::vector<size_t>& order) {
    Staging staging = in_tiles({});
    const bool has_steps = results < tiles;
    if (has_steps) staging.by_step = moved_by_steps(tile);
    staging.tiles = results;
    staging.steps = tiles / results;
    // Between its steps a part of the result stays where it is.
    for (size_t v = 0; has_steps && v < parts.size(); ++v)
      staging.in_parts[v] = parts[v].writes && !parts[v].reads;
    for (size_t v : order) {
      if (parts[v].reads && parts[v].writes) continue;
      if (has_steps && parts[v].writes) continue;
      staging.in_parts[v] = true;
      staging.steps_under_way = 1;
      try_with(staging);
      if (!has_steps || rates_->instance_depth < 2) continue;
      staging.steps_under_way = 2;
      try_with(staging);
    }
  };
  for (const std::vector<size_t>& order : orders_) look_at(order);
  for (size_t v = 0; v < parts.size(); ++v)
    if (in_parts[v]) out.in_parts.push_back(v);
  return out;
}

StagedKernel::Alone StagedKernel::alone(const Tile& tile, bool goes_on) const {
  std::vector<Move> parts = moves(tile);
  Staging staging = in_tiles(ViewSet().set());
  staging.steps = goes_on ? 2 : 1;
  std::vector<size_t> banks;
  for (size_t v = 0; v < parts.size(); ++v)
    banks.push_back(v % static_cast<size_t>(std::max<int64_t>(rates_->banks, 1)));
  const Operation operation = this->operation(work(tile, parts), parts, staging, banks);
  return {operation.takes, operation.busy, operation.port,
          std::min(operation.parts, rates_->instances)};
}

void StagedKernel::operand_cycles(const Tile& tile, bool goes_on,
                                  std::vector<double>& cycles) const {
  std::vector<Move>& parts = parts_;
  parts = moves(tile);
  Staging staging = in_tiles(ViewSet().set());
  staging.steps = goes_on ? 2 : 1;
  operation(work(tile, parts), parts, staging, std::vector<size_t>(parts.size(), 0));
  const size_t ports = rates_->ports.size();
  cycles.assign(parts.size() * ports, 0);
  for (size_t v = 0; v < parts.size(); ++v)
    for (size_t use = 0; use < kPortUses; ++use)
      if (const int port = rates_->port_of[use]; port >= 0)
        cycles[v * ports + static_cast<size_t>(port)] +=
            parts[v].operand[use] / rates_->ports[static_cast<size_t>(port)];
}

double StagedKernel::least_alone(const Tile& tile) const {
  const double overhead = rates_->unit->overhead_cycles * rates_->unit_cycle;
  return overhead + (rates_->spread ? least_operation_ * rates_->unit_cycle / all_points_ *
                                          points_of(tile) / rates_->instances
                                    : whole_cycles(shape_.work(tile)));
}

void StagedKernel::shown(const Tile& tile, std::vector<double>& held, std::vector<double>& moved,
                         std::vector<double>& rows) const {
  held.clear();
  moved.clear();
  rows.clear();
  for (size_t v = 0; v < shape_.views(); ++v) {
    const Footprint footprint = shape_.footprint(v, tile);
    held.push_back(footprint.bytes);
    moved.push_back(lines(footprint));
    rows.push_back(rates_->dram ? rates_->row_cycles(shape_.walk(v, tile)) : 0);
  }
}

double StagedKernel::bound(const Tile& low, const Tile& high) const {
  // Rounding, here and in the time, must never make a bound too high.
  constexpr double kRounding = 1 - 1e-9;
  const double operation =
      (least_operation_ + tiles_of(tiled_, high) * rates_->unit->overhead_cycles) *
      rates_->unit_cycle / rates_->instances;
  double in = 0, back = 0;
  std::vector<double> moved;
  std::vector<Used> used;
  for (size_t v = 0; v < tiled_.views.size(); ++v) {
    const TiledView& view = tiled_.views[v];
    const double bytes = std::min(static_cast<double>(tensors_[v].bytes),
                                  all_points_ * least_elements_of_point(view, low, high) *
                                      static_cast<double>(view.element_bytes));
    moved.push_back(bytes);
    used.push_back(once(v, bytes));
    // It may stay in the scratchpad.
    if (tensors_[v].temporary && tensors_[v].bytes <= rates_->bank_bytes) continue;
    if (view.reads()) in += bytes;
    if (view.writes()) back += bytes;
  }
  in = rates_->in.together > 0 ? in / rates_->in.together : 0;
  back = rates_->out.together > 0 ? back / rates_->out.together : 0;
  // What the first tile reads comes before its operation, and what the last one writes goes after
  // that.
  double cycles = std::max({operation + ends_bound(low), in, back});
  if (low == high) cycles = std::max(cycles, tile_bound(low, moved));
  return weighed(cycles, energy(moved, used)) * kRounding;
}

double StagedKernel::tile_bound(const Tile& tile, std::vector<double>& moved) const {
  const double tiles = tiles_of(tiled_, tile), results = output_tiles_of(tiled_, tile);
  if (tiles < 2) return 0;
  const bool has_steps = results < tiles;
  const ViewSet by_step = has_steps ? moved_by_steps(tile) : ViewSet();
  // A transfer moves no more than its own way carries, and all together no more than the buses.
  struct {
    double in_a_row = 0, bytes = 0;
    double busy(const StagedRates::Way& way, double movers) const {
      return std::max(in_a_row / movers, way.together > 0 ? bytes / way.together : 0);
    }
  } in, out;
  const std::vector<Move>& parts = moves(tile);
  const bool all_fit = !scratchpad_banks_.empty();
  for (size_t v = 0; v < parts.size(); ++v) {
    const Move& move = parts[v];
    const double times = !has_steps || by_step[v] ? tiles : results;
    // As a whole once, if it fits; the result of steps comes in parts.
    const bool may_be_whole =
        (move.reads && move.writes) ||
        (move.whole <= static_cast<double>(rates_->bank_bytes) && !(has_steps && move.writes));
    const double whole = move.temporary ? 0 : move.whole;
    const auto add = [&](auto& to, const StagedRates::Way& way) {
      const auto takes = [&](double bytes) {
        return way.latency + (way.bytes > 0 ? bytes / way.bytes : 0);
      };
      const double row = times * takes(move.bytes);
      to.in_a_row += !may_be_whole ? row : whole > 0 ? std::min(row, takes(whole)) : 0;
      to.bytes += may_be_whole ? std::min(times * move.bytes, whole) : times * move.bytes;
    };
    if (move.reads) add(in, rates_->in);
    if (move.writes) add(out, rates_->out);
    if (!may_be_whole && !all_fit) moved[v] = std::max(moved[v], times * move.bytes);
  }
  const double a = in.busy(rates_->in, rates_->movers), b = out.busy(rates_->out, rates_->movers);
  double least = rates_->in_turns ? a + b : std::max(a, b);
  const double overhead = rates_->unit->overhead_cycles * rates_->unit_cycle;
  if (!rates_->spread) {
    const BlockWork& work = shape_.work(tile);
    double operands = 0;
    for (size_t v = 0; v < parts.size() && rates_->one_port; ++v) {
      const OperandBytes bytes = views_.uses[v].bytes(work, shape_.footprint(v, tile));
      operands += bytes.read + bytes.written;
    }
    if (rates_->one_port) operands /= rates_->ports[0] * static_cast<double>(rates_->banks);
    const double takes = overhead + std::max(whole_cycles(work), operands);
    least = std::max(least, tiles * takes / rates_->instances);
  }
  // Nothing may come tile by tile, and one operation do all.
  return all_fit && !rates_->spread ? std::min(least, one_operation_.cycles) : least;
}

double StagedKernel::ends_bound(const Tile& low) const {
  double in = 0, out = 0;
  for (size_t v = 0; v < tiled_.views.size(); ++v) {
    const TiledView& view = tiled_.views[v];
    if (tensors_[v].temporary) continue;
    const double bytes = std::min(static_cast<double>(tensors_[v].bytes),
                                  elements_of(view, low) * static_cast<double>(view.element_bytes));
    const auto takes = [&](const StagedRates::Way& way) {
      return way.latency + (way.bytes > 0 ? bytes / way.bytes : 0);
    };
    if (view.reads()) in = std::max(in, takes(rates_->in));
    if (view.writes()) out = std::max(out, takes(rates_->out));
  }
  return in + out;
}

std::string to_string(const StagedTime& time) {
  if (time.tiles * time.steps < 2) return "one tile is all of it";
  if (time.under_way == 0) return "there is no room for it";
  std::string steps;
  if (time.steps > 1)
    steps = fmt::format(" steps={:.0f} steps_under_way={}", time.steps, time.steps_under_way);
  return fmt::format(
      "tiles={:.0f} under_way={}{} operation={:.0f} bring={:.0f} take_away={:.0f} whole={:.0f} "
      "period={:.0f} cycles={:.0f} energy_pJ={:.3g}",
      time.tiles, time.under_way, steps, time.operation, time.bring, time.take_away, time.whole,
      time.period, time.cycles, time.energy_pj);
}

}  // namespace stria::cost
