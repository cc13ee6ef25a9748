// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLSTM of com.microsoft: weights are small integers. The inputs of all steps become
// u8 together, the states at each step, each time by the range of their elements.
#include <fmt/format.h>

#include "stria/onnx/operators/quantize/quantization.h"
#include "stria/onnx/operators/recurrent/recurrent.h"

namespace stria::onnx::operators {
namespace {

// Inputs 8 and 9 are scale and zero point of W, 10 and 11 those of R: one of each direction, or one
// of each of its columns.
struct SmallWeights {
  std::string elements;  // i32 [directions, rows, columns], less the zero point
  std::string scale;     // [directions, 1 or columns]
  bool by_column = false;
};

Result<SmallWeights> small_weights(NodeWriter& node, int i, int scale, int zero_point) {
  SmallWeights out;
  const int64_t directions = node.size(i, 0), columns = node.size(i, 2);
  const auto check = [&](int which) {
    const Sizes& sizes = node.type(which).sizes;
    if (sizes == Sizes{directions} || sizes == Sizes{directions, columns}) return Status();
    return node.error(
        fmt::format("input {} is neither one number of each of {} directions nor one "
                    "of each of its {} columns",
                    which, directions, columns));
  };
  STRIA_ASSIGN(const std::string given, node.tensor(scale));
  STRIA_RETURN_IF_ERROR(check(scale));
  out.by_column = node.rank(scale) == 2;
  out.scale = node.let(reshaped(given, {directions, out.by_column ? columns : 1}));
  std::string zero;
  if (node.has(zero_point)) {
    STRIA_ASSIGN(const std::string points, node.tensor(zero_point));
    STRIA_RETURN_IF_ERROR(check(zero_point));
    zero = node.let(reshaped(points, {directions, 1, node.rank(zero_point) == 2 ? columns : 1}));
  }
  STRIA_ASSIGN(const std::string moved, centered(node, i, zero));
  out.elements = node.let(cast(moved, DataType::i32));
  return out;
}

}  // namespace

Status dynamic_quantize_lstm(NodeWriter& node) {
  STRIA_ASSIGN(Recurrent of,
               recurrent_of(node, 4, {"Sigmoid", "Tanh", "Tanh"}, Weights::small_columns));
  STRIA_ASSIGN(const SmallWeights w, small_weights(node, 1, 8, 9));
  STRIA_ASSIGN(const SmallWeights r, small_weights(node, 2, 10, 11));
  const int64_t columns = of.gates * of.hidden;
  of.product = [&](NodeWriter& writer, int which, int64_t direction, const std::string& rows,
                   const Sizes& sizes) -> Result<std::string> {
    const SmallWeights& weights = which == 0 ? w : r;
    STRIA_ASSIGN(const DynamicRange range, dynamic_range(writer, rows, sizes));
    const std::string small = writer.let(saturated(
        writer, rounded_quotient(writer, rows, range.scale), range.zero_point, ElementType::u8));
    const std::string moved = writer.let(
        fmt::format("{} - {}", cast(small, DataType::i32), cast(range.zero_point, DataType::i32)));
    Forms at = indices("i", sizes.size() - 1), out = at;
    Sizes result(sizes.begin(), sizes.end() - 1);
    at.push_back("k");
    out.push_back("q");
    result.push_back(columns);
    const std::string sums =
        contract(writer, '+', out, result,
                 fmt::format("{} * {}[{}, k, q]", access(moved, at), weights.elements, direction));
    const std::string scale = contract(
        writer, '=', {"q"}, {columns},
        fmt::format("{}[{}, {}]", weights.scale, direction, weights.by_column ? "q" : "0"));
    return writer.let(
        fmt::format("{} * ({} * {})", cast(sums, DataType::fp32), range.scale, scale));
  };
  return run_lstm(node, of);
}

}  // namespace stria::onnx::operators
