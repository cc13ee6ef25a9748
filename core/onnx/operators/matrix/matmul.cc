// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm and com.microsoft's FusedGemm and GemmFastGelu: one contraction each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stria/onnx/operators/activation.h"
#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Vectors are matrices of one row or column, which the product does not have; batches broadcast.
Result<std::string> matrix_product(NodeWriter& node, const std::string& a, const Sizes& a_sizes,
                                   const std::string& b, const Sizes& b_sizes) {
  const auto wrong = [&] {
    return node.error(fmt::format("[{}] and [{}] are no matrices that can be multiplied",
                                  fmt::join(a_sizes, ", "), fmt::join(b_sizes, ", ")));
  };
  if (a_sizes.empty() || b_sizes.empty() ||
      a_sizes.back() != b_sizes[b_sizes.size() < 2 ? 0 : b_sizes.size() - 2])
    return wrong();
  const size_t a_batch = a_sizes.size() < 2 ? 0 : a_sizes.size() - 2;
  const size_t b_batch = b_sizes.size() < 2 ? 0 : b_sizes.size() - 2;
  const size_t batch = std::max(a_batch, b_batch);
  Forms a_forms, b_forms, forms;
  Sizes sizes;
  for (size_t d = 0; d < batch; ++d) {
    const size_t a_missing = batch - a_batch, b_missing = batch - b_batch;
    const int64_t in_a = d < a_missing ? 1 : a_sizes[d - a_missing];
    const int64_t in_b = d < b_missing ? 1 : b_sizes[d - b_missing];
    if (in_a != in_b && in_a != 1 && in_b != 1) return wrong();
    const int64_t size = in_a == 1 ? in_b : in_a;
    const std::string index = fmt::format("b{}", d);
    forms.push_back(index);
    sizes.push_back(size);
    if (d >= a_missing) a_forms.push_back(in_a == size ? index : "0");
    if (d >= b_missing) b_forms.push_back(in_b == size ? index : "0");
  }
  if (a_sizes.size() > 1) {
    a_forms.push_back("i");
    forms.push_back("i");
    sizes.push_back(a_sizes[a_sizes.size() - 2]);
  }
  a_forms.push_back("k");
  b_forms.push_back("k");
  if (b_sizes.size() > 1) {
    b_forms.push_back("j");
    forms.push_back("j");
    sizes.push_back(b_sizes.back());
  }
  return contract(node, '+', forms, sizes, access(a, a_forms) + " * " + access(b, b_forms));
}

// What Gemm computes.
Result<std::string> general_product(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  if (node.rank(0) != 2 || node.rank(1) != 2)
    return node.error(
        fmt::format("its inputs have ranks {} and {}, not 2", node.rank(0), node.rank(1)));
  STRIA_ASSIGN(const int64_t turn_a, node.integer_attribute("transA", 0));
  STRIA_ASSIGN(const int64_t turn_b, node.integer_attribute("transB", 0));
  STRIA_ASSIGN(const float alpha, node.float_attribute("alpha", 1));
  STRIA_ASSIGN(const float beta, node.float_attribute("beta", 1));
  const int64_t m = node.size(0, turn_a ? 1 : 0), k = node.size(0, turn_a ? 0 : 1);
  const int64_t n = node.size(1, turn_b ? 0 : 1);
  if (node.size(1, turn_b ? 1 : 0) != k)
    return node.error(
        fmt::format("products of {} by {} elements", k, node.size(1, turn_b ? 1 : 0)));
  const std::string product = access(a, turn_a ? Forms{"k", "i"} : Forms{"i", "k"}) + " * " +
                              access(b, turn_b ? Forms{"j", "k"} : Forms{"k", "j"});
  std::string out = contract(node, '+', {"i", "j"}, {m, n}, product);
  const DataType type = node.type(0).type;
  const bool scaled = alpha != 1 || (node.has(2) && beta != 1);
  if (alpha != 1) out += " * " + literal(alpha);
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string c, node.tensor(2));
    out += beta == 1 ? " + " + c : fmt::format(" + {} * {}", c, literal(beta));
  }
  // Numbers with fractions make floats of integers.
  const bool floats = scaled && !is_float(type);
  return floats ? converted("(" + out + ")", DataType::fp32, type) : out;
}

}  // namespace

Status matmul(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(const std::string out,
               matrix_product(node, a, node.type(0).sizes, b, node.type(1).sizes));
  return node.result(0, out);
}

// com.microsoft's: a bias of the last dimension, and Gelu by tanh.
Status gemm_fast_gelu(NodeWriter& node) {
  STRIA_ASSIGN(const std::string a, node.tensor(0));
  STRIA_ASSIGN(const std::string b, node.tensor(1));
  STRIA_ASSIGN(std::string out, matrix_product(node, a, node.type(0).sizes, b, node.type(1).sizes));
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string bias, node.tensor(2));
    if (node.type(2).sizes != Sizes{node.type(1).sizes.back()})
      return node.error(fmt::format("its bias has sizes [{}] for [{}]",
                                    fmt::join(node.type(2).sizes, ", "),
                                    fmt::join(node.type(1).sizes, ", ")));
    out = node.let(fmt::format("{} + {}", out, bias));
  }
  return node.result(0, tanh_gelu(out));
}

Status gemm(NodeWriter& node) {
  STRIA_ASSIGN(const std::string out, general_product(node));
  return node.result(0, out);
}

// com.microsoft's: an activation follows.
Status fused_gemm(NodeWriter& node) {
  STRIA_ASSIGN(const std::string out, general_product(node));
  STRIA_ASSIGN(const std::string name, node.string_attribute("activation", ""));
  if (name.empty()) return node.result(0, out);
  std::optional<Activation> by = find_activation(name);
  if (!by) return node.not_supported(fmt::format("activation '{}'", name));
  STRIA_ASSIGN(const float alpha,
               node.float_attribute("activation_alpha", static_cast<float>(by->alpha)));
  STRIA_ASSIGN(const float beta,
               node.float_attribute(by->name == "selu" ? "activation_gamma" : "activation_beta",
                                    static_cast<float>(by->beta)));
  by->alpha = alpha;
  by->beta = beta;
  return node.result(0, activated(*by, node.let(out)));
}

}  // namespace stria::onnx::operators
