// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/matrix_multiply.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

class MatrixMultiply {
 public:
  MatrixMultiply(const MatrixTileForm& form, const MatrixGrid& grid)
      : form_(form),
        grid_(grid),
        row_(form.row),
        column_(form.column),
        depth_(form.depth),
        left_name_(form.left->name),
        right_name_(form.right->name) {}

  Refusal run(Block& tile) {
    // Beyond their ends, zeros are staged along the depth, and nobody reads the sums.
    drop_constraints(tile);
    tile.tags.remove(stripe::tag::kFragments);
    tile.tags.remove(stripe::tag::kRowSubgroups);
    tile.tags.remove(stripe::tag::kTile);
    Block& part = split_into(tile, {{row_, grid_.part_rows()}, {column_, grid_.part_columns()}});
    grid_.locate(tile, row_, column_);
    Block& products = split_into(part, {{depth_, grid_.unit_depth}});
    part.tags.set(stripe::tag::kUnroll);
    Block& leaf = split_into(products, {{row_, grid_.unit_rows}, {column_, grid_.unit_columns}});
    // `products` runs over the matrices of the result; its refinements are one matrix of each.
    const Refinement *sum = nullptr, *left = nullptr, *right = nullptr;
    for (const Refinement& ref : leaf.refs) {
      if (stripe::is_written(ref))
        sum = &ref;
      else if (dimension_of(ref, row_))
        left = &ref;
      else
        right = &ref;
    }
    if (!sum || !left || !right) return "its tile is no product of two operands";
    const Refinement of_left = *products.find_ref(left->from);
    const Refinement of_right = *products.find_ref(right->from);
    const Index rows = *leaf.find_index(row_), columns = *leaf.find_index(column_),
                depth = *leaf.find_index(depth_);
    const int64_t down = grid_.part_rows() / grid_.unit_rows;

    // All left matrices of the part are loaded first.
    Refinement lefts = matrices(part, left->into + "_matrix", left->shape.type, grid_.unit_rows,
                                grid_.unit_depth, 0, down);
    Block load_left;
    load_left.tags.set(stripe::tag::kUnroll);
    if (const Index* index = products.find_index(row_)) load_left.idxs = {*index};
    load_left.refs.push_back(of_left);
    load_left.refs.push_back(view(lefts, RefDir::out, lefts.into, lefts.into,
                                  {Affine::of(row_) * grid_.unit_rows, Affine()},
                                  {grid_.unit_rows, grid_.unit_depth}));
    if (down == 1) load_left.refs.back().access[0] = Affine();
    Refinement source = *left;
    load_left.stmts.emplace_back(load_leaf(source, lefts, plain(rows), plain(depth)));

    // Then, column by column of matrices, the right one and the products with it.
    Block by_column;
    by_column.tags.set(stripe::tag::kUnroll);
    if (const Index* index = products.find_index(column_)) by_column.idxs = {*index};
    Refinement rights = matrices(products, right->into + "_matrix", right->shape.type,
                                 grid_.unit_depth, grid_.unit_columns, 1, 1);
    Block load_right = load_leaf(*right, rights, plain(depth), plain(columns));
    load_right.refs[0].from = of_right.into;

    Block by_row;
    by_row.tags.set(stripe::tag::kUnroll);
    if (const Index* index = products.find_index(row_)) by_row.idxs = {*index};
    Block multiply = leaf;
    multiply.tags = {};
    multiply.tags.set(stripe::tag::kStencil, form_.instruction->name);
    rename_operands(multiply, *left, *right, *sum);
    // The sums: the part's view moves with columns outside and rows inside.
    const Refinement of_sum = *products.find_ref(sum->from);
    Refinement sum_by_column = of_sum, sum_by_row = of_sum;
    for (size_t d = 0; d < of_sum.access.size(); ++d) {
      Affine& form = sum_by_column.access[d];
      if (!form.uses(row_) && dimension_of(*sum, row_) != d) continue;
      form.add_term(row_, -form.coefficient(row_));
      sum_by_column.shape.dims[d].size = grid_.part_rows();
    }
    for (Affine& form : sum_by_row.access) {
      form.add_term(column_, -form.coefficient(column_));
      form.set_constant(0);
    }
    sum_by_row.from = sum_by_column.into;
    by_column.refs = {of_right, sum_by_column};
    by_column.refs.push_back(view(lefts, RefDir::in, lefts.into, lefts.into, {Affine(), Affine()},
                                  {lefts.shape.dims[0].size, lefts.shape.dims[1].size}));
    by_column.refs.push_back(rights);
    by_row.refs = {sum_by_row};
    by_row.refs.push_back(view(lefts, RefDir::in, lefts.into, lefts.into,
                               {down > 1 ? Affine::of(row_) * grid_.unit_rows : Affine(), Affine()},
                               {grid_.unit_rows, grid_.unit_depth}));
    by_row.refs.push_back(view(rights, RefDir::in, rights.into, rights.into, {Affine(), Affine()},
                               {grid_.unit_depth, grid_.unit_columns}));
    for (Refinement& ref : multiply.refs) {
      if (ref.into == left_name_)
        ref = view(lefts, RefDir::in, lefts.into, left_name_,
                   {Affine::of(row_), Affine::of(depth_)}, {1, 1});
      else if (ref.into == right_name_)
        ref = view(rights, RefDir::in, rights.into, right_name_,
                   {Affine::of(depth_), Affine::of(column_)}, {1, 1});
      else
        ref.from = sum_by_row.into;
    }
    for (Index& index : multiply.idxs) index = plain(index);
    by_row.stmts.emplace_back(std::move(multiply));
    by_column.stmts.emplace_back(std::move(load_right));
    by_column.stmts.emplace_back(std::move(by_row));
    part.refs.push_back(std::move(lefts));
    part.stmts.clear();
    part.stmts.emplace_back(std::move(load_left));
    part.stmts.emplace_back(std::move(by_column));
    return Refusal::none();
  }

 private:
  // An allocation of matrices of one operand: `count` of them along the dimension `along`.
  Refinement matrices(const Block& where, const std::string& name, DataType type, int64_t rows,
                      int64_t columns, size_t along, int64_t count) const {
    Refinement ref;
    ref.dir = RefDir::none;
    ref.into = where.fresh_name(name);
    ref.access.resize(2);
    const int64_t height = along == 0 ? rows * count : rows;
    const int64_t width = along == 1 ? columns * count : columns;
    ref.shape.type = type;
    ref.shape.dims = {{height, width}, {width, 1}};
    stripe::BitFieldForm fragment;
    add_field(fragment, along, along == 0 ? rows : columns, count, 1);
    stripe::LocationUnit unit;
    unit.name = grid_.memory;
    unit.owners = {{"fragment", std::move(fragment)}};
    ref.location.path = {std::move(unit)};
    return ref;
  }

  static Refinement view(const Refinement& of, RefDir dir, std::string from, std::string into,
                         std::vector<Affine> access, std::vector<int64_t> sizes) {
    Refinement ref = of;
    ref.dir = dir;
    ref.from = std::move(from);
    ref.into = std::move(into);
    ref.access = std::move(access);
    ref.location = {};
    ref.agg.reset();
    ref.offset_bytes = 0;
    for (size_t d = 0; d < sizes.size(); ++d) ref.shape.dims[d].size = sizes[d];
    return ref;
  }

  // #stencil="elements" block [first:…, second:…] (in `from`, out `to`[first, second]) { copy }
  static Block load_leaf(const Refinement& from, const Refinement& to, const Index& first,
                         const Index& second) {
    Block leaf;
    leaf.tags.set(stripe::tag::kStencil, std::string(kElements));
    leaf.idxs = {first, second};
    Refinement in = from;
    in.dir = RefDir::in;
    leaf.refs.push_back(std::move(in));
    leaf.refs.push_back(view(to, RefDir::out, to.into, to.into,
                             {Affine::of(first.name), Affine::of(second.name)}, {1, 1}));
    leaf.stmts.emplace_back(stripe::Load{from.into, "value"});
    leaf.stmts.emplace_back(stripe::Store{"value", to.into});
    return leaf;
  }

  // The index without tags that say what a tile is.
  static Index plain(Index index) {
    index.tags = {};
    return index;
  }

  // The leaf's refinements get the names of the instruction's operands.
  void rename_operands(Block& leaf, const Refinement& left, const Refinement& right,
                       const Refinement& sum) {
    const std::vector<std::pair<std::string, std::string>> names = {
        {left.into, left_name_}, {right.into, right_name_}, {sum.into, form_.sum->name}};
    const auto renamed = [&](std::string& name) {
      for (const auto& [from, to] : names)
        if (from == name) {
          name = to;
          return;
        }
    };
    for (Refinement& ref : leaf.refs) renamed(ref.into);
    for (Statement& stmt : leaf.stmts) {
      if (auto* load = std::get_if<stripe::Load>(&stmt.op)) renamed(load->from);
      if (auto* store = std::get_if<stripe::Store>(&stmt.op)) renamed(store->into);
    }
  }

  const MatrixTileForm& form_;
  const MatrixGrid& grid_;
  const std::string &row_, &column_, &depth_;
  const std::string &left_name_, &right_name_;
};

}  // namespace

void MatrixGrid::locate(Block& block, const std::string& row, const std::string& column) const {
  Affine number;
  if (row_subgroups > 1) number.add_term(row, column_subgroups);
  if (column_subgroups > 1) number.add_term(column, 1);
  stripe::LocationUnit at;
  at.name = unit;
  at.units = {number};
  block.location.path = {std::move(at)};
}

void add_field(stripe::BitFieldForm& form, size_t dim, int64_t size, int64_t count,
               int64_t factor) {
  if (count <= 1) return;
  const int low = std::countr_zero(static_cast<uint64_t>(size));
  const int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1)));
  form.fields.push_back({static_cast<int>(dim), low, bits, factor});
}

Block& split_into(Block& block, const std::map<std::string, int64_t>& sizes) {
  split_block(block, sizes);
  return *block.stmts[0].block();
}

void drop_constraints(Block& block) {
  block.constraints.clear();
  std::erase_if(block.idxs, [&](const Index& index) {
    return index.affine && index.range == 1 &&
           std::none_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
             return std::any_of(ref.access.begin(), ref.access.end(),
                                [&](const Affine& form) { return form.uses(index.name); });
           });
  });
}

Refusal multiply_matrices(Block& tile, const MatrixTileForm& form, const MatrixGrid& grid) {
  return MatrixMultiply(form, grid).run(tile);
}

}  // namespace stria::passes
