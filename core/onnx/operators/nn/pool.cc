// SPDX-License-Identifier: Apache-2.0
// AveragePool, MaxPool, LpPool, those of a whole image, and com.microsoft's with channels last.
#include "stria/onnx/operators/nn/pool.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {

Result<Pooling> pool_of(NodeWriter& node, std::string x, bool whole, bool channels_last) {
  Pooling out;
  out.x = std::move(x);
  const Sizes& sizes = node.type(0).sizes;
  if (sizes.size() < 3) return node.error(fmt::format("an input of rank {}", sizes.size()));
  out.first_axis = channels_last ? 1 : 2;
  const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(out.first_axis);
  const Sizes spatial(first, first + static_cast<std::ptrdiff_t>(sizes.size()) - 2);
  if (whole) {
    for (const int64_t size : spatial) out.windows.push_back({size, size, 1, 1, 0, 0, 1});
  } else {
    STRIA_ASSIGN(const Sizes kernel, kernel_shape(node, spatial.size()));
    STRIA_ASSIGN(out.windows, windows_of(node, spatial, kernel));
    STRIA_RETURN_IF_ERROR(place_windows(node, out.windows));
  }
  const Forms source = window_forms(out.windows);
  const auto add = [&](const std::string& to, const std::string& from, int64_t size) {
    out.forms.push_back(to);
    out.source.push_back(from);
    out.sizes.push_back(size);
  };
  add("n", "n", sizes[0]);
  if (!channels_last) add("c", "c", sizes[1]);
  for (size_t d = 0; d < spatial.size(); ++d) {
    add(fmt::format("y{}", d), source[d], out.windows[d].output);
    out.inside.push_back(fmt::format("k{} < {}", d, out.windows[d].kernel));
  }
  if (channels_last) add("c", "c", sizes.back());
  return out;
}

std::string pooled(NodeWriter& node, const Pooling& of, char aggregation, const std::string& x) {
  return contract(node, aggregation, of.forms, of.sizes, access(x, of.source), of.inside);
}

namespace {

// How many elements of the window along one axis lie on the input, or on its padding, too: the
// number of k with low <= stride * y + dilation * k - pad_begin < high.
std::string window_elements(const Window& of, const std::string& y, bool padding) {
  const auto at_least = [&](const std::string& number) {
    const std::string positive = fmt::format("max({}, 0)", number);
    return of.dilation == 1
               ? positive
               : fmt::format("(({}) + {}) / {}", positive, of.dilation - 1, of.dilation);
  };
  const std::string begin = fmt::format("{} * {}", of.stride, y);
  const int64_t high = of.input + of.pad_begin + (padding ? of.pad_end : 0);
  const std::string end =
      fmt::format("min({}, {})", at_least(fmt::format("{} - {}", high, begin)), of.kernel);
  if (padding || of.pad_begin == 0) return end;
  return fmt::format("({} - {})", end, at_least(fmt::format("{} - {}", of.pad_begin, begin)));
}

}  // namespace

Result<std::string> averaged(NodeWriter& node, const Pooling& of) {
  STRIA_ASSIGN(const int64_t padding, node.integer_attribute("count_include_pad", 0));
  const std::string sum = pooled(node, of, '+', of.x);
  // One number where all windows have as many elements.
  int64_t same = 1;
  std::string different;
  for (size_t d = 0; d < of.windows.size(); ++d) {
    const Window& window = of.windows[d];
    const int64_t reach = (window.output - 1) * window.stride + window.span();
    const bool cut =
        padding ? reach > window.input + window.pad_begin + window.pad_end : window.overhangs();
    if (cut)
      different +=
          " * " + window_elements(window, fmt::format("index({}, {})", sum, d + of.first_axis),
                                  padding != 0);
    else if (__builtin_mul_overflow(same, window.kernel, &same))
      return node.error("kernel_shape: its windows have too many elements");
  }
  const std::string elements = different.empty() ? literal(static_cast<double>(same))
                                                 : fmt::format("({}{})", same, different);
  return fmt::format("({} / {})", sum, elements);
}

namespace operators {
namespace {

// Of input 0, in the type in which it is summed.
Result<Pooling> wide_pool(NodeWriter& node, bool whole) {
  STRIA_ASSIGN(std::string x, node.tensor(0));
  const DataType type = node.type(0).type;
  if (type != wide_type(type)) x = node.let(wide(x, type));
  return pool_of(node, std::move(x), whole);
}

Status average(NodeWriter& node, bool whole) {
  STRIA_ASSIGN(const Pooling of, wide_pool(node, whole));
  STRIA_ASSIGN(const std::string y, averaged(node, of));
  return node.result(0, narrow(y, node.type(0).type));
}

// The place in the whole input of the first element that is the largest, in the order of rows; the
// place is counted in the order of storage. Where a window has NaN, it is that of NaN or infinity.
Status max_places(NodeWriter& node, const Pooling& of, const std::string& largest) {
  STRIA_ASSIGN(const int64_t column_major, node.integer_attribute("storage_order", 0));
  const Sizes& x = node.type(0).sizes;
  const size_t rank = x.size();
  int64_t stride = 1;
  std::string place;
  for (size_t d = rank; d-- > 0; stride *= x[d])
    place += fmt::format("{}as_int(index({}, {}), 64) * {}", place.empty() ? "" : " + ", of.x, d,
                         stride);
  // NaN is equal to nothing, and yet it is the largest.
  std::string element = of.x, most = largest;
  if (is_float(node.type(0).type)) {
    STRIA_ASSIGN(const std::string infinity,
                 table<float>(node, {std::numeric_limits<float>::infinity()}, {}));
    for (std::string* value : {&element, &most})
      *value = node.let(fmt::format("{0} != {0} ? {1} : {0}", *value, infinity));
  }
  // The first one has the greatest distance from the end.
  const std::string distance = node.let(fmt::format("{} - ({})", stride, place));
  const std::string back =
      contract(node, '>', of.forms, of.sizes,
               fmt::format("{} == {} ? {}", access(element, of.source), access(most, of.forms),
                           access(distance, of.source)),
               of.inside);
  const std::string first = node.let(fmt::format("{} - {}", stride, back));
  if (column_major == 0 || stride == 0) return node.result(1, first);
  // Rows and columns of the image change places; channels and images come before them in any case.
  int64_t plane = 1;
  for (size_t d = 2; d < rank; ++d) plane *= x[d];
  std::string turned = fmt::format("({0} / {1}) * {1}", first, plane);
  int64_t row_step = plane, column_step = 1;
  for (size_t d = 2; d < rank; ++d) {
    row_step /= x[d];
    turned += fmt::format(" + ({} / {}) % {} * {}", first, row_step, x[d], column_step);
    column_step *= x[d];
  }
  return node.result(1, turned);
}

Status lp(NodeWriter& node, bool whole) {
  STRIA_ASSIGN(const Pooling of, wide_pool(node, whole));
  int64_t p = 2;
  if (node.version() < 2) {
    STRIA_ASSIGN(const float written, node.float_attribute("p", 2));
    if (!(written >= 1 && written <= 1024) || written != std::floor(written))
      return node.error(fmt::format("p is {}, no whole number from 1 to 1024", written));
    p = static_cast<int64_t>(written);
  } else {
    STRIA_ASSIGN(p, node.integer_attribute("p", 2));
  }
  if (p < 1) return node.error(fmt::format("p is {}", p));
  const std::string exponent = literal(static_cast<double>(p));
  const std::string powers = node.let(p == 1   ? fmt::format("abs({})", of.x)
                                      : p == 2 ? fmt::format("{0} * {0}", of.x)
                                               : fmt::format("pow(abs({}), {})", of.x, exponent));
  const std::string sum = pooled(node, of, '+', powers);
  const std::string root =
      p == 1   ? sum
      : p == 2 ? fmt::format("sqrt({})", sum)
               : fmt::format("pow({}, {})", sum, literal(1.0 / static_cast<double>(p)));
  return node.result(0, narrow(root, node.type(0).type));
}

}  // namespace

Status average_pool(NodeWriter& node) { return average(node, false); }
Status global_average_pool(NodeWriter& node) { return average(node, true); }
Status lp_pool(NodeWriter& node) { return lp(node, false); }
Status global_lp_pool(NodeWriter& node) { return lp(node, true); }

Status max_pool(NodeWriter& node) {
  STRIA_ASSIGN(const Pooling of, wide_pool(node, false));
  const std::string largest = pooled(node, of, '>', of.x);
  if (node.wants(1)) {
    STRIA_RETURN_IF_ERROR(max_places(node, of, largest));
  }
  return node.result(0, narrow(largest, node.type(0).type));
}

// com.microsoft's, mostly of small integers.
Status channels_last_max_pool(NodeWriter& node) {
  STRIA_ASSIGN(const std::string x, node.tensor(0));
  STRIA_ASSIGN(const Pooling of, pool_of(node, x, false, true));
  return node.result(0, pooled(node, of, '>', of.x));
}

Status global_max_pool(NodeWriter& node) {
  STRIA_ASSIGN(const Pooling of, wide_pool(node, true));
  return node.result(0, narrow(pooled(node, of, '>', of.x), node.type(0).type));
}

}  // namespace operators
}  // namespace stria::onnx
