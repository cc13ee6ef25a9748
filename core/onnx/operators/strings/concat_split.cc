// SPDX-License-Identifier: Apache-2.0
// StringConcat, StringSplit, and Equal of strings.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/operators/strings/string_value.h"

namespace stria::onnx::operators {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

// Pieces between runs of white space; after `most` splits the rest is one piece.
std::vector<std::string> split_at_space(std::string_view text, int64_t most) {
  std::vector<std::string> pieces;
  for (;;) {
    const size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return pieces;
    text.remove_prefix(begin);
    const size_t end = text.find_first_of(kSpace);
    if (end == std::string_view::npos || static_cast<int64_t>(pieces.size()) == most) {
      pieces.emplace_back(text.substr(0, text.find_last_not_of(kSpace) + 1));
      return pieces;
    }
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string> pieces;
  while (most < 0 || static_cast<int64_t>(pieces.size()) < most) {
    const size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  pieces.emplace_back(text);
  return pieces;
}

// Where element `e` of a tensor of `sizes` comes from in one of `from` that is broadcast to them.
int64_t broadcast_from(int64_t e, const Sizes& sizes, const Sizes& from) {
  int64_t at = 0, stride = 1;
  for (size_t back = 1; back <= sizes.size(); ++back) {
    const int64_t size = sizes[sizes.size() - back];
    if (back <= from.size() && from[from.size() - back] != 1) at += e % size * stride;
    if (back <= from.size()) stride *= from[from.size() - back];
    e /= size;
  }
  return at;
}

// Two tensors of strings, broadcast to the same sizes.
struct Pairs {
  Sizes sizes;
  std::vector<std::pair<const std::string*, const std::string*>> strings;
};

Result<Pairs> pairs_of(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr a, strings_of(node, 0));
  STRIA_ASSIGN(const ValuePtr b, strings_of(node, 1));
  const Sizes &x = a->type.sizes, &y = b->type.sizes;
  Pairs out;
  out.sizes.resize(std::max(x.size(), y.size()));
  for (size_t back = 1; back <= out.sizes.size(); ++back) {
    const int64_t m = back <= x.size() ? x[x.size() - back] : 1;
    const int64_t n = back <= y.size() ? y[y.size() - back] : 1;
    if (m != n && m != 1 && n != 1)
      return node.error(
          fmt::format("sizes [{}] do not broadcast with [{}]", list_text(x), list_text(y)));
    out.sizes[out.sizes.size() - back] = m == 1 ? n : m;
  }
  for (int64_t e = 0; e < product(out.sizes); ++e)
    out.strings.emplace_back(&a->strings[static_cast<size_t>(broadcast_from(e, out.sizes, x))],
                             &b->strings[static_cast<size_t>(broadcast_from(e, out.sizes, y))]);
  return out;
}

}  // namespace

Status string_concat(NodeWriter& node) {
  STRIA_ASSIGN(const Pairs pairs, pairs_of(node));
  std::vector<std::string> joined;
  for (const auto& [a, b] : pairs.strings) joined.push_back(*a + *b);
  return result_strings(node, 0, std::move(joined), pairs.sizes);
}

Status string_equal(NodeWriter& node) {
  STRIA_ASSIGN(const Pairs pairs, pairs_of(node));
  std::vector<double> equal;
  for (const auto& [a, b] : pairs.strings) equal.push_back(*a == *b ? 1 : 0);
  STRIA_ASSIGN(HostTensor out, number_table(DataType::boolean, equal, pairs.sizes));
  return node.result_known(0, std::move(out));
}

Status string_split(NodeWriter& node) {
  STRIA_ASSIGN(const ValuePtr x, strings_of(node, 0));
  STRIA_ASSIGN(const std::string delimiter, node.string_attribute("delimiter", ""));
  STRIA_ASSIGN(const int64_t most, node.integer_attribute("maxsplit", -1));
  std::vector<std::vector<std::string>> pieces;
  std::vector<int64_t> counts;
  size_t longest = 0;
  for (const std::string& text : x->strings) {
    pieces.push_back(delimiter.empty() ? split_at_space(text, most)
                                       : split_at(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(pieces.back().size()));
    longest = std::max(longest, pieces.back().size());
  }
  std::vector<std::string> all;
  for (std::vector<std::string>& each : pieces) {
    each.resize(longest);
    std::move(each.begin(), each.end(), std::back_inserter(all));
  }
  Sizes sizes = x->type.sizes;
  STRIA_ASSIGN(HostTensor lengths, integer_table(counts, sizes));
  sizes.push_back(static_cast<int64_t>(longest));
  STRIA_RETURN_IF_ERROR(result_strings(node, 0, std::move(all), sizes));
  return node.result_known(1, std::move(lengths));
}

}  // namespace stria::onnx::operators
