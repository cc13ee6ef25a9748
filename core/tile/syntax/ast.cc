// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/syntax/ast.h"

#include <cstring>

namespace stria::tile {

std::string_view sign_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::sum: return "+";
    case Aggregation::product: return "*";
    case Aggregation::max: return ">";
    case Aggregation::min: return "<";
    case Aggregation::assign: return "=";
  }
  return "";
}

std::string_view sign_of(Combination combination) {
  switch (combination) {
    case Combination::none: return "";
    case Combination::add: return "+";
    case Combination::mul: return "*";
    case Combination::equal: return "==";
    case Combination::cond: return "==";
  }
  return "";
}

std::span<const Name> assigned_names(const Statement& statement) {
  if (const auto* assignment = std::get_if<Assignment>(&statement.form)) return assignment->targets;
  return {&std::get<Contraction>(statement.form).out.tensor, 1};
}

void collect_indices(const Function& function, ExprId id, std::map<std::string, SourceSpan>& out) {
  const Expr& e = function.exprs[static_cast<size_t>(id)];
  if (e.kind == ExprKind::index) out.emplace(e.text, e.span);
  for (ExprId arg : e.args) collect_indices(function, arg, out);
}

bool operator==(const Name& a, const Name& b) { return a.text == b.text; }

bool operator==(const Expr& a, const Expr& b) {
  // Bitwise for floats: a literal is never NaN, and -0.0 does not occur.
  return a.kind == b.kind && a.integer == b.integer &&
         std::memcmp(&a.floating, &b.floating, sizeof a.floating) == 0 && a.text == b.text &&
         a.args == b.args;
}

bool operator==(const Access& a, const Access& b) {
  return a.tensor == b.tensor && a.indices == b.indices;
}

bool operator==(const Constraint& a, const Constraint& b) {
  return a.form == b.form && a.bound == b.bound;
}

bool operator==(const Contraction& a, const Contraction& b) {
  return a.out == b.out && a.sizes == b.sizes && a.aggregation == b.aggregation &&
         a.combination == b.combination && a.operands == b.operands &&
         a.constraints == b.constraints && a.no_defract == b.no_defract &&
         a.default_tensor == b.default_tensor;
}

bool operator==(const Assignment& a, const Assignment& b) {
  return a.targets == b.targets && a.tuple == b.tuple && a.value == b.value;
}

bool operator==(const Attribute& a, const Attribute& b) {
  return a.name == b.name && a.arguments == b.arguments;
}

bool operator==(const Statement& a, const Statement& b) {
  return a.form == b.form && a.attributes == b.attributes && a.comments == b.comments &&
         a.end_comment == b.end_comment && a.blank_before == b.blank_before;
}

bool operator==(const Parameter& a, const Parameter& b) {
  return a.name == b.name && a.has_dims == b.has_dims && a.dims == b.dims;
}

bool operator==(const Function& a, const Function& b) {
  return a.name == b.name && a.parameters == b.parameters && a.results == b.results &&
         a.statements == b.statements && a.exprs == b.exprs && a.comments == b.comments &&
         a.end_comments == b.end_comments;
}

bool operator==(const Program& a, const Program& b) {
  return a.functions == b.functions && a.end_comments == b.end_comments;
}

}  // namespace stria::tile
