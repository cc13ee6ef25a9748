// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/stage_operands.h"

#include <algorithm>

#include "stria/cost/workgroup/matrix_time.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/matrix_tile.h"
#include "stria/passes/tile/product_factors.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/whole_copy.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Rows are longer by kMatrixRowGap bytes, and begin at multiples of them.
void lay_out_rows(const std::vector<Dim>& like, TensorShape& shape) {
  const int64_t vector = cost::kMatrixRowGap / byte_size(shape.type);
  const std::vector<size_t> order = order_by_stride(like);  // outermost first
  Dim &rows = shape.dims[order[0]], &row = shape.dims[order[1]];
  row.stride = 1;
  rows.stride = ceil_div(row.size, vector) * vector + vector;
}

class OperandStage {
 public:
  OperandStage(Block& host, const StageOperandsOptions& options, const HardwareModel& model)
      : host_(host), options_(options), model_(model) {}

  Refusal run() {
    if (host_.stmts.size() != 1 || !host_.stmts[0].block() ||
        !host_.stmts[0].block()->tags.has("fragments"))
      return "it holds more than a tile of matrices, or none";
    const Block tile = *host_.stmts[0].block();
    MatrixTileForm form;
    STRIA_RETURN_IF_REFUSED(read_matrix_tile(tile, model_, options_.unit, form));
    if (!tile.constraints.empty()) return "its tile has constraints";
    std::array<ProductFactor, 2> factors;
    STRIA_RETURN_IF_REFUSED(product_factors(tile, factors));
    std::array<DataType, 2> types;
    for (size_t i = 0; i < 2; ++i) {
      const Affine flat = tile.find_ref(factors[i].main)->flat_access();
      const std::string& outer = flat.uses(form.row) ? form.row : form.column;
      types[i] = (flat.uses(form.row) ? form.left : form.right)->type;
      STRIA_RETURN_IF_REFUSED(stage(tile, factors[i], types[i], {outer, form.depth}));
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
                const std::array<std::string, 2>& indices) {
    const Refinement& main = *tile.find_ref(factor.main);
    Block copy;
    std::vector<Dim> like;
    TensorShape shape;
    shape.type = type;
    std::vector<Affine> at;
    for (size_t d = 0; d < main.access.size(); ++d)
      for (const std::string& name : indices) {
        if (!main.access[d].uses(name)) continue;
        stripe::Index index = *tile.find_index(name);
        index.tags = {};
        like.push_back(main.shape.dims[d]);
        shape.dims.push_back({index.range, 1});
        at.push_back(Affine::of(name));
        copy.idxs.push_back(std::move(index));
      }
    if (shape.dims.size() != 2) return fmt::format("'{}' is no matrix", factor.main);
    lay_out_rows(like, shape);
    Refinement buffer;
    buffer.into = host_.fresh_name(factor.main + "_scratch");
    buffer.access.resize(2);
    buffer.shape = std::move(shape);
    buffer.location = options_.loc;
    for (const std::string& name : factor.views) copy.refs.push_back(*tile.find_ref(name));
    // An index of one value that an access names comes along.
    for (const stripe::Index& index : tile.idxs)
      if (index.affine && std::any_of(copy.refs.begin(), copy.refs.end(), [&](const auto& ref) {
            return ref.flat_access().uses(index.name);
          }))
        copy.idxs.push_back(index);
    Refinement target = element_view(buffer, RefDir::out);
    target.access = at;
    for (const size_t i : factor.statements) copy.stmts.push_back(tile.stmts[i]);
    copy.stmts.emplace_back(stripe::Store{factor.scalar, target.into});
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

  Block& host_;
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
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames&) {
        context.matched();
        if (const Refusal refusal = OperandStage(block, options, context.model()).run())
          return unsupported("the operands of '{}' cannot be staged: {}", block.name,
                             refusal.reason());
        context.count("steps");
        context.changed();
        return Status();
      });
}

}  // namespace stria::passes
