// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/index_forms.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "stria/base/status.h"

namespace stria {

Affine tightened(const Affine& form) {
  int64_t divisor = 0;
  for (const auto& term : form.terms()) divisor = std::gcd(divisor, term.second);
  if (divisor <= 1) return form;
  Affine out(floor_div(form.constant(), divisor));
  for (const auto& [name, coefficient] : form.terms()) out.add_term(name, coefficient / divisor);
  return out;
}

std::set<std::string> told_apart(const Affine& form, const std::map<std::string, int64_t>& ranges,
                                 int64_t width) {
  struct Term {
    int64_t coefficient;
    std::string name;
    int64_t range;
  };
  std::vector<Term> terms;
  for (const auto& [name, coefficient] : form.terms()) {
    auto range = ranges.find(name);
    if (range != ranges.end() && range->second > 1)
      terms.push_back({std::abs(coefficient), name, range->second});
  }
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
  std::set<std::string> apart;
  __int128 reach = width;
  for (const Term& term : terms) {
    if (term.coefficient < reach)
      apart.clear();
    else
      apart.insert(term.name);
    reach += static_cast<__int128>(term.coefficient) * (term.range - 1);
  }
  return apart;
}

Result<Affine> substitute_checked(const Affine& form, const std::map<std::string, Affine>& values) {
  std::map<std::string, int64_t> sums;
  int64_t constant = form.constant();
  auto add = [](int64_t* sum, int64_t a, int64_t b) {
    int64_t product = 0;
    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
  };
  bool fits = true;
  for (const auto& [name, coefficient] : form.terms()) {
    auto value = values.find(name);
    if (value == values.end()) {
      fits = fits && add(&sums[name], coefficient, 1);
      continue;
    }
    fits = fits && add(&constant, coefficient, value->second.constant());
    for (const auto& [inner, factor] : value->second.terms())
      fits = fits && add(&sums[inner], coefficient, factor);
  }
  if (!fits)
    return make_error(StatusCode::out_of_range, "the numbers in {} leave 64 bits",
                      form.to_string());
  Affine out(constant);
  for (const auto& [name, sum] : sums) out.add_term(name, sum);
  return out;
}

}  // namespace stria
