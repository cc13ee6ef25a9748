// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/ml/feature_rows.h"

#include <fmt/format.h>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/type/scalar.h"

namespace stria::onnx {

Result<FeatureRows> feature_rows(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const TensorType& type = node.type(0);
  const size_t rank = type.sizes.size();
  if (rank != 1 && rank != 2)
    return node.error(fmt::format("its input has rank {}, not 1 or 2", rank));
  FeatureRows out;
  out.rows = rank == 2 ? type.sizes[0] : 1;
  out.columns = type.sizes.back();
  if (out.columns == 0) return node.error("its input has no features");
  if (type.type == DataType::fp64) out.type = DataType::fp64;
  if (rank == 1) x = node.let(reshaped(x, {1, out.columns}));
  if (type.type != out.type) x = node.let(converted(x, type.type, out.type));
  out.name = x;
  return out;
}

Result<std::vector<double>> real_list(NodeWriter& node, const std::string& name) {
  STRIA_ASSIGN(const std::vector<float> floats, node.floats_attribute(name));
  std::vector<double> out(floats.begin(), floats.end());
  const Attribute* const tensor = node.find_attribute(name + "_as_tensor");
  if (!tensor) return out;
  if (!tensor->t) return node.error(fmt::format("attribute '{}_as_tensor' is no tensor", name));
  if (!out.empty())
    return node.error(fmt::format("attributes '{0}' and '{0}_as_tensor' are both there", name));
  auto elements = host_tensor_of(*tensor->t);
  if (!elements.ok() || !is_float(elements->type()))
    return node.error(fmt::format("attribute '{}_as_tensor' has no floats", name));
  for (int64_t e = 0; e < elements->element_count(); ++e)
    out.push_back(load_scalar(elements->type(), elements->data(), e).to_double());
  return out;
}

Result<std::vector<std::string>> text_list(NodeWriter& node, std::string_view name) {
  const Attribute* const found = node.find_attribute(name);
  if (!found) return std::vector<std::string>();
  if (found->type != Attribute::Type::strings)
    return node.error(fmt::format("attribute '{}' is no list of strings", name));
  return found->strings;
}

Result<std::string> real_table(NodeWriter& node, DataType type, const std::vector<double>& values,
                               std::vector<int64_t> sizes) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, std::move(sizes), "numbers"));
  if (out.element_count() != static_cast<int64_t>(values.size()))
    return node.error("a table of other sizes than its numbers");
  for (size_t e = 0; e < values.size(); ++e)
    store_scalar(type, out.data(), static_cast<int64_t>(e),
                 Scalar::of_float(DataType::fp64, values[e]));
  return node.constant(std::move(out));
}

Status wrong_count(const NodeWriter& node, std::string_view attribute, size_t count,
                   int64_t wanted) {
  return node.error(fmt::format("attribute '{}' has {} values, not {}", attribute, count, wanted));
}

}  // namespace stria::onnx
