// SPDX-License-Identifier: Apache-2.0
// LpNormalization, MeanVarianceNormalization and LRN.
#include <fmt/format.h>

#include "stria/onnx/operators/normalize/moments.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

constexpr int64_t kMostChannels = int64_t{1} << 31;  // that LRN may look at

}  // namespace

Status lp_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const int64_t p, node.integer_attribute("p", 2));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -1));
  STRIA_ASSIGN(const std::vector<bool> axes, axes_of(node, {written}, node.rank(0)));
  if (p != 1 && p != 2) return node.error(fmt::format("p is {}, not 1 or 2", p));
  const Sizes& sizes = node.type(0).sizes;
  if (type != wide_type(type)) x = node.let(wide(x, type));
  const std::string operand = p == 1 ? node.let(fmt::format("abs({})", x)) : x;
  const std::string at = access(operand, indices("i", sizes.size()));
  const std::string sum = reduced(node, '+', p == 1 ? at : at + " * " + at, sizes, axes).kept;
  const std::string norm = p == 1 ? sum : node.let(fmt::format("sqrt({})", sum));
  return node.result(0, narrow(fmt::format("({1} == 0 ? 0 : {0} / {1})", x, norm), type));
}

Status mean_variance_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  STRIA_ASSIGN(const std::vector<int64_t> list, node.integers_attribute("axes", {0, 2, 3}));
  STRIA_ASSIGN(const std::vector<bool> axes, axes_of(node, list, node.rank(0)));
  if (type != wide_type(type)) x = node.let(wide(x, type));
  const Moments of = moments(node, x, node.type(0).sizes, axes);
  const std::string out = fmt::format("({} / (sqrt({}) + 1e-9))", of.centered, of.variance);
  return node.result(0, narrow(out, type));
}

// Each element by the sum of squares over the channels around it.
Status local_response_normalization(NodeWriter& node) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() < 2) return node.error("its input has less than 2 dimensions");
  STRIA_ASSIGN(const int64_t size, node.integer_attribute("size", 0));
  if (size < 1 || size > kMostChannels)
    return node.error(fmt::format("size is {}; 1 to {}", size, kMostChannels));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1e-4f));
  STRIA_ASSIGN(const float beta, node.float_attribute("beta", 0.75f));
  STRIA_ASSIGN(const float bias, node.float_attribute("bias", 1));
  if (type != wide_type(type)) x = node.let(wide(x, type));
  const Forms all = indices("i", sizes.size());
  Forms around = all;
  around[1] = affine({{1, all[1]}, {1, "k"}}, -((size - 1) / 2));
  const std::string at = access(x, around);
  const std::string sum =
      contract(node, '+', all, sizes, at + " * " + at, {fmt::format("k < {}", size)});
  const std::string out = fmt::format(
      "({} / pow({} + {} * {}, {}))", x, literal(bias),
      literal(static_cast<double>(alpha) / static_cast<double>(size)), sum, literal(beta));
  return node.result(0, narrow(out, type));
}

}  // namespace stria::onnx::operators
