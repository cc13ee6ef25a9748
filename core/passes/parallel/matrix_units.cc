// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/matrix_units.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/matrix_tile.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

constexpr const char* kElements = "elements";  // the stencil that works element by element (S15)

// How the tile of a group is divided: among subgroups, and into the matrices of each.
struct Grid {
  int64_t rows = 0, columns = 0;                    // of the group's tile
  int64_t row_subgroups = 1, column_subgroups = 1;  // that divide it
  int64_t unit_rows = 0, unit_columns = 0, unit_depth = 0;
  int64_t part_rows() const { return rows / row_subgroups; }
  int64_t part_columns() const { return columns / column_subgroups; }
};

stripe::BitField field(size_t dim, int64_t from, int64_t count, int64_t factor) {
  return {static_cast<int>(dim), std::countr_zero(static_cast<uint64_t>(from)),
          static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count, 1) - 1))),
          factor};
}

// Adds factor * (which of `count` parts of `size` elements along the dimension), if there are
// several.
void add_field(stripe::BitFieldForm& form, size_t dim, int64_t size, int64_t count,
               int64_t factor) {
  if (count > 1) form.fields.push_back(field(dim, size, count, factor));
}

// The dimension that varies with the index alone.
std::optional<size_t> dimension_of(const Refinement& ref, const std::string& index) {
  for (size_t d = 0; d < ref.access.size(); ++d)
    if (ref.access[d].uses(index)) return d;
  return std::nullopt;
}

class MatrixGroup {
 public:
  MatrixGroup(Block& group, const MatrixUnitsOptions& options, const HardwareModel& model)
      : group_(group), options_(options), model_(model) {}

  Refusal run() {
    Block* tile = find_matrix_tile(group_);
    if (!tile) return "it has no tile of matrices";
    STRIA_RETURN_IF_REFUSED(read_grid(*tile));
    STRIA_RETURN_IF_REFUSED(level(group_, {}));
    if (!holds_) return "it holds no sums";
    return multiply(*tile);
  }

 private:
  Refusal read_grid(const Block& tile) {
    MatrixTileForm form;
    STRIA_RETURN_IF_REFUSED(read_matrix_tile(tile, model_, options_.unit, form));
    instruction_ = form.instruction;
    row_ = form.row;
    column_ = form.column;
    depth_ = form.depth;
    left_name_ = form.left->name;
    right_name_ = form.right->name;
    sum_name_ = form.sum->name;
    grid_.unit_rows = form.unit_rows;
    grid_.unit_columns = form.unit_columns;
    grid_.unit_depth = form.unit_depth;
    grid_.rows = tile.find_index(row_)->range;
    grid_.columns = tile.find_index(column_)->range;
    const int64_t subgroup_lanes = model_.find_executor(options_.unit)->max_threads;
    const int64_t lanes = group_.tags.integer("group_lanes").value_or(0);
    grid_.row_subgroups = tile.tags.integer("row_subgroups").value_or(0);
    if (subgroup_lanes <= 0 || grid_.row_subgroups <= 0 ||
        lanes % (subgroup_lanes * grid_.row_subgroups) != 0)
      return "its lanes are no whole subgroups";
    grid_.column_subgroups = lanes / subgroup_lanes / grid_.row_subgroups;
    if (grid_.part_rows() % grid_.unit_rows != 0 || grid_.part_columns() % grid_.unit_columns != 0)
      return "its tile is not made of matrices";
    return Refusal::none();
  }

  // Dimensions of rows and columns of what a block sees of the group's matrices, by its names.
  using Held = std::map<std::string, std::pair<size_t, size_t>>;

  // The group, or a block between it and the tile. `held`: what the block around sees.
  Refusal level(Block& block, const Held& around) {
    Held held;
    for (Refinement& ref : block.refs) {
      if (const auto at = around.find(ref.from); ref.dir != RefDir::none && at != around.end())
        held[ref.into] = at->second;
      const bool here = ref.location.empty() || ref.location.path.back().name == options_.memory;
      if (ref.dir == RefDir::none && here) STRIA_RETURN_IF_REFUSED(hold(ref, held));
    }
    for (Statement& stmt : block.stmts) {
      Block* inner = stmt.block();
      if (!inner || inner->tags.has("fragments")) continue;
      if (find_matrix_tile(*inner)) {
        STRIA_RETURN_IF_REFUSED(level(*inner, held));
      } else if (std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& ref) {
                   return ref.dir != RefDir::none && held.count(ref.from) > 0;
                 })) {
        STRIA_RETURN_IF_REFUSED(elements(*inner, held));
      }
    }
    return Refusal::none();
  }

  // Says of an allocation which subgroup, and which of its matrices, has an element.
  Refusal hold(Refinement& ref, Held& held) {
    std::optional<size_t> rows, columns;
    for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
      if (ref.shape.dims[d].size == 1) continue;
      (rows ? columns : rows) = d;
    }
    if (!rows || !columns || ref.shape.dims[*rows].size != grid_.rows ||
        ref.shape.dims[*columns].size != grid_.columns)
      return fmt::format("'{}' is not as large as the tile", ref.into);
    stripe::BitFieldForm subgroup, fragment;
    add_field(subgroup, *rows, grid_.part_rows(), grid_.row_subgroups, grid_.column_subgroups);
    add_field(subgroup, *columns, grid_.part_columns(), grid_.column_subgroups, 1);
    const int64_t across = grid_.part_columns() / grid_.unit_columns;
    add_field(fragment, *rows, grid_.unit_rows, grid_.part_rows() / grid_.unit_rows, across);
    add_field(fragment, *columns, grid_.unit_columns, across, 1);
    stripe::LocationUnit unit;
    unit.name = options_.memory;
    unit.owners = {{lower(options_.unit), std::move(subgroup)}, {"fragment", std::move(fragment)}};
    ref.location.path = {std::move(unit)};
    held[ref.into] = {*rows, *columns};
    holds_ = true;
    return Refusal::none();
  }

  static std::string lower(std::string name) {
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return name;
  }

  // Gives the outer of two blocks, whose indices number parts of the tile, to subgroups.
  void locate(Block& block, const std::string& row, const std::string& column) const {
    Affine number;
    if (grid_.row_subgroups > 1) number.add_term(row, grid_.column_subgroups);
    if (grid_.column_subgroups > 1) number.add_term(column, 1);
    stripe::LocationUnit unit;
    unit.name = options_.unit;
    unit.units = {number};
    block.location.path = {std::move(unit)};
  }

  // Removes the indices that brought values into constraints.
  static void drop_unused(Block& block) {
    std::erase_if(block.idxs, [&](const Index& index) {
      return index.affine && index.range == 1 &&
             std::none_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
               return std::any_of(ref.access.begin(), ref.access.end(),
                                  [&](const Affine& form) { return form.uses(index.name); });
             });
    });
  }

  // Splits, and makes an outer block of one point where one part is the whole.
  static Block& split(Block& block, const std::map<std::string, int64_t>& sizes) {
    split_block(block, sizes);
    return *block.stmts[0].block();
  }

  // A block that works on the sums element by element.
  Refusal elements(Block& block, const Held& held) const {
    std::string row, column;
    for (const Refinement& ref : block.refs) {
      const auto at = held.find(ref.from);
      if (ref.dir == RefDir::none || at == held.end()) continue;
      if (!ref.access[at->second.first].is_single_index(&row) ||
          !ref.access[at->second.second].is_single_index(&column))
        return fmt::format("'{}' is not touched along one index in each dimension", ref.into);
    }
    // What only starts or changes the sums may do so beyond their ends, too: nobody reads them there.
    if (std::all_of(block.refs.begin(), block.refs.end(),
                    [&](const Refinement& ref) { return held.count(ref.from) > 0; })) {
      block.constraints.clear();
      drop_unused(block);
    }
    Block& part = split(block, {{row, grid_.part_rows()}, {column, grid_.part_columns()}});
    locate(block, row, column);
    Block& leaf = split(part, {{row, grid_.unit_rows}, {column, grid_.unit_columns}});
    part.tags.set("unroll");
    leaf.tags.set("stencil", std::string(kElements));
    return Refusal::none();
  }

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
    unit.name = options_.memory;
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
    leaf.tags.set("stencil", std::string(kElements));
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

  // The tile of products. `tile` becomes the block of subgroups.
  Refusal multiply(Block& tile) {
    // Beyond their ends, zeros are staged along the depth, and nobody reads the sums.
    tile.constraints.clear();
    drop_unused(tile);
    tile.tags.remove("fragments");
    tile.tags.remove("row_subgroups");
    tile.tags.remove("tile");
    Block& part = split(tile, {{row_, grid_.part_rows()}, {column_, grid_.part_columns()}});
    locate(tile, row_, column_);
    Block& products = split(part, {{depth_, grid_.unit_depth}});
    part.tags.set("unroll");
    Block& leaf = split(products, {{row_, grid_.unit_rows}, {column_, grid_.unit_columns}});
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
    load_left.tags.set("unroll");
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
    by_column.tags.set("unroll");
    if (const Index* index = products.find_index(column_)) by_column.idxs = {*index};
    Refinement rights = matrices(products, right->into + "_matrix", right->shape.type,
                                 grid_.unit_depth, grid_.unit_columns, 1, 1);
    Block load_right = load_leaf(*right, rights, plain(depth), plain(columns));
    load_right.refs[0].from = of_right.into;

    Block by_row;
    by_row.tags.set("unroll");
    if (const Index* index = products.find_index(row_)) by_row.idxs = {*index};
    Block multiply = leaf;
    multiply.tags = {};
    multiply.tags.set("stencil", instruction_->name);
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

  // The index without tags that say what a tile is.
  static Index plain(Index index) {
    index.tags = {};
    return index;
  }

  // The leaf's refinements get the names of the instruction's operands.
  void rename_operands(Block& leaf, const Refinement& left, const Refinement& right,
                       const Refinement& sum) {
    const std::vector<std::pair<std::string, std::string>> names = {
        {left.into, left_name_}, {right.into, right_name_}, {sum.into, sum_name_}};
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

  Block& group_;
  const MatrixUnitsOptions& options_;
  const HardwareModel& model_;
  const Instruction* instruction_ = nullptr;
  Grid grid_;
  std::string row_, column_, depth_;
  std::string left_name_, right_name_, sum_name_;  // the instruction's operands
  bool holds_ = false;                             // has an allocation become matrices?
};

}  // namespace

void describe(MatrixUnitsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.unit("unit", options.unit, "execution unit that multiplies matrices");
  fields.unit("memory", options.memory, "memory unit of matrices that it holds");
}

Status matrix_units(stripe::Program& program, const MatrixUnitsOptions& options,
                    PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames&) {
        context.matched();
        if (const Refusal refusal = MatrixGroup(block, options, context.model()).run())
          return unsupported("group '{}' cannot run on matrices: {}", block.name, refusal.reason());
        context.count("groups");
        context.changed();
        return Status();
      });
}

}  // namespace stria::passes
