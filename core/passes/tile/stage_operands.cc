// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/stage_operands.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/matrix_tile.h"
#include "stria/passes/tile/product_factors.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Rows are longer by a vector of lanes, and begin at multiples of it: so subgroups that load
// 8 rows of a vector each meet all banks.
void lay_out_rows(const std::vector<Dim>& like, const GroupFacts& facts, TensorShape& shape) {
  const int64_t vector =
      std::max<int64_t>(1, static_cast<int64_t>(facts.vector_bytes) / byte_size(shape.type));
  const std::vector<size_t> order = order_by_stride(like);  // outermost first
  Dim &rows = shape.dims[order[0]], &row = shape.dims[order[1]];
  row.stride = 1;
  rows.stride = ceil_div(row.size, vector) * vector + vector;
}

// The form with the names of the blocks at that depth of the nest.
Affine named(const Affine& form, int depth) {
  return form.rename([&](const std::string& name) { return fmt::format("{}:{}", depth, name); });
}

class OperandStage {
 public:
  OperandStage(Block& host, const stripe::Place& place, const StageOperandsOptions& options,
               const HardwareModel& model)
      : host_(host), place_(place), options_(options), model_(model) {}

  Refusal run() {
    if (host_.stmts.size() != 1 || !host_.stmts[0].block() ||
        !host_.stmts[0].block()->tags.has(stripe::tag::kFragments))
      return "it holds more than a tile of matrices, or none";
    const Block tile = *host_.stmts[0].block();
    MatrixTileForm form;
    STRIA_RETURN_IF_REFUSED(read_matrix_tile(tile, model_, options_.unit, form));
    for (const Affine& end : tile.constraints)
      if (end.coefficient(form.row) + end.coefficient(form.column) + end.coefficient(form.depth) !=
          -1)
        return "a constraint of its tile is no end of rows, columns or depth";
    std::array<ProductFactor, 2> factors;
    STRIA_RETURN_IF_REFUSED(product_factors(tile, factors));
    std::array<DataType, 2> types;
    for (size_t i = 0; i < 2; ++i) {
      const Affine flat = tile.find_ref(factors[i].main)->flat_access();
      const std::string& outer = flat.uses(form.row) ? form.row : form.column;
      types[i] = (flat.uses(form.row) ? form.left : form.right)->type;
      STRIA_RETURN_IF_REFUSED(stage(tile, factors[i], types[i], outer, form.depth));
    }
    Block& product = *host_.stmts.back().block();
    product = with_loaded_factors(tile, factors, types);
    for (size_t i = 0; i < 2; ++i) *product.find_ref(factors[i].main) = staged_[i];
    run_in_order(host_);
    return Refusal::none();
  }

 private:
  // Adds a block that computes the factor, before the tile, and what the tile then reads.
  Refusal stage(const Block& tile, const ProductFactor& factor, DataType type,
                const std::string& outer, const std::string& depth) {
    const Refinement& main = *tile.find_ref(factor.main);
    Block copy;
    std::vector<Dim> like;
    TensorShape shape;
    shape.type = type;
    std::vector<Affine> at;
    for (size_t d = 0; d < main.access.size(); ++d)
      for (const std::string& name : {outer, depth}) {
        if (!main.access[d].uses(name)) continue;
        stripe::Index index = *tile.find_index(name);
        index.tags = {};
        like.push_back(main.shape.dims[d]);
        shape.dims.push_back({index.range, 1});
        at.push_back(Affine::of(name));
        copy.idxs.push_back(std::move(index));
      }
    if (shape.dims.size() != 2) return fmt::format("'{}' is no matrix", factor.main);
    lay_out_rows(like, model_.group_facts(), shape);
    Refinement buffer;
    buffer.into = host_.fresh_name(factor.main + "_scratch");
    buffer.access.resize(2);
    buffer.shape = std::move(shape);
    buffer.location = options_.loc;
    for (const std::string& name : factor.views) copy.refs.push_back(*tile.find_ref(name));
    for (const size_t i : factor.statements) copy.stmts.push_back(tile.stmts[i]);
    std::string result = factor.scalar;
    for (const Affine& end : tile.constraints) {
      if (!end.uses(outer) && !end.uses(depth)) continue;
      bool zero = factor.operations == 0;
      for (Refinement& ref : copy.refs) {
        const bool moves = std::any_of(ref.access.begin(), ref.access.end(), [&](const auto& form) {
          return form.uses(end.uses(outer) ? outer : depth);
        });
        if (moves) ref.tags.set(stripe::tag::kZeroFill);
        zero = zero && moves && ends_there(tile, ref, end);
      }
      // Rows and columns beyond an end are not stored; the terms of a sum there have to be zero.
      if (end.uses(depth) && !zero) result = masked(copy, result, factor.type, end);
    }
    // An index of one value that an access or a mask names comes along.
    for (const stripe::Index& index : tile.idxs)
      if (index.affine && uses(copy, index.name)) copy.idxs.push_back(index);
    Refinement target = element_view(buffer, RefDir::out);
    target.access = at;
    copy.stmts.emplace_back(stripe::Store{result, target.into});
    copy.tags.set_all(options_.copy_set);
    Refinement view = target;
    view.dir = RefDir::in;
    view.into = factor.main;
    staged_.push_back(std::move(view));
    copy.refs.push_back(std::move(target));
    host_.refs.push_back(std::move(buffer));
    host_.stmts.insert(host_.stmts.end() - 1, std::move(copy));
    return Refusal::none();
  }

  static bool uses(const Block& copy, const std::string& index) {
    return std::any_of(copy.refs.begin(), copy.refs.end(),
                       [&](const auto& ref) { return ref.flat_access().uses(index); }) ||
           std::any_of(copy.stmts.begin(), copy.stmts.end(), [&](const auto& stmt) {
             const auto* load = std::get_if<stripe::LoadIndex>(&stmt.op);
             return load && load->from.uses(index);
           });
  }

  // Adds statements for: the scalar, where end >= 0, else 0.
  static std::string masked(Block& copy, const std::string& scalar, DataType type,
                            const Affine& end) {
    std::set<std::string> taken;
    for (const stripe::Statement& stmt : copy.stmts)
      for (const std::string& name : scalar_outputs(stmt)) taken.insert(name);
    const std::string left = fresh_name("left", taken), none = fresh_name("none", taken),
                      there = fresh_name("there", taken), zero = fresh_name("zero", taken),
                      out = fresh_name("masked", taken);
    copy.stmts.emplace_back(stripe::LoadIndex{end, left});
    copy.stmts.emplace_back(stripe::Constant{none, Scalar::of_int(DataType::i32, 0)});
    copy.stmts.emplace_back(stripe::Intrinsic{"cmp_ge", DataType::i32, {there}, {left, none}});
    copy.stmts.emplace_back(
        stripe::Constant{zero, convert(Scalar::of_int(DataType::i32, 0), type)});
    copy.stmts.emplace_back(stripe::Intrinsic{"cond", type, {out}, {there, scalar, zero}});
    return out;
  }

  // Does the tensor of the tile's view end where the constraint says, so that it is read as zero
  // beyond?
  bool ends_there(const Block& tile, const Refinement& view, const Affine& end) const {
    std::map<std::string, Affine> outside;  // the tile's indices that bring values in
    for (const stripe::Index& index : tile.idxs)
      if (index.affine && index.range == 1)
        outside[named(Affine::of(index.name), place_.depth + 1).terms()[0].first] =
            named(*index.affine, place_.depth);
    const auto in_tile = [&](const Affine& form) {
      return named(form, place_.depth + 1).substitute(outside);
    };
    std::vector<Affine> at;
    for (const Affine& form : view.access) at.push_back(in_tile(form));
    const Refinement* outer = host_.find_ref(view.from);
    for (const stripe::Place* place = &place_;
         outer && outer->dir != RefDir::none && place->depth > 1; place = place->parent) {
      for (size_t d = 0; d < at.size(); ++d) at[d] += named(outer->access[d], place->depth);
      outer = place->parent->block->find_ref(outer->from);
    }
    for (size_t d = 0; outer && d < at.size(); ++d)
      if (Affine(outer->shape.dims[d].size - 1) - at[d] == in_tile(end)) return true;
    return false;
  }

  Block& host_;
  const stripe::Place& place_;
  const StageOperandsOptions& options_;
  const HardwareModel& model_;
  std::vector<Refinement> staged_;  // the tile's views
};

}  // namespace

void describe(StageOperandsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.unit("unit", options.unit, "execution unit that multiplies matrices");
  fields.add("loc", options.loc, "memory unit of what is staged");
  fields.set_tags("copy_set", options.copy_set, "tags of the blocks that stage", {"copy"});
}

Status stage_operands(stripe::Program& program, const StageOperandsOptions& options,
                      PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  Status status;
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    context.matched();
    Refusal refusal = Refusal::none();
    if (place.depth < 2)
      refusal = "it is no part of a kernel";
    else
      refusal = OperandStage(block, place, options, context.model()).run();
    if (refusal && status.ok())
      status =
          unsupported("the operands of '{}' cannot be staged: {}", place.path(), refusal.reason());
    context.count("steps");
    context.changed();
  });
  return status;
}

}  // namespace stria::passes
