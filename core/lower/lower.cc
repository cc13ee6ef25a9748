// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/lower.h"

#include "stria/lower/lowering.h"

namespace stria {
namespace lower_detail {
namespace {

stripe::Refinement whole(const Lowering& lowering, tile::TensorId id, stripe::RefDir dir) {
  stripe::Refinement ref;
  ref.dir = dir;
  ref.into = lowering.tensor(id).name;
  if (dir != stripe::RefDir::none) ref.from = ref.into;
  ref.shape = lowering.shape(id);
  ref.access.resize(ref.shape.rank());
  return ref;
}

}  // namespace

Status lower_special(Lowering& lowering, const tile::BoundStatement& statement, const tile::BoundSpecial& special) {
  stripe::Block block;
  block.comments.push_back(statement.text);
  block.tags = sorted_tags({"kernel", "special_" + special.function});
  stripe::Special operation;
  operation.name = special.function;
  Names refs;
  for (tile::TensorId id : special.operands) {
    block.refs.push_back(whole(lowering, id, stripe::RefDir::in));
    block.refs.back().into = refs.fresh(lowering.tensor(id).name);
    operation.inputs.push_back(block.refs.back().into);
  }
  bool writes = false;
  for (tile::TensorId id : special.outs) {
    block.refs.push_back(whole(lowering, id, stripe::RefDir::out));
    operation.outputs.push_back(lowering.tensor(id).name);
    writes = writes || lowering.has_elements(id);
  }
  if (!writes) return {};
  block.stmts.emplace_back(std::move(operation));
  lowering.add_kernel(std::move(block));
  return {};
}

}  // namespace lower_detail

Result<stripe::Program> lower(const tile::BoundProgram& program) {
  using namespace lower_detail;
  Lowering lowering(program);
  for (const tile::BoundStatement& statement : program.statements) {
    Status status = std::visit(
        [&](const auto& form) {
          using Form = std::decay_t<decltype(form)>;
          if constexpr (std::is_same_v<Form, tile::BoundContraction>) return lower_contraction(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundElementwise>) return lower_elementwise(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundSpecial>) return lower_special(lowering, statement, form);
        },
        statement.form);
    STRIA_RETURN_IF_ERROR(status.with_context(statement.text));
  }

  stripe::Block main;
  main.name = "main";
  main.tags = {"main"};
  stripe::Program out;
  out.entry.name = program.name;
  out.entry.tags = {"program"};
  for (tile::TensorId id : program.inputs) {
    out.entry.refs.push_back(whole(lowering, id, stripe::RefDir::none));
    main.refs.push_back(whole(lowering, id, stripe::RefDir::in));
  }
  for (tile::TensorId id : program.outputs) {
    out.entry.refs.push_back(whole(lowering, id, stripe::RefDir::none));
    main.refs.push_back(whole(lowering, id, stripe::RefDir::out));
  }
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    tile::TensorId id = static_cast<tile::TensorId>(i);
    const tile::BoundTensor& tensor = program.tensors[i];
    // A tensor without elements that nobody outside sees has no kernel and no place.
    if (!tensor.is_input && !tensor.is_output && lowering.has_elements(id))
      main.refs.push_back(whole(lowering, id, stripe::RefDir::none));
  }
  main.stmts = lowering.take_kernels();
  out.entry.stmts.emplace_back(std::move(main));
  return out;
}

}  // namespace stria
