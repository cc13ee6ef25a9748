// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/buffer_views.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace stria::passes {

std::vector<size_t> order_by_stride(const std::vector<Dim>& dims) {
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(dims[a].stride) > std::abs(dims[b].stride);
  });
  return order;
}

std::vector<Dim> dense_in_order(std::vector<Dim> dims, const std::vector<size_t>& order) {
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    dims[order[i]].stride = stride;
    stride *= std::max<int64_t>(dims[order[i]].size, 1);
  }
  return dims;
}

std::vector<Dim> dense_with_inner(const std::vector<Dim>& dims, size_t inner) {
  std::vector<size_t> order = order_by_stride(dims);
  order.erase(std::find(order.begin(), order.end(), inner));
  order.push_back(inner);
  return dense_in_order(dims, order);
}

void restride_views(stripe::Statement& stmt, const std::string& name,
                    const std::vector<Dim>& dims) {
  stripe::Block* inner = stmt.block();
  if (!inner) return;
  for (stripe::Refinement& ref : inner->refs) {
    if (ref.dir == stripe::RefDir::none || ref.from != name) continue;
    for (size_t d = 0; d < dims.size(); ++d) ref.shape.dims[d].stride = dims[d].stride;
    restride_views(*inner, ref.into, dims);
  }
}

void restride_views(stripe::Block& block, const std::string& name, const std::vector<Dim>& dims) {
  for (stripe::Statement& stmt : block.stmts) restride_views(stmt, name, dims);
}

void locate_views(stripe::Statement& stmt, const std::string& name,
                  const stripe::Location& location) {
  stripe::Block* inner = stmt.block();
  if (!inner) return;
  for (stripe::Refinement& ref : inner->refs) {
    if (ref.dir == stripe::RefDir::none || ref.from != name) continue;
    ref.location = location;
    ref.is_const = false;
    for (stripe::Statement& below : inner->stmts) locate_views(below, ref.into, location);
  }
}

}  // namespace stria::passes
