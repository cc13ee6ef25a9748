// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/core/panels.h"

#include <algorithm>
#include <cmath>

namespace stria::cost {
namespace {

bool moves(const TiledDim& dim, size_t index) {
  return std::any_of(dim.terms.begin(), dim.terms.end(),
                     [&](const TiledDim::Term& term) { return term.index == index; });
}

}  // namespace

PanelView::PanelView(const TiledBlock& block, const TiledView& view, size_t index, const Tile& tile)
    : view_(view), index_(index), width_(tile[index]) {
  const Tile all = block.ranges();
  std::vector<TiledDim> dims;
  for (const TiledDim& dim : view.dims)
    if (moves(dim, index)) dims.push_back(dim);
  dims[0].stride = 1;
  int64_t stride = width_;
  for (const TiledDim& dim : view.dims) {
    if (moves(dim, index)) continue;
    dims.push_back(dim);
    dims.back().stride = stride;
    stride *= std::max<int64_t>(1, static_cast<int64_t>(extent(dim, all)));
  }
  dims.push_back({1, stride, {{block.indices.size(), 1, true}}});
  view_.dims = std::move(dims);
}

Tile PanelView::box(const Tile& points) const {
  Tile out = points;
  out[index_] = std::min(points[index_], width_);
  out.push_back(ceil_div(points[index_], width_));
  return out;
}

double copy_cycles(const TiledBlock& block, const TiledView& view, size_t index, int64_t lanes,
                   const CoreRates& rates) {
  // Where the index is not what lies in a row, values move one by one.
  const double elements = elements_of(view, block.ranges());
  const bool in_a_row = moves(view.dims[0], index) && view.dims[0].stride == 1;
  // A row that ends within a vector costs all of it, and another one for what is beyond the end.
  const double row = static_cast<double>(block.indices[index].range),
               vector = static_cast<double>(lanes), whole = std::ceil(row / vector) * vector;
  const double vectors = elements / row * (whole / vector + (whole > row ? 1 : 0));
  // Read, and written to lines that are brought in first and go out: 13 to 17 bytes a cycle came of
  // a second cache that gives 63.
  const double bytes = elements * static_cast<double>(view.element_bytes);
  double out = in_a_row ? rates.facts.panel_vector_cycles * vectors
                        : rates.facts.panel_value_cycles * elements;
  for (const CoreRates::Level& cache : rates.caches)
    if (2 * bytes > cache.bytes)
      out = std::max(out, rates.facts.panel_traffic * bytes / cache.bytes_per_cycle);
  return out;
}

}  // namespace stria::cost
