// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/matrix_tile.h"
#include "stria/stripe/tags.h"

#include <algorithm>
#include <map>

namespace stria::passes {
namespace {

using stripe::Block;

const std::string* index_for(const Block& block, const char* role) {
  const std::string tag = stripe::tag::kStencilIndex + std::string(role);
  for (const stripe::Index& index : block.idxs)
    if (index.tags.has(tag)) return &index.name;
  return nullptr;
}

}  // namespace

std::optional<size_t> dimension_of(const stripe::Refinement& ref, const std::string& index) {
  std::optional<size_t> out;
  for (size_t d = 0; d < ref.access.size(); ++d) {
    if (!ref.access[d].uses(index)) continue;
    std::string name;
    if (out || !ref.access[d].is_single_index(&name)) return std::nullopt;
    out = d;
  }
  return out;
}

Block* find_matrix_tile(Block& block) {
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) {
      if (inner->tags.has(stripe::tag::kFragments)) return inner;
      if (Block* found = find_matrix_tile(*inner)) return found;
    }
  return nullptr;
}

Refusal read_matrix_tile(const Block& tile, const HardwareModel& model, const std::string& unit,
                         MatrixTileForm& form) {
  const auto* name = std::get_if<std::string>(tile.tags.find(stripe::tag::kFragments));
  if (const ExecutionUnit* executor = model.find_executor(unit); executor && name)
    for (const Instruction& instruction : executor->instructions)
      if (instruction.name == *name) form.instruction = &instruction;
  if (!form.instruction) return "the model does not have the instruction of its tile";
  const std::string *m = index_for(tile, "m"), *n = index_for(tile, "n"), *k = index_for(tile, "k");
  if (!m || !n || !k) return "its tile does not say what its indices are";
  form.row = *m;
  form.column = *n;
  form.depth = *k;
  std::map<std::string, int64_t> sizes;
  for (const Instruction::Index& index : form.instruction->indices) sizes[index.name] = index.size;
  for (const InstructionOperand& operand : form.instruction->operands)
    if (operand.written && operand.dims.size() == 2) form.sum = &operand;
  if (form.sum) {
    form.unit_rows = sizes[form.sum->dims[0]];
    form.unit_columns = sizes[form.sum->dims[1]];
    sizes.erase(form.sum->dims[0]);
    sizes.erase(form.sum->dims[1]);
    for (const InstructionOperand& operand : form.instruction->operands) {
      if (operand.written) continue;
      const auto& dims = operand.dims;
      const bool is_left = std::count(dims.begin(), dims.end(), form.sum->dims[0]) > 0;
      (is_left ? form.left : form.right) = &operand;
    }
  }
  if (sizes.size() != 1 || !form.left || !form.right)
    return "the instruction is no product of matrices";
  form.unit_depth = sizes.begin()->second;
  return Refusal::none();
}

}  // namespace stria::passes
