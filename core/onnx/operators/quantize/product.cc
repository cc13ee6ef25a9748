// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/quantize/product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

Result<Sized> convolution_of(NodeWriter& node, const Sized& x, const Sized& w) {
  STRIA_ASSIGN(const int64_t group, node.integer_attribute("group", 1));
  const size_t rank = x.sizes.size();
  if (rank < 3 || w.sizes.size() != rank || group < 1 || x.sizes[1] != w.sizes[1] * group ||
      w.sizes[0] % group != 0)
    return node.error(fmt::format("weights [{}] do not fit [{}] in {} groups",
                                  fmt::join(w.sizes, ", "), fmt::join(x.sizes, ", "), group));
  const size_t spatial = rank - 2;
  const std::vector<int64_t> ones(spatial, 1), zeros(2 * spatial, 0);
  STRIA_ASSIGN(const std::vector<int64_t> strides, node.integers_attribute("strides", ones));
  STRIA_ASSIGN(const std::vector<int64_t> dilations, node.integers_attribute("dilations", ones));
  STRIA_ASSIGN(std::vector<int64_t> pads, node.integers_attribute("pads", zeros));
  STRIA_ASSIGN(const std::string automatic, node.string_attribute("auto_pad", "NOTSET"));
  const auto below = [](const std::vector<int64_t>& of, int64_t least) {
    return std::any_of(of.begin(), of.end(), [&](int64_t each) { return each < least; });
  };
  if (strides.size() != spatial || dilations.size() != spatial || pads.size() != 2 * spatial ||
      below(strides, 1) || below(dilations, 1))
    return node.error(fmt::format(
        "strides [{}], dilations [{}] or pads [{}] do not fit {} "
        "dimensions",
        fmt::join(strides, ", "), fmt::join(dilations, ", "), fmt::join(pads, ", "), spatial));
  // X[n, g, c, …], W[g, m, c, …], Y[n, g, m, …].
  std::vector<int64_t> x_sizes = {x.sizes[0], group, w.sizes[1]};
  std::vector<int64_t> w_sizes = {group, w.sizes[0] / group, w.sizes[1]};
  std::vector<int64_t> sizes = {x.sizes[0], group, w.sizes[0] / group};
  Sized out{"", {x.sizes[0], w.sizes[0]}};
  std::string from, kernel, to;
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t size = x.sizes[d + 2], span = dilations[d] * (w.sizes[d + 2] - 1) + 1;
    int64_t count = (size + pads[d] + pads[d + spatial] - span) / strides[d] + 1;
    int64_t before = pads[d];
    if (automatic == "VALID") {
      before = 0;
      count = (size - span) / strides[d] + 1;
    } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      count = (size + strides[d] - 1) / strides[d];
      const int64_t all = std::max<int64_t>((count - 1) * strides[d] + span - size, 0);
      before = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    } else if (automatic != "NOTSET") {
      return node.error(fmt::format("auto_pad '{}'", automatic));
    }
    if (count < 1)
      return node.error(fmt::format("a kernel that spans {} is wider than dimension {}", span, d));
    from += fmt::format(", {} * o{} + {} * k{} - {}", strides[d], d, dilations[d], d, before);
    kernel += fmt::format(", k{}", d);
    to += fmt::format(", o{}", d);
    x_sizes.push_back(size);
    w_sizes.push_back(w.sizes[d + 2]);
    sizes.push_back(count);
    out.sizes.push_back(count);
  }
  const std::string sum = node.fresh();
  const std::string grouped_x = node.let(reshaped(x.name, x_sizes));
  const std::string grouped_w = node.let(reshaped(w.name, w_sizes));
  node.line(fmt::format("{}[n, g, m{} : {}] = +({}[n, g, c{}] * {}[g, m, c{}]);", sum, to,
                        fmt::join(sizes, ", "), grouped_x, from, grouped_w, kernel));
  out.name = node.let(reshaped(sum, out.sizes));
  return out;
}

}  // namespace stria::onnx
