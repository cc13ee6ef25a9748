// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged/spread_parts.h"

#include <algorithm>
#include <cmath>

namespace stria::cost {
namespace {

class Cuts {
 public:
  Cuts(KernelShape& shape, const SpreadViews& views, const Tile& tile,
       const std::vector<size_t>& along, const SpreadUnit& on, KnownParts& known)
      : shape_(shape), views_(views), along_(along), on_(on), known_(known), part_(tile) {
    for (size_t i : along) ranges_.push_back(tile[i]);
  }

  PartChoice best() {
    const auto [at, added] = known_.by_number.try_emplace(ranges_);
    if (added) at->second = choose_parts(ranges_, on_.instances, 1, true);
    best_ = at->second;
    if (on_.ports->ports.empty() || best_.parts < 2) return best_;
    const Time first = time_of(best_.tiles, best_.parts);
    if (first.operands <= first.computes) return best_;
    best_time_ = first.operands;
    for (int64_t range : ranges_) {
      std::vector<int64_t>& sizes = known_.sizes[range];
      if (sizes.empty()) sizes = part_sizes(range, on_.instances, 1, true);
      sizes_.push_back(&sizes);
    }
    present_.tiles.resize(ranges_.size());
    extend(0);
    return best_;
  }

 private:
  struct Time {
    double computes = 0, operands = 0;  // cycles
  };

  // Of all parts, round by round.
  Time time_of(const std::vector<int64_t>& tiles, int64_t parts) {
    for (size_t n = 0; n < along_.size(); ++n) part_[along_[n]] = tiles[n];
    const BlockWork& work = shape_.work(part_);
    const auto rounds = static_cast<double>(ceil_div(parts, on_.instances));
    Time out;
    out.computes = rounds * (on_.unit->overhead_cycles + std::ceil(on_.pace->cycles(work) - 1e-9)) *
                   on_.unit_cycle;
    std::array<double, kPortUses> bytes{};
    for (size_t v = 0; v < views_.uses.size(); ++v) {
      const OperandBytes moved = views_.uses[v].bytes(work, shape_.footprint(v, part_));
      const auto add = [&](PortUse use, double more) {
        if (const int port = on_.ports->port_of[static_cast<size_t>(use)]; port >= 0)
          bytes[static_cast<size_t>(port)] += more;
      };
      add(views_.read_uses[v], moved.read);
      add(PortUse::sums, moved.sums_inside);
      add(PortUse::results, moved.written);
    }
    const double times = static_cast<double>(parts) / static_cast<double>(on_.banks);
    for (size_t port = 0; port < on_.ports->ports.size(); ++port)
      out.operands = std::max(out.operands, times * bytes[port] / on_.ports->ports[port]);
    return out;
  }

  void extend(size_t at) {
    if (at == ranges_.size()) {
      const Time time = time_of(present_.tiles, present_.parts);
      const double takes = std::max(time.computes, time.operands);
      if (takes >= best_time_) return;
      best_time_ = takes;
      best_ = present_;
      return;
    }
    const PartChoice before = present_;
    const std::vector<int64_t>& sizes = *sizes_[at];
    for (size_t i = sizes.size(); i-- > 0;) {
      const int64_t size = sizes[i], count = ceil_div(ranges_[at], size);
      if (before.parts * count > on_.instances) continue;
      present_.tiles[at] = size;
      present_.parts = before.parts * count;
      present_.cuts = before.cuts + (count > 1 ? 1 : 0);
      extend(at + 1);
    }
    present_ = before;
  }

  KernelShape& shape_;
  const SpreadViews& views_;
  const std::vector<size_t>& along_;
  const SpreadUnit& on_;
  KnownParts& known_;
  Tile part_;
  std::vector<int64_t> ranges_;
  std::vector<const std::vector<int64_t>*> sizes_;  // that parts may have along each range
  PartChoice present_, best_;
  double best_time_ = 0;
};

}  // namespace

SpreadViews spread_views(const stripe::Block& block, const ExecutionUnit& unit) {
  SpreadViews out;
  const BlockWork work = work_of(block);
  for (const stripe::Refinement& ref : block.refs) {
    if (ref.dir == stripe::RefDir::none) continue;
    out.uses.emplace_back(unit, work, ref);
    out.read_uses.push_back(read_use(work, block, ref));
  }
  return out;
}

PartChoice spread_parts(KernelShape& shape, const SpreadViews& views, const Tile& tile,
                        const std::vector<size_t>& along, const SpreadUnit& on, KnownParts& known) {
  return Cuts(shape, views, tile, along, on, known).best();
}

}  // namespace stria::cost
