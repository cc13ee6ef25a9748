// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/staged/kernel_shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stria::cost {

using stripe::Block;
using stripe::Refinement;

KernelShape::KernelShape(const Block& block, const std::vector<size_t>& at) {
  for (const Refinement& ref : block.refs) {
    if (ref.dir == stripe::RefDir::none) continue;
    View& view = views_.emplace_back();
    view.element_bytes = byte_size(ref.shape.type);
    for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
      Dim& dim = view.dims.emplace_back();
      dim.size = ref.shape.dims[d].size;
      view.strides.push_back(ref.shape.dims[d].stride);
      for (size_t i = 0; i < at.size(); ++i)
        if (const int64_t by = ref.access[d].coefficient(block.idxs[at[i]].name))
          dim.terms.push_back({i, std::abs(by)});
    }
    view.rising.resize(view.dims.size());
    std::iota(view.rising.begin(), view.rising.end(), size_t{0});
    std::sort(view.rising.begin(), view.rising.end(), [&](size_t a, size_t b) {
      return std::abs(view.strides[a]) < std::abs(view.strides[b]);
    });
    add_steps(block, ref.into, &at, view.steps);
  }
  Block point = block;
  for (size_t i : at) point.idxs[i].range = 1;
  work_ = point_ = work_of(point);
  // A side of a product grows with the indices that it is along.
  sides_.resize(point_.products.size());
  for (size_t i : at) {
    point.idxs[i].range = 2;
    const BlockWork two = work_of(point);
    point.idxs[i].range = 1;
    for (size_t p = 0; p < sides_.size(); ++p)
      for (double Product::* side : {&Product::m, &Product::n, &Product::k, &Product::batch})
        if (two.products[p].*side != point_.products[p].*side) sides_[p].push_back(side);
  }
}

// As inner_stride_bytes() goes through them: blocks inside first, then the last index first. `at`
// null: the block is inside, and its ranges stay.
void KernelShape::add_steps(const Block& block, const std::string& name,
                            const std::vector<size_t>* at, std::vector<Step>& steps) {
  const Refinement* ref = block.find_ref(name);
  if (!ref) return;
  for (const stripe::Statement& statement : block.stmts)
    if (const Block* inner = statement.block())
      for (const Refinement& view : inner->refs)
        if (view.dir != stripe::RefDir::none && view.from == name)
          add_steps(*inner, view.into, nullptr, steps);
  for (size_t i = block.idxs.size(); i > 0; --i) {
    Step step;
    for (const Affine& access : ref->access)
      step.by.push_back(access.coefficient(block.idxs[i - 1].name));
    if (!at) {
      if (block.idxs[i - 1].range > 1) steps.push_back(std::move(step));
      continue;
    }
    const auto tiled = std::find(at->begin(), at->end(), i - 1);
    if (tiled == at->end()) continue;
    step.index = static_cast<size_t>(tiled - at->begin());
    steps.push_back(std::move(step));
  }
}

double KernelShape::extent(const Dim& dim, const Tile& tile) {
  int64_t out = dim.size;
  for (const Term& term : dim.terms) out += term.coefficient * (tile[term.index] - 1);
  return static_cast<double>(out);
}

Footprint KernelShape::footprint(size_t view, const Tile& tile) const {
  const View& of = views_[view];
  const auto bytes = static_cast<double>(of.element_bytes);
  double elements = 1, run = 1, runs = 1;
  for (size_t d : of.rising) {
    const double size = extent(of.dims[d], tile);
    const auto stride = static_cast<double>(std::abs(of.strides[d]));
    elements *= size;
    if (size <= 1) continue;
    if (runs > 1 || stride > run)
      runs *= size;
    else
      run += stride * (size - 1);
  }
  return {elements * bytes, std::min(run, elements) * bytes, runs};
}

const Walk& KernelShape::walk(size_t view, const Tile& tile) {
  const View& of = views_[view];
  walk_.element_bytes = static_cast<double>(of.element_bytes);
  walk_.dims.clear();
  for (size_t d : of.rising)
    if (const double count = extent(of.dims[d], tile); count > 1)
      walk_.dims.push_back({std::abs(of.strides[d]) * of.element_bytes, count});
  return walk_;
}

void KernelShape::packed_strides(size_t view, const Tile& tile, std::vector<int64_t>& out) const {
  const View& of = views_[view];
  out.resize(of.dims.size());
  int64_t stride = 1;
  for (size_t d = out.size(); d > 0; --d) {
    out[d - 1] = stride;
    stride *= std::max<int64_t>(static_cast<int64_t>(extent(of.dims[d - 1], tile)), 1);
  }
}

int64_t KernelShape::inner_stride(size_t view, const Tile& tile,
                                  const std::vector<int64_t>& strides) const {
  const View& of = views_[view];
  for (const Step& step : of.steps) {
    if (step.index && tile[*step.index] <= 1) continue;
    int64_t elements = 0;
    for (size_t d = 0; d < step.by.size(); ++d) elements += step.by[d] * strides[d];
    if (elements != 0) return std::abs(elements) * of.element_bytes;
  }
  return 0;
}

const BlockWork& KernelShape::work(const Tile& tile) {
  double points = 1;
  for (int64_t size : tile) points *= static_cast<double>(size);
  work_.macs = point_.macs * points;
  work_.others = point_.others * points;
  work_.product_macs = point_.product_macs * points;
  for (size_t p = 0; p < sides_.size(); ++p) {
    work_.products[p] = point_.products[p];
    for (size_t i = 0; i < tile.size(); ++i)
      work_.products[p].*sides_[p][i] *= static_cast<double>(tile[i]);
  }
  return work_;
}

}  // namespace stria::cost
