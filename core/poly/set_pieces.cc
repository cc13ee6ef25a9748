// SPDX-License-Identifier: Apache-2.0
// Cuts a set into pieces that a loop nest enumerates, and counts points with them.
//
// Each disjoint part is rewritten in coordinates t of its own: z = A t + b for the dims and
// existentials z. Equalities are solved over the integers (column operations of determinant +-1
// until one variable of the row is left, which is then a constant). Then, while it makes the box of
// the coordinates smaller, a strip 0 <= f(t) <= c becomes a coordinate itself: i mod 3 = 1 or 2,
// that is 1 <= i - 3 e <= 2, is enumerated by (e, w) with i = 3 e + w and not by (i, e).
//
// No number of a chart is the smallest of 64 bits, so that each can be negated.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "stria/poly/index_forms.h"
#include "stria/poly/integer_set.h"
#include "stria/poly/set_solver.h"

namespace stria {
namespace {

using Row = std::vector<int64_t>;

Status beyond_64_bits() {
  return make_error(StatusCode::out_of_range, "a number of an integer set does not fit in 64 bits");
}

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

// The points z = A t + b, t integer, that meet the rows; all rows are over t, the constant last.
struct Chart {
  std::vector<Row> dims;          // z of each dim
  std::vector<Row> equalities;    // == 0
  std::vector<Row> inequalities;  // >= 0
  size_t width = 0;               // number of t

  template <typename Function>
  bool each_row(Function&& function) {
    for (auto* rows : {&dims, &equalities, &inequalities})
      for (Row& row : *rows)
        if (!function(row)) return false;
    return true;
  }
  // t[to] -> t[to] + factor * t[by] in every form (so column `by` gains factor * column `to`).
  bool shear(size_t to, size_t by, int64_t factor) {
    return each_row([&](Row& row) {
      int64_t product = 0;
      return !__builtin_mul_overflow(row[to], factor, &product) &&
             !__builtin_add_overflow(row[by], product, &row[by]) && row[by] != kSmallest;
    });
  }
  // t[variable] becomes the constant `value` and leaves.
  bool fix(size_t variable, int64_t value) {
    --width;
    return each_row([&](Row& row) {
      int64_t product = 0;
      bool fits = !__builtin_mul_overflow(row[variable], value, &product) &&
                  !__builtin_add_overflow(row.back(), product, &row.back()) &&
                  row.back() != kSmallest;
      row.erase(row.begin() + static_cast<long>(variable));
      return fits;
    });
  }
};

// Solves the equalities. False in *possible if they have no integer solution.
Status solve(Chart& chart, bool* possible) {
  *possible = true;
  while (!chart.equalities.empty()) {
    // Column steps of Euclid's algorithm on the last equality; later variables (existentials) go
    // first.
    while (true) {
      const Row& row = chart.equalities.back();
      size_t pivot = chart.width;
      int others = 0;
      for (size_t i = chart.width; i-- > 0;) {
        if (row[i] == 0) continue;
        ++others;
        if (pivot == chart.width || std::abs(row[i]) < std::abs(row[pivot])) pivot = i;
      }
      if (others == 0) {
        if (row.back() != 0) *possible = false;
        chart.equalities.pop_back();
        break;
      }
      if (others == 1) {
        if (row.back() % row[pivot] != 0) {
          *possible = false;
          return {};
        }
        int64_t value = -(row.back() / row[pivot]);
        chart.equalities.pop_back();
        if (!chart.fix(pivot, value)) return beyond_64_bits();
        break;
      }
      int64_t divisor = row[pivot];
      for (size_t i = 0; i < chart.width; ++i) {
        if (i == pivot || chart.equalities.back()[i] == 0) continue;
        int64_t quotient = chart.equalities.back()[i] / divisor;
        if (!chart.shear(pivot, i, -quotient)) return beyond_64_bits();
      }
    }
    if (!*possible) return {};
  }
  return {};
}

std::vector<std::string> coordinate_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("t{}", i));
  return names;
}

Affine form_of(const Row& row, const std::vector<std::string>& names) {
  Affine out(row.back());
  for (size_t i = 0; i < names.size(); ++i) out.add_term(names[i], row[i]);
  return out;
}

Result<std::vector<Interval>> coordinate_ranges(const Chart& chart) {
  std::vector<std::string> names = coordinate_names(chart.width);
  IntegerSet set(names);
  for (const Row& row : chart.inequalities) set.add_ge(form_of(row, names));
  std::vector<Interval> out;
  for (const std::string& name : names) {
    STRIA_ASSIGN(Bounds bounds, set.bounds(Affine::of(name)));
    if (!bounds.lower || !bounds.upper)
      return make_error(StatusCode::out_of_range, "an infinite set cannot be enumerated");
    out.push_back({*bounds.lower, *bounds.upper});
  }
  return out;
}

// g f + r + c >= 0 where r alone cannot carry the sum over a multiple of g is f + k >= 0: after
// i = 4 q + w with 0 <= w < 4 the rule 4 q - 8 b + w >= 0 is q - 2 b >= 0. False if a number does
// not fit.
bool tighten(Chart& chart, const std::vector<Interval>& ranges) {
  for (Row& row : chart.inequalities) {
    std::set<int64_t, std::greater<>> divisors;
    for (size_t i = 0; i < chart.width; ++i)
      if (std::abs(row[i]) > 1) divisors.insert(std::abs(row[i]));
    for (int64_t divisor : divisors) {
      __int128 lower = row.back(), upper = row.back();  // of r + c
      for (size_t i = 0; i < chart.width; ++i) {
        if (row[i] % divisor == 0) continue;
        __int128 a = static_cast<__int128>(row[i]) * ranges[i].lower,
                 b = static_cast<__int128>(row[i]) * ranges[i].upper;
        if (__builtin_add_overflow(lower, std::min(a, b), &lower) ||
            __builtin_add_overflow(upper, std::max(a, b), &upper))
          return false;
      }
      auto floor_of = [&](__int128 value) {
        return value / divisor - (value % divisor < 0 ? 1 : 0);
      };
      if (floor_of(lower) != floor_of(upper)) continue;
      for (size_t i = 0; i < chart.width; ++i)
        row[i] = row[i] % divisor == 0 ? row[i] / divisor : 0;
      row.back() = static_cast<int64_t>(floor_of(lower));
      if (row.back() != floor_of(lower) || row.back() == kSmallest) return false;
      break;
    }
  }
  return true;
}

// Makes the ranges rows of the chart: tighten() leaves rows that are right only within them, and
// they leave with the coordinates that straighten() replaces. False if a number does not fit.
bool keep_ranges(Chart& chart, const std::vector<Interval>& ranges) {
  for (size_t t = 0; t < chart.width; ++t) {
    if (ranges[t].lower == kSmallest || ranges[t].upper == kSmallest) return false;
    for (bool lower : {true, false}) {
      Row row(chart.width + 1);
      row[t] = lower ? 1 : -1;
      row.back() = lower ? -ranges[t].lower : ranges[t].upper;
      auto begin = chart.inequalities.begin(), end = chart.inequalities.end();
      if (std::find(begin, end, row) == end) chart.inequalities.push_back(std::move(row));
    }
  }
  return true;
}

// Makes one strip a coordinate if that shrinks the box; false in *changed if there is none.
Status straighten(Chart& chart, const std::vector<Interval>& ranges, bool* changed) {
  *changed = false;
  for (size_t a = 0; a < chart.inequalities.size(); ++a) {
    for (size_t b = a + 1; b < chart.inequalities.size(); ++b) {
      const Row& lower = chart.inequalities[a];
      const Row& upper = chart.inequalities[b];
      bool opposite = true;
      for (size_t i = 0; i < chart.width && opposite; ++i)
        opposite = lower[i] == -static_cast<__int128>(upper[i]);
      __int128 strip = static_cast<__int128>(lower.back()) + upper.back();
      if (!opposite || strip < 0) continue;
      size_t best = chart.width;
      for (size_t i = 0; i < chart.width; ++i) {
        if (std::abs(lower[i]) != 1) continue;
        __int128 range = static_cast<__int128>(ranges[i].upper) - ranges[i].lower;
        if (range > strip && (best == chart.width || ranges[i].upper - ranges[i].lower >
                                                         ranges[best].upper - ranges[best].lower))
          best = i;
      }
      if (best == chart.width) continue;
      // w = s t_best + rest, so t_best = s w - s rest (the constant may stay in the strip).
      Row strip_row = lower;
      int64_t sign = strip_row[best];
      for (size_t i = 0; i < chart.width; ++i)
        if (i != best && strip_row[i] != 0 && !chart.shear(best, i, -sign * strip_row[i]))
          return beyond_64_bits();
      if (sign < 0) chart.each_row([&](Row& row) { return row[best] = -row[best], true; });
      *changed = true;
      return {};
    }
  }
  return {};
}

}  // namespace

Result<std::optional<SetPiece>> IntegerSet::piece_of(const Part& part) const {
  Chart chart;
  chart.width = rank() + part.existentials;
  chart.equalities = part.equalities;
  chart.inequalities = part.inequalities;
  for (size_t d = 0; d < rank(); ++d) {
    Row row(chart.width + 1);
    row[d] = 1;
    chart.dims.push_back(std::move(row));
  }
  if (!chart.each_row(
          [](const Row& row) { return !std::count(row.begin(), row.end(), kSmallest); }))
    return beyond_64_bits();
  bool possible = true;
  STRIA_RETURN_IF_ERROR(solve(chart, &possible));
  if (!possible) return std::optional<SetPiece>();
  {
    std::vector<std::string> names = coordinate_names(chart.width);
    IntegerSet set(names);
    for (const Row& row : chart.inequalities) set.add_ge(form_of(row, names));
    STRIA_ASSIGN(bool nothing, set.is_empty());
    if (nothing) return std::optional<SetPiece>();
  }
  std::vector<Interval> ranges;
  for (bool changed = true; changed;) {
    STRIA_ASSIGN(ranges, coordinate_ranges(chart));
    if (!tighten(chart, ranges) || !keep_ranges(chart, ranges)) return beyond_64_bits();
    STRIA_RETURN_IF_ERROR(straighten(chart, ranges, &changed));
  }

  // Order and name the coordinates by the dims they carry; each then starts at 0 and counts upward
  // with its dim.
  std::vector<size_t> order(chart.width);
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<size_t> carried(chart.width, rank());
  std::vector<bool> claimed(rank());
  for (size_t d = 0; d < rank(); ++d)
    for (size_t t = 0; t < chart.width; ++t)
      if (chart.dims[d][t] != 0 && carried[t] == rank() && !claimed[d]) {
        carried[t] = d;
        claimed[d] = true;
      }
  for (size_t t = 0; t < chart.width; ++t)
    for (size_t d = 0; d < rank() && carried[t] == rank(); ++d)
      if (chart.dims[d][t] != 0) carried[t] = d;
  // The larger step is the outer index of those that carry one dim.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (carried[a] != carried[b]) return carried[a] < carried[b];
    if (carried[a] == rank()) return false;
    return std::abs(chart.dims[carried[a]][a]) > std::abs(chart.dims[carried[b]][b]);
  });
  SetPiece piece;
  std::set<std::string> used;
  std::map<std::string, Affine> shifts;  // t -> index plus start
  std::vector<std::pair<std::string, Interval>> extent;
  std::vector<std::string> names = coordinate_names(chart.width);
  for (size_t t : order) {
    int64_t lower = ranges[t].lower, upper = ranges[t].upper, range = 0;
    if (lower == upper) {
      shifts[names[t]] = Affine(lower);
      continue;
    }
    if (__builtin_sub_overflow(upper, lower, &range) || __builtin_add_overflow(range, 1, &range))
      return beyond_64_bits();
    std::string base = carried[t] < rank() ? dims_[carried[t]] : "e";
    std::string name = base;
    for (int i = 0; used.count(name) || (i > 0 && std::count(dims_.begin(), dims_.end(), name));
         ++i)
      name = fmt::format("{}_{}", base, i);
    used.insert(name);
    bool downward = carried[t] < rank() && chart.dims[carried[t]][t] < 0;
    shifts[names[t]] =
        downward ? Affine(upper) - Affine::of(name) : Affine(lower) + Affine::of(name);
    piece.indices.push_back({name, range});
    extent.emplace_back(name, Interval{0, range - 1});
  }
  auto shifted = [&](const Row& row, Affine* out) {
    // The constant part may leave int64 although the values do not.
    *out = Affine(0);
    __int128 constant = row.back();
    for (size_t t = 0; t < chart.width; ++t) {
      const Affine& shift = shifts[names[t]];
      constant += static_cast<__int128>(row[t]) * shift.constant();
      for (const auto& [name, coefficient] : shift.terms())
        out->add_term(name, row[t] * coefficient);
    }
    out->set_constant(static_cast<int64_t>(constant));
    return constant == out->constant();
  };
  for (const Row& row : chart.dims) {
    piece.point.emplace_back();
    if (!shifted(row, &piece.point.back())) return beyond_64_bits();
  }
  std::vector<Affine> constraints;
  for (const Row& row : chart.inequalities) {
    Affine form;
    if (!shifted(row, &form)) return beyond_64_bits();
    constraints.push_back(tightened(form));
  }
  piece.constraints = box(extent).needed(constraints);
  return std::optional<SetPiece>(std::move(piece));
}

Result<std::vector<SetPiece>> IntegerSet::pieces() const {
  auto names_one_dim = [&](const Row& row) {
    return std::count_if(row.begin(), row.end() - 1,
                         [](int64_t coefficient) { return coefficient != 0; }) <= 1;
  };
  bool is_box =
      parts_.size() == 1 && parts_[0].existentials == 0 &&
      std::all_of(parts_[0].equalities.begin(), parts_[0].equalities.end(), names_one_dim) &&
      std::all_of(parts_[0].inequalities.begin(), parts_[0].inequalities.end(), names_one_dim);
  IntegerSet cut = *this;
  if (!is_box) {
    STRIA_ASSIGN(cut, SetSolver::disjoint(*this));
  }
  std::vector<SetPiece> out;
  for (const Part& part : cut.parts_) {
    STRIA_ASSIGN(std::optional<SetPiece> piece, piece_of(part));
    if (piece) out.push_back(std::move(*piece));
  }
  return out;
}

Result<int64_t> IntegerSet::count_points(int64_t limit) const {
  STRIA_ASSIGN(std::vector<SetPiece> all, pieces());
  int64_t total = 0;
  for (const SetPiece& piece : all) {
    // The last index is counted by its interval, the others one by one, up to a number of rows that
    // keeps the time of a call bounded.
    constexpr int64_t kMaxRows = 10'000'000;
    size_t depth = piece.indices.size();
    bool constrained = !piece.constraints.empty();
    __int128 count = 1, rows = 1;
    for (size_t i = 0; i < depth; ++i) {
      count = std::min<__int128>(count * piece.indices[i].range, __int128{1} << 62);
      if (i + 1 < depth) rows = count;
    }
    if (constrained) {
      if (rows > kMaxRows)
        return make_error(StatusCode::unknown, "a set is too large to count: more than {} rows",
                          kMaxRows);
      count = 0;
      std::map<std::string, int64_t> at;
      for (const SetPiece::Index& index : piece.indices) at[index.name] = 0;
      const SetPiece::Index& last = piece.indices.back();
      for (int64_t row = 0; row < static_cast<int64_t>(rows); ++row) {
        int64_t rest = row;
        for (size_t i = depth - 1; i-- > 0; rest /= piece.indices[i].range)
          at[piece.indices[i].name] = rest % piece.indices[i].range;
        at[last.name] = 0;
        int64_t lower = 0, upper = last.range - 1;
        for (const Affine& form : piece.constraints) {
          int64_t value = form.evaluate(at);
          int64_t step = form.coefficient(last.name);
          if (step > 0) lower = std::max(lower, ceil_div(-value, step));
          if (step < 0) upper = std::min(upper, floor_div(value, -step));
          if (step == 0 && value < 0) upper = -1;
        }
        if (upper >= lower) count += upper - lower + 1;
      }
    }
    if (count > limit - total)
      return make_error(StatusCode::out_of_range, "a set has more than {} points", limit);
    total += static_cast<int64_t>(count);
  }
  return total;
}

}  // namespace stria
