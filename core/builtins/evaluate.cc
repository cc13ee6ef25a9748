// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/evaluate.h"

#include "stria/builtins/builtin.h"

namespace stria {

std::optional<Scalar> evaluate(std::string_view name, DataType type,
                               const std::vector<Scalar>& operands) {
  const Builtin* builtin = find_builtin(name);
  if (!builtin || static_cast<size_t>(builtin->arity) != operands.size() ||
      operands.size() > kMaxArity || !allows(*builtin, type))
    return std::nullopt;
  Scalar converted[kMaxArity];
  for (size_t i = 0; i < operands.size(); ++i)
    converted[i] = convert(operands[i], operand_type(*builtin, type, static_cast<int>(i)));
  return builtin->reference(type, converted);
}

}  // namespace stria
