// SPDX-License-Identifier: Apache-2.0
// Operations of a subgroup on matrices that its lanes hold together (docs/semantics.md S15). A
// block says what it computes, element by element; here it becomes one statement for the subgroup:
// a fill, a load, a store, a product, or a loop over the elements that each lane holds.
#include <algorithm>

#include "stria/semtree/build/builder.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;
using Use = Array::Fragment::Use;

// The block's indices along which an operand varies, by its dimensions, slowest first.
Result<std::vector<std::string>> indices_of(const Block& block, const Refinement& ref) {
  std::vector<std::string> out;
  for (const Affine& access : ref.access) {
    std::vector<std::string> own;
    for (const auto& [name, coefficient] : access.terms())
      if (const Index* index = block.find_index(name); index && index->range > 1) {
        own.push_back(name);
        if (coefficient != 1)
          return unsupported("'{}' of {} goes {} elements a step; a matrix goes one", ref.into,
                             name_of_block(block), coefficient);
      }
    if (own.size() > 1)
      return unsupported("a dimension of '{}' of {} goes along {} indices; a matrix goes along one",
                         ref.into, name_of_block(block), own.size());
    if (own.size() == 1) out.push_back(own[0]);
  }
  return out;
}

}  // namespace

// The form of a matrix operation: its two indices, and what it touches.
struct Builder::MatrixBlock {
  std::string row, column;  // "": one row, or one column
  int64_t rows = 1, columns = 1;
  ExprRef rows_there, columns_there;  // as in MatrixPlace
};

bool Builder::is_matrix_operation(const Frame& frame) const {
  return std::any_of(
      frame.block->refs.begin(), frame.block->refs.end(), [&](const Refinement& ref) {
        auto view = frame.views.find(ref.into);
        return view != frame.views.end() && view->second.whole && is_fragment(*view->second.whole);
      });
}

Result<FragmentRef> Builder::fragment(const Frame& frame, const std::string& name) const {
  const View& view = frame.views.at(name);
  Result<Affine> number = value_of(*slot_form(*view.whole), view.coordinates, nest_.box());
  if (!number)
    return number.status().with_context(
        fmt::format("matrix '{}' of {}", name, name_of_block(*frame.block)));
  if (!number->is_constant())
    return unsupported(
        "matrix '{}' of {} has the number {}; registers have constant numbers: unroll the loops "
        "around it",
        name, name_of_block(*frame.block), number->to_string());
  return FragmentRef{view.memory, number->constant()};
}

Status Builder::give_form(int memory, const Array::Fragment& form, bool decides_use) {
  Array& array = function_.array(memory);
  bool& decided = fragment_uses_[memory];
  Array::Fragment& known = *array.fragment;
  const bool first = known.rows == 0;
  if (!first && (known.rows != form.rows || known.columns != form.columns ||
                 (decided && decides_use && known.use != form.use)))
    return unsupported(
        "the matrices of '{}' are used as {} x {} and as {} x {}, or in two places "
        "of a product",
        array.name, known.rows, known.columns, form.rows, form.columns);
  if (first || decides_use) known = form;
  decided = decided || decides_use;
  return {};
}

FragmentRef Builder::new_fragment(const std::string& name, DataType type,
                                  const MatrixBlock& matrix) {
  function_.arrays.push_back(
      {.name = nest_.unique_name(name), .type = compute_type(type), .count = 1});
  function_.arrays.back().fragment = {Use::sum, matrix.rows, matrix.columns};
  wants_registers_.push_back(false);
  const int memory = static_cast<int>(function_.params.size() + function_.arrays.size()) - 1;
  fragment_uses_[memory] = true;
  return {memory, 0};
}

Result<MatrixPlace> Builder::matrix_place(const Frame& frame, const std::string& name,
                                          const MatrixBlock& matrix, Body& out) {
  const View& view = frame.views.at(name);
  const Refinement& ref = *frame.block->find_ref(name);
  if (ref.swizzle || view.beyond != View::Beyond::nothing)
    return unsupported("'{}' of {} is a matrix in a swizzled layout, or reaches beyond its tensor",
                       name, name_of_block(*frame.block));
  MatrixPlace at;
  STRIA_ASSIGN(at.place, place(view, frame, out));
  const Affine flat = ref.flat_access();
  at.row_stride = matrix.row.empty() ? 0 : flat.coefficient(matrix.row) * view.scale;
  at.column_stride = matrix.column.empty() ? 1 : flat.coefficient(matrix.column) * view.scale;
  if ((at.row_stride != 1 && at.column_stride != 1) || at.row_stride < 0 || at.column_stride < 0)
    return unsupported(
        "'{}' of {} has steps of {} and {} elements; one step of a matrix in memory is 1", name,
        name_of_block(*frame.block), at.row_stride, at.column_stride);
  if (!matrix.row.empty() && flat.uses(matrix.row)) at.rows = matrix.rows_there;
  if (!matrix.column.empty() && flat.uses(matrix.column)) at.columns = matrix.columns_there;
  nest_.measure(view.offset + at.row_stride * (matrix.rows - 1) +
                at.column_stride * (matrix.columns - 1));
  return at;
}

// Each constraint of the block says how many rows are there, or how many columns.
Status Builder::bound_matrix(const Frame& frame, MatrixBlock& matrix) {
  for (const Affine& form : frame.block->constraints) {
    const int64_t down = form.coefficient(matrix.row), across = form.coefficient(matrix.column);
    if (down + across != -1 || down * across != 0)
      return unsupported("the constraint {} >= 0 of {} bounds neither rows nor columns of a matrix",
                         form.to_string(), name_of_block(*frame.block));
    // The stencil's own indices are 0 in the frame.
    const Affine count = form.substitute(frame.indices) + 1;
    const Interval range = interval_of(count, nest_.box());
    if (range.lower >= (down != 0 ? matrix.rows : matrix.columns)) continue;
    ExprRef& there = down != 0 ? matrix.rows_there : matrix.columns_there;
    const ExprRef value = nest_.value(count);
    there = there ? binary(Op::min, there, value) : value;
  }
  return {};
}

Status Builder::matrix_product(const Frame& frame, Body& out) {
  const Block& block = *frame.block;
  const auto* store = std::get_if<stripe::Store>(&block.stmts.back().op);
  const auto* product_of =
      block.stmts.size() == 4 ? std::get_if<stripe::Intrinsic>(&block.stmts[2].op) : nullptr;
  const Refinement& sum = *block.find_ref(store->into);
  if (!product_of || product_of->name != "mul" || sum.agg->op != stripe::AggOp::add)
    return unsupported("{} adds to a matrix something other than a product", name_of_block(block));
  STRIA_ASSIGN(const std::vector<std::string> results, indices_of(block, sum));
  MatrixMultiply product;
  STRIA_ASSIGN(product.sum, fragment(frame, sum.into));
  if (results.size() != 2) return unsupported("the sums of {} are no matrix", name_of_block(block));
  const auto range = [&](const std::string& name) { return block.find_index(name)->range; };
  STRIA_RETURN_IF_ERROR(
      give_form(product.sum.memory, {Use::sum, range(results[0]), range(results[1])}, true));
  for (const Refinement& ref : block.refs) {
    if (ref.into == sum.into) continue;
    STRIA_ASSIGN(const std::vector<std::string> indices, indices_of(block, ref));
    const bool is_left = indices.size() == 2 && indices[0] == results[0];
    const bool is_right = indices.size() == 2 && indices[1] == results[1];
    if (is_left == is_right)
      return unsupported(
          "'{}' of {} is neither the left nor the right matrix of the product: the left one has "
          "the rows of the sums, the right one their columns",
          ref.into, name_of_block(block));
    FragmentRef& operand = is_left ? product.a : product.b;
    STRIA_ASSIGN(operand, fragment(frame, ref.into));
    STRIA_RETURN_IF_ERROR(
        give_form(operand.memory,
                  {is_left ? Use::left : Use::right, range(indices[0]), range(indices[1])}, true));
    function_.array(operand.memory).type = ref.shape.type;
  }
  if (product.a.memory < 0 || product.b.memory < 0)
    return unsupported("{} has no left and right matrix", name_of_block(block));
  out.push_back({product});
  return {};
}

Status Builder::matrix_elements(const Frame& outer, const MatrixBlock& matrix, Body& out) {
  const Block& block = *outer.block;
  Frame frame = outer;
  frame.units = units_.size();  // each lane has elements of its own
  const auto held = [&](const std::string& name) {
    auto view = outer.views.find(name);
    return view != outer.views.end() && view->second.whole && is_fragment(*view->second.whole);
  };
  const auto as_element = [&](const std::string& name, const FragmentRef& at) {
    View view;
    view.memory = at.memory;
    view.offset = Affine(at.number);
    frame.views[name] = std::move(view);
  };
  for (const Refinement& ref : block.refs) {
    if (!held(ref.into)) continue;
    STRIA_ASSIGN(const FragmentRef at, fragment(outer, ref.into));
    STRIA_RETURN_IF_ERROR(give_form(at.memory, {Use::sum, matrix.rows, matrix.columns}, false));
    as_element(ref.into, at);
  }
  // Matrices in memory are loaded before the loop over elements, and stored after it.
  std::vector<std::pair<std::string, FragmentRef>> stored;
  ElementLoop loop;
  for (const stripe::Statement& statement : block.stmts) {
    if (auto* load = std::get_if<stripe::Load>(&statement.op); load && !held(load->from)) {
      const Refinement* ref = block.find_ref(load->from);
      if (!ref || !load->at.empty())
        return unsupported("{} chooses coordinates of '{}'; a matrix has none to choose",
                           name_of_block(block), load->from);
      STRIA_ASSIGN(const std::vector<std::string> indices, indices_of(block, *ref));
      if (indices.empty()) {  // one value for all elements
        STRIA_RETURN_IF_ERROR(this->statement(frame, statement, out));
        continue;
      }
      STRIA_ASSIGN(MatrixPlace from, matrix_place(outer, load->from, matrix, out));
      const FragmentRef to = new_fragment(load->from, ref->shape.type, matrix);
      out.push_back({MatrixLoad{to, std::move(from)}});
      as_element(load->from, to);
    }
    if (auto* store = std::get_if<stripe::Store>(&statement.op); store && !held(store->into)) {
      const Refinement* ref = block.find_ref(store->into);
      if (!ref || !store->at.empty() || ref->agg)
        return unsupported(
            "{} adds to '{}', or chooses coordinates of it; a matrix is stored whole",
            name_of_block(block), store->into);
      const FragmentRef from = new_fragment(store->into, ref->shape.type, matrix);
      as_element(store->into, from);
      stored.emplace_back(store->into, from);
    }
    if (std::holds_alternative<stripe::LoadIndex>(statement.op))
      return unsupported("{} asks for an index; which element of a matrix a lane has is not known",
                         name_of_block(block));
    STRIA_RETURN_IF_ERROR(this->statement(frame, statement, loop.body));
    // What is kept in a narrower type is rounded, though a lane has it in the wider one.
    if (auto* store = std::get_if<stripe::Store>(&statement.op)) {
      const DataType narrow = block.find_ref(store->into)->shape.type;
      auto& value = std::get<Store>(loop.body.back().op).value;
      if (held(store->into) && compute_type(narrow) != narrow)
        value = convert_to(compute_type(narrow), convert_to(narrow, value));
    }
  }
  out.push_back({std::move(loop)});
  for (const auto& [name, from] : stored) {
    STRIA_ASSIGN(MatrixPlace to, matrix_place(outer, name, matrix, out));
    out.push_back({MatrixStore{std::move(to), from}});
  }
  return {};
}

Status Builder::matrix_operation(const Frame& frame, Body& out) {
  const Block& block = *frame.block;
  if (options_.subgroup_lanes == 0)
    return unsupported("{} works on matrices that a subgroup holds; there are none on this device",
                       name_of_block(block));
  if (!frame.in_subgroup)
    return unsupported("{} works on matrices that a subgroup holds, and stands in none",
                       name_of_block(block));
  const auto held = [&](const std::string& name) {
    auto view = frame.views.find(name);
    return view != frame.views.end() && view->second.whole && is_fragment(*view->second.whole);
  };
  const auto* last =
      block.stmts.empty() ? nullptr : std::get_if<stripe::Store>(&block.stmts.back().op);
  const Refinement* target = last ? block.find_ref(last->into) : nullptr;
  if (!target) return unsupported("{} works on matrices and stores none", name_of_block(block));
  if (target->agg && held(target->into)) {
    if (!block.constraints.empty())
      return unsupported("{} has constraints; a product of matrices is done whole",
                         name_of_block(block));
    return matrix_product(frame, out);
  }
  MatrixBlock matrix;
  for (const Refinement& ref : block.refs) {
    if (!held(ref.into)) continue;
    STRIA_ASSIGN(const std::vector<std::string> indices, indices_of(block, ref));
    if (indices.size() != 2)
      return unsupported("'{}' of {} goes along {} indices; a matrix goes along two", ref.into,
                         name_of_block(block), indices.size());
    if (!matrix.row.empty() && matrix.row != indices[0])
      return unsupported("'{}' of {} has rows where another matrix has columns", ref.into,
                         name_of_block(block));
    matrix.row = indices[0];
    matrix.column = indices[1];
  }
  matrix.rows = block.find_index(matrix.row)->range;
  matrix.columns = block.find_index(matrix.column)->range;
  STRIA_RETURN_IF_ERROR(bound_matrix(frame, matrix));
  const Array::Fragment form{Use::sum, matrix.rows, matrix.columns};
  // A copy of one matrix, or a constant, needs no loop over elements.
  const auto* load = std::get_if<stripe::Load>(&block.stmts[0].op);
  const auto* constant = std::get_if<stripe::Constant>(&block.stmts[0].op);
  const bool simple = block.stmts.size() == 2 && last->at.empty() && !target->agg;
  if (simple && constant && constant->into == last->from && held(target->into)) {
    STRIA_ASSIGN(const FragmentRef to, fragment(frame, target->into));
    STRIA_RETURN_IF_ERROR(give_form(to.memory, form, false));
    const DataType type = target->shape.type;
    const Scalar value = convert(convert(constant->value, type), compute_type(type));
    out.push_back({MatrixFill{to, value}});
    return {};
  }
  if (simple && load && load->at.empty() && load->into == last->from &&
      held(load->from) != held(target->into)) {
    if (held(target->into)) {
      const Refinement* source = block.find_ref(load->from);
      STRIA_ASSIGN(const FragmentRef to, fragment(frame, target->into));
      STRIA_RETURN_IF_ERROR(give_form(to.memory, form, false));
      // Operands of products stay in the type in which they lie in memory.
      if (source && source->shape.type == target->shape.type) {
        STRIA_ASSIGN(MatrixPlace from, matrix_place(frame, load->from, matrix, out));
        out.push_back({MatrixLoad{to, std::move(from)}});
        return {};
      }
    } else {
      STRIA_ASSIGN(const FragmentRef from, fragment(frame, load->from));
      STRIA_RETURN_IF_ERROR(give_form(from.memory, form, false));
      STRIA_ASSIGN(MatrixPlace to, matrix_place(frame, target->into, matrix, out));
      out.push_back({MatrixStore{std::move(to), from}});
      return {};
    }
  }
  return matrix_elements(frame, matrix, out);
}

}  // namespace stria::semtree
