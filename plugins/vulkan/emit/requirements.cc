// SPDX-License-Identifier: Apache-2.0
#include "emit/requirements.h"

#include <algorithm>
#include <string>

#include "emit/matrix_check.h"
#include "stria/poly/affine.h"
#include "stria/semtree/c/dialect.h"

namespace stria::vulkan {
namespace {

using semtree::Expr;
using semtree::Function;
using semtree::Place;
using semtree::Statement;

// The first thing that the device lacks for the types of expressions.
class TypeCheck {
 public:
  explicit TypeCheck(const Features& features) : features_(features) {}

  const Status& status() const { return status_; }
  void check(const semtree::ExprRef& expr) {
    if (!expr || !status_.ok()) return;
    status_ = check_type(expr->type.scalar, "a value", features_);
    for (const semtree::ExprRef& arg : expr->args) check(arg);
  }
  void check(const Place& place) {
    check(place.offset);
    check(place.mask);
  }
  void check(const Statement& statement) {
    if (auto* s = std::get_if<semtree::Let>(&statement.op)) check(s->value);
    if (auto* s = std::get_if<semtree::Load>(&statement.op)) check(s->place);
    if (auto* s = std::get_if<semtree::Store>(&statement.op)) {
      check(s->place);
      check(s->value);
    }
    if (auto* s = std::get_if<semtree::For>(&statement.op)) {
      check(s->lower);
      check(s->upper);
    }
    if (auto* s = std::get_if<semtree::If>(&statement.op)) check(s->condition);
    if (auto* s = std::get_if<semtree::MatrixLoad>(&statement.op)) check(s->from.place);
    if (auto* s = std::get_if<semtree::MatrixStore>(&statement.op)) check(s->to.place);
    if (auto* s = std::get_if<semtree::Instruction>(&statement.op); s && status_.ok())
      status_ = unsupported("instruction '{}': there is no SPIR-V for it", s->name);
  }

 private:
  const Features& features_;
  Status status_;
};

Status lacks(std::string_view what, DataType type, const char* feature, const Features& features) {
  return unsupported("{} is {}; '{}' lacks {}", what, name_of(type), features.device, feature);
}

}  // namespace

Status check_type(DataType type, std::string_view what, const Features& features) {
  if (type == DataType::fp64 && !features.fp64) return lacks(what, type, "shaderFloat64", features);
  if ((type == DataType::i64 || type == DataType::u64) && !features.int64)
    return lacks(what, type, "shaderInt64", features);
  return {};
}

int64_t shared_element_bytes(DataType type, const Features& features) {
  const int64_t bytes = byte_size(type);
  if (bytes == 1) return (features.shared_views ? features.shared_views8 : features.int8) ? 1 : 4;
  if (bytes == 2) return (features.shared_views ? features.shared_views16 : features.int16) ? 2 : 4;
  return bytes;
}

SharedLayout shared_layout(const Function& function, const Features& features) {
  SharedLayout out;
  int64_t end = 0, overlaid_end = 0;
  for (const semtree::Array& array : function.arrays) {
    int64_t& at = array.overlaid ? overlaid_end : end;
    out.begins.push_back(array.shared ? at : -1);
    if (!array.shared) continue;
    constexpr int64_t aligned = semtree::kMemoryAlignment;
    at += ceil_div(array.count * shared_element_bytes(array.type, features), aligned) * aligned;
  }
  out.end = std::max(end, overlaid_end);
  return out;
}

Status check_device(const Function& function, const Features& features, int64_t shared_bytes) {
  for (const semtree::Parameter& param : function.params) {
    const std::string what = "tensor '" + param.name + "'";
    STRIA_RETURN_IF_ERROR(check_type(param.type, what, features));
    // A pointer to a narrow integer may only be made where there is arithmetic on such integers.
    if (byte_size(param.type) == 1 && !(features.storage8 && features.int8))
      return lacks(what, param.type, features.storage8 ? "shaderInt8" : "storageBuffer8BitAccess",
                   features);
    if (byte_size(param.type) == 2 && !(features.storage16 && features.int16))
      return lacks(what, param.type,
                   features.storage16 ? "shaderInt16" : "storageBuffer16BitAccess", features);
  }
  if (function.index_type == DataType::i64 && !features.int64)
    return unsupported("its indices need 64 bits; '{}' lacks shaderInt64", features.device);
  for (const semtree::Array& array : function.arrays)
    STRIA_RETURN_IF_ERROR(check_type(array.type, "array '" + array.name + "'", features));
  for (const semtree::Variable& var : function.vars)
    STRIA_RETURN_IF_ERROR(check_type(var.type.scalar, "value '" + var.name + "'", features));
  TypeCheck types(features);
  semtree::walk(function.body, [&](const Statement& statement) { types.check(statement); });
  STRIA_RETURN_IF_ERROR(types.status());
  STRIA_RETURN_IF_ERROR(check_matrices(function, features));
  const int64_t shared = shared_layout(function, features).end;
  if (shared > shared_bytes)
    return make_error(
        StatusCode::out_of_range,
        "the lanes of a group share {} bytes as '{}' lays them out, it has {} for them", shared,
        features.device, shared_bytes);
  return {};
}

}  // namespace stria::vulkan
