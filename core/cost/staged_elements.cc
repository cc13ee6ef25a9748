// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged_elements.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace stria::cost {
namespace {

// size_of(t): points of the index of term t.
template <typename SizeOf>
int64_t step_of(const TiledDim& dim, const SizeOf& size_of) {
  if (dim.size != 1) return 1;
  int64_t step = 0;
  for (size_t t = 0; t < dim.terms.size(); ++t)
    if (size_of(t) > 1) step = std::gcd(step, dim.terms[t].coefficient);
  return std::max<int64_t>(1, step);
}

template <typename SizeOf>
double extent_of(const TiledDim& dim, const SizeOf& size_of) {
  auto reach = static_cast<double>(dim.size - 1);
  for (size_t t = 0; t < dim.terms.size(); ++t)
    reach += static_cast<double>(dim.terms[t].coefficient) * static_cast<double>(size_of(t) - 1);
  return reach / static_cast<double>(step_of(dim, size_of)) + 1;
}

// The least value of extent / product(sizes of the indices that come first here) over the box. With
// all other sizes fixed it rises or falls with each one from 2 on, as the step is then the same: it
// is least where each is 1, 2, or an end of its own. What comes first elsewhere is divided by there,
// and the extent rises with it.
double least_share(const TiledDim& dim, const Tile& low, const Tile& high) {
  const size_t n = dim.terms.size();
  std::vector<std::vector<int64_t>> sizes(n);
  for (size_t t = 0; t < n; ++t) {
    const TiledDim::Term& term = dim.terms[t];
    const int64_t least = low[term.index], most = high[term.index];
    sizes[t].push_back(least);
    if (!term.first) continue;
    if (least < 2 && most > 2) sizes[t].push_back(2);
    if (most > least) sizes[t].push_back(most);
  }
  std::vector<size_t> at(n, 0);
  double out = std::numeric_limits<double>::infinity();
  for (;;) {
    double points = 1;
    for (size_t t = 0; t < n; ++t)
      if (dim.terms[t].first) points *= static_cast<double>(sizes[t][at[t]]);
    out = std::min(out, extent_of(dim, [&](size_t t) { return sizes[t][at[t]]; }) / points);
    size_t t = 0;
    while (t < n && ++at[t] == sizes[t].size()) at[t++] = 0;
    if (t == n) return out;
  }
}

}  // namespace

int64_t staged_step(const TiledDim& dim, const Tile& tile) {
  return step_of(dim, [&](size_t t) { return tile[dim.terms[t].index]; });
}

double staged_extent(const TiledDim& dim, const Tile& tile) {
  return extent_of(dim, [&](size_t t) { return tile[dim.terms[t].index]; });
}

double staged_elements(const TiledView& view, const Tile& tile) {
  double out = 1;
  for (const TiledDim& dim : view.dims) out *= staged_extent(dim, tile);
  return out;
}

double least_staged_of_point(const TiledView& view, const Tile& low, const Tile& high) {
  double out = 1;
  for (const TiledDim& dim : view.dims) {
    // An element for each point: the one index moves along all of them.
    const bool each = dim.size == 1 && dim.terms.size() == 1 && dim.terms[0].first;
    if (!each) out *= least_share(dim, low, high);
  }
  for (size_t i : view.still) out /= static_cast<double>(high[i]);
  return out;
}

}  // namespace stria::cost
