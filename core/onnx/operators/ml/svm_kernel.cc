// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/ml/svm_kernel.h"

#include <fmt/format.h>

#include <cmath>

#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

// base^degree. Whole exponents are products, which are right for negative bases on every device.
std::string power(NodeWriter& node, const std::string& base, double degree) {
  constexpr double kMostFactors = 32;
  if (degree != std::floor(degree) || degree < 0 || degree > kMostFactors)
    return fmt::format("pow({}, {})", base, number(degree));
  if (degree == 0) return fmt::format("{} * 0.0 + 1.0", base);
  std::string out = base;
  for (int factor = 1; factor < static_cast<int>(degree); ++factor)
    out = node.let(fmt::format("{} * {}", out, base));
  return out;
}

// |x - v|^2 as |x|^2 - 2 x v + |v|^2, with the middle of all v moved to 0: the terms that cancel
// are then as large as the distances of the vectors, wherever those lie.
Result<std::string> squared_distances(NodeWriter& node, const FeatureRows& x,
                                      std::vector<double> vectors, int64_t count) {
  const auto columns = static_cast<size_t>(x.columns);
  std::vector<double> middle(columns, 0), squares(static_cast<size_t>(count), 0);
  for (size_t e = 0; e < vectors.size(); ++e)
    middle[e % columns] += vectors[e] / static_cast<double>(count);
  // What is taken from x is a number of its type: the same is taken from the vectors.
  if (x.type == DataType::fp32)
    for (double& each : middle) each = static_cast<float>(each);
  for (size_t e = 0; e < vectors.size(); ++e) {
    vectors[e] -= middle[e % columns];
    if (x.type == DataType::fp32) vectors[e] = static_cast<float>(vectors[e]);
    squares[e / columns] += vectors[e] * vectors[e];
  }
  STRIA_ASSIGN(const std::string moved_by, real_table(node, x.type, middle, {1, x.columns}));
  STRIA_ASSIGN(const std::string all, real_table(node, x.type, vectors, {count, x.columns}));
  STRIA_ASSIGN(const std::string own, real_table(node, x.type, squares, {1, count}));
  const std::string from = node.let(fmt::format("{} - {}", x.name, moved_by));
  const std::string square =
      contract(node, '+', {"r", "0"}, {x.rows, 1}, fmt::format("{0}[r, c] * {0}[r, c]", from));
  const std::string products = contract(node, '+', {"r", "v"}, {x.rows, count},
                                        fmt::format("{}[r, c] * {}[v, c]", from, all));
  const std::string distances = node.let(fmt::format("{} - 2.0 * {} + {}", square, products, own));
  return node.let(fmt::format("{0} < 0.0 ? 0.0 : {0}", distances));
}

}  // namespace

Result<SvmKernel> svm_kernel(NodeWriter& node) {
  SvmKernel out;
  STRIA_ASSIGN(const std::string name, node.string_attribute("kernel_type", "LINEAR"));
  STRIA_ASSIGN(const std::vector<double> parameters, real_list(node, "kernel_params"));
  static constexpr std::pair<std::string_view, SvmKernel::Type> kNames[] = {
      {"LINEAR", SvmKernel::Type::linear},
      {"POLY", SvmKernel::Type::poly},
      {"RBF", SvmKernel::Type::rbf},
      {"SIGMOID", SvmKernel::Type::sigmoid},
  };
  bool found = false;
  for (const auto& [known, type] : kNames)
    if (known == name) {
      out.type = type;
      found = true;
    }
  if (!found)
    return node.error(
        fmt::format("attribute 'kernel_type' is '{}': LINEAR, POLY, RBF or SIGMOID", name));
  if (parameters.size() == 3) {
    out.gamma = parameters[0];
    out.coef0 = parameters[1];
    out.degree = parameters[2];
  } else if (!parameters.empty() || out.type != SvmKernel::Type::linear) {
    return wrong_count(node, "kernel_params", parameters.size(), 3);
  }
  for (const double parameter : parameters)
    if (!std::isfinite(parameter))
      return node.error(fmt::format("attribute 'kernel_params' has {}", parameter));
  return out;
}

Result<std::string> kernel_values(NodeWriter& node, const SvmKernel& kernel, const FeatureRows& x,
                                  const std::vector<double>& vectors, int64_t count) {
  if (kernel.type == SvmKernel::Type::rbf) {
    STRIA_ASSIGN(const std::string distances, squared_distances(node, x, vectors, count));
    return fmt::format("exp({} * {})", number(-kernel.gamma), distances);
  }
  STRIA_ASSIGN(const std::string all, real_table(node, x.type, vectors, {count, x.columns}));
  const std::string products = contract(node, '+', {"r", "v"}, {x.rows, count},
                                        fmt::format("{}[r, c] * {}[v, c]", x.name, all));
  if (kernel.type == SvmKernel::Type::linear) return products;
  const std::string inner =
      node.let(fmt::format("{} * {} + {}", number(kernel.gamma), products, number(kernel.coef0)));
  if (kernel.type == SvmKernel::Type::sigmoid) return fmt::format("tanh({})", inner);
  return power(node, inner, kernel.degree);
}

std::vector<std::pair<int64_t, int64_t>> class_pairs(int64_t classes) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) out.emplace_back(i, j);
  return out;
}

}  // namespace stria::onnx
