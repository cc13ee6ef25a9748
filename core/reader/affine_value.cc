// SPDX-License-Identifier: Apache-2.0
#include "stria/reader/affine_value.h"

#include <algorithm>
#include <map>
#include <string>

namespace stria::reader {
namespace {

std::string_view view_of(stria_string text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

// Of a list of structs with names; null if it has none of that name.
template <typename T>
const T* find(std::span<const T> list, stria_string name) {
  const auto at = std::find_if(list.begin(), list.end(),
                               [&](const T& one) { return view_of(one.name) == view_of(name); });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

Affine affine_of(const stria_affine& form) {
  Affine out(form.constant);
  for (const stria_term& term : std::span(form.terms, form.term_count))
    out.add_term(view_of(term.name), term.coefficient);
  return out;
}

Result<int64_t> evaluate(const stria_affine& form, std::span<const stria_term> point) {
  const auto beyond = [&] {
    return make_error(StatusCode::out_of_range, "{} is beyond 64 bits at the point",
                      affine_of(form).to_string());
  };
  __int128 sum = form.constant;
  for (const stria_term& term : std::span(form.terms, form.term_count)) {
    const stria_term* value = find(point, term.name);
    if (!value) return not_found("the point has no index '{}'", view_of(term.name));
    const __int128 product = static_cast<__int128>(term.coefficient) * value->coefficient;
    if (__builtin_add_overflow(sum, product, &sum)) return beyond();
  }
  if (sum < INT64_MIN || sum > INT64_MAX) return beyond();
  return static_cast<int64_t>(sum);
}

Result<Interval> interval(const stria_affine& form, std::span<const stria_range> box) {
  std::map<std::string, Interval> ranges;
  for (const stria_term& term : std::span(form.terms, form.term_count)) {
    const stria_range* range = find(box, term.name);
    if (!range) return not_found("the box has no index '{}'", view_of(term.name));
    if (range->lowest > range->highest)
      return invalid_argument("index '{}' has no values from {} to {}", view_of(term.name),
                              range->lowest, range->highest);
    ranges[std::string(view_of(term.name))] = {range->lowest, range->highest};
  }
  return interval_of(affine_of(form), ranges);
}

}  // namespace stria::reader
