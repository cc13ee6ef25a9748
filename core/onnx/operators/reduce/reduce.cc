// SPDX-License-Identifier: Apache-2.0
// Reductions over axes that an attribute lists, or an input since version 18 (13 of ReduceSum).
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "stria/onnx/operators/tile_text.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

struct Reduction {
  DataType type;
  std::string x;  // wide
  Sizes sizes;
  std::vector<bool> axes;
  int64_t elements = 1;  // of x for each of the result
  Sizes result;
};

Result<Reduction> reduction_of(NodeWriter& node, int64_t axes_input_since = 18) {
  Reduction out;
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  out.type = node.type(0).type;
  out.sizes = node.type(0).sizes;
  out.x = wide_type(out.type) == out.type ? x : node.let(wide(x, out.type));
  std::vector<int64_t> axes;
  if (node.version() < axes_input_since) {
    STRIA_ASSIGN(axes, node.integers_attribute("axes"));
  } else if (node.has(1)) {
    STRIA_ASSIGN(axes, node.integers(1));
  }
  STRIA_ASSIGN(out.axes, axes_of(node, axes, node.rank(0)));
  STRIA_ASSIGN(const int64_t none_is_none, node.integer_attribute("noop_with_empty_axes", 0));
  if (axes.empty() && !none_is_none) out.axes.assign(out.sizes.size(), true);
  STRIA_ASSIGN(const int64_t keep, node.integer_attribute("keepdims", 1));
  for (size_t d = 0; d < out.sizes.size(); ++d) {
    if (out.axes[d]) out.elements *= out.sizes[d];
    if (!out.axes[d] || keep) out.result.push_back(out.axes[d] ? 1 : out.sizes[d]);
  }
  return out;
}

std::string over(NodeWriter& node, const Reduction& of, char aggregation, const std::string& x,
                 std::string_view otherwise = "") {
  const std::string body = access(x, indices("i", of.sizes.size()));
  return reduced(node, aggregation, body, of.sizes, of.axes, otherwise).kept;
}

// `expression` has the type in which sums of the elements come out.
Status of_sums(NodeWriter& node, const Reduction& of, const std::string& expression,
               DataType from) {
  return node.result(0, reshaped(converted(expression, from, of.type), of.result));
}

DataType sum_type(const Reduction& of) {
  const DataType wide = wide_type(of.type);
  return is_float(wide) || bit_width(wide) >= 32 ? wide : DataType::i32;
}

std::string sum_of_squares(NodeWriter& node, const Reduction& of) {
  const std::string x = access(of.x, indices("i", of.sizes.size()));
  return reduced(node, '+', x + " * " + x, of.sizes, of.axes).kept;
}

// A tensor of the largest or the smallest number of an integer type, as large as what is kept of
// the reduction.
Result<std::string> limits_of(NodeWriter& node, const Reduction& of, DataType type, bool largest) {
  const uint64_t all = ~uint64_t{0} >> (64 - bit_width(type));
  const uint64_t most = is_signed_integer(type) ? all >> 1 : all,
                 least = is_signed_integer(type) ? ~most : 0;
  const uint64_t limit = largest ? most : least;
  Sizes kept = of.sizes;
  for (size_t d = 0; d < kept.size(); ++d)
    if (of.axes[d]) kept[d] = 1;
  STRIA_ASSIGN(HostTensor one, HostTensor::create(type, {}, "limit"));
  std::memcpy(one.data(), &limit, static_cast<size_t>(byte_size(type)));
  return contract(node, '=', indices("i", kept.size()), kept, node.constant(std::move(one)) + "[]");
}

// The largest or the smallest element; of no elements what is below or above all numbers.
Status extreme(NodeWriter& node, char aggregation, double of_none) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  // The aggregations of bool are those of 0 and 1.
  const bool truth = of.type == DataType::boolean;
  const std::string x = truth ? node.let(fmt::format("as_int({}, 32)", of.x)) : of.x;
  const DataType from = truth ? DataType::i32 : wide_type(of.type);
  std::string otherwise;
  if (of.elements == 0) {
    if (is_integer(of.type)) {
      STRIA_ASSIGN(otherwise, limits_of(node, of, of.type, of_none > 0));
    } else {
      otherwise = node.let(truth ? (of_none < 0 ? "0" : "1") : literal(of_none));
    }
  }
  return of_sums(node, of, over(node, of, aggregation, x, otherwise), from);
}

}  // namespace

Status reduce_sum(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node, 13));
  return of_sums(node, of, over(node, of, '+', of.x), sum_type(of));
}

Status reduce_mean(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const DataType type = sum_type(of);
  if (of.elements == 0 && !is_float(type))
    return node.not_supported("it is the mean of no integers");
  const std::string sum = over(node, of, '+', of.x);
  const std::string elements = literal(static_cast<double>(of.elements), type);
  return of_sums(node, of, fmt::format("({} / {})", sum, elements), type);
}

Status reduce_prod(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const std::string otherwise = of.elements == 0 ? node.let("1") : "";
  return of_sums(node, of, over(node, of, '*', of.x, otherwise), sum_type(of));
}

Status reduce_max(NodeWriter& node) { return extreme(node, '>', -HUGE_VAL); }
Status reduce_min(NodeWriter& node) { return extreme(node, '<', HUGE_VAL); }

Status reduce_l1(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const std::string absolute = node.let(fmt::format("abs({})", of.x));
  return of_sums(node, of, over(node, of, '+', absolute), sum_type(of));
}

Status reduce_l2(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const DataType type = sum_type(of);
  const std::string root = fmt::format("sqrt({})", sum_of_squares(node, of));
  return of_sums(node, of, root, is_float(type) ? type : DataType::fp32);
}

Status reduce_sum_square(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  return of_sums(node, of, sum_of_squares(node, of), sum_type(of));
}

Status reduce_log_sum(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const DataType type = sum_type(of);
  const std::string log = fmt::format("log({})", over(node, of, '+', of.x));
  return of_sums(node, of, log, is_float(type) ? type : DataType::fp32);
}

Status reduce_log_sum_exp(NodeWriter& node) {
  STRIA_ASSIGN(const Reduction of, reduction_of(node));
  const DataType type = sum_type(of);
  // Shifted by the largest element, so that nothing overflows; an infinite one would give NaN.
  const std::string largest = over(node, of, '>', of.x);
  const std::string shift = node.let(fmt::format("abs({0}) < {1} ? {0} : 0", largest,
                                                 is_float(type) ? literal(HUGE_VAL) : "1.0e30"));
  const std::string powers = node.let(fmt::format("exp({} - {})", of.x, shift));
  const std::string log = fmt::format("(log({}) + {})", over(node, of, '+', powers), shift);
  return of_sums(node, of, log, is_float(type) ? type : DataType::fp32);
}

}  // namespace stria::onnx::operators
