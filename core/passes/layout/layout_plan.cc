// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/layout_plan.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "stria/cost/block/walk_bytes.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// A tensor is replaced by another through at most so many copies, one behind the other.
constexpr size_t kMaxChain = 16;
// At most so many pairs of sweeps. Each sweep that changes something lowers the sum.
constexpr int kMaxSweeps = 8;

void add_once(std::vector<int>& list, int value) {
  if (list.empty() || list.back() != value) list.push_back(value);
}

std::vector<Dim> dims_of(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < sizes.size(); ++d) dims.push_back({sizes[d], strides[d]});
  return dims;
}

std::vector<int64_t> strides_of(const std::vector<Dim>& dims) {
  std::vector<int64_t> strides;
  for (const Dim& dim : dims) strides.push_back(dim.stride);
  return strides;
}

bool is_held_by_lanes(const Refinement& ref) {
  return std::any_of(ref.location.path.begin(), ref.location.path.end(),
                     [](const stripe::LocationUnit& unit) { return !unit.owners.empty(); });
}

}  // namespace

LayoutPlan::LayoutPlan(const Block& section, int64_t line_bytes) : line_bytes_(line_bytes) {
  add_tensors(section);
  for (size_t s = 0; s < section.stmts.size(); ++s) add_kernel(section, static_cast<int>(s));
  find_copies(section);

  ends_.resize(kernels_.size());
  copied_.resize(tensors_.size());
  for (const auto& [kernel, copy] : copies_) {
    const int source = by_name_.at(copy.source), target = by_name_.at(copy.target);
    ends_[static_cast<size_t>(kernel)] = {source, target};
    copied_[static_cast<size_t>(source)].push_back(target);
    copied_[static_cast<size_t>(target)].push_back(source);
  }
  for (size_t t = 0; t < tensors_.size(); ++t) {
    tensors_[t].free = tensors_[t].free && !tensors_[t].writers.empty();
    if (tensors_[t].free) order_.push_back(static_cast<int>(t));
  }
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
    return tensors_[static_cast<size_t>(a)].kernels[0] <
           tensors_[static_cast<size_t>(b)].kernels[0];
  });
}

void LayoutPlan::add_tensors(const Block& section) {
  std::map<std::string, int> names_of;  // tensor around the section -> number of views
  for (const Refinement& ref : section.refs)
    if (ref.dir != RefDir::none) ++names_of[ref.from];
  for (const Refinement& ref : section.refs) {
    // Two views of one tensor may overlap, so neither is analysed.
    if (ref.dir != RefDir::none && names_of[ref.from] > 1) continue;
    by_name_[ref.into] = static_cast<int>(tensors_.size());
    Tensor& tensor = tensors_.emplace_back();
    tensor.name = ref.into;
    tensor.element_bytes = static_cast<double>(byte_size(ref.shape.type));
    for (const Dim& dim : ref.shape.dims) {
      tensor.sizes.push_back(dim.size);
      tensor.layout.strides.push_back(dim.stride);
    }
    tensor.free = ref.dir == RefDir::none && !ref.swizzle && ref.offset_bytes == 0 && !ref.agg &&
                  !is_held_by_lanes(ref);
  }
}

void LayoutPlan::add_kernel(const Block& section, int position) {
  const stripe::Statement& stmt = section.stmts[static_cast<size_t>(position)];
  Kernel& kernel = kernels_.emplace_back();
  auto touch = [&](const std::string& name, bool reads, bool writes) -> int {
    auto at = by_name_.find(name);
    if (at == by_name_.end()) return -1;
    Tensor& tensor = tensors_[static_cast<size_t>(at->second)];
    if (reads) add_once(tensor.readers, position);
    if (writes) add_once(tensor.writers, position);
    add_once(tensor.kernels, position);
    if (!kernel.leaf) tensor.free = false;
    return at->second;
  };
  if (const stripe::Special* special = stmt.special()) {
    for (const std::string& name : special->inputs) touch(name, true, false);
    for (const std::string& name : special->outputs) touch(name, false, true);
  }
  const Block* block = stmt.block();
  if (!block) return;
  kernel.leaf = is_leaf(*block);
  for (const stripe::Index& index : block->idxs) kernel.ranges.push_back(index.range);
  for (const Refinement& ref : block->refs) {
    if (ref.dir == RefDir::none) continue;
    const int tensor = touch(ref.from, ref.dir != RefDir::out, ref.dir != RefDir::in);
    if (tensor < 0) continue;
    if (is_held_by_lanes(ref) || ref.tags.has(stripe::tag::kClamp) ||
        ref.tags.has(stripe::tag::kZeroFill))
      tensors_[static_cast<size_t>(tensor)].free = false;
    View& view = kernel.views.emplace_back();
    view.tensor = tensor;
    for (const Affine& form : ref.access) {
      std::vector<int64_t>& of_dim = view.coefficients.emplace_back();
      for (const stripe::Index& index : block->idxs) of_dim.push_back(form.coefficient(index.name));
    }
  }
}

void LayoutPlan::find_copies(const Block& section) {
  for (size_t s = 0; s < section.stmts.size(); ++s) {
    const Block* block = section.stmts[s].block();
    if (!block) continue;
    std::optional<WholeCopy> copy = whole_copy(*block, section);
    if (!copy || !by_name_.count(copy->source) || !by_name_.count(copy->target)) continue;
    const int kernel = static_cast<int>(s);
    if (may_be_source(*copy, kernel) || may_be_target(*copy, kernel))
      copies_.emplace(kernel, std::move(*copy));
  }
}

// May the readers of the target read the source? The source must keep what was copied.
bool LayoutPlan::may_be_source(const WholeCopy& copy, int kernel) const {
  const Tensor& source = tensors_[static_cast<size_t>(by_name_.at(copy.source))];
  const Tensor& target = tensors_[static_cast<size_t>(by_name_.at(copy.target))];
  return target.free && target.writers == std::vector<int>{kernel} &&
         (source.writers.empty() || source.writers.back() < kernel);
}

// May all that touch the source use the target instead? Nothing may touch the target before the
// copy.
bool LayoutPlan::may_be_target(const WholeCopy& copy, int kernel) const {
  const Tensor& source = tensors_[static_cast<size_t>(by_name_.at(copy.source))];
  const Tensor& target = tensors_[static_cast<size_t>(by_name_.at(copy.target))];
  return copy.whole_source && source.free && !source.writers.empty() &&
         target.kernels[0] == kernel && target.writers == std::vector<int>{kernel} &&
         source.writers.back() < kernel;
}

std::optional<std::vector<int64_t>> LayoutPlan::strides(int tensor, const Layouts& layouts) const {
  // Follows removed copies, from the tensor to the one that stands for it in the end.
  std::vector<std::pair<int, bool>> path;  // copy; true if the tensor is its target
  int at = tensor;
  while (layouts[static_cast<size_t>(at)].copy >= 0) {
    if (path.size() > kMaxChain) return std::nullopt;
    const int kernel = layouts[static_cast<size_t>(at)].copy;
    const Ends& ends = ends_[static_cast<size_t>(kernel)];
    const bool is_target = ends.target == at;
    path.emplace_back(kernel, is_target);
    at = is_target ? ends.source : ends.target;
  }
  std::vector<int64_t> found = layouts[static_cast<size_t>(at)].strides;
  for (size_t i = path.size(); i-- > 0;) {
    const auto [kernel, is_target] = path[i];
    const Ends& ends = ends_[static_cast<size_t>(kernel)];
    const std::vector<int>& dim = copies_.at(kernel).dim;
    const int one = is_target ? ends.target : ends.source;
    std::vector<int64_t> mine(tensors_[static_cast<size_t>(one)].sizes.size(), 1);
    for (size_t p = 0; p < dim.size(); ++p) {
      if (dim[p] < 0) continue;
      const auto d = static_cast<size_t>(dim[p]);
      mine[is_target ? d : p] = found[is_target ? p : d];
    }
    found = std::move(mine);
  }
  return found;
}

bool LayoutPlan::is_removed(int kernel, const Layouts& layouts) const {
  const Ends& ends = ends_[static_cast<size_t>(kernel)];
  if (ends.source < 0) return false;
  return layouts[static_cast<size_t>(ends.source)].copy == kernel ||
         layouts[static_cast<size_t>(ends.target)].copy == kernel;
}

double LayoutPlan::bytes_of(int position, const Layouts& layouts) const {
  const Kernel& kernel = kernels_[static_cast<size_t>(position)];
  if (!kernel.leaf || is_removed(position, layouts)) return 0;
  std::vector<cost::WalkedView> views;
  for (const View& view : kernel.views) {
    const auto steps = strides(view.tensor, layouts);
    if (!steps) return -1;
    cost::WalkedView& walked = views.emplace_back();
    walked.element_bytes = tensors_[static_cast<size_t>(view.tensor)].element_bytes;
    walked.strides.resize(kernel.ranges.size());
    for (size_t d = 0; d < steps->size(); ++d)
      for (size_t i = 0; i < kernel.ranges.size(); ++i)
        walked.strides[i] += (*steps)[d] * view.coefficients[d][i];
  }
  return cost::walk_bytes(kernel.ranges, views, line_bytes_);
}

std::vector<int> LayoutPlan::kernels_around(int tensor, const Layouts& layouts) const {
  std::vector<int> follow = {tensor}, kernels;
  for (size_t i = 0; i < follow.size(); ++i) {
    const int at = follow[i];
    const std::vector<int>& mine = tensors_[static_cast<size_t>(at)].kernels;
    kernels.insert(kernels.end(), mine.begin(), mine.end());
    for (const int next : copied_[static_cast<size_t>(at)]) {
      const int copy = layouts[static_cast<size_t>(next)].copy;
      if (copy < 0) continue;
      const Ends& ends = ends_[static_cast<size_t>(copy)];
      const int replaced_by = ends.target == next ? ends.source : ends.target;
      if (replaced_by == at && std::find(follow.begin(), follow.end(), next) == follow.end())
        follow.push_back(next);
    }
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  return kernels;
}

double LayoutPlan::bytes_around(int tensor, const std::vector<int>& kernels,
                                const Layouts& layouts) const {
  if (!strides(tensor, layouts)) return -1;
  double sum = 0;
  for (const int kernel : kernels) {
    const double bytes = bytes_of(kernel, layouts);
    if (bytes < 0) return -1;
    sum += bytes;
  }
  return sum;
}

double LayoutPlan::total(const Layouts& layouts) const {
  double sum = 0;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    const double bytes = bytes_of(static_cast<int>(k), layouts);
    if (bytes < 0) return std::numeric_limits<double>::infinity();
    sum += bytes;
  }
  return sum;
}

std::optional<LayoutPlan::Layout> LayoutPlan::as_neighbour(const Kernel& kernel, const View& view,
                                                           const View& neighbour,
                                                           const Layouts& layouts) const {
  const auto steps = strides(neighbour.tensor, layouts);
  if (!steps) return std::nullopt;
  const Tensor& tensor = tensors_[static_cast<size_t>(view.tensor)];
  // How far the neighbour's address moves with a step along each dimension.
  std::vector<int64_t> walked(tensor.sizes.size());
  for (size_t d = 0; d < walked.size(); ++d) {
    if (tensor.sizes[d] < 2) continue;
    int mover = -1;
    for (size_t i = 0; i < kernel.ranges.size(); ++i) {
      if (view.coefficients[d][i] == 0) continue;
      if (mover >= 0) return std::nullopt;
      mover = static_cast<int>(i);
    }
    if (mover < 0) return std::nullopt;
    for (size_t e = 0; e < steps->size(); ++e)
      walked[d] += (*steps)[e] * neighbour.coefficients[e][static_cast<size_t>(mover)];
    if (walked[d] == 0) return std::nullopt;
  }
  const std::vector<Dim> dims = dims_of(tensor.sizes, walked);
  return Layout{strides_of(dense_in_order(dims, order_by_stride(dims))), -1};
}

std::vector<LayoutPlan::Layout> LayoutPlan::candidates(int t, const Layouts& layouts,
                                                       bool from_inputs) const {
  const Tensor& tensor = tensors_[static_cast<size_t>(t)];
  std::vector<Layout> out;
  auto add = [&](Layout layout) {
    if (std::find(out.begin(), out.end(), layout) == out.end()) out.push_back(std::move(layout));
  };
  auto add_copies = [&](bool as_target) {
    for (const int k : as_target ? tensor.writers : tensor.readers) {
      auto found = copies_.find(k);
      if (found == copies_.end()) continue;
      const WholeCopy& copy = found->second;
      if (as_target ? copy.target == tensor.name && may_be_source(copy, k)
                    : copy.source == tensor.name && may_be_target(copy, k))
        add({tensor.layout.strides, k});
    }
  };
  auto add_neighbours = [&](bool of_writers) {
    for (const int k : of_writers ? tensor.writers : tensor.readers) {
      const Kernel& kernel = kernels_[static_cast<size_t>(k)];
      for (const View& view : kernel.views) {
        if (view.tensor != t) continue;
        for (const View& other : kernel.views)
          if (other.tensor != t)
            if (auto layout = as_neighbour(kernel, view, other, layouts)) add(std::move(*layout));
      }
    }
  };
  add_copies(from_inputs);
  add_neighbours(from_inputs);
  add(layouts[static_cast<size_t>(t)]);
  add_copies(!from_inputs);
  add_neighbours(!from_inputs);
  const std::vector<Dim> now = dims_of(tensor.sizes, tensor.layout.strides);
  for (size_t d = 0; d < now.size(); ++d)
    if (tensor.sizes[d] > 1) add({strides_of(dense_with_inner(now, d)), -1});
  return out;
}

bool LayoutPlan::sweep(Layouts& layouts, bool from_inputs, bool equal) const {
  bool changed = false;
  for (size_t n = 0; n < order_.size(); ++n) {
    const int t = from_inputs ? order_[n] : order_[order_.size() - 1 - n];
    Layout& mine = layouts[static_cast<size_t>(t)];
    const Layout before = mine;
    const std::vector<int> kernels = kernels_around(t, layouts);
    const double bytes_before = bytes_around(t, kernels, layouts);
    const std::vector<Layout> all = candidates(t, layouts, from_inputs);
    Layout best = before;
    double least = bytes_before;
    bool taken = false;
    for (const Layout& layout : all) {
      mine = layout;
      const double bytes = bytes_around(t, kernels, layouts);
      if (bytes < 0) continue;
      // With `equal`, the first candidate of the same cost replaces the old layout.
      if (bytes < least || (equal && !taken && bytes == least)) {
        best = layout;
        least = bytes;
        taken = true;
      }
    }
    mine = best;
    changed = changed || !(best == before);
  }
  return changed;
}

LayoutPlan::Bytes LayoutPlan::choose() {
  Layouts start;
  for (const Tensor& tensor : tensors_) start.push_back(tensor.layout);
  Bytes bytes;
  bytes.before = bytes.after = total(start);
  Layouts best = start;
  for (const int first : {0, 1, 2}) {
    Layouts layouts = start;
    if (first > 0) sweep(layouts, first == 1, true);
    for (int n = 0; n < kMaxSweeps; ++n)
      if (!sweep(layouts, n % 2 == 0, false) && !sweep(layouts, n % 2 == 1, false)) break;
    if (const double sum = total(layouts); sum < bytes.after) {
      bytes.after = sum;
      best = std::move(layouts);
    }
  }
  for (size_t t = 0; t < tensors_.size(); ++t) tensors_[t].layout = best[t];
  return bytes;
}

std::map<std::string, LayoutPlan::Layout> LayoutPlan::layouts() const {
  std::map<std::string, Layout> out;
  for (const Tensor& tensor : tensors_)
    if (tensor.free) out[tensor.name] = tensor.layout;
  return out;
}

}  // namespace stria::passes
