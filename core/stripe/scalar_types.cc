// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/scalar_types.h"

#include <unordered_map>

namespace stria::stripe {

DataType intrinsic_result_type(std::string_view name, DataType type) {
  return name.starts_with("cmp_") || name.starts_with("logical_") ? DataType::boolean : type;
}

std::map<std::string, DataType> scalar_types(const Block& block) {
  std::map<std::string, DataType> types;
  std::unordered_map<std::string_view, DataType> ref_types;
  for (const Refinement& ref : block.refs) ref_types.emplace(ref.into, ref.shape.type);
  for (const Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) {
      if (auto type = ref_types.find(s->from); type != ref_types.end())
        types[s->into] = type->second;
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
