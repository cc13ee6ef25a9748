// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/group_plan.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "stria/cost/block/numbers.h"

namespace stria::cost {
namespace {

// The elements of a transaction.
int64_t elements_of_transaction(const GroupSettings& settings, DataType type) {
  return std::max<int64_t>(1, settings.mem_width / byte_size(type));
}

// How often lanes go round. They take a power of two of each range, in order, as long as there are
// lanes.
template <typename Range>
double rounds_of(size_t count, const Range& range, int64_t lanes) {
  double out = 1;
  for (size_t i = 0; i < count; ++i) {
    const int64_t taken = std::min(power_of_two_above(range(i)), lanes);
    out *= static_cast<double>(ceil_div(range(i), taken));
    lanes /= taken;
  }
  return out;
}

// Do neighbours along it lie in one transaction?
bool is_together(const CopySide& side, int64_t elements) {
  return 2 * magnitude(side.stride) < elements;
}

// A stable sort for the few indices of a kernel: it allocates nothing.
template <typename T, typename Less>
void sort_few(std::vector<T>& list, const Less& less) {
  for (size_t i = 1; i < list.size(); ++i)
    for (size_t k = i; k > 0 && less(list[k], list[k - 1]); --k) std::swap(list[k], list[k - 1]);
}

}  // namespace

void plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings,
                StagePlan& out) {
  out.indices.clear();
  out.merged.clear();
  for (size_t i = 0; i < input.strides.size(); ++i)
    if (input.strides[i] != 0) out.merged.emplace_back(i, i);
  sort_few(out.merged, [&](const auto& a, const auto& b) {
    return magnitude(input.strides[a.first]) < magnitude(input.strides[b.first]);
  });
  for (auto& [i, first] : out.merged) {
    const int64_t stride = magnitude(input.strides[i]);
    // An index whose step is no larger than what another one reaches walks through the same
    // elements.
    auto into = std::find_if(out.indices.begin(), out.indices.end(), [&](const StagedIndex& other) {
      return stride % other.global_stride == 0 && other.range >= stride / other.global_stride;
    });
    if (into == out.indices.end()) {
      out.indices.push_back({i, tile[i], stride, 0});
      continue;
    }
    into->range += stride / into->global_stride * (tile[i] - 1);
    first = into->first;
  }
  const int64_t width = elements_of_transaction(settings, input.type);
  int64_t all = 1, together = 1;
  for (const StagedIndex& index : out.indices) {
    all = saturating_product(all, index.range);
    together =
        std::max(together, std::min(width, saturating_product(index.global_stride, index.range)) /
                               index.global_stride);
  }
  out.transactions = all / together;
  // Odd ranges first: they need no padding to give what follows an odd stride.
  sort_few(out.indices, [](const StagedIndex& a, const StagedIndex& b) {
    if (a.range % 2 != b.range % 2) return a.range % 2 == 1;
    return a.range > b.range;
  });
  out.elements = 1;
  bool padded = false;
  for (StagedIndex& index : out.indices) {
    index.local_stride = out.elements;
    out.elements = saturating_product(out.elements, index.range);
    if (out.elements % 2 != 0) continue;
    ++out.elements;
    padded = true;
  }
  if (padded) --out.elements;
}

StagePlan plan_stage(const FlatTensor& input, const Tile& tile, const GroupSettings& settings) {
  StagePlan out;
  plan_stage(input, tile, settings, out);
  return out;
}

bool takes_lanes_before(const CopySide& a, const CopySide& b, int64_t elements) {
  const bool together = is_together(a, elements);
  if (together != is_together(b, elements)) return together;
  if (together) return magnitude(a.stride) < magnitude(b.stride);
  // At most 1; the larger, the better.
  const auto filled = [](const CopySide& side) {
    return static_cast<double>(side.range) / static_cast<double>(power_of_two_above(side.range));
  };
  if (filled(a) != filled(b)) return filled(a) > filled(b);
  return a.range > b.range;
}

CopyLanes plan_copy(const std::vector<int64_t>& ranges, const std::vector<int64_t>& strides,
                    int64_t group_lanes, int64_t elements, const BankedSide& other) {
  CopyLanes out;
  out.lanes.assign(ranges.size(), 1);
  for (size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i] > 1) out.order.push_back(i);
  const auto side = [&](size_t i) { return CopySide{ranges[i], strides[i]}; };
  std::stable_sort(out.order.begin(), out.order.end(), [&](size_t a, size_t b) {
    return takes_lanes_before(side(a), side(b), elements);
  });
  for (size_t n = 0; n < out.order.size(); ++n) {
    const size_t i = out.order[n];
    int64_t& lanes = out.lanes[i];
    lanes = std::min(power_of_two_above(ranges[i]), group_lanes / out.total);
    if (n == 0 && other.banks > 0 && is_together(side(i), elements)) {
      const auto rounds = [&](int64_t own) {
        const auto range = [&](size_t m) { return ranges[out.order[m + 1]]; };
        return static_cast<double>(ceil_div(ranges[i], own)) *
               rounds_of(out.order.size() - 1, range, group_lanes / own);
      };
      const int64_t apart = other.banks / std::gcd(other.strides[i], other.banks);
      const auto whole = [&] {
        return std::all_of(out.order.begin() + 1, out.order.end(),
                           [&](size_t m) { return strides[m] % lanes == 0; });
      };
      while (apart < other.banks && lanes > std::max(elements, apart) && !whole() &&
             rounds(lanes / 2) <= rounds(lanes))
        lanes /= 2;
    }
    out.total *= lanes;
  }
  return out;
}

CopyRounds copy_rounds(std::span<const int64_t> ranges, const CopyRows& rows, int64_t group_lanes) {
  const auto rounds = [&](int64_t vector) {
    const auto range = [&](size_t i) { return i == rows.index ? ranges[i] / vector : ranges[i]; };
    return rounds_of(ranges.size(), range, group_lanes);
  };
  if (rows.vector == 1) return {false, rounds(1)};
  const double vectors = rounds(rows.vector);
  if (!rows.across) return {true, vectors};
  const double singles = rounds(1);
  if ((1 + static_cast<double>(rows.vector)) * vectors > 2 * singles) return {false, singles};
  return {true, vectors};
}

std::vector<size_t> StagePlan::members(const StagedIndex& index) const {
  std::vector<size_t> out;
  for (const auto& [i, first] : merged)
    if (first == index.first) out.push_back(i);
  return out;
}

std::string StagePlan::name(const FlatKernel& kernel, const StagedIndex& index) const {
  std::string out;
  for (size_t i : members(index)) out += (out.empty() ? "" : "_") + kernel.indices[i].name;
  return out;
}

std::vector<int64_t> StagePlan::local_strides(const FlatTensor& input) const {
  std::vector<int64_t> out(input.strides.size(), 0);
  for (const StagedIndex& index : indices)
    for (size_t i : members(index))
      out[i] = index.local_stride * (magnitude(input.strides[i]) / index.global_stride);
  return out;
}

LanePlan plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings) {
  LanePlan out;
  plan_lanes(kernel, tile, settings, out);
  return out;
}

void plan_lanes(const FlatKernel& kernel, const Tile& tile, const GroupSettings& settings,
                LanePlan& out) {
  const std::vector<int64_t>& strides = kernel.output.strides;
  const int64_t width = elements_of_transaction(settings, kernel.output.type);
  out.indices.clear();
  out.lanes = out.accumulators = out.registers = out.transactions = 1;
  // By stride; of equal ones the last first.
  for (size_t i = strides.size(); i-- > 0;)
    if (strides[i] != 0) out.indices.push_back({i, 1, tile[i]});
  sort_few(out.indices, [&](const LanePlan::Index& a, const LanePlan::Index& b) {
    return magnitude(strides[a.index]) < magnitude(strides[b.index]);
  });
  if (!out.indices.empty()) {
    LanePlan::Index& first = out.indices[0];
    first.lanes = power_of_two_above(std::min({width, settings.threads, tile[first.index]}));
    out.lanes = first.lanes;
  }
  // Spread one index at a time over twice the lanes: one that divides evenly, else the one with the
  // fewest lanes.
  while (out.lanes < settings.threads) {
    LanePlan::Index* pick = nullptr;
    bool pick_is_even = false;
    for (LanePlan::Index& index : out.indices) {
      if (index.lanes >= tile[index.index]) continue;
      const bool even = tile[index.index] % (2 * index.lanes) == 0;
      if (pick && !(even && !pick_is_even) && index.lanes >= pick->lanes) continue;
      pick = &index;
      pick_is_even = even;
    }
    if (!pick) break;
    pick->lanes *= 2;
    out.lanes *= 2;
  }
  for (LanePlan::Index& index : out.indices) {
    index.steps = ceil_div(tile[index.index], index.lanes);
    out.accumulators = saturating_product(out.accumulators, index.steps);
    const bool contiguous = magnitude(kernel.output.strides[index.index]) == 1;
    out.transactions = saturating_product(
        out.transactions, contiguous ? ceil_div(tile[index.index], width) : tile[index.index]);
  }
  out.registers = saturating_product(settings.threads, out.accumulators);
}

GridPlan plan_grid(const FlatKernel& kernel, const Tile& tile) {
  GridPlan out;
  const std::vector<int64_t>& strides = kernel.output.strides;
  // By stride; of equal ones the last first.
  for (size_t i = strides.size(); i-- > 0;) {
    const int64_t groups = ceil_div(kernel.indices[i].range, tile[i]);
    if (strides[i] != 0 && groups > 1) out.indices.push_back({i, groups});
  }
  sort_few(out.indices, [&](const GridPlan::Index& a, const GridPlan::Index& b) {
    return magnitude(strides[a.index]) < magnitude(strides[b.index]);
  });
  // Numbers that are no powers of two come first: a dimension of their own decodes them best.
  std::stable_sort(out.indices.begin(), out.indices.end(),
                   [](const GridPlan::Index& a, const GridPlan::Index& b) {
                     const bool a_fits = power_of_two_above(a.groups) == a.groups,
                                b_fits = power_of_two_above(b.groups) == b.groups;
                     return a_fits != b_fits ? b_fits : a.groups < b.groups;
                   });
  for (GridPlan::Index& index : out.indices) {
    auto smallest = std::min_element(out.sizes.begin(), out.sizes.end());
    index.dimension = static_cast<int>(smallest - out.sizes.begin());
    // What was placed in the dimension before counts more slowly.
    for (GridPlan::Index& other : out.indices) {
      if (&other == &index) break;
      if (other.dimension == index.dimension) other.divisor *= index.groups;
    }
    *smallest = saturating_product(*smallest, index.groups);
  }
  return out;
}

}  // namespace stria::cost
