// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/scalar_types.h"

namespace stria::stripe {

DataType intrinsic_result_type(std::string_view name, DataType type) {
  return name.starts_with("cmp_") || name.starts_with("logical_") ? DataType::boolean : type;
}

std::map<std::string, DataType> scalar_types(const Block& block) {
  std::map<std::string, DataType> types;
  for (const Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) {
      if (const Refinement* ref = block.find_ref(s->from)) types[s->into] = ref->shape.type;
    } else if (auto* s = std::get_if<LoadIndex>(&stmt.op)) {
      types[s->into] = s->type;
    } else if (auto* s = std::get_if<Constant>(&stmt.op)) {
      types[s->into] = s->value.type;
    } else if (auto* s = std::get_if<Intrinsic>(&stmt.op)) {
      for (const std::string& name : s->outputs)
        types[name] = intrinsic_result_type(s->name, s->type);
    }
  }
  return types;
}

}  // namespace stria::stripe
