// SPDX-License-Identifier: Apache-2.0
// ReverseSequence and TensorScatter: each batch has a length or a place of its own.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"

namespace stria::onnx::operators {

Status reverse_sequence(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string lengths, node.tensor(1));
  STRIA_ASSIGN(const int64_t time, node.integer_attribute("time_axis", 0));
  STRIA_ASSIGN(const int64_t batch, node.integer_attribute("batch_axis", 1));
  const Sizes& sizes = node.type(0).sizes;
  if (time + batch != 1 || time * batch != 0 || sizes.size() < 2)
    return node.error(fmt::format("time axis {} and batch axis {} of a tensor of rank {}", time,
                                  batch, sizes.size()));
  if (node.type(1).sizes != Sizes{sizes[static_cast<size_t>(batch)]})
    return node.error(fmt::format("lengths of sizes [{}]", list_text(node.type(1).sizes)));
  // The length of each place's batch, and the row that goes there.
  const std::string length =
      moved(node, lengths, {batch == 0 ? "i0" : "i1"}, {"i0", "i1"}, {sizes[0], sizes[1]});
  const std::string t = fmt::format("index({}, {})", length, time);
  const std::string from = node.let(fmt::format("{1} < {0} ? {0} - 1 - {1} : {1}", length, t));
  const std::string row = time == 0 ? fmt::format("{0} * {1} + index({0}, 1)", from, sizes[1])
                                    : fmt::format("index({0}, 0) * {1} + {0}", from, sizes[1]);
  Sizes rows(sizes.begin() + 1, sizes.end());
  rows[0] = sizes[0] * sizes[1];
  return node.result(0, fmt::format("gather({}, {})", reshaped(x, rows), node.let(row)));
}

Status tensor_scatter(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const std::string update, node.tensor(1));
  STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", -2));
  STRIA_ASSIGN(const int64_t axis, node.axis(written, node.rank(0)));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", "linear"));
  if (mode != "linear" && mode != "circular") return node.error(fmt::format("mode '{}'", mode));
  const Sizes& sizes = node.type(0).sizes;
  const auto a = static_cast<size_t>(axis);
  Sizes wanted = node.type(1).sizes;
  const int64_t length = wanted.size() == sizes.size() ? wanted[a] : -1;
  if (length >= 0) wanted[a] = sizes[a];
  if (a == 0 || wanted != sizes || length > sizes[a])
    return node.error(fmt::format("an update of sizes [{}] along axis {} of [{}]",
                                  list_text(node.type(1).sizes), axis, list_text(sizes)));
  const int64_t outer = product(sizes, 1, a), inner = product(sizes, a + 1, sizes.size());
  const Sizes lines = {sizes[0], outer, sizes[a]};
  // How far behind the place of its batch each row lies.
  std::string place;
  if (node.has(2)) {
    STRIA_ASSIGN(const std::string places, node.tensor(2));
    if (node.type(2).sizes != Sizes{sizes[0]})
      return node.error(fmt::format("places of sizes [{}]", list_text(node.type(2).sizes)));
    place = moved(node, places, {"b"}, {"b", "o", "s"}, lines);
  } else {
    STRIA_ASSIGN(HostTensor zeros, integer_table({0}, {}));
    place = moved(node, node.constant(std::move(zeros)), {}, {"b", "o", "s"}, lines);
  }
  std::string behind = node.let(fmt::format("index({0}, 2) - {0}", place));
  if (mode == "circular")
    behind = node.let(fmt::format("({0} % {1} + {1}) % {1}", behind, sizes[a]));
  const std::string row = node.let(
      fmt::format("(index({0}, 0) * {1} + index({0}, 1)) * {2} + {0}", behind, outer, length));
  const std::string rows = node.let(reshaped(update, {sizes[0] * outer * length, inner}));
  const std::string fresh = node.let(fmt::format("gather({}, {})", rows, row));
  const std::string old = node.let(reshaped(x, {sizes[0], outer, sizes[a], inner}));
  const std::string is_new = node.let(reshaped(fmt::format("{0} >= 0 && {0} < {1}", behind, length),
                                               {sizes[0], outer, sizes[a], 1}));
  const std::string y = node.let(fmt::format("{} ? {} : {}", is_new, fresh, old));
  return node.result(0, reshaped(y, sizes));
}

}  // namespace stria::onnx::operators
