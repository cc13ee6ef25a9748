// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/flat_kernel.h"

#include <algorithm>
#include <set>

namespace stria::cost {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

Status check_leaf(const Block& block) {
  const auto no = [&](std::string_view why) {
    return unsupported("block '{}' is no table of strides: {}", block.name, why);
  };
  for (const stripe::Statement& statement : block.stmts) {
    if (statement.block() || statement.special()) return no("it holds a block or a special");
    auto* load = std::get_if<stripe::Load>(&statement.op);
    auto* store = std::get_if<stripe::Store>(&statement.op);
    if ((load && !load->at.empty()) || (store && !store->at.empty()))
      return no("scalars choose the elements that it touches");
  }
  for (const stripe::Index& index : block.idxs)
    if (index.affine) return no(fmt::format("index '{}' starts at another one", index.name));
  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) return no(fmt::format("it allocates '{}'", ref.into));
    for (const Dim& dim : ref.shape.dims)
      if (dim.size != 1) return no(fmt::format("'{}' shows more than one element", ref.into));
  }
  return {};
}

FlatTensor column(const Refinement& ref, const std::vector<FlatKernel::Index>& indices) {
  FlatTensor out;
  out.name = ref.into;
  out.type = ref.shape.type;
  const Affine flat = ref.flat_access();
  for (const FlatKernel::Index& index : indices)
    out.strides.push_back(flat.coefficient(index.name));
  out.offset = flat.constant();
  return out;
}

bool touches(const stripe::Statement& statement, const std::string& tensor) {
  if (const Block* block = statement.block())
    return std::any_of(block->refs.begin(), block->refs.end(),
                       [&](const Refinement& ref) { return ref.from == tensor; });
  const stripe::Special* special = statement.special();
  const auto among = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), tensor) != names.end();
  };
  return special && (among(special->inputs) || among(special->outputs));
}

// Whether something else than these blocks sees what they write to `tensor`.
bool outlives(const Block& main, const std::string& tensor, const std::set<const Block*>& blocks) {
  const Refinement* ref = main.find_ref(tensor);
  if (!ref || ref->dir != RefDir::none) return true;
  return std::any_of(main.stmts.begin(), main.stmts.end(), [&](const stripe::Statement& statement) {
    return !blocks.count(statement.block()) && touches(statement, tensor);
  });
}

// Does each point of the block read an element of its own of one of these tensors?
bool goes_on_with(const Block& block, const std::set<std::string>& tensors) {
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    if (ref.dir != RefDir::in || !tensors.count(ref.from)) return false;
    std::set<std::string> named;
    for (const Affine& access : ref.access) {
      std::string name;
      if (access.is_single_index(&name)) named.insert(name);
    }
    return std::all_of(block.idxs.begin(), block.idxs.end(), [&](const stripe::Index& index) {
      return index.range == 1 || named.count(index.name);
    });
  });
}

}  // namespace

std::vector<const Block*> following_kernels(const Block& main, size_t position) {
  std::vector<const Block*> out;
  std::set<std::string> tensors;
  const auto add = [&](const Block& block) {
    for (const Refinement& ref : block.refs)
      if (ref.dir != RefDir::in) tensors.insert(ref.from);
  };
  if (const Block* first = main.stmts[position].block()) add(*first);
  for (size_t i = position + 1; i < main.stmts.size(); ++i) {
    const Block* block = main.stmts[i].block();
    if (!block || !check_leaf(*block).ok() || !goes_on_with(*block, tensors) ||
        std::any_of(block->refs.begin(), block->refs.end(),
                    [](const Refinement& ref) { return ref.agg.has_value(); }))
      break;
    add(*block);
    out.push_back(block);
  }
  return out;
}

Result<FlatKernel> flatten(const Block& main, const Block& kernel,
                           std::span<const Block* const> post) {
  STRIA_RETURN_IF_ERROR(check_leaf(kernel));
  FlatKernel out;
  for (const stripe::Index& index : kernel.idxs)
    if (index.range != 1) out.indices.push_back({index.name, index.range});
  std::sort(out.indices.begin(), out.indices.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::set<const Block*> blocks = {&kernel};
  std::vector<std::string> written;
  for (const Refinement& ref : kernel.refs) {
    if (ref.dir == RefDir::in) {
      out.inputs.push_back(column(ref, out.indices));
      continue;
    }
    if (!written.empty())
      return unsupported("block '{}' is no table of strides: it writes '{}' and '{}'", kernel.name,
                         written[0], ref.from);
    written.push_back(ref.from);
    out.output = column(ref, out.indices);
  }
  if (written.empty())
    return unsupported("block '{}' is no table of strides: it writes nothing", kernel.name);
  for (const Affine& form : kernel.constraints) {
    FlatConstraint constraint;
    for (const FlatKernel::Index& index : out.indices)
      constraint.coefficients.push_back(-form.coefficient(index.name));
    constraint.bound = form.constant();
    out.constraints.push_back(std::move(constraint));
  }
  for (const Block* block : post) {
    STRIA_RETURN_IF_ERROR(check_leaf(*block));
    blocks.insert(block);
    for (const stripe::Statement& statement : block->stmts)
      out.post_operations += std::holds_alternative<stripe::Intrinsic>(statement.op);
    for (const Refinement& ref : block->refs) {
      const bool known = std::find(written.begin(), written.end(), ref.from) != written.end();
      if (ref.dir != RefDir::in) {
        written.push_back(ref.from);
      } else if (!known) {
        out.post_inputs.push_back(ref.shape.type);
      }
    }
  }
  out.written_tensors =
      std::count_if(written.begin(), written.end(),
                    [&](const std::string& tensor) { return outlives(main, tensor, blocks); });
  return out;
}

std::string to_string(const FlatKernel& kernel) {
  std::vector<const FlatTensor*> tensors = {&kernel.output};
  for (const FlatTensor& input : kernel.inputs) tensors.push_back(&input);
  std::string out = fmt::format("{:<8}{:>8}", "", "range");
  for (const FlatTensor* tensor : tensors) out += fmt::format("{:>12}", tensor->name);
  for (size_t i = 0; i < kernel.indices.size(); ++i) {
    out += fmt::format("\n{:<8}{:>8}", kernel.indices[i].name, kernel.indices[i].range);
    for (const FlatTensor* tensor : tensors) out += fmt::format("{:>12}", tensor->strides[i]);
  }
  out += fmt::format("\n{:<16}", "offset");
  for (const FlatTensor* tensor : tensors) out += fmt::format("{:>12}", tensor->offset);
  for (const FlatConstraint& constraint : kernel.constraints) {
    Affine form;
    for (size_t i = 0; i < kernel.indices.size(); ++i)
      form.add_term(kernel.indices[i].name, constraint.coefficients[i]);
    out += fmt::format("\n{} <= {}", form.to_string(), constraint.bound);
  }
  return out + "\n";
}

}  // namespace stria::cost
