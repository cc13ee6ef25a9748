// SPDX-License-Identifier: Apache-2.0
// Scaler, Normalizer and Imputer: features moved to where a model wants them.
#include <fmt/format.h>

#include <cmath>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/ml/feature_rows.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

// How many features a tensor has: its last dimension.
Result<int64_t> features_of(NodeWriter& node) {
  if (node.rank(0) == 0) return node.error("its input is a single number");
  return node.type(0).sizes.back();
}

Status check_count(const NodeWriter& node, std::string_view attribute, size_t count,
                   int64_t features) {
  if (count == 1 || static_cast<int64_t>(count) == features) return {};
  return node.error(fmt::format("attribute '{}' has {} values for {} features: one, or as many",
                                attribute, count, features));
}

}  // namespace

// (x - offset) * scale
Status scaler(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t features, features_of(node));
  const DataType from = node.type(0).type;
  const DataType type = from == DataType::fp64 ? from : DataType::fp32;
  x = converted(x, from, type);
  for (const auto& [name, sign] : {std::pair("offset", '-'), std::pair("scale", '*')}) {
    STRIA_ASSIGN(const std::vector<double> values, real_list(node, name));
    if (values.empty()) continue;
    STRIA_RETURN_IF_ERROR(check_count(node, name, values.size(), features));
    STRIA_ASSIGN(const std::string each,
                 real_table(node, type, values, {static_cast<int64_t>(values.size())}));
    x = fmt::format("({} {} {})", x, sign, each);
  }
  return node.result(0, converted(x, type, DataType::fp32));
}

Status normalizer(NodeWriter& node) {
  STRIA_ASSIGN(const std::string norm, node.string_attribute("norm", "MAX"));
  STRIA_ASSIGN(const FeatureRows x, feature_rows(node));
  std::string size;
  const auto over_columns = [&](char aggregation, const std::string& body) {
    return contract(node, aggregation, {"r", "0"}, {x.rows, 1}, body);
  };
  if (norm == "MAX") {
    size = over_columns('>', x.name + "[r, c]");
  } else if (norm == "L1") {
    size = over_columns('+', node.let(fmt::format("abs({})", x.name)) + "[r, c]");
  } else if (norm == "L2") {
    size = fmt::format("sqrt({})", over_columns('+', fmt::format("{0}[r, c] * {0}[r, c]", x.name)));
  } else {
    return node.error(fmt::format("attribute 'norm' is '{}': MAX, L1 or L2", norm));
  }
  size = node.let(size);
  // A row of zeros stays one.
  const std::string y = node.let(fmt::format("{0} == 0.0 ? {1} : {1} / {0}", size, x.name));
  return node.result(0, converted(reshaped(y, node.type(0).sizes), x.type, DataType::fp32));
}

// Elements that are the replaced value, which may be NaN, become the imputed one of their feature.
Status imputer(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const int64_t features, features_of(node));
  const DataType type = node.type(0).type;
  if (is_float(type)) {
    STRIA_ASSIGN(const std::vector<double> values, real_list(node, "imputed_value_floats"));
    STRIA_ASSIGN(const float replaced, node.float_attribute("replaced_value_float", 0));
    STRIA_RETURN_IF_ERROR(check_count(node, "imputed_value_floats", values.size(), features));
    STRIA_ASSIGN(const std::string imputed,
                 real_table(node, type, values, {static_cast<int64_t>(values.size())}));
    if (std::isnan(replaced))
      return node.result(0, fmt::format("{0} != {0} ? {1} : {0}", x, imputed));
    STRIA_ASSIGN(const std::string wanted, real_table(node, type, {replaced}, {1}));
    return node.result(0, fmt::format("{0} == {2} ? {1} : {0}", x, imputed, wanted));
  }
  if (type != DataType::i64)
    return node.not_supported(fmt::format("an input of type {}", name_of(type)));
  STRIA_ASSIGN(const std::vector<int64_t> values, node.integers_attribute("imputed_value_int64s"));
  STRIA_ASSIGN(const int64_t replaced, node.integer_attribute("replaced_value_int64", 0));
  STRIA_RETURN_IF_ERROR(check_count(node, "imputed_value_int64s", values.size(), features));
  STRIA_ASSIGN(const std::string imputed,
               table(node, values, {static_cast<int64_t>(values.size())}));
  STRIA_ASSIGN(const std::string wanted, table(node, std::vector<int64_t>{replaced}, {1}));
  return node.result(0, fmt::format("{0} == {2} ? {1} : {0}", x, imputed, wanted));
}

}  // namespace stria::onnx::operators
