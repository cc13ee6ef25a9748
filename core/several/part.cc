// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "stria/base/status.h"
#include "stria/several/split.h"
#include "stria/stripe/block.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using stripe::Block;
using stripe::Refinement;

// A tensor's view of the whole becomes one of the part: its sizes, or only the steps between its
// rows, are those of the part.
void shrink(TensorShape& view, const TensorShape& part, bool sizes) {
  for (size_t d = 0; d < view.dims.size(); ++d) {
    if (sizes) view.dims[d].size = part.dims[d].size;
    view.dims[d].stride = part.dims[d].stride;
  }
}

class PartMaker {
 public:
  PartMaker(const Split& split, const UnitRange& units, const Block& main)
      : split_(split), units_(units) {
    for (const auto& [name, cut] : split.cuts) {
      const TensorShape& whole = main.find_ref(name)->shape;
      std::vector<int64_t> sizes = whole.sizes();
      sizes[cut.dim] = units.count() * cut.rows;
      shapes_[name] = dense_shape(whole.type, sizes);
    }
  }

  const TensorShape* shape_of(const std::string& tensor) const {
    const auto at = shapes_.find(tensor);
    return at == shapes_.end() ? nullptr : &at->second;
  }
  // False: the part has no point of it.
  bool make(Block& kernel, const KernelShare& share) const;

 private:
  const Split& split_;
  const UnitRange units_;
  std::map<std::string, TensorShape> shapes_;
};

bool PartMaker::make(Block& kernel, const KernelShare& share) const {
  if (share.kind == KernelShare::Kind::whole) return true;
  if (share.kind == KernelShare::Kind::unit &&
      (share.unit < units_.begin || share.unit >= units_.end))
    return false;
  std::map<std::string, Affine> moved;
  if (share.kind == KernelShare::Kind::index) {
    stripe::Index& index = *kernel.find_index(share.index);
    const int64_t begin = std::max<int64_t>(units_.begin * share.per_unit - share.offset, 0);
    const int64_t end = std::min<int64_t>(units_.end * share.per_unit - share.offset, index.range);
    if (begin >= end) return false;
    // An index with one value is none, as lowering has it.
    if (end - begin == 1) {
      moved[share.index] = Affine(begin);
      std::erase_if(kernel.idxs, [&](const auto& one) { return one.name == share.index; });
    } else {
      moved[share.index] = Affine::of(share.index) + Affine(begin);
      index.range = end - begin;
    }
  }
  for (Refinement& ref : kernel.refs) {
    for (Affine& form : ref.access) form = form.substitute(moved);
    const auto cut = split_.cuts.find(ref.from);
    if (cut == split_.cuts.end()) continue;
    ref.access[cut->second.dim] -= Affine(units_.begin * cut->second.rows);
    shrink(ref.shape, shapes_.at(ref.from), false);
  }
  std::vector<Affine> left;
  for (const Affine& constraint : kernel.constraints) {
    Affine form = constraint.substitute(moved);
    if (form.is_constant() && form.constant() < 0) return false;
    if (!form.is_constant()) left.push_back(std::move(form));
  }
  kernel.constraints = std::move(left);
  for (stripe::Statement& stmt : kernel.stmts)
    if (auto* load = std::get_if<stripe::LoadIndex>(&stmt.op))
      load->from = load->from.substitute(moved);
  return true;
}

// The rows of weights that the part has.
Result<std::shared_ptr<const ProgramBinding>> binding_of(const ProgramBinding& whole,
                                                         const Split& split,
                                                         const UnitRange& units) {
  auto out = std::make_shared<ProgramBinding>(whole);
  for (auto& [name, value] : out->values) {
    const auto cut = split.cuts.find(name);
    if (cut == split.cuts.end()) continue;
    const CutRows rows(value->type(), value->sizes(), cut->second, units);
    STRIA_ASSIGN(HostTensor part, HostTensor::create(value->type(), rows.sizes(), name));
    rows.take(value->data(), part.data());
    value = std::make_shared<const HostTensor>(std::move(part));
  }
  return std::shared_ptr<const ProgramBinding>(std::move(out));
}

}  // namespace

Result<Compilation> part_of(const Compilation& program, const Split& split,
                            const UnitRange& units) {
  Compilation out = program;
  Block& main = *out.generic.main();
  const PartMaker maker(split, units, *program.generic.main());
  for (Refinement& ref : main.refs) {
    const TensorShape* const shape = maker.shape_of(ref.into);
    if (shape == nullptr) continue;
    shrink(ref.shape, *shape, true);
    // Temporaries are main's own.
    if (Refinement* tensor = ref.from.empty() ? nullptr : out.generic.entry.find_ref(ref.from))
      shrink(tensor->shape, *shape, true);
  }
  std::vector<stripe::Statement> kernels;
  for (size_t n = 0; n < main.stmts.size(); ++n)
    if (maker.make(*main.stmts[n].block(), split.kernels[n]))
      kernels.push_back(std::move(main.stmts[n]));
  main.stmts = std::move(kernels);
  for (tile::BoundTensor& tensor : out.bound.tensors)
    if (const TensorShape* shape = maker.shape_of(tensor.name)) tensor.sizes = shape->sizes();
  if (program.binding != nullptr) {
    STRIA_ASSIGN(out.binding, binding_of(*program.binding, split, units));
  }
  return out;
}

}  // namespace stria
