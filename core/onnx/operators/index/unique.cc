// SPDX-License-Identifier: Apache-2.0
// NonZero and Unique: the elements decide how large the results are, so that they must be known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/operator.h"
#include "stria/type/scalar.h"

namespace stria::onnx::operators {
namespace {

// -1, 0 or 1. NaN is behind all numbers, and equal to itself.
int compared(DataType type, const Scalar& a, const Scalar& b) {
  if (!is_float(type)) {
    if (type == DataType::u64)
      return static_cast<uint64_t>(a.i) < static_cast<uint64_t>(b.i) ? -1 : a.i != b.i;
    return a.i < b.i ? -1 : a.i > b.i;
  }
  if (std::isnan(a.f) || std::isnan(b.f))
    return static_cast<int>(std::isnan(a.f)) - static_cast<int>(std::isnan(b.f));
  return a.f < b.f ? -1 : a.f > b.f;
}

}  // namespace

Status non_zero(NodeWriter& node) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> x, node.known(0));
  const auto rank = static_cast<size_t>(node.rank(0));
  std::vector<int64_t> found;
  for (int64_t e = 0; e < x->element_count(); ++e)
    if (load_scalar(x->type(), x->data(), e).truth()) found.push_back(e);
  const auto count = static_cast<int64_t>(found.size());
  std::vector<int64_t> coordinates(rank * found.size());
  for (size_t d = 0; d < rank; ++d) {
    const int64_t stride = product(x->sizes(), d + 1, rank);
    for (size_t f = 0; f < found.size(); ++f)
      coordinates[d * found.size() + f] = found[f] / stride % x->sizes()[d];
  }
  STRIA_ASSIGN(HostTensor out, integer_table(coordinates, {static_cast<int64_t>(rank), count}));
  return node.result_known(0, std::move(out));
}

// Slices of the axis, or elements, each once: as they come, or in order.
Status unique(NodeWriter& node) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> x, node.known(0));
  // com.microsoft's knows no order but that in which they come, and gives no first places.
  const bool plain = node.node().domain == "com.microsoft";
  STRIA_ASSIGN(const int64_t sorted, node.integer_attribute("sorted", plain ? 0 : 1));
  Sizes sizes = {1, x->element_count(), 1}, result = {0};
  size_t axis = 0;
  if (node.has_attribute("axis")) {
    STRIA_ASSIGN(const int64_t written, node.integer_attribute("axis", 0));
    STRIA_ASSIGN(const int64_t named, node.axis(written, node.rank(0)));
    axis = static_cast<size_t>(named);
    result = x->sizes();
    sizes = {product(result, 0, axis), result[axis], product(result, axis + 1, result.size())};
  }
  const int64_t count = sizes[1], inner = sizes[2];
  const auto element = [&](int64_t slice, int64_t e) {
    return (e / inner * count + slice) * inner + e % inner;
  };
  const auto order = [&](int64_t a, int64_t b) {
    for (int64_t e = 0; e < sizes[0] * inner; ++e)
      if (const int c = compared(x->type(), load_scalar(x->type(), x->data(), element(a, e)),
                                 load_scalar(x->type(), x->data(), element(b, e))))
        return c;
    return 0;
  };
  std::vector<int64_t> by_order(static_cast<size_t>(count));
  for (int64_t s = 0; s < count; ++s) by_order[static_cast<size_t>(s)] = s;
  std::stable_sort(by_order.begin(), by_order.end(),
                   [&](int64_t a, int64_t b) { return order(a, b) < 0; });
  // Each kind by its first slice.
  std::vector<int64_t> first, kind(static_cast<size_t>(count)), counts;
  for (size_t s = 0; s < by_order.size(); ++s) {
    if (s == 0 || order(by_order[s - 1], by_order[s]) != 0) {
      first.push_back(by_order[s]);
      counts.push_back(0);
    }
    kind[static_cast<size_t>(by_order[s])] = static_cast<int64_t>(first.size()) - 1;
    ++counts.back();
  }
  const auto kinds = static_cast<int64_t>(first.size());
  if (!sorted) {
    std::vector<int64_t> as_they_come(first.size()), place(first.size());
    for (size_t k = 0; k < first.size(); ++k) as_they_come[k] = static_cast<int64_t>(k);
    std::sort(as_they_come.begin(), as_they_come.end(), [&](int64_t a, int64_t b) {
      return first[static_cast<size_t>(a)] < first[static_cast<size_t>(b)];
    });
    std::vector<int64_t> new_first, new_counts;
    for (const int64_t k : as_they_come) {
      place[static_cast<size_t>(k)] = static_cast<int64_t>(new_first.size());
      new_first.push_back(first[static_cast<size_t>(k)]);
      new_counts.push_back(counts[static_cast<size_t>(k)]);
    }
    for (int64_t& k : kind) k = place[static_cast<size_t>(k)];
    first = std::move(new_first), counts = std::move(new_counts);
  }
  result[axis] = kinds;
  STRIA_ASSIGN(HostTensor values, HostTensor::create(x->type(), result, "unique"));
  const auto bytes = static_cast<size_t>(byte_size(x->type()));
  for (int64_t o = 0; inner > 0 && o < sizes[0]; ++o)
    for (int64_t k = 0; k < kinds; ++k)
      std::memcpy(
          values.data() + static_cast<size_t>((o * kinds + k) * inner) * bytes,
          x->data() +
              static_cast<size_t>(element(first[static_cast<size_t>(k)], o * inner)) * bytes,
          static_cast<size_t>(inner) * bytes);
  STRIA_RETURN_IF_ERROR(node.result_known(0, std::move(values)));
  int k = plain ? 0 : 1;
  for (const std::vector<int64_t>* list : {&first, &kind, &counts}) {
    if (k == 0) {
      ++k;
      continue;
    }
    STRIA_ASSIGN(HostTensor out, integer_table(*list, {static_cast<int64_t>(list->size())}));
    STRIA_RETURN_IF_ERROR(node.result_known(k++, std::move(out)));
  }
  return {};
}

}  // namespace stria::onnx::operators
