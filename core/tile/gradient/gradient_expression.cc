// SPDX-License-Identifier: Apache-2.0
// Derivatives of elementwise expressions and of the other functions, all from their records.
//
// What has a name is kept for the way back; what a statement computes on the way is computed again
// where a derivative needs it. That is written into the derivative if it is small, else it is a
// statement of its own. An author who wants a value kept gives it a name.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/builtins/special.h"
#include "stria/tile/gradient/differentiator.h"
#include "stria/tile/syntax/parser.h"

namespace stria::tile {
namespace {

// Nodes of an expression that may be written where it is needed, and of one that may be written
// twice.
constexpr size_t kMostRepeated = 7;
constexpr size_t kMostTwice = 2;
// Nodes of a derivative that is written into the next one.
constexpr size_t kMostInline = 16;

// The derivatives of all records, parsed: "name/0" for the first operand.
const std::map<std::string, Function, std::less<>>& records() {
  static const std::map<std::string, Function, std::less<>> all = [] {
    std::map<std::string, Function, std::less<>> out;
    auto add = [&](const char* name, const Derivative& derivative) {
      for (size_t i = 0; i < derivative.of.size(); ++i) {
        if (derivative.of[i] == nullptr) continue;
        Result<Program> parsed =
            parse({name, fmt::format("function (X, Y, Z, R, DR) -> (D) {{ D = {}; }}",
                                     derivative.of[i])});
        STRIA_CHECK(parsed.ok(), "{}", parsed.status().message());
        out.emplace(fmt::format("{}/{}", name, i), std::move(parsed->functions[0]));
      }
    };
    for (const Builtin* builtin : all_builtins()) add(builtin->name, builtin->gradient);
    for (const Special* special : all_specials()) add(special->name, special->gradient);
    for (const Composite* composite : all_composites()) add(composite->name, composite->gradient);
    return out;
  }();
  return all;
}

const Derivative* derivative_of(const std::string& function) {
  if (const Builtin* builtin = find_builtin(function)) return &builtin->gradient;
  if (const Special* special = find_special(function)) return &special->gradient;
  if (const Composite* composite = find_composite(function)) return &composite->gradient;
  return nullptr;
}

ExprId root_of(const Function& record) {
  return std::get<Assignment>(record.statements[0].form).value;
}

size_t uses(const Function& record, ExprId id, std::string_view name) {
  const Expr& e = record.exprs[static_cast<size_t>(id)];
  size_t count = e.kind == ExprKind::name && e.text == name ? 1 : 0;
  for (ExprId arg : e.args) count += uses(record, arg, name);
  return count;
}

}  // namespace

// ---- what depends on what is differentiated by ----

bool Differentiator::is_active(ExprId id) {
  const Expr& e = flat_.expr(id);
  if (e.kind == ExprKind::name) return active_.count(e.text) > 0;
  if (e.kind != ExprKind::call) return false;
  auto known = active_exprs_.find(id);
  if (known != active_exprs_.end()) return known->second;
  const Derivative* derivative = derivative_of(e.text);
  bool active = false;
  // A function without a derivative is found out where one is asked for.
  for (size_t i = 0; i < e.args.size() && !active; ++i) {
    const bool counts = derivative == nullptr || derivative->why_not != nullptr ||
                        (i < derivative->of.size() && derivative->of[i] != nullptr);
    active = counts && is_active(e.args[i]);
  }
  if (derivative != nullptr && derivative->is_zero) active = false;
  if (e.text == "cond" && flat_.expr(e.args[0]).kind == ExprKind::integer)
    active = is_active(e.args[flat_.is_integer(e.args[0], 0) ? 2 : 1]);
  active_exprs_[id] = active;
  return active;
}

bool Differentiator::report_none(const Expr& call, const char* why) {
  return flat_.error(
      call.name_span,
      fmt::format(
          "'{}' has no derivative: {}. Write [[no_grad]] before the statement that makes it to "
          "take it as a constant",
          call.text, why));
}

// ---- assignments ----

void Differentiator::push_assignment(const std::string& target, ExprId value,
                                     const std::string& d) {
  const Expr root = flat_.expr(value);
  if (root.kind == ExprKind::call && flat_.stands_alone(root.text)) {
    push_alone(target, root, d);
    return;
  }
  target_ = target;
  leaves_.clear();
  kept_.clear();
  // The whole is kept: it has a name.
  if (root.kind == ExprKind::call) kept_[value] = flat_.name(target);
  push(value, flat_.name(d));
  const FlatShape shape = flat_.shape_of(target);
  std::vector<std::pair<std::string, ExprId>> sums;
  for (const auto& [leaf, part] : leaves_) {
    auto at =
        std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == leaf; });
    if (at == sums.end()) {
      sums.emplace_back(leaf, part);
    } else {
      at->second = flat_.call("add", {at->second, part});
    }
  }
  for (const auto& [leaf, sum] : sums) reduce(sum, shape, leaf);
}

void Differentiator::push_alone(const std::string& target, const Expr& call, const std::string& d) {
  const Derivative& derivative = *derivative_of(call.text);
  const bool any =
      std::any_of(call.args.begin(), call.args.end(), [&](ExprId arg) { return is_active(arg); });
  if (derivative.is_zero || !any) return;
  if (derivative.why_not != nullptr) {
    report_none(call, derivative.why_not);
    return;
  }
  for (size_t i = 0; i < call.args.size() && i < derivative.of.size(); ++i) {
    if (derivative.of[i] == nullptr || !is_active(call.args[i])) continue;
    const Function& record = records().find(fmt::format("{}/{}", call.text, i))->second;
    std::vector<std::pair<char, ExprId>> names = {{'R', flat_.name(target)}, {'D', flat_.name(d)}};
    for (size_t k = 0; k < call.args.size() && k < 3; ++k)
      names.emplace_back("XYZ"[k], call.args[k]);
    ExprId made = substitute(record, root_of(record), names);
    const std::string operand = flat_.expr(call.args[i]).text;  // new expressions move the others
    // Sizes that have names need no tensor that has them.
    const Expr e = flat_.expr(made);
    if (e.kind == ExprKind::call && e.text == "reshape_like") {
      const FlatShape shape = flat_.shape_of(e.args[1]);
      if (shape.known) {
        std::vector<ExprId> args = {e.args[0]};
        args.insert(args.end(), shape.sizes.begin(), shape.sizes.end());
        made = flat_.call("reshape", std::move(args));
      }
    }
    if (!flat_.is_constant(made) && flat_.expr(made).kind == ExprKind::call) {
      const std::string name = flat_.numbered_name(derivative_name(operand));
      flat_.add_assignment(name, made, {{}, {}, "", span_});
      contribute_made(operand, name);
    } else {
      contribute(operand, made);
    }
  }
}

// ---- expressions ----

void Differentiator::push(ExprId node, ExprId d) {
  const Expr e = flat_.expr(node);
  if (!is_active(node) || flat_.stop() || flat_.is_integer(d, 0)) return;
  if (e.kind == ExprKind::name) {
    leaves_.emplace_back(e.text, d);
    return;
  }
  if (e.text == "cond" && flat_.expr(e.args[0]).kind == ExprKind::integer) {
    push(e.args[flat_.is_integer(e.args[0], 0) ? 2 : 1], d);
    return;
  }
  const Derivative& derivative = *derivative_of(e.text);
  if (derivative.why_not != nullptr) {
    if (!derivative.is_zero) report_none(e, derivative.why_not);
    return;
  }
  d = keep(d, kMostInline, derivative_name(target_));
  for (size_t i = 0; i < e.args.size() && i < derivative.of.size(); ++i) {
    if (derivative.of[i] == nullptr || !is_active(e.args[i])) continue;
    const Function& record = records().find(fmt::format("{}/{}", e.text, i))->second;
    std::vector<std::pair<char, ExprId>> names;
    auto bind = [&](const char* name, auto&& operand) {
      const size_t count = uses(record, root_of(record), name);
      if (count == 0) return;
      names.emplace_back(name[0], count > 1
                                      ? keep(operand(), kMostTwice,
                                             name[0] == 'D' ? derivative_name(target_) : target_)
                                      : operand());
    };
    static constexpr const char* kOperands[] = {"X", "Y", "Z"};
    for (size_t k = 0; k < e.args.size() && k < 3; ++k)
      bind(kOperands[k], [&] { return value(e.args[k]); });
    bind("R", [&] { return value(node); });
    bind("DR", [&] { return d; });
    push(e.args[i], substitute(record, root_of(record), names));
  }
}

ExprId Differentiator::value(ExprId node) {
  auto known = kept_.find(node);
  if (known != kept_.end()) return known->second;
  Expr e = flat_.expr(node);
  if (e.kind != ExprKind::call || flat_.nodes(node, kMostRepeated + 1) <= kMostRepeated)
    return node;
  std::vector<ExprId> args;
  for (ExprId arg : e.args) args.push_back(value(arg));
  const ExprId kept = keep(flat_.call(e.text, std::move(args)), kMostRepeated, target_);
  kept_[node] = kept;
  return kept;
}

ExprId Differentiator::keep(ExprId id, size_t most, const std::string& base) {
  if (flat_.nodes(id, most + 1) <= most) return id;
  auto [at, fresh] = kept_.emplace(id, kNoExpr);
  if (!fresh) return at->second;
  const std::string name = flat_.numbered_name(base);
  flat_.add_assignment(name, id, {{}, {}, "", span_});
  const ExprId out = flat_.name(name);
  kept_[id] = out;
  return out;
}

ExprId Differentiator::substitute(const Function& record, ExprId id,
                                  const std::vector<std::pair<char, ExprId>>& names) {
  const Expr& e = record.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::name) {
    for (const auto& [name, value] : names)
      if (name == e.text[0]) return value;
    STRIA_CHECK(false, "a derivative reads '{}', which it has not", e.text);
  }
  if (e.kind == ExprKind::integer) return flat_.integer(e.integer);
  if (e.kind == ExprKind::floating) return flat_.floating(e.floating);
  std::vector<ExprId> args;
  for (ExprId arg : e.args) args.push_back(substitute(record, arg, names));
  // `0 ? X : DR` is written for its sizes and type.
  if (e.text == "cond" && record.exprs[static_cast<size_t>(e.args[0])].kind == ExprKind::integer)
    return flat_.call(e.text, std::move(args));
  return make(e.text, std::move(args));
}

// A call, simplified where neither a value nor a type changes that a derivative can have.
ExprId Differentiator::make(const std::string& function, std::vector<ExprId> args) {
  auto literal = [&](size_t i) -> std::optional<double> {
    const Expr& e = flat_.expr(args[i]);
    if (e.kind == ExprKind::integer) return static_cast<double>(e.integer);
    if (e.kind == ExprKind::floating) return e.floating;
    return std::nullopt;
  };
  auto is_one = [&](size_t i) { return flat_.is_integer(args[i], 1); };
  if (function == "mul" && is_one(0)) return args[1];
  if ((function == "mul" || function == "div" || function == "pow") && is_one(1)) return args[0];
  if (function == "neg") {
    const Expr& e = flat_.expr(args[0]);
    if (e.kind == ExprKind::call && e.text == "neg") return e.args[0];
  }
  if (function == "cond" && flat_.expr(args[0]).kind == ExprKind::integer)
    return args[flat_.is_integer(args[0], 0) ? 2 : 1];
  if (function == "size" && flat_.expr(args[0]).kind == ExprKind::name) {
    const FlatShape shape = flat_.shape_of(flat_.expr(args[0]).text);
    const auto axis = static_cast<size_t>(flat_.expr(args[1]).integer);
    if (shape.known && axis < shape.sizes.size()) return shape.sizes[axis];
  }
  if (function == "logical_and" || function == "logical_or") {
    const int64_t decides = function == "logical_and" ? 0 : 1;
    for (size_t i = 0; i < 2; ++i) {
      if (flat_.is_integer(args[i], decides)) return args[i];
      if (flat_.is_integer(args[i], 1 - decides)) return args[1 - i];
    }
  }
  if (args.size() == 2 && literal(0) && literal(1)) {
    const double a = *literal(0), b = *literal(1);
    const bool integers = flat_.expr(args[0]).kind == ExprKind::integer &&
                          flat_.expr(args[1]).kind == ExprKind::integer;
    if (function == "cmp_eq") return flat_.integer(a == b ? 1 : 0);
    const double sum = function == "add" ? a + b : function == "sub" ? a - b : std::nan("");
    // Far from where a double cannot hold the integer.
    if (integers && std::fabs(sum) < 1e9 && sum >= 0)
      return flat_.integer(static_cast<int64_t>(sum));
    if (!integers && std::isfinite(sum) && sum >= 0) return flat_.floating(sum);
  }
  return flat_.call(function, std::move(args));
}

// ---- broadcasting ----

void Differentiator::reduce(ExprId d, const FlatShape& from, const std::string& to) {
  const FlatShape shape = flat_.shape_of(to);
  if (flat_.same(from, shape)) {
    if (flat_.nodes(d, kMostInline + 1) <= kMostInline) {
      contribute(to, d);
    } else {
      const std::string name = flat_.numbered_name(derivative_name(to));
      flat_.add_assignment(name, d, {{}, {}, "", span_});
      contribute_made(to, name);
    }
    return;
  }
  if (sum_over(d, from, to)) return;
  const std::string name = flat_.numbered_name(derivative_name(to));
  flat_.add_assignment(name, flat_.call("sum_like", {d, flat_.name(to)}), {{}, {}, "", span_});
  contribute_made(to, name);
}

// As a contraction, where the sizes' names say which dimensions were broadcast.
bool Differentiator::sum_over(ExprId d, const FlatShape& from, const std::string& to) {
  const FlatShape shape = flat_.shape_of(to);
  if (!from.known || !shape.known || shape.sizes.size() > from.sizes.size()) return false;
  static constexpr std::string_view kNames = "ijklmn";
  auto index = [&](size_t k) {
    return flat_.index(k < kNames.size() ? std::string(1, kNames[k]) : fmt::format("i{}", k));
  };
  // The access of a tensor that is broadcast to `from`; false where only the sizes themselves say
  // how.
  auto access = [&](const FlatShape& of, std::vector<ExprId>* out) {
    if (!of.known || of.sizes.size() > from.sizes.size()) return false;
    const size_t lead = from.sizes.size() - of.sizes.size();
    for (size_t i = 0; i < of.sizes.size(); ++i) {
      const bool equal = flat_.same_size(of.sizes[i], from.sizes[lead + i]);
      if (!equal && !flat_.is_integer(of.sizes[i], 1)) return false;
      out->push_back(equal ? index(lead + i) : flat_.integer(0));
    }
    return true;
  };
  Contraction c;
  c.sizes = shape.sizes;
  if (!access(shape, &c.out.indices)) return false;
  const Expr e = flat_.expr(d);
  std::vector<ExprId> factors = {d};
  if (e.kind == ExprKind::call && e.text == "mul") factors = e.args;
  std::vector<bool> covered(from.sizes.size(), false);
  for (ExprId factor : factors) {
    Access operand;
    if (flat_.expr(factor).kind != ExprKind::name ||
        !access(flat_.shape_of(factor), &operand.indices))
      break;
    const size_t lead = from.sizes.size() - operand.indices.size();
    for (size_t i = 0; i < operand.indices.size(); ++i)
      if (flat_.expr(operand.indices[i]).kind == ExprKind::index) covered[lead + i] = true;
    operand.tensor.text = flat_.expr(factor).text;
    c.operands.push_back(std::move(operand));
  }
  if (c.operands.size() != factors.size() ||
      std::count(covered.begin(), covered.end(), false) > 0) {
    Access operand;
    operand.tensor.text = flat_.as_name(d, derivative_name(target_));
    for (size_t i = 0; i < from.sizes.size(); ++i) operand.indices.push_back(index(i));
    c.operands = {operand};
  }
  if (c.operands.size() == 2) c.combination = Combination::mul;
  const std::string name = flat_.numbered_name(derivative_name(to));
  c.out.tensor.text = name;
  flat_.add_contraction(std::move(c), {{}, {}, "", span_});
  contribute_made(to, name);
  return true;
}

}  // namespace stria::tile
