// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/whole_copy.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"
#include "stria/rewrite/index_role.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Does an aggregation of a single value give exactly that value?
bool keeps_value(const std::optional<stripe::Aggregation>& agg, DataType type) {
  if (!agg) return true;
  if (agg->op == stripe::AggOp::max || agg->op == stripe::AggOp::min) return agg->type == type;
  return agg->type == type && !is_float(type);
}

// Does the body store what it loads?
bool stores_what_it_loads(const Block& kernel, const Refinement& from, const Refinement& to) {
  const auto& stmts = kernel.stmts;
  if (stmts.size() < 2 || stmts.size() > 3) return false;
  const auto* load = std::get_if<stripe::Load>(&stmts.front().op);
  const auto* store = std::get_if<stripe::Store>(&stmts.back().op);
  if (!load || !store || !load->at.empty() || !store->at.empty()) return false;
  if (load->from != from.into || store->into != to.into) return false;
  if (stmts.size() == 2) return store->from == load->into;
  const auto* ident = std::get_if<stripe::Intrinsic>(&stmts[1].op);
  return ident && ident->name == "ident" && ident->type == from.shape.type &&
         ident->inputs == std::vector<std::string>{load->into} &&
         ident->outputs == std::vector<std::string>{store->from};
}

void store_what_is_loaded(Block& block, Refinement from, Refinement to) {
  block.stmts.emplace_back(stripe::Load{from.into, "value"});
  block.stmts.emplace_back(stripe::Store{"value", to.into});
  block.refs = {std::move(from), std::move(to)};
}

bool is_plain(const Refinement& ref) {
  return ref.location.empty() && ref.shape.element_count() == 1 &&
         !ref.tags.has(stripe::tag::kClamp) && !ref.tags.has(stripe::tag::kZeroFill);
}

// The position of the index if the form is a single index; else -1.
int single_index(const Block& kernel, const Affine& form) {
  std::string name;
  if (!form.is_single_index(&name)) return -1;
  for (size_t i = 0; i < kernel.idxs.size(); ++i)
    if (kernel.idxs[i].name == name) return static_cast<int>(i);
  return -1;
}

// Puts coordinates into the order of the other tensor's dimensions.
template <typename Value>
std::vector<Value> reordered(const std::vector<Value>& values, const std::vector<int>& dims,
                             const Value& none) {
  std::vector<Value> out;
  for (const int d : dims) out.push_back(d < 0 ? none : values[static_cast<size_t>(d)]);
  return out;
}

// The coordinates that scalars choose, in the other tensor. Empty if no dimension with a choice is
// left; such a dimension has one element.
stripe::ChosenCoordinates chosen(const stripe::ChosenCoordinates& at,
                                 const std::vector<int>& dims) {
  stripe::ChosenCoordinates out = reordered(at, dims, std::string());
  if (std::all_of(out.begin(), out.end(), [](const std::string& name) { return name.empty(); }))
    out.clear();
  return out;
}

// Does a statement store into the tensor where a scalar chooses? Such a store is dropped if the
// choice is out of range.
bool stored_where_chosen(const Block& around, const std::string& tensor) {
  return std::any_of(around.stmts.begin(), around.stmts.end(), [&](const stripe::Statement& stmt) {
    const Block* block = stmt.block();
    return block && writes_into(*block, tensor) && stores_where_chosen(*block);
  });
}

// Makes the views of `name` in `block` views of `other`. Dimension d of the new view is the old
// dimension dims[d], or a new one if that is -1, and its coordinate grows by offset[d].
void replace_views(Block& block, const std::string& name, const std::string& other,
                   const TensorShape& shape, const std::vector<int>& dims,
                   const std::vector<int64_t>& offset) {
  std::set<std::string> changed;
  for (Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none || ref.from != name) continue;
    changed.insert(ref.into);
    ref.from = other;
    ref.access = reordered(ref.access, dims, Affine());
    ref.shape.dims = reordered(ref.shape.dims, dims, Dim{1, 1});
    for (size_t d = 0; d < dims.size(); ++d) {
      ref.access[d] += Affine(offset[d]);
      ref.shape.dims[d].stride = shape.dims[d].stride;
    }
    ref.is_const = false;
  }
  for (stripe::Statement& stmt : block.stmts) {
    if (auto* load = std::get_if<stripe::Load>(&stmt.op))
      if (changed.count(load->from) && !load->at.empty()) load->at = chosen(load->at, dims);
    if (auto* store = std::get_if<stripe::Store>(&stmt.op))
      if (changed.count(store->into) && !store->at.empty()) store->at = chosen(store->at, dims);
  }
}

}  // namespace

std::optional<WholeCopy> whole_copy(const Block& kernel, const Block& around) {
  if (!is_leaf(kernel) || !kernel.constraints.empty() || !kernel.location.empty() ||
      kernel.refs.size() != 2)
    return std::nullopt;
  const bool first_reads = kernel.refs[0].dir == RefDir::in;
  const Refinement& from = kernel.refs[first_reads ? 0 : 1];
  const Refinement& to = kernel.refs[first_reads ? 1 : 0];
  if (from.dir != RefDir::in || to.dir != RefDir::out || !is_plain(from) || !is_plain(to) ||
      !keeps_value(to.agg, to.shape.type) || !stores_what_it_loads(kernel, from, to))
    return std::nullopt;
  const Refinement* source = around.find_ref(from.from);
  const Refinement* target = around.find_ref(to.from);
  if (!source || !target || source->location != target->location ||
      source->shape.type != target->shape.type)
    return std::nullopt;

  std::vector<int> target_dim(kernel.idxs.size(), -1);  // for each index
  for (size_t d = 0; d < to.access.size(); ++d) {
    const int64_t size = target->shape.dims[d].size;
    if (size == 1 && to.access[d] == Affine()) continue;
    const int i = single_index(kernel, to.access[d]);
    if (i < 0) return std::nullopt;
    const stripe::Index& index = kernel.idxs[static_cast<size_t>(i)];
    if (index.affine || index.range != size || target_dim[static_cast<size_t>(i)] >= 0)
      return std::nullopt;
    target_dim[static_cast<size_t>(i)] = static_cast<int>(d);
  }
  WholeCopy copy{from.from, to.from, {}, {}, true};
  std::vector<bool> used(kernel.idxs.size());
  for (size_t p = 0; p < from.access.size(); ++p) {
    const int64_t size = source->shape.dims[p].size;
    const int64_t offset = from.access[p].constant();
    copy.offset.push_back(offset);
    copy.dim.push_back(-1);
    copy.whole_source = copy.whole_source && offset == 0;
    if (from.access[p].is_constant()) {
      copy.whole_source = copy.whole_source && size == 1;
      continue;
    }
    const int i = single_index(kernel, from.access[p] - Affine(offset));
    if (i < 0 || used[static_cast<size_t>(i)]) return std::nullopt;
    used[static_cast<size_t>(i)] = true;
    copy.dim.back() = target_dim[static_cast<size_t>(i)];
    // An index that does not move the target would write its elements several times.
    if (copy.dim.back() < 0) return std::nullopt;
    copy.whole_source = copy.whole_source && kernel.idxs[static_cast<size_t>(i)].range == size;
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i] && kernel.idxs[i].range != 1) return std::nullopt;
  // A dimension that scalars choose must also exist in the target.
  // (Last, since it looks at all statements around.)
  if (copy.whole_source && std::count(copy.dim.begin(), copy.dim.end(), -1) > 0 &&
      stored_where_chosen(around, copy.source))
    copy.whole_source = false;
  return copy;
}

void view_source(Block& block, const WholeCopy& copy, const TensorShape& source) {
  replace_views(block, copy.target, copy.source, source, copy.dim, copy.offset);
}

void view_target(Block& block, const WholeCopy& copy, const TensorShape& target) {
  std::vector<int> dims(target.dims.size(), -1);
  for (size_t p = 0; p < copy.dim.size(); ++p)
    if (copy.dim[p] >= 0) dims[static_cast<size_t>(copy.dim[p])] = static_cast<int>(p);
  replace_views(block, copy.source, copy.target, target, dims,
                std::vector<int64_t>(target.dims.size()));
}

stripe::Refinement element_view(const stripe::Refinement& tensor, stripe::RefDir dir) {
  stripe::Refinement out;
  out.dir = dir;
  out.from = out.into = tensor.into;
  out.access.resize(tensor.access.size());
  out.shape = tensor.shape;
  for (Dim& dim : out.shape.dims) dim.size = 1;
  // A kernel inside does not know the indices of the block around.
  if (!names_index(tensor.location)) out.location = tensor.location;
  return out;
}

stripe::Block copy_kernel(std::string name, stripe::Refinement from, stripe::Refinement to) {
  stripe::Block out;
  out.name = std::move(name);
  out.tags = {stripe::tag::kCopy, stripe::tag::kKernel};
  store_what_is_loaded(out, std::move(from), std::move(to));
  return out;
}

}  // namespace stria::passes
