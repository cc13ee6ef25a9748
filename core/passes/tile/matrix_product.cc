// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/matrix_product.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "stria/passes/tile/matrix_tile.h"
#include "stria/passes/tile/product_factors.h"
#include "stria/passes/tile/stencil_match.h"
#include "stria/stripe/scalar_types.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Do the elements of rows or columns along these indices lie one behind the other?
Refusal why_no_rows(const Refinement& ref, const std::string& row, const std::string& column) {
  const Affine flat = ref.flat_access();
  const int64_t down = flat.coefficient(row), across = flat.coefficient(column);
  if (down < 0 || across < 0 || (down != 1 && across != 1))
    return fmt::format("neither rows nor columns of '{}' are contiguous", ref.into);
  return Refusal::none();
}

// Do rows of matrices along these indices begin at multiples of a vector of so many bytes,
// so that lanes move vectors of them, and do they end there?
bool are_vectors(const Block& block, const Refinement& ref, const std::string& row,
                 const std::string& column, int64_t vector_bytes) {
  const Affine flat = ref.flat_access();
  const std::string& contiguous = flat.coefficient(column) == 1 ? column : row;
  const int64_t bytes = byte_size(ref.shape.type);
  const auto begins = [&](int64_t elements) { return elements * bytes % vector_bytes == 0; };
  return flat.coefficient(contiguous) == 1 && begins(flat.constant()) &&
         begins(block.find_index(contiguous)->range) &&
         std::all_of(flat.terms().begin(), flat.terms().end(), [&](const auto& term) {
           return term.first == contiguous || begins(term.second);
         });
}

// The instruction with the dimensions of some operands in the other order: a matrix in memory may
// lie along its rows or along its columns. Bit i of `turned` is operand i.
Instruction with_turned_operands(Instruction instruction, unsigned turned) {
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (turned >> i & 1)
      std::reverse(instruction.operands[i].dims.begin(), instruction.operands[i].dims.end());
  return instruction;
}

Refusal form_of(const Block& kernel, const Instruction& instruction, int64_t vector_bytes,
                ProductForm& form) {
  // Sums are kept in the type of the aggregation, whatever they are stored as in the end.
  Block block = kernel;
  for (Refinement& ref : block.refs)
    if (ref.agg) ref.shape.type = ref.agg->type;
  const Result<StencilRules> rules = rules_of(instruction, 0);
  if (!rules.ok()) return rules.status().message();
  if (rules->idxs.size() != 3 || rules->ins != 2 || rules->outs != 1)
    return "the instruction is no product of two matrices";
  StencilRules with_ends = *rules;
  with_ends.masked = true;
  std::optional<StencilMatch> match = match_stencil(block, *rules, true);
  if (!match) match = match_stencil(block, with_ends, false);
  if (!match) {
    block.constraints.clear();
    if (match_stencil(block, with_ends, false)) {
      form.types_fit = true;
      return "constraints leave out elements of its matrices";
    }
    return "its sizes or its dimensions are not those of a product of matrices";
  }
  form.types_fit = true;
  // The instruction's indices: those of its result, in order, and the third one.
  const InstructionOperand& result = *rules->out_operands[0];
  std::map<std::string, std::pair<std::string, int64_t>> index;  // of the block, and the tile
  for (size_t i = 0; i < rules->idxs.size(); ++i) {
    if (!match->idxs[i]) return "it has no matrices: an index is missing";
    index[rules->idxs[i].name] = {block.idxs[*match->idxs[i]].name, rules->idxs[i].size};
  }
  if (result.dims.size() != 2) return "the instruction's result is no matrix";
  auto rows = index.at(result.dims[0]), columns = index.at(result.dims[1]);
  index.erase(result.dims[0]);
  index.erase(result.dims[1]);
  const auto depth = index.begin()->second;
  const Refinement& out = kernel.refs[match->outs[0]];
  const Refinement* left = &block.refs[match->ins[0]];
  const Refinement* right = &block.refs[match->ins[1]];
  if (!left->flat_access().uses(rows.first)) std::swap(left, right);
  auto row = dimension_of(out, rows.first), column = dimension_of(out, columns.first);
  if (!row || !column) return "rows and columns of its result are no dimensions of it";
  if (*row > *column) {
    std::swap(row, column);
    std::swap(left, right);
    std::swap(rows.first, columns.first);
  }
  form.row = rows.first;
  form.column = columns.first;
  form.depth = depth.first;
  form.result = {*row, *column};
  form.unit_depth = depth.second;
  STRIA_RETURN_IF_REFUSED(why_no_rows(out, form.row, form.column));
  cost::MatrixProduct& product = form.product;
  product.rows = block.find_index(form.row)->range;
  product.columns = block.find_index(form.column)->range;
  product.depth = block.find_index(form.depth)->range;
  for (const stripe::Index& other : block.idxs) {
    if (other.name == form.row || other.name == form.column || other.name == form.depth) continue;
    // Other indices number matrices: of the result, or of the terms of its sums.
    (out.flat_access().uses(other.name) ? product.count : product.passes) *= other.range;
  }
  form.left = left->into;
  form.left_type = left->shape.type;
  form.right_type = right->shape.type;
  product.left_bytes = byte_size(left->shape.type);
  product.right_bytes = byte_size(right->shape.type);
  product.sum_bytes = out.agg ? byte_size(out.agg->type) : byte_size(out.shape.type);
  product.sum_in_vectors = are_vectors(block, out, form.row, form.column, vector_bytes);
  product.left_along_depth = left->flat_access().coefficient(form.depth) == 1;
  product.right_along_depth = right->flat_access().coefficient(form.depth) == 1;
  return Refusal::none();
}

// The types in which matrix units multiply the factors: one into which every value of the factor
// converts without being rounded.
std::array<DataType, 2> types_in_registers(const std::array<ProductFactor, 2>& factors,
                                           const Instruction& instruction) {
  std::vector<DataType> types;
  for (const InstructionOperand& operand : instruction.operands)
    if (!operand.written) types.push_back(operand.type);
  std::array<DataType, 2> out = {factors[0].type, factors[1].type};
  for (DataType& type : out)
    if (std::count(types.begin(), types.end(), types[0]) == std::ssize(types) &&
        has_all_values_of(types[0], type))
      type = types[0];
  return out;
}

// What lanes load and do for each element that they stage.
void add_factors(const Block& block, const std::array<ProductFactor, 2>& factors,
                 int64_t vector_bytes, ProductForm& form) {
  for (const ProductFactor& factor : factors) {
    const bool left = factor.main == form.left;
    cost::MatrixProduct& product = form.product;
    int64_t& bytes = left ? product.left_fetched_bytes : product.right_fetched_bytes;
    bytes = 0;
    for (const std::string& view : factor.views)
      bytes += byte_size(block.find_ref(view)->shape.type);
    int64_t& operations = left ? product.left_operations : product.right_operations;
    operations = factor.operations + (factor.type != (left ? form.left_type : form.right_type));
    (left ? product.left_in_vectors : product.right_in_vectors) =
        are_vectors(block, *block.find_ref(factor.main), left ? form.row : form.column, form.depth,
                    vector_bytes);
  }
}

}  // namespace

Refusal product_form(const Block& block, const Instruction& instruction, int64_t vector_bytes,
                     ProductForm& form) {
  if (instruction.operands.size() != 3) return "the instruction is no product of two matrices";
  std::array<ProductFactor, 2> factors;
  if (Refusal refusal = product_factors(block, factors)) {
    form = {};
    return refusal;
  }
  const Block kernel =
      with_loaded_factors(block, factors, types_in_registers(factors, instruction));
  Refusal first = Refusal::none();
  bool types_fit = false;
  for (unsigned turned = 0; turned < 8; ++turned) {
    const Instruction like = with_turned_operands(instruction, turned);
    form = {};
    Refusal refusal = form_of(kernel, like, vector_bytes, form);
    if (!refusal) {
      // Rows and columns are those of the instruction, whatever lies how in memory.
      const auto of = std::find_if(instruction.operands.begin(), instruction.operands.end(),
                                   [](const InstructionOperand& o) { return o.written; });
      std::map<std::string, int64_t> sizes;
      for (const Instruction::Index& index : instruction.indices) sizes[index.name] = index.size;
      form.unit_rows = sizes[of->dims[0]];
      form.unit_columns = sizes[of->dims[1]];
      const bool types_fit = std::all_of(
          instruction.operands.begin(), instruction.operands.end(),
          [&](const InstructionOperand& operand) {
            const bool left = std::count(operand.dims.begin(), operand.dims.end(), of->dims[0]) > 0;
            return operand.written || operand.type == (left ? form.left_type : form.right_type);
          });
      if (!types_fit)
        refusal = "its operands have the instruction's types in the other order";
      else
        return add_factors(block, factors, vector_bytes, form), Refusal::none();
    }
    if (turned == 0 || (form.types_fit && !types_fit)) first = std::move(refusal);
    types_fit = types_fit || form.types_fit;
  }
  form.types_fit = types_fit;
  return first;
}

std::optional<MatrixChoice> fastest_matrix_tile(const Block& block, const HardwareModel& model,
                                                const std::string& unit, const std::string& group,
                                                const cost::GroupRates& rates, Refusal& why_none) {
  const ExecutionUnit* subgroup = model.find_executor(unit);
  const ExecutionUnit* whole = model.find_executor(group);
  if (!subgroup || !whole || subgroup->instructions.empty() || subgroup->max_threads <= 0) {
    why_none = "the model has no matrix units";
    return std::nullopt;
  }
  why_none = "no instruction multiplies matrices of its types";
  std::optional<MatrixChoice> best;
  for (const Instruction& instruction : subgroup->instructions) {
    if (!instruction.symbol.empty()) continue;  // a function, which no subgroup calls
    MatrixChoice choice;
    choice.instruction = &instruction;
    if (Refusal refusal = product_form(
            block, instruction, static_cast<int64_t>(rates.facts.vector_bytes), choice.form)) {
      if (choice.form.types_fit) why_none = std::move(refusal);
      continue;
    }
    if (instruction.cycles <= 0) {
      why_none = fmt::format("the model does not say how fast '{}' is", instruction.name);
      continue;
    }
    cost::MatrixUnit of{choice.form.unit_rows, choice.form.unit_columns, choice.form.unit_depth,
                        subgroup->max_threads, 0};
    // So many subgroups work on a group's unit at once.
    const double at_once = static_cast<double>(subgroup->count) / static_cast<double>(whole->count);
    of.multiply_adds =
        at_once * static_cast<double>(of.rows * of.columns * of.depth) / instruction.cycles;
    const auto tile = cost::shortest_matrix_tile(choice.form.product, of, rates);
    if (!tile) {
      why_none = "no tile of it fits";
      continue;
    }
    choice.unit = of;
    choice.tile = *tile;
    if (!best || choice.tile.cycles < best->tile.cycles) best = std::move(choice);
  }
  return best;
}

Refusal why_no_tail(const Block& kernel, const Refinement& ref, const MatrixDims& dims,
                    std::map<std::string, MatrixDims>& written) {
  std::string row, column;
  if (dims.rows >= ref.access.size() || dims.columns >= ref.access.size() ||
      !ref.access[dims.rows].is_single_index(&row) ||
      !ref.access[dims.columns].is_single_index(&column) || row == column)
    return "it does not read matrices";
  if (!kernel.constraints.empty()) return "it has constraints";
  for (const stripe::Statement& stmt : kernel.stmts) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    const bool plain = (load && load->at.empty()) || (store && store->at.empty()) ||
                       std::holds_alternative<stripe::Constant>(stmt.op) ||
                       std::holds_alternative<stripe::Intrinsic>(stmt.op);
    if (!plain) return "a statement needs to know which element it works on";
  }
  const DataType type = compute_type(ref.shape.type);
  for (const Refinement& other : kernel.refs) {
    if (other.dir == RefDir::none || other.agg || other.swizzle) return "it sums, or allocates";
    if (compute_type(other.shape.type) != type) return "it works on elements of several types";
    const bool still = !other.flat_access().uses(row) && !other.flat_access().uses(column);
    if (other.dir == RefDir::in && still) continue;  // one value for all elements
    for (const std::string& index : {row, column})
      if (other.flat_access().uses(index) && !dimension_of(other, index))
        return fmt::format("'{}' is no matrix", other.into);
    STRIA_RETURN_IF_REFUSED(why_no_rows(other, row, column));
    if (other.dir == RefDir::in) continue;
    const auto down = dimension_of(other, row), across = dimension_of(other, column);
    if (other.dir != RefDir::out || !down || !across || *down > *across)
      return fmt::format("'{}' is written in another order", other.into);
    written[other.from] = {*down, *across};
  }
  return written.empty() ? Refusal("it writes nothing") : Refusal::none();
}

}  // namespace stria::passes
