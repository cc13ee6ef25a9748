// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/quantize/product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stria/onnx/operators/nn/windows.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {
namespace {

// "Y[i, j : 2, 3]", and "Y[]" for a tensor of rank 0.
std::string written(const std::string& name, const std::vector<std::string>& indices,
                    const std::vector<int64_t>& sizes) {
  if (sizes.empty()) return name + "[]";
  return fmt::format("{}[{} : {}]", name, fmt::join(indices, ", "), fmt::join(sizes, ", "));
}

}  // namespace

Result<Sized> product_of(NodeWriter& node, const Sized& a, const Sized& b, bool transpose_a,
                         bool transpose_b) {
  const bool row = a.sizes.size() == 1, column = b.sizes.size() == 1;
  const auto wrong = [&] {
    return node.error(fmt::format("matrices of sizes [{}] and [{}] do not multiply",
                                  fmt::join(a.sizes, ", "), fmt::join(b.sizes, ", ")));
  };
  if (a.sizes.empty() || b.sizes.empty()) return wrong();
  transpose_a = transpose_a && !row;
  transpose_b = transpose_b && !column;
  const size_t own_a = row ? 1 : 2, own_b = column ? 1 : 2;
  const size_t batch_a = a.sizes.size() - own_a, batch_b = b.sizes.size() - own_b;
  const int64_t inner_a = a.sizes[a.sizes.size() - (transpose_a ? 2 : 1)];
  const int64_t inner_b = b.sizes[b.sizes.size() - (column || transpose_b ? 1 : 2)];
  if (inner_a != inner_b) return wrong();
  Sized out{node.fresh(), {}};
  std::vector<std::string> in_a, in_b, in_out;
  const size_t batch = std::max(batch_a, batch_b);
  for (size_t d = 0; d < batch; ++d) {
    const bool has_a = d + batch_a >= batch, has_b = d + batch_b >= batch;
    const int64_t of_a = has_a ? a.sizes[d + batch_a - batch] : 1;
    const int64_t of_b = has_b ? b.sizes[d + batch_b - batch] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) return wrong();
    const int64_t size = of_a == 1 ? of_b : of_a;
    // A dimension of 1 is no loop.
    const std::string index = size == 1 ? "0" : fmt::format("b{}", d);
    if (has_a) in_a.push_back(of_a == 1 ? "0" : index);
    if (has_b) in_b.push_back(of_b == 1 ? "0" : index);
    in_out.push_back(index);
    out.sizes.push_back(size);
  }
  if (!row) {
    in_a.emplace_back("i");
    in_out.emplace_back("i");
    out.sizes.push_back(a.sizes[a.sizes.size() - (transpose_a ? 1 : 2)]);
  }
  in_a.emplace_back("k");
  if (transpose_a) std::swap(in_a[in_a.size() - 1], in_a[in_a.size() - 2]);
  in_b.emplace_back("k");
  if (!column) {
    in_b.emplace_back("j");
    in_out.emplace_back("j");
    out.sizes.push_back(b.sizes[b.sizes.size() - (transpose_b ? 2 : 1)]);
  }
  if (transpose_b) std::swap(in_b[in_b.size() - 1], in_b[in_b.size() - 2]);
  node.line(fmt::format("{} = +({}[{}] * {}[{}]);", written(out.name, in_out, out.sizes), a.name,
                        fmt::join(in_a, ", "), b.name, fmt::join(in_b, ", ")));
  return out;
}

Result<Sized> convolution_of(NodeWriter& node, const Sized& x, const Sized& w, bool channels_last) {
  STRIA_ASSIGN(const int64_t group, node.integer_attribute("group", 1));
  const size_t rank = x.sizes.size(), channel = channels_last ? rank - 1 : 1;
  if (rank < 3 || w.sizes.size() != rank || group < 1 || w.sizes[0] % group != 0 ||
      x.sizes[channel] % group != 0 || x.sizes[channel] / group != w.sizes[1])
    return node.error(fmt::format("weights [{}] do not fit [{}] in {} groups",
                                  fmt::join(w.sizes, ", "), fmt::join(x.sizes, ", "), group));
  const auto first = x.sizes.begin() + (channels_last ? 1 : 2);
  const Sizes spatial(first, first + static_cast<std::ptrdiff_t>(rank) - 2);
  const Sizes kernel(w.sizes.begin() + 2, w.sizes.end());
  STRIA_ASSIGN(std::vector<Window> windows, windows_of(node, spatial, kernel));
  STRIA_RETURN_IF_ERROR(place_windows(node, windows));
  // X[n, g, c, …], W[g, m, c, …], Y[n, g, m, …]; or X[n, …, g, c] and Y[n, …, g, m].
  const auto at = [&](const std::string& inner, const Forms& along) {
    Forms out = {"n"};
    out.insert(out.end(), along.begin(), along.end());
    out.insert(channels_last ? out.end() : out.begin() + 1, {"g", inner});
    return out;
  };
  const auto in_groups = [&](int64_t channels, const Sizes& along) {
    Sizes out = {x.sizes[0]};
    out.insert(out.end(), along.begin(), along.end());
    out.insert(channels_last ? out.end() : out.begin() + 1, {group, channels / group});
    return out;
  };
  Sizes w_sizes = {group, w.sizes[0] / group};
  w_sizes.insert(w_sizes.end(), w.sizes.begin() + 1, w.sizes.end());
  Forms in_w = {"g", "m", "c"};
  for (const std::string& k : indices("k", windows.size())) in_w.push_back(k);
  const Sizes along = output_sizes(windows);
  const std::string grouped_x = node.let(reshaped(x.name, in_groups(x.sizes[channel], spatial)));
  const std::string grouped_w = node.let(reshaped(w.name, w_sizes));
  const std::string sum =
      contract(node, '+', at("m", indices("y", windows.size())), in_groups(w.sizes[0], along),
               access(grouped_x, at("c", window_forms(windows))) + " * " + access(grouped_w, in_w));
  Sized out{"", {x.sizes[0]}};
  out.sizes.insert(out.sizes.end(), along.begin(), along.end());
  out.sizes.insert(channels_last ? out.sizes.end() : out.sizes.begin() + 1, w.sizes[0]);
  out.name = node.let(reshaped(sum, out.sizes));
  return out;
}

}  // namespace stria::onnx
