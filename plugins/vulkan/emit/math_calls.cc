// SPDX-License-Identifier: Apache-2.0
#include "emit/math_calls.h"

#include "emit/expressions.h"
#include "emit/requirements.h"
#include "emit/statements.h"
#include "stria/semtree/mathematics/mathematics.h"

namespace stria::vulkan {

Id MathCalls::call(std::string_view callee, DataType type, const std::vector<Id>& args) {
  const Id of = values_.type(type);
  if (features_.fast_math && type == DataType::fp32 && (callee == "exp" || callee == "log"))
    return module_.glsl(callee == "exp" ? GLSLstd450Exp : GLSLstd450Log, of, args);
  const Id function = this->function(std::string(callee), type);
  if (function == 0) return module_.undefined(of);
  Words operands = {function};
  operands.insert(operands.end(), args.begin(), args.end());
  return module_.add(spv::Op::OpFunctionCall, of, operands);
}

Id MathCalls::function(const std::string& callee, DataType type) {
  auto [at, is_new] = functions_.emplace(std::pair(callee, type), 0);
  if (!is_new) return at->second;
  const semtree::MathFunction* source = semtree::math_function(callee, type);
  if (!source) {
    if (status_.ok())
      status_ = unsupported("there is no code for '{}' of {}", callee, name_of(type));
    return 0;
  }
  semtree::Function needs;
  needs.index_type = DataType::i32;
  needs.vars = source->vars;
  needs.body = source->body;
  if (Status lacks = check_device(needs, features_); !lacks.ok()) {
    if (status_.ok()) status_ = lacks.with_context(fmt::format("function '{}'", callee));
    return 0;
  }
  std::vector<Id> param_types, params;
  for (const int param : source->params)
    param_types.push_back(values_.type(source->vars[static_cast<size_t>(param)].type.scalar));
  const Id id = module_.begin_function(values_.type(type), param_types, &params);
  module_.name(id, source->name);
  // What it computes is exact only as it is written.
  const bool was_strict = std::exchange(values_.strict, true);
  Expressions expressions(module_, values_, *this, source->vars.size());
  for (size_t i = 0; i < params.size(); ++i) expressions.set(source->params[i], {params[i]});
  Statements(module_, values_, expressions, nullptr, nullptr, source->vars).add_all(source->body);
  expressions.forget();
  module_.add(spv::Op::OpReturnValue, {expressions.scalar(source->result)});
  module_.end_function();
  values_.strict = was_strict;
  functions_[{callee, type}] = id;
  return id;
}

}  // namespace stria::vulkan
