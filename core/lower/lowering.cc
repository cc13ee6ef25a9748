// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/lowering.h"
#include "stria/stripe/tags.h"

#include <algorithm>
#include <memory_resource>
#include <unordered_set>

namespace stria::lower_detail {

Lowering::Lowering(const tile::BoundProgram& program, std::vector<Diagnostic>* warnings)
    : program_(program), warnings_(warnings), joined_(program) {
  shapes_.reserve(program.tensors.size());
  index_names_.reserve(program.tensors.size());
  kernels_.reserve(program.statements.size());
  for (const tile::BoundTensor& tensor : program.tensors) {
    shapes_.push_back(dense_shape(tensor.type, tensor.sizes));
    index_names_.emplace_back(tensor.sizes.size());
  }
}

stripe::Refinement Lowering::element(stripe::RefDir dir, tile::TensorId id, std::string into,
                                     std::vector<Affine> access) const {
  stripe::Refinement ref;
  ref.dir = dir;
  ref.from = tensor(id).name;
  ref.into = std::move(into);
  ref.access = std::move(access);
  ref.shape = shape(id);
  for (Dim& dim : ref.shape.dims) dim.size = 1;
  return ref;
}

stripe::Refinement Lowering::whole(stripe::RefDir dir, tile::TensorId id) const {
  stripe::Refinement ref;
  ref.dir = dir;
  ref.into = tensor(id).name;
  if (dir != stripe::RefDir::none) ref.from = ref.into;
  ref.shape = shape(id);
  ref.access.resize(ref.shape.rank());
  return ref;
}

std::vector<std::string> Lowering::index_names(tile::TensorId id) const {
  std::vector<std::string> names = index_names_[static_cast<size_t>(id)];
  // With more than nine of them the numbers get a leading zero, so that sorting keeps their order.
  const char* pattern = names.size() > 9 ? "i{:02}" : "i{}";
  KernelScratch scratch;
  std::pmr::unordered_set<std::string> used(scratch.resource());
  for (std::string& name : names)
    if (!name.empty() && !used.insert(name).second) name.clear();
  for (size_t d = 0; d < names.size(); ++d) {
    for (size_t number = d + 1; names[d].empty(); number += names.size()) {
      std::string name = fmt::format(fmt::runtime(pattern), number);
      if (used.insert(name).second) names[d] = name;
    }
  }
  return names;
}

void Lowering::set_index_names(tile::TensorId id, std::vector<std::string> names) {
  index_names_[static_cast<size_t>(id)] = std::move(names);
}

void Lowering::begin_statement(const tile::BoundStatement& statement) {
  kernel_name_.clear();
  for (const tile::Attribute& attribute : statement.attributes)
    if (attribute.name.text == "pid" && kernel_name_.empty())
      kernel_name_ = attribute.arguments[0].text;
  if (!kernel_name_.empty() && kernel_name_.back() == '\'') kernel_name_.pop_back();
}

void Lowering::warn(SourceSpan span, std::string message) {
  if (warnings_ == nullptr || warnings_->size() >= tile::kMaxWarnings) return;
  for (const Diagnostic& known : *warnings_)
    if (known.span.begin == span.begin && known.message == message) return;
  warnings_->push_back({Severity::warning, span, std::move(message)});
}

void Lowering::add_kernel(stripe::Block block) {
  block.name = kernel_names_.fresh(kernel_name_.empty() ? fmt::format("kernel_{}", kernels_.size())
                                                        : kernel_name_);
  std::sort(block.idxs.begin(), block.idxs.end(),
            [](const stripe::Index& a, const stripe::Index& b) { return a.name < b.name; });
  kernels_.emplace_back(std::move(block));
}

std::string Names::fresh(const std::string& base) {
  if (used_.insert(base).second) return base;
  int& next = next_[base];
  std::string name;
  do {
    name = fmt::format("{}_{}", base, next++);
  } while (!used_.insert(name).second);
  return name;
}

stripe::Tags sorted_tags(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  stripe::Tags tags;
  tags.reserve(names.size());
  for (const std::string& name : names) tags.set(name);
  return tags;
}

stripe::Block zero_kernel(const Lowering& lowering, tile::TensorId id, const SetPiece& piece) {
  const tile::BoundTensor& out = lowering.written(id);
  stripe::Block block;
  for (const SetPiece::Index& index : piece.indices)
    block.idxs.push_back({index.name, index.range, {}, {}});
  block.constraints = piece.constraints;
  const Scalar zero =
      is_float(out.type) ? Scalar::of_float(out.type, 0) : Scalar::of_int(out.type, 0);
  block.tags = sorted_tags({stripe::tag::kKernel, stripe::tag::kZero});
  block.comments.push_back(fmt::format("{} = 0 where nothing else is written", out.name));
  block.stmts.emplace_back(stripe::Constant{"zero", zero});
  block.stmts.emplace_back(stripe::Store{"zero", out.name});
  block.refs.push_back(
      lowering.element(stripe::RefDir::out, lowering.joined().place(id), out.name, piece.point));
  return block;
}

}  // namespace stria::lower_detail
