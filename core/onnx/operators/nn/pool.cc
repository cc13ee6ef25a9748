// SPDX-License-Identifier: Apache-2.0
// AveragePool, MaxPool, LpPool, and those of a whole image.
#include <fmt/format.h>

#include "stria/onnx/operators/nn/windows.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

struct Pooling {
  std::string x;
  DataType type = DataType::fp32;
  std::vector<Window> windows;
  Forms forms;   // of the result
  Forms source;  // of x
  Sizes sizes;   // of the result
  Forms inside;  // "k0 < 3": the constraints of the kernel
};

Result<Pooling> pool_of(NodeWriter& node, bool whole) {
  Pooling out;
  STRIA_ASSIGN(out.x, node.tensor(0));
  out.type = node.type(0).type;
  if (out.type != wide_type(out.type)) out.x = node.let(wide(out.x, out.type));
  const Sizes& x = node.type(0).sizes;
  if (x.size() < 3) return node.error(fmt::format("an input of rank {}", x.size()));
  const Sizes spatial(x.begin() + 2, x.end());
  if (whole) {
    for (const int64_t size : spatial) out.windows.push_back({size, size, 1, 1, 0, 0, 1});
  } else {
    STRIA_ASSIGN(const Sizes kernel, kernel_shape(node, spatial.size()));
    STRIA_ASSIGN(out.windows, windows_of(node, spatial, kernel));
    STRIA_RETURN_IF_ERROR(place_windows(node, out.windows));
  }
  out.forms = {"n", "c"};
  out.source = {"n", "c"};
  out.sizes = {x[0], x[1]};
  const Forms source = window_forms(out.windows);
  for (size_t d = 0; d < spatial.size(); ++d) {
    out.forms.push_back(fmt::format("y{}", d));
    out.source.push_back(source[d]);
    out.sizes.push_back(out.windows[d].output);
    out.inside.push_back(fmt::format("k{} < {}", d, out.windows[d].kernel));
  }
  return out;
}

std::string pooled(NodeWriter& node, const Pooling& of, char aggregation, const std::string& x) {
  return contract(node, aggregation, of.forms, of.sizes, access(x, of.source), of.inside);
}

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

Status average(NodeWriter& node, bool whole) {
  STRIA_ASSIGN(const Pooling of, pool_of(node, whole));
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
          " * " + window_elements(window, fmt::format("index({}, {})", sum, d + 2), padding != 0);
    else
      same *= window.kernel;
  }
  const std::string elements = different.empty() ? literal(static_cast<double>(same))
                                                 : fmt::format("({}{})", same, different);
  return node.result(0, narrow(fmt::format("({} / {})", sum, elements), of.type));
}

// The place in the whole input of the first element that is the largest.
Status max_places(NodeWriter& node, const Pooling& of, const std::string& largest) {
  STRIA_ASSIGN(const int64_t column_major, node.integer_attribute("storage_order", 0));
  const Sizes& x = node.type(0).sizes;
  const size_t rank = x.size();
  int64_t stride = 1;
  std::string place;
  // The spatial axes in the order of storage; channels and images come before them in any case.
  for (size_t step = 0; step < rank; ++step) {
    const size_t spatial = rank - 2;
    const size_t d = step < spatial ? (column_major ? 2 + step : rank - 1 - step) : rank - 1 - step;
    place += fmt::format("{}as_int(index({}, {}), 64) * {}", place.empty() ? "" : " + ", of.x, d,
                         stride);
    stride *= x[d];
  }
  // The first one has the greatest distance from the end.
  const std::string distance = node.let(fmt::format("{} - ({})", stride, place));
  const std::string back =
      contract(node, '>', of.forms, of.sizes,
               fmt::format("{} == {} ? {}", access(of.x, of.source), access(largest, of.forms),
                           access(distance, of.source)),
               of.inside);
  return node.result(1, fmt::format("{} - {}", stride, back));
}

Status lp(NodeWriter& node, bool whole) {
  STRIA_ASSIGN(const Pooling of, pool_of(node, whole));
  STRIA_ASSIGN(const int64_t p, node.integer_attribute("p", 2));
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
  return node.result(0, narrow(root, of.type));
}

}  // namespace

Status average_pool(NodeWriter& node) { return average(node, false); }
Status global_average_pool(NodeWriter& node) { return average(node, true); }
Status lp_pool(NodeWriter& node) { return lp(node, false); }
Status global_lp_pool(NodeWriter& node) { return lp(node, true); }

Status max_pool(NodeWriter& node) {
  STRIA_ASSIGN(const Pooling of, pool_of(node, false));
  const std::string largest = pooled(node, of, '>', of.x);
  if (node.wants(1)) {
    STRIA_RETURN_IF_ERROR(max_places(node, of, largest));
  }
  return node.result(0, narrow(largest, of.type));
}

Status global_max_pool(NodeWriter& node) {
  STRIA_ASSIGN(const Pooling of, pool_of(node, true));
  return node.result(0, narrow(pooled(node, of, '>', of.x), of.type));
}

}  // namespace stria::onnx::operators
