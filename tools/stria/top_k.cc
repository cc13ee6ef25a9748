// SPDX-License-Identifier: Apache-2.0
#include "top_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stria/base/file.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

constexpr int64_t kShownRows = 4;
constexpr size_t kMaxLabelsBytes = size_t{16} << 20;

bool greater(const Scalar& a, const Scalar& b) {
  if (!is_float(a.type))
    return a.type == DataType::u64 ? static_cast<uint64_t>(a.i) > static_cast<uint64_t>(b.i)
                                   : a.i > b.i;
  return std::isnan(b.f) ? !std::isnan(a.f) : a.f > b.f;
}

// Indices of the k largest of `count` elements from `first` on.
std::vector<int64_t> largest(const HostTensor& tensor, int64_t first, int64_t count, int64_t k) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(k, count);
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    const Scalar x = load_scalar(tensor.type(), tensor.data(), first + a);
    const Scalar y = load_scalar(tensor.type(), tensor.data(), first + b);
    return greater(x, y) || (!greater(y, x) && a < b);
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace

int64_t classes_of(const std::vector<int64_t>& sizes) {
  for (size_t d = sizes.size(); d-- > 0;)
    if (sizes[d] != 1) return sizes[d];
  return 1;
}

Result<Labels> read_labels(const std::string& file) {
  STRIA_ASSIGN(const std::string text, read_file(file, kMaxLabelsBytes));
  Labels out{file, split(text, '\n')};
  if (out.names.back().empty()) out.names.pop_back();  // behind the last end of line
  for (std::string& name : out.names)
    if (name.ends_with('\r')) name.pop_back();
  if (out.names.empty()) return invalid_argument("'{}' has no lines", shown_name(file));
  return out;
}

Result<std::vector<bool>> match_labels(const Labels& labels,
                                       const std::vector<LabelledResult>& results,
                                       std::string& note) {
  const auto count = static_cast<int64_t>(labels.names.size());
  std::vector<bool> exact, any;
  for (const LabelledResult& result : results) {
    const int64_t classes = classes_of(result.sizes);
    exact.push_back(classes == count);
    any.push_back(classes > 1);
  }
  if (std::find(exact.begin(), exact.end(), true) != exact.end()) return exact;
  for (const LabelledResult& result : results) {
    const int64_t classes = classes_of(result.sizes);
    if (classes > count)
      return invalid_argument("'{}' has {} lines, but '{}' has {} classes", shown_name(labels.file),
                              count, result.name, classes);
    if (classes > 1)
      note = fmt::format("'{}' has {} lines, more than the {} classes of '{}': its first are taken",
                         shown_name(labels.file), count, classes, result.name);
  }
  return any;
}

std::string describe_top_k(const std::string& name, const HostTensor& tensor, int64_t k,
                           const Labels* labels) {
  const std::vector<int64_t>& sizes = tensor.sizes();
  const int64_t classes = classes_of(sizes);
  const int64_t rows = classes == 0 ? 0 : tensor.element_count() / classes;
  std::string out = fmt::format("{}: {}, the {} largest{}", name, to_string(tensor.type(), sizes),
                                std::min(k, classes), rows == 1 ? "" : " of each row");
  for (int64_t row = 0; row < std::min(rows, kShownRows); ++row) {
    const std::vector<int64_t> order = largest(tensor, row * classes, classes, k);
    std::vector<std::string> values;
    size_t index_width = 0, value_width = 0;
    for (const int64_t index : order) {
      values.push_back(to_string(load_scalar(tensor.type(), tensor.data(), row * classes + index)));
      index_width = std::max(index_width, std::to_string(index).size());
      value_width = std::max(value_width, values.back().size());
    }
    if (rows > 1) out += fmt::format("\n  row {}:", row);
    for (size_t i = 0; i < order.size(); ++i) {
      const bool named = labels != nullptr;
      out += fmt::format("\n  {:>{}}  {:<{}}", order[i], index_width, values[i],
                         named ? value_width : 0);
      if (named) out += "  " + shown_name(labels->names[static_cast<size_t>(order[i])]);
    }
  }
  if (rows > kShownRows) out += fmt::format("\n  … {} more rows", rows - kShownRows);
  return out;
}

}  // namespace stria::command
