// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/matrix_units.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/parallel/matrix_multiply.h"
#include "stria/rewrite/located_unit.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

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
    return multiply_matrices(*tile, form_, grid_);
  }

 private:
  Refusal read_grid(const Block& tile) {
    STRIA_RETURN_IF_REFUSED(read_matrix_tile(tile, model_, options_.unit, form_));
    grid_.unit = options_.unit;
    grid_.memory = options_.memory;
    grid_.unit_rows = form_.unit_rows;
    grid_.unit_columns = form_.unit_columns;
    grid_.unit_depth = form_.unit_depth;
    grid_.rows = tile.find_index(form_.row)->range;
    grid_.columns = tile.find_index(form_.column)->range;
    const int64_t subgroup_lanes = model_.find_executor(options_.unit)->max_threads;
    const int64_t lanes = group_.tags.integer(stripe::tag::kGroupLanes).value_or(0);
    grid_.row_subgroups = tile.tags.integer(stripe::tag::kRowSubgroups).value_or(0);
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
      if (!inner || inner->tags.has(stripe::tag::kFragments)) continue;
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
    // What only starts or changes the sums may do so beyond their ends, too: nobody reads those.
    if (std::all_of(block.refs.begin(), block.refs.end(),
                    [&](const Refinement& ref) { return held.count(ref.from) > 0; }))
      drop_constraints(block);
    Block& part = split_into(block, {{row, grid_.part_rows()}, {column, grid_.part_columns()}});
    grid_.locate(block, row, column);
    Block& leaf = split_into(part, {{row, grid_.unit_rows}, {column, grid_.unit_columns}});
    part.tags.set(stripe::tag::kUnroll);
    leaf.tags.set(stripe::tag::kStencil, std::string(kElements));
    return Refusal::none();
  }

  Block& group_;
  const MatrixUnitsOptions& options_;
  const HardwareModel& model_;
  MatrixTileForm form_;  // of its tile
  MatrixGrid grid_;
  bool holds_ = false;  // has an allocation become matrices?
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
