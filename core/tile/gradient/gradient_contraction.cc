// SPDX-License-Identifier: Apache-2.0
// Derivatives of contractions. All of them run over the valid index sets of the contraction itself
// (M1): each of its accesses stays one, or becomes constraints.
#include <algorithm>
#include <map>

#include "stria/base/text.h"
#include "stria/tile/gradient/differentiator.h"
#include "stria/tile/gradient/prime_field.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

// An index form over the field of value_of: linear in the indices.
struct LinearForm {
  std::map<std::string, uint64_t> factors;
  uint64_t constant = 0;
};

LinearForm scaled(LinearForm form, uint64_t factor) {
  for (auto& [name, value] : form.factors) value = times(value, factor);
  form.constant = times(form.constant, factor);
  return form;
}

LinearForm linear(const FlatFunction& flat, ExprId id) {
  std::map<std::string, SourceSpan> indices;
  collect_indices(flat.function(), id, indices);
  if (indices.empty()) return {{}, flat.value_of(id)};
  const Expr& e = flat.expr(id);
  if (e.kind == ExprKind::index) return {{{e.text, 1}}, 0};
  LinearForm a = linear(flat, e.args[0]);
  if (e.text == "neg") return scaled(std::move(a), kPrime - 1);
  LinearForm b = linear(flat, e.args[1]);
  if (e.text == "mul")
    return a.factors.empty() ? scaled(std::move(b), a.constant) : scaled(std::move(a), b.constant);
  if (e.text == "div") return scaled(std::move(a), inverse(b.constant));
  if (e.text == "sub") b = scaled(std::move(b), kPrime - 1);
  for (const auto& [name, value] : b.factors) a.factors[name] = (a.factors[name] + value) % kPrime;
  a.constant = (a.constant + b.constant) % kPrime;
  return a;
}

// Rows in echelon form: whether a form is independent of those before it.
class Rank {
 public:
  bool add(LinearForm form) {
    for (const auto& [pivot, row] : rows_) {
      auto at = form.factors.find(pivot);
      if (at == form.factors.end() || at->second == 0) continue;
      const uint64_t factor = at->second;
      for (const auto& [name, value] : row) {
        uint64_t& mine = form.factors[name];
        mine = minus(mine, times(factor, value));
      }
    }
    for (const auto& [name, value] : form.factors) {
      if (value == 0) continue;
      rows_.emplace_back(name, scaled(form, inverse(value)).factors);
      return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<std::string, std::map<std::string, uint64_t>>> rows_;
};

// Whether an index is divided in the form: a constraint says nothing of remainders.
bool divides_index(const Function& function, ExprId id) {
  const Expr& e = function.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::call && e.text == "div") {
    std::map<std::string, SourceSpan> indices;
    collect_indices(function, e.args[0], indices);
    if (!indices.empty()) return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](ExprId arg) { return divides_index(function, arg); });
}

}  // namespace

std::vector<ExprId> Differentiator::sizes_of(const Access& access) {
  return flat_.sizes_of(access.tensor.text, access.indices.size());
}

Contraction Differentiator::over(const Contraction& c) const {
  Contraction out;
  out.constraints = c.constraints;
  out.no_defract = c.no_defract;
  return out;
}

std::string Differentiator::add(Contraction c, std::string name, FlatFunction::Origin origin) {
  c.out.tensor.text = name;
  origin.span = span_;
  flat_.add_contraction(std::move(c), std::move(origin));
  return name;
}

// ---- the same index sets without an access ----

bool Differentiator::is_limited(const Contraction& c, ExprId form, ExprId bound) {
  const std::string text = print_expr(flat_.function(), form);
  auto here = [&](ExprId other, ExprId size) {
    return flat_.same_size(size, bound) && print_expr(flat_.function(), other) == text;
  };
  for (size_t i = 0; i < c.out.indices.size(); ++i)
    if (here(c.out.indices[i], c.sizes[i])) return true;
  for (const Access& operand : c.operands) {
    const std::vector<ExprId> sizes = sizes_of(operand);
    for (size_t i = 0; i < sizes.size(); ++i)
      if (here(operand.indices[i], sizes[i])) return true;
  }
  return std::any_of(c.constraints.begin(), c.constraints.end(),
                     [&](const Constraint& known) { return here(known.form, known.bound); });
}

bool Differentiator::limit(Contraction& c, const Access& access) {
  std::map<std::string, SourceSpan> indices, needed;
  for (ExprId id : c.out.indices) collect_indices(flat_.function(), id, indices);
  for (const Access& operand : c.operands)
    for (ExprId id : operand.indices) collect_indices(flat_.function(), id, indices);
  const std::vector<ExprId> sizes = sizes_of(access);
  std::vector<Constraint> added;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const ExprId form = access.indices[i];
    if (is_limited(c, form, sizes[i])) continue;
    if (divides_index(flat_.function(), form)) return false;
    collect_indices(flat_.function(), form, needed);
    added.push_back({form, sizes[i], {}});
  }
  for (const auto& [name, span] : needed)
    if (indices.count(name) == 0) return false;
  for (const Constraint& constraint : added)
    if (!is_limited(c, constraint.form, constraint.bound)) c.constraints.push_back(constraint);
  return true;
}

Access Differentiator::ones(const Access& like) {
  const std::string& tensor = like.tensor.text;
  Access out = like;
  out.tensor.text = flat_.fresh_name(tensor + "_ones");
  flat_.add_assignment(out.tensor.text,
                       flat_.call("cond", {flat_.integer(0), flat_.name(tensor), flat_.integer(1)}),
                       {{}, {}, "", span_});
  return out;
}

// ---- rules ----

void Differentiator::push_contraction(const Contraction& c, const std::string& d) {
  if (!c.default_tensor.text.empty() && active_.count(c.default_tensor.text) > 0)
    push_default(c, d);
  const size_t first = c.combination == Combination::cond ? 2 : 0;
  bool any = false;
  for (size_t i = first; i < c.operands.size(); ++i)
    any |= active_.count(c.operands[i].tensor.text) > 0;
  if (!any) return;
  if (c.combination == Combination::equal) {
    flat_.error(c.aggregation_span,
                "a contraction of '==' has no derivative: piecewise constant: zero almost "
                "everywhere. Write "
                "[[no_grad]] before the statement to take it as a constant");
    return;
  }
  switch (c.aggregation) {
    case Aggregation::sum:
    case Aggregation::assign: push_linear(c, d); return;
    case Aggregation::max:
    case Aggregation::min:
      if (c.combination == Combination::none) return push_extremum(c, d);
      break;
    case Aggregation::product:
      if (c.combination == Combination::none) return push_product(c, d);
      break;
  }
  push_combined(c, d);
}

// O[o] = +(A[a] op B[b]): each operand gets the sum of the other factors over the same index sets.
void Differentiator::push_linear(const Contraction& c, const std::string& d) {
  Access of_result = c.out;
  of_result.tensor.text = d;
  for (size_t i = c.combination == Combination::cond ? 2 : 0; i < c.operands.size(); ++i) {
    const Access& operand = c.operands[i];
    if (active_.count(operand.tensor.text) == 0) continue;
    Contraction out = over(c);
    out.out = operand;
    out.sizes = sizes_of(operand);
    out.operands = {of_result};
    if (c.combination == Combination::cond) {
      out.combination = Combination::cond;
      out.operands = {c.operands[0], c.operands[1], of_result};
    } else if (c.combination == Combination::mul) {
      out.combination = Combination::mul;
      out.operands.insert(i == 0 ? out.operands.end() : out.operands.begin(), c.operands[1 - i]);
    } else if (c.combination == Combination::add && !limit(out, c.operands[1 - i])) {
      out.combination = Combination::mul;
      out.operands.push_back(ones(c.operands[1 - i]));
    }
    const std::string name =
        add(std::move(out), flat_.numbered_name(derivative_name(operand.tensor.text)), {});
    contribute_made(operand.tensor.text, name);
  }
}

// O[o] = >(A[a]): the elements equal to the result share its derivative.
void Differentiator::push_extremum(const Contraction& c, const std::string& d) {
  const std::string& result = c.out.tensor.text;
  const Access& operand = c.operands[0];
  Contraction count = over(c);
  count.out = c.out;
  count.sizes = c.sizes;
  count.combination = Combination::equal;
  count.operands = {operand, c.out};
  // Where nothing is written nothing is shared; a 0 there would make 0 / 0 of the second
  // derivative.
  count.default_tensor.text = constant_name(1);
  const std::string ties =
      add(std::move(count), flat_.fresh_name(result + "_ties"),
          {{{{"no_grad", {}}, {}}},
           {fmt::format("How many elements of {} share the derivative of one of {}.",
                        operand.tensor.text, result)},
           "",
           {}});
  const std::string share = flat_.fresh_name(d + "_share");
  flat_.add_assignment(share, flat_.call("div", {flat_.name(d), flat_.name(ties)}),
                       {{}, {}, "", span_});
  Contraction out = over(c);
  out.out = operand;
  out.sizes = sizes_of(operand);
  out.combination = Combination::cond;
  Access shared = c.out;
  shared.tensor.text = share;
  out.operands = {operand, c.out, shared};
  contribute_made(
      operand.tensor.text,
      add(std::move(out), flat_.numbered_name(derivative_name(operand.tensor.text)), {}));
}

// O[o] = *(A[a]): an element that is not 0 gets O / A. One that is 0 gets the product of the
// others, found by counting the zeros: P, the product of what is not 0, if it is the only one, else
// 0. With exactly two zeros that 0 is written as the other one times P, so that it can be
// differentiated.
void Differentiator::push_product(const Contraction& c, const std::string& d) {
  const std::string& result = c.out.tensor.text;
  const Access& operand = c.operands[0];
  const std::string& tensor = operand.tensor.text;
  auto name = [&](const std::string& of) { return flat_.name(of); };
  auto call = [&](const char* function, std::vector<ExprId> args) {
    return flat_.call(function, std::move(args));
  };
  auto number = [&](int64_t value) { return flat_.integer(value); };
  auto assign = [&](const std::string& wanted, ExprId value, const char* comment = nullptr) {
    std::string out = flat_.fresh_name(wanted);
    FlatFunction::Origin origin{{}, {}, "", span_};
    if (comment != nullptr) origin.comments.emplace_back(comment);
    flat_.add_assignment(out, value, std::move(origin));
    return out;
  };
  auto contract = [&](Aggregation aggregation, const std::string& of, const std::string& wanted) {
    Contraction out = over(c);
    out.aggregation = aggregation;
    out.out = c.out;
    out.sizes = c.sizes;
    out.operands = {operand};
    out.operands[0].tensor.text = of;
    return add(std::move(out), flat_.fresh_name(wanted), {});
  };
  auto is = [&](const std::string& of, int64_t value) {
    return call("cmp_eq", {name(of), number(value)});
  };
  auto choose = [&](ExprId condition, ExprId yes, ExprId no) {
    return call("cond", {condition, yes, no});
  };

  const std::string rest =
      assign(tensor + "_nonzero", choose(is(tensor, 0), number(1), name(tensor)),
             "A factor of 0 gets the product of the others, which division does not give.");
  const std::string zero = assign(tensor + "_zero", choose(is(tensor, 0), name(tensor), number(0)));
  const std::string product = contract(Aggregation::product, rest, result + "_nonzero");
  const std::string sum = contract(Aggregation::sum, zero, result + "_zero");
  Contraction count = over(c);
  count.out = c.out;
  count.sizes = c.sizes;
  count.combination = Combination::equal;
  Access none;
  none.tensor.text = constant_name(0);
  count.operands = {operand, none};
  const std::string zeros = add(std::move(count), flat_.fresh_name(result + "_zeros"),
                                {{{{"no_grad", {}}, {}}}, {}, "", {}});

  const std::string whole = assign(d + "_whole", call("mul", {name(d), name(result)}));
  const ExprId part = call("mul", {name(d), name(product)});
  const std::string two = assign(d + "_two", choose(is(zeros, 2), part, number(0)));
  const std::string one =
      assign(d + "_one", choose(is(zeros, 1), part, call("mul", {name(two), name(sum)})));
  auto back = [&](const std::string& of) {
    Contraction out = over(c);
    out.out = operand;
    out.sizes = sizes_of(operand);
    out.operands = {c.out};
    out.operands[0].tensor.text = of;
    return add(std::move(out), flat_.numbered_name(derivative_name(tensor)), {});
  };
  const std::string by_division = back(whole);
  const std::string alone = back(one);
  const std::string paired = back(two);
  const ExprId at_zero = call("sub", {name(alone), call("mul", {name(zero), name(paired)})});
  contribute(tensor, choose(is(tensor, 0), at_zero, call("div", {name(by_division), name(rest)})));
}

// O[o] = >(A[a] + B[b]) and the like: T holds every combined value, one element for each index set;
// then O is a contraction of T alone.
void Differentiator::push_combined(const Contraction& c, const std::string& d) {
  struct Dim {
    ExprId form;
    ExprId size;
  };
  std::vector<Dim> dims, candidates;
  auto visit = [&](const Access& access, const std::vector<ExprId>& sizes, bool operand) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Dim dim{access.indices[i], sizes[i]};
      const bool divided = divides_index(flat_.function(), dim.form);
      // What is divided must stay in an access: a constraint says nothing of remainders.
      if (operand && divided) dims.push_back(dim);
      if (!divided) candidates.push_back(dim);
    }
  };
  visit(c.out, c.sizes, false);
  for (const Access& operand : c.operands) visit(operand, sizes_of(operand), true);
  for (const Constraint& constraint : c.constraints)
    candidates.push_back({constraint.form, constraint.bound});
  Rank rank;
  for (const Dim& dim : dims) rank.add(linear(flat_, dim.form));
  // A plain index makes the smallest dimension.
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Dim& a, const Dim& b) {
    return (flat_.expr(a.form).kind == ExprKind::index) >
           (flat_.expr(b.form).kind == ExprKind::index);
  });
  for (const Dim& dim : candidates)
    if (rank.add(linear(flat_, dim.form))) dims.push_back(dim);

  Contraction combine = over(c);
  combine.aggregation = Aggregation::assign;
  combine.combination = c.combination;
  combine.operands = c.operands;
  for (const Dim& dim : dims) {
    combine.out.indices.push_back(dim.form);
    combine.sizes.push_back(dim.size);
  }
  const std::string all = flat_.fresh_name(c.out.tensor.text + "_all");
  combine.out.tensor.text = all;
  flat_.add_contraction(combine, {{}, {}, "", span_});
  active_.insert(all);

  Contraction aggregate = over(c);
  aggregate.aggregation = c.aggregation;
  aggregate.out = c.out;
  aggregate.sizes = c.sizes;
  aggregate.operands = {combine.out};
  for (const Access& operand : c.operands)
    STRIA_CHECK(limit(aggregate, operand), "an index of '{}' has got lost", operand.tensor.text);
  push_contraction(aggregate, d);
  const std::string d_all = adjoint(all);
  if (!d_all.empty()) push_linear(combine, d_all);
}

// The default gets the derivative of what no index set writes.
void Differentiator::push_default(const Contraction& c, const std::string& d) {
  Contraction mask = over(c);
  mask.aggregation = Aggregation::max;
  mask.combination = Combination::cond;
  mask.out = c.out;
  mask.sizes = c.sizes;
  // 0 whether the operands are equal or not, wherever there is an index set.
  Access zero;
  zero.tensor.text = constant_name(0);
  mask.operands = {c.operands[0], c.operands.back(), zero};
  if (c.operands.size() == 3) {
    const std::string& third = c.operands[2].tensor.text;
    mask.operands = c.operands;
    mask.operands[2].tensor.text = flat_.fresh_name(third + "_zeros");
    flat_.add_assignment(
        mask.operands[2].tensor.text,
        flat_.call("cond", {flat_.integer(0), flat_.name(third), flat_.integer(0)}),
        {{}, {}, "", span_});
  }
  mask.default_tensor.text = constant_name(1);
  const std::string unwritten =
      add(std::move(mask), flat_.fresh_name(c.out.tensor.text + "_unwritten"),
          {{{{"no_grad", {}}, {}}},
           {fmt::format("1 where {} keeps its default, 0 elsewhere.", c.out.tensor.text)},
           "",
           {}});
  reduce(flat_.call("cond", {flat_.name(unwritten), flat_.name(d), flat_.integer(0)}),
         flat_.shape_of(c.out.tensor.text), c.default_tensor.text);
}

}  // namespace stria::tile
