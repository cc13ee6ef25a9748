// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/workgroup/staged_elements.h"

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
  for (size_t t = 0; t < dim.terms.size() && step != 1; ++t)
    if (size_of(t) > 1) step = std::gcd(step, dim.terms[t].coefficient);
  return std::max<int64_t>(1, step);
}

template <typename SizeOf>
double extent_of(const TiledDim& dim, const SizeOf& size_of) {
  if (dim.size == 1 && dim.terms.size() == 1) return static_cast<double>(size_of(0));
  int64_t reach = dim.size - 1;
  for (size_t t = 0; t < dim.terms.size(); ++t)
    reach += dim.terms[t].coefficient * (size_of(t) - 1);
  const int64_t step = step_of(dim, size_of);
  return static_cast<double>(step == 1 ? reach : reach / step) + 1;
}

// The least value of extent / product(sizes of the indices that come first here) over the box. With
// all other sizes fixed, it rises or falls with each size from 2 on, since the step is then the
// same. So it is least if each size is 1, 2, or an end of its range. A size that comes first
// elsewhere is divided by there, and the extent rises with it.
double least_share(const TiledDim& dim, const Tile& low, const Tile& high) {
  size_t corners = 1;
  for (size_t t = 0; t < dim.terms.size(); ++t) corners *= 3;
  double out = std::numeric_limits<double>::infinity();
  for (size_t corner = 0; corner < corners; ++corner) {
    // The digits of the corner's number, to the base 3, say which size each index has.
    const auto size_of = [&](size_t t) {
      size_t digit = corner;
      for (size_t i = 0; i < t; ++i) digit /= 3;
      const TiledDim::Term& term = dim.terms[t];
      const int64_t least = low[term.index], most = high[term.index];
      if (digit % 3 == 0 || !term.first) return least;
      return digit % 3 == 1 ? std::clamp<int64_t>(2, least, most) : most;
    };
    double points = 1;
    for (size_t t = 0; t < dim.terms.size(); ++t)
      if (dim.terms[t].first) points *= static_cast<double>(size_of(t));
    out = std::min(out, extent_of(dim, size_of) / points);
  }
  return out;
}

}  // namespace

int64_t staged_step(const TiledDim& dim, const Tile& tile) {
  return step_of(dim, [&](size_t t) { return tile[dim.terms[t].index]; });
}

double staged_extent(const TiledDim& dim, const Tile& tile) {
  return extent_of(dim, [&](size_t t) { return tile[dim.terms[t].index]; });
}

double staged_elements(const TiledView& view, const Tile& tile) {
  return elements_of(view, tile, staged_extent);
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
