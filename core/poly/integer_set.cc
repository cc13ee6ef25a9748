// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/integer_set.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "stria/poly/set_solver.h"

namespace stria {
namespace {

using Wide = __int128;
using Row = std::vector<int64_t>;

// An interval that may be open on either side.
struct Range {
  std::optional<int64_t> lower;
  std::optional<int64_t> upper;
  bool empty() const { return lower && upper && *lower > *upper; }
};

// How a conjunction of rows looks through intervals alone.
struct BoxView {
  std::vector<Range> ranges;  // of dims and existentials: contain the part's
  bool exact = true;          // the part is this box: every row names one variable at most
  bool empty = false;         // certainly no point
};

// coefficient * variable + constant >= 0 (or == 0) narrows `range`.
void narrow(int64_t coefficient, int64_t constant, bool equality, BoxView* view, Range* range) {
  if (constant == std::numeric_limits<int64_t>::min() ||
      coefficient == std::numeric_limits<int64_t>::min()) {
    view->exact = false;
    return;
  }
  if (equality && constant % coefficient != 0) {
    view->empty = true;
    return;
  }
  if (coefficient > 0 || equality) {
    int64_t lower = equality ? -constant / coefficient : ceil_div(-constant, coefficient);
    range->lower = range->lower ? std::max(*range->lower, lower) : lower;
  }
  if (coefficient < 0 || equality) {
    int64_t upper = equality ? -constant / coefficient : floor_div(constant, -coefficient);
    range->upper = range->upper ? std::min(*range->upper, upper) : upper;
  }
  if (range->empty()) view->empty = true;
}

// Position of the one nonzero coefficient, -1 if there is none, -2 if there are several.
int single_variable(const Row& row) {
  int found = -1;
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    if (row[i] == 0) continue;
    if (found >= 0) return -2;
    found = static_cast<int>(i);
  }
  return found;
}

struct WideRange {
  std::optional<Wide> lower;
  std::optional<Wide> upper;
};

WideRange range_of(const Row& row, const std::vector<Range>& ranges) {
  WideRange out{row.back(), row.back()};
  auto add = [](std::optional<Wide>& sum, int64_t coefficient,
                const std::optional<int64_t>& value) {
    Wide next;
    if (sum && value &&
        !__builtin_add_overflow(*sum, static_cast<Wide>(coefficient) * *value, &next)) {
      sum = next;
    } else {
      sum.reset();
    }
  };
  for (size_t i = 0; i + 1 < row.size(); ++i) {
    if (row[i] == 0) continue;
    add(out.lower, row[i], row[i] > 0 ? ranges[i].lower : ranges[i].upper);
    add(out.upper, row[i], row[i] > 0 ? ranges[i].upper : ranges[i].lower);
  }
  return out;
}

template <typename Part>
BoxView box_view(const Part& part, size_t rank) {
  BoxView view;
  view.ranges.resize(rank + part.existentials);
  auto scan = [&](const std::vector<Row>& rows, bool equality) {
    for (const Row& row : rows) {
      int variable = single_variable(row);
      if (variable == -1) {
        if (equality ? row.back() != 0 : row.back() < 0) view.empty = true;
      } else if (variable == -2) {
        view.exact = false;
      } else {
        narrow(row[static_cast<size_t>(variable)], row.back(), equality, &view,
               &view.ranges[static_cast<size_t>(variable)]);
      }
    }
  };
  scan(part.equalities, true);
  scan(part.inequalities, false);
  if (view.empty || view.exact) return view;
  for (const Row& row : part.inequalities) {
    WideRange range = range_of(row, view.ranges);
    if (range.upper && *range.upper < 0) view.empty = true;
  }
  for (const Row& row : part.equalities) {
    WideRange range = range_of(row, view.ranges);
    if ((range.upper && *range.upper < 0) || (range.lower && *range.lower > 0)) view.empty = true;
  }
  return view;
}

// A try at a witness: the corner of the box where each variable is at its lower (or upper) limit.
template <typename Part>
bool corner_is_inside(const Part& part, const BoxView& view, bool upper) {
  std::vector<Range> corner;
  for (const Range& range : view.ranges) {
    const auto& first = upper ? range.upper : range.lower;
    const auto& second = upper ? range.lower : range.upper;
    int64_t value = first ? *first : second ? *second : 0;
    corner.push_back({value, value});
  }
  for (const Row& row : part.inequalities) {
    WideRange range = range_of(row, corner);
    if (!range.lower || *range.lower < 0) return false;
  }
  for (const Row& row : part.equalities) {
    WideRange range = range_of(row, corner);
    if (!range.lower || *range.lower != 0) return false;
  }
  return true;
}

template <typename Part>
std::optional<bool> quick_is_empty(const Part& part, size_t rank) {
  BoxView view = box_view(part, rank);
  if (view.empty) return true;
  if (view.exact || corner_is_inside(part, view, false) || corner_is_inside(part, view, true))
    return false;
  return std::nullopt;
}

std::optional<int64_t> narrow_to_int64(Wide value) {
  if (value < std::numeric_limits<int64_t>::min() || value > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return static_cast<int64_t>(value);
}

Status beyond_int64(const Affine& form) {
  return make_error(StatusCode::out_of_range, "a bound of {} does not fit in 64 bits",
                    form.to_string());
}

}  // namespace

IntegerSet::IntegerSet(std::vector<std::string> dims) : dims_(std::move(dims)), parts_(1) {
  for (size_t i = 0; i < dims_.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      STRIA_CHECK(dims_[i] != dims_[j], "two dims of a set are named '{}'", dims_[i]);
}

IntegerSet IntegerSet::box(const std::vector<std::pair<std::string, Interval>>& dims) {
  std::vector<std::string> names;
  for (const auto& [name, interval] : dims) names.push_back(name);
  IntegerSet out(std::move(names));
  for (size_t d = 0; d < dims.size(); ++d) {
    const Interval& interval = dims[d].second;
    if (interval.empty()) return empty(out.dims_);
    Row row(dims.size() + 1);
    if (interval.lower != std::numeric_limits<int64_t>::min()) {
      row[d] = 1;
      row.back() = -interval.lower;
      out.parts_[0].inequalities.push_back(row);
    }
    if (interval.upper != std::numeric_limits<int64_t>::max()) {
      row[d] = -1;
      row.back() = interval.upper;
      out.parts_[0].inequalities.push_back(row);
    }
  }
  return out;
}

IntegerSet IntegerSet::empty(std::vector<std::string> dims) {
  IntegerSet out(std::move(dims));
  out.parts_.clear();
  return out;
}

IntegerSet::Row IntegerSet::row_of(const Affine& form, size_t existentials) const {
  Row row(dims_.size() + existentials + 1);
  for (const auto& [name, coefficient] : form.terms()) {
    auto at = std::find(dims_.begin(), dims_.end(), name);
    STRIA_CHECK(at != dims_.end(), "the set over [{}] has no dim '{}'", fmt::join(dims_, ", "),
                name);
    row[static_cast<size_t>(at - dims_.begin())] = coefficient;
  }
  row.back() = form.constant();
  return row;
}

void IntegerSet::add_ge(const Affine& form) {
  for (Part& part : parts_) part.inequalities.push_back(row_of(form, part.existentials));
}

void IntegerSet::add_eq(const Affine& form) {
  for (Part& part : parts_) part.equalities.push_back(row_of(form, part.existentials));
}

Result<bool> IntegerSet::is_empty() const {
  IntegerSet undecided = empty(dims_);
  for (const Part& part : parts_) {
    std::optional<bool> answer = quick_is_empty(part, rank());
    if (answer == false) return false;
    if (!answer) undecided.parts_.push_back(part);
  }
  if (undecided.parts_.empty()) return true;
  return SetSolver::is_empty(undecided);
}

Result<Bounds> IntegerSet::bounds(const Affine& form) const {
  // Boxes answer by themselves; the solver gets the rest.
  std::optional<WideRange> known;
  IntegerSet undecided = empty(dims_);
  for (const Part& part : parts_) {
    BoxView view = box_view(part, rank());
    if (view.empty) continue;
    if (!view.exact) {
      undecided.parts_.push_back(part);
      continue;
    }
    WideRange range = range_of(row_of(form, part.existentials), view.ranges);
    if (!known) {
      known = range;
      continue;
    }
    known->lower = known->lower && range.lower
                       ? std::optional<Wide>(std::min(*known->lower, *range.lower))
                       : std::nullopt;
    known->upper = known->upper && range.upper
                       ? std::optional<Wide>(std::max(*known->upper, *range.upper))
                       : std::nullopt;
  }
  Bounds out;
  if (known) {
    if (known->lower && !(out.lower = narrow_to_int64(*known->lower))) return beyond_int64(form);
    if (known->upper && !(out.upper = narrow_to_int64(*known->upper))) return beyond_int64(form);
  }
  if (!undecided.parts_.empty()) {
    STRIA_ASSIGN(bool nothing, undecided.is_empty());
    if (!nothing) {
      STRIA_ASSIGN(Bounds more, SetSolver::bounds(undecided, form));
      if (!known) return more;
      out.lower = out.lower && more.lower
                      ? std::optional<int64_t>(std::min(*out.lower, *more.lower))
                      : std::nullopt;
      out.upper = out.upper && more.upper
                      ? std::optional<int64_t>(std::max(*out.upper, *more.upper))
                      : std::nullopt;
      return out;
    }
  }
  if (!known)
    return make_error(StatusCode::failed_precondition,
                      "the bounds of {} over an empty set were asked for", form.to_string());
  return out;
}

Result<bool> IntegerSet::implies(const Affine& form) const {
  IntegerSet outside = empty(dims_);
  for (const Part& part : parts_) {
    Row row = row_of(form, part.existentials);
    BoxView view = box_view(part, rank());
    if (view.empty) continue;
    WideRange range = range_of(row, view.ranges);
    if (range.lower && *range.lower >= 0) continue;
    if (view.exact) return false;
    bool stated =
        std::any_of(part.inequalities.begin(), part.inequalities.end(), [&](const Row& known) {
          return known.back() <= row.back() &&
                 std::equal(known.begin(), known.end() - 1, row.begin());
        });
    if (stated) continue;
    // form <= -1
    Part negated = part;
    for (int64_t& number : row)
      if (__builtin_sub_overflow(0, number, &number)) return beyond_int64(form);
    if (__builtin_sub_overflow(row.back(), 1, &row.back())) return beyond_int64(form);
    negated.inequalities.push_back(std::move(row));
    outside.parts_.push_back(std::move(negated));
  }
  return outside.is_empty();
}

Result<bool> IntegerSet::contains(const std::vector<int64_t>& point) const {
  STRIA_CHECK(point.size() == rank(), "a point of {} numbers asked of a set of rank {}",
              point.size(), rank());
  IntegerSet fixed = *this;
  for (Part& part : fixed.parts_)
    for (size_t d = 0; d < rank(); ++d) {
      Row row(rank() + part.existentials + 1);
      // -dim + value: the value itself always fits.
      row[d] = -1;
      row.back() = point[d];
      part.equalities.push_back(std::move(row));
    }
  STRIA_ASSIGN(bool nothing, fixed.is_empty());
  return !nothing;
}

Result<bool> IntegerSet::is_injective(const std::vector<Affine>& map) const {
  // A form with one dim that earlier forms have not fixed fixes it.
  std::vector<bool> fixed(rank());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Affine& form : map) {
      Row row = row_of(form, 0);
      int open = -1;
      for (size_t d = 0; d < rank(); ++d)
        if (row[d] != 0 && !fixed[d]) open = open == -1 ? static_cast<int>(d) : -2;
      if (open >= 0) fixed[static_cast<size_t>(open)] = changed = true;
    }
  }
  if (std::all_of(fixed.begin(), fixed.end(), [](bool known) { return known; })) return true;

  // Two points p, q with equal values where p comes after q: over (p, q), one part per dim in which
  // they first differ.
  std::vector<std::string> names;
  for (const char* side : {"p", "q"})
    for (size_t d = 0; d < rank(); ++d) names.push_back(fmt::format("{}{}", side, d));
  IntegerSet pairs = empty(names);
  for (const Part& left : parts_) {
    for (const Part& right : parts_) {
      size_t existentials = left.existentials + right.existentials;
      size_t width = 2 * rank() + existentials + 1;
      auto widen = [&](const Row& row, bool first) {
        Row out(width);
        size_t own = row.size() - 1 - rank();
        std::copy_n(row.begin(), rank(), out.begin() + static_cast<long>(first ? 0 : rank()));
        std::copy_n(row.begin() + static_cast<long>(rank()), own,
                    out.begin() + static_cast<long>(2 * rank() + (first ? 0 : left.existentials)));
        out.back() = row.back();
        return out;
      };
      Part base;
      base.existentials = existentials;
      for (const Row& row : left.equalities) base.equalities.push_back(widen(row, true));
      for (const Row& row : left.inequalities) base.inequalities.push_back(widen(row, true));
      for (const Row& row : right.equalities) base.equalities.push_back(widen(row, false));
      for (const Row& row : right.inequalities) base.inequalities.push_back(widen(row, false));
      for (const Affine& form : map) {
        Row row(width), values = row_of(form, 0);
        for (size_t d = 0; d < rank(); ++d) {
          row[d] = values[d];
          if (__builtin_sub_overflow(0, values[d], &row[rank() + d])) return beyond_int64(form);
        }
        base.equalities.push_back(std::move(row));
      }
      for (size_t first = 0; first < rank(); ++first) {
        Part part = base;
        for (size_t d = 0; d <= first; ++d) {
          Row row(width);
          row[d] = 1;
          row[rank() + d] = -1;
          if (d == first) {
            row.back() = -1;
            part.inequalities.push_back(std::move(row));
          } else {
            part.equalities.push_back(std::move(row));
          }
        }
        pairs.parts_.push_back(std::move(part));
      }
    }
  }
  return pairs.is_empty();
}

Result<bool> IntegerSet::is_subset_of(const IntegerSet& other) const {
  STRIA_CHECK(dims_ == other.dims_, "sets over [{}] and [{}]", fmt::join(dims_, ", "),
              fmt::join(other.dims_, ", "));
  if (other.parts_.size() == 1 && other.parts_[0].existentials == 0 &&
      other.parts_[0].equalities.empty()) {
    // Inside one conjunction: each of its constraints is implied.
    for (const Row& row : other.parts_[0].inequalities) {
      Affine form(row.back());
      for (size_t d = 0; d < rank(); ++d) form.add_term(dims_[d], row[d]);
      STRIA_ASSIGN(bool inside, implies(form));
      if (!inside) return false;
    }
    return true;
  }
  return SetSolver::is_subset(*this, other);
}

Result<bool> IntegerSet::equals(const IntegerSet& other) const {
  STRIA_ASSIGN(bool inside, is_subset_of(other));
  if (!inside) return false;
  return other.is_subset_of(*this);
}

Result<IntegerSet> IntegerSet::intersect(const IntegerSet& other) const {
  STRIA_CHECK(dims_ == other.dims_, "sets over [{}] and [{}]", fmt::join(dims_, ", "),
              fmt::join(other.dims_, ", "));
  IntegerSet out = empty(dims_);
  for (const Part& left : parts_) {
    for (const Part& right : other.parts_) {
      Part part;
      part.existentials = left.existentials + right.existentials;
      auto widen = [&](const std::vector<Row>& rows, size_t at, std::vector<Row>* into) {
        for (const Row& row : rows) {
          Row wide(rank() + part.existentials + 1);
          std::copy_n(row.begin(), rank(), wide.begin());
          std::copy(row.begin() + static_cast<long>(rank()), row.end() - 1,
                    wide.begin() + static_cast<long>(rank() + at));
          wide.back() = row.back();
          into->push_back(std::move(wide));
        }
      };
      widen(left.equalities, 0, &part.equalities);
      widen(left.inequalities, 0, &part.inequalities);
      widen(right.equalities, left.existentials, &part.equalities);
      widen(right.inequalities, left.existentials, &part.inequalities);
      out.parts_.push_back(std::move(part));
    }
  }
  return out;
}

Result<IntegerSet> IntegerSet::unite(const IntegerSet& other) const {
  STRIA_CHECK(dims_ == other.dims_, "sets over [{}] and [{}]", fmt::join(dims_, ", "),
              fmt::join(other.dims_, ", "));
  IntegerSet out = *this;
  out.parts_.insert(out.parts_.end(), other.parts_.begin(), other.parts_.end());
  return out;
}

Result<IntegerSet> IntegerSet::subtract(const IntegerSet& other) const {
  STRIA_CHECK(dims_ == other.dims_, "sets over [{}] and [{}]", fmt::join(dims_, ", "),
              fmt::join(other.dims_, ", "));
  return SetSolver::subtract(*this, other);
}

Result<IntegerSet> IntegerSet::image(std::vector<std::string> dims,
                                     const std::vector<Affine>& map) const {
  STRIA_CHECK(dims.size() == map.size(), "{} dims for {} forms", dims.size(), map.size());
  IntegerSet out = empty(std::move(dims));
  // The old dims become existentials, before the ones that were there.
  for (const Part& old : parts_) {
    Part part;
    part.existentials = rank() + old.existentials;
    auto shifted = [&](const Row& row) {
      Row wide(map.size());
      wide.insert(wide.end(), row.begin(), row.end());
      return wide;
    };
    for (const Row& row : old.equalities) part.equalities.push_back(shifted(row));
    for (const Row& row : old.inequalities) part.inequalities.push_back(shifted(row));
    for (size_t d = 0; d < map.size(); ++d) {
      Row row = shifted(row_of(map[d], old.existentials));
      row[d] = -1;
      part.equalities.push_back(std::move(row));
    }
    out.parts_.push_back(std::move(part));
  }
  return SetSolver::simplify(out);
}

Result<IntegerSet> IntegerSet::preimage(std::vector<std::string> dims,
                                        const std::vector<Affine>& map) const {
  STRIA_CHECK(map.size() == rank(), "{} forms for a set of rank {}", map.size(), rank());
  IntegerSet out = empty(std::move(dims));
  for (const Part& old : parts_) {
    Part part;
    part.existentials = old.existentials;
    bool fits = true;
    auto substituted = [&](const Row& row) {
      Row wide(out.rank() + old.existentials + 1);
      std::copy(row.begin() + static_cast<long>(rank()), row.end(),
                wide.begin() + static_cast<long>(out.rank()));
      for (size_t d = 0; d < rank(); ++d) {
        if (row[d] == 0) continue;
        Row form = out.row_of(map[d], old.existentials);
        for (size_t i = 0; i < form.size(); ++i) {
          int64_t product = 0;
          fits = fits && !__builtin_mul_overflow(row[d], form[i], &product) &&
                 !__builtin_add_overflow(wide[i], product, &wide[i]);
        }
      }
      return wide;
    };
    for (const Row& row : old.equalities) part.equalities.push_back(substituted(row));
    for (const Row& row : old.inequalities) part.inequalities.push_back(substituted(row));
    if (!fits)
      return make_error(StatusCode::out_of_range,
                        "a coefficient of a composed map does not fit in 64 bits");
    out.parts_.push_back(std::move(part));
  }
  return out;
}

Result<IntegerSet> IntegerSet::project_onto(const std::vector<std::string>& names) const {
  std::vector<Affine> map;
  for (const std::string& name : names) map.push_back(Affine::of(name));
  return image(names, map);
}

std::vector<Affine> IntegerSet::needed(const std::vector<Affine>& constraints) const {
  std::vector<Affine> kept;
  for (const Affine& form : constraints) {
    Result<bool> implied = implies(form);
    if (!implied.ok() || !*implied) kept.push_back(form);
  }
  // Each is asked of all the others: with very many, those that the rest makes superfluous stay.
  constexpr size_t kMaxCompared = 100;
  if (kept.size() > kMaxCompared) return kept;
  for (size_t i = kept.size(); i-- > 0 && kept.size() > 1;) {
    IntegerSet rest = *this;
    for (size_t j = 0; j < kept.size(); ++j)
      if (j != i) rest.add_ge(kept[j]);
    Result<bool> implied = rest.implies(kept[i]);
    if (implied.ok() && *implied) kept.erase(kept.begin() + static_cast<long>(i));
  }
  return kept;
}

std::string IntegerSet::to_string() const {
  if (parts_.empty()) return fmt::format("{{ [{}] : no point }}", fmt::join(dims_, ", "));
  std::string out;
  for (const Part& part : parts_) {
    std::vector<std::string> names = dims_;
    for (size_t e = 0; e < part.existentials; ++e) names.push_back(fmt::format("'{}", e));
    std::vector<std::string> conditions;
    auto print = [&](const std::vector<Row>& rows, const char* relation) {
      for (const Row& row : rows) {
        Affine form(row.back());
        for (size_t i = 0; i < names.size(); ++i) form.add_term(names[i], row[i]);
        conditions.push_back(form.to_string() + relation);
      }
    };
    print(part.equalities, " == 0");
    print(part.inequalities, " >= 0");
    if (!out.empty()) out += " or ";
    out += fmt::format("{{ [{}]{}{} }}", fmt::join(dims_, ", "), conditions.empty() ? "" : " : ",
                       fmt::join(conditions, "; "));
  }
  return out;
}

}  // namespace stria
