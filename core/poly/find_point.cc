// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/find_point.h"

#include <algorithm>
#include <cstdlib>

namespace stria {
namespace {

struct Variable {
  Interval range;
  int64_t value = 0;
};
struct Term {
  size_t variable = 0;
  int64_t coefficient = 0;
};
struct Form {
  int64_t constant = 0;
  std::vector<Term> terms;
};

__int128 value_of(const Form& form, const std::vector<Variable>& variables) {
  __int128 sum = form.constant;
  for (const Term& term : form.terms)
    sum += static_cast<__int128>(term.coefficient) * variables[term.variable].value;
  return sum;
}

// Raises the form to 0 or more by moving its variables, from term `first` on; false if the box does
// not let it.
bool mend(const Form& form, std::vector<Variable>& variables, size_t first) {
  __int128 missing = -value_of(form, variables);
  for (size_t i = 0; i < form.terms.size() && missing > 0; ++i) {
    const Term& term = form.terms[(first + i) % form.terms.size()];
    Variable& variable = variables[term.variable];
    const int64_t step = std::abs(term.coefficient);
    const int64_t room = term.coefficient > 0 ? variable.range.upper - variable.value
                                              : variable.value - variable.range.lower;
    const __int128 wanted = (missing + step - 1) / step;
    const int64_t moved = wanted < room ? static_cast<int64_t>(wanted) : room;
    variable.value += term.coefficient > 0 ? moved : -moved;
    missing -= static_cast<__int128>(moved) * step;
  }
  return missing <= 0;
}

}  // namespace

std::optional<std::map<std::string, int64_t>> find_point(
    const std::map<std::string, Interval>& box, const std::vector<Affine>& constraints,
    const std::map<std::string, int64_t>& fixed) {
  std::vector<Variable> variables;
  std::map<std::string, size_t> number;
  for (const auto& [name, range] : box) {
    Variable variable{range, 0};
    if (auto at = fixed.find(name); at != fixed.end()) {
      if (at->second < range.lower || at->second > range.upper) return std::nullopt;
      variable.range = {at->second, at->second};
    }
    if (variable.range.empty()) return std::nullopt;
    const __int128 sum = static_cast<__int128>(variable.range.lower) + variable.range.upper;
    variable.value = static_cast<int64_t>(sum / 2);  // between the two
    number[name] = variables.size();
    variables.push_back(variable);
  }
  std::vector<Form> forms;
  for (const Affine& constraint : constraints) {
    Form form{constraint.constant(), {}};
    for (const auto& [name, coefficient] : constraint.terms())
      form.terms.push_back({number.at(name), coefficient});
    forms.push_back(std::move(form));
  }
  const size_t rounds = 4 * forms.size() + 8;
  size_t held = 0;  // constraints in a row that hold
  for (size_t step = 0; held < forms.size(); ++step) {
    const Form& form = forms[step % forms.size()];
    if (value_of(form, variables) >= 0) {
      ++held;
      continue;
    }
    if (step >= rounds * forms.size() || !mend(form, variables, step / forms.size()))
      return std::nullopt;
    held = 1;
  }
  std::map<std::string, int64_t> point;
  for (const auto& [name, index] : number) point[name] = variables[index].value;
  return point;
}

}  // namespace stria
