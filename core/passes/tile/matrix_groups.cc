// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/matrix_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "stria/cost/workgroup/matrix_time.h"
#include "stria/pass/fastest_candidate.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/tile/matrix_product.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/kernel_alone.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

class MatrixGroups {
 public:
  MatrixGroups(const stripe::Program& program, const MatrixGroupsOptions& options,
               PassContext& context)
      : program_(program), options_(options), context_(context) {
    const HardwareModel& model = context.model();
    rates_ = cost::group_rates(model, options.group, options.local, options.registers);
  }

  Status tile(Block& block, const TensorNames& around) {
    context_.matched();
    MatrixChoice choice;
    if (const Refusal refusal = choose(block, around, choice)) {
      context_.skipped(block.name, refusal.reason());
      return {};
    }
    if (options_.measure_top > 0) STRIA_RETURN_IF_ERROR(measure(block, choice));
    for (const Refinement& ref : block.refs)
      if (stripe::is_written(ref)) results_[ref.from] = choice.form.result;
    apply(block, choice);
    context_.count(fmt::format("instruction '{}'", choice.instruction->name));
    context_.changed();
    return {};
  }

  // The tensors that kernels with matrix tiles write, with the dimensions of rows and columns.
  const std::map<std::string, MatrixDims>& results() const { return results_; }

 private:
  Refusal choose(const Block& block, const TensorNames& around, MatrixChoice& choice) const {
    for (const std::string& tag : options_.exclude)
      if (block.tags.has(tag)) return "it has #" + tag;
    if (!rates_) return "the model does not say how fast groups are";
    STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(block, around));
    Refusal why_none = Refusal::none();
    const std::optional<MatrixChoice> best = fastest_matrix_tile(
        block, context_.model(), options_.unit, options_.group, *rates_, why_none);
    if (!best) return why_none;
    context_.note(
        fmt::format("{}: {} {}", block.name, best->instruction->name, cost::to_string(best->tile)));
    const cost::GroupForm form{options_.pipeline_depth, options_.parts, options_.direct};
    if (const auto plain = cost::shortest_tile(cost::tiled_block(block), form, *rates_);
        plain && plain->time.cycles < best->tile.cycles)
      return fmt::format("{:.0f} cycles without matrix units, {:.0f} with them", plain->time.cycles,
                         best->tile.cycles);
    choice = *best;
    return Refusal::none();
  }

  // Takes the tile that the device runs in the shortest time.
  Status measure(const Block& block, MatrixChoice& choice) {
    const std::vector<cost::MatrixTile> tiles = cost::matrix_tiles(
        choice.form.product, choice.unit, *rates_, static_cast<size_t>(options_.measure_top));
    std::vector<TimedCandidate> candidates;
    for (const cost::MatrixTile& tile : tiles) {
      MatrixChoice candidate = choice;
      candidate.tile = tile;
      Block cut = block;
      apply(cut, candidate);
      STRIA_ASSIGN(stripe::Program kernel, kernel_alone(program_, block, std::move(cut)));
      candidates.push_back({cost::to_string(tile), std::move(kernel)});
    }
    STRIA_ASSIGN(const size_t fastest,
                 fastest_candidate(block.name, candidates, options_.measure_margin_ns, context_));
    choice.tile = tiles[fastest];
    return {};
  }

  void apply(Block& block, const MatrixChoice& choice) const {
    const ProductForm& form = choice.form;
    std::map<std::string, int64_t> sizes;
    for (const stripe::Index& index : block.idxs) sizes[index.name] = 1;
    sizes[form.row] = choice.tile.rows;
    sizes[form.column] = choice.tile.columns;
    sizes[form.depth] = choice.tile.depth;
    // The last tile is as large as the others, and goes beyond the end.
    for (const std::string& name : {form.row, form.column, form.depth}) {
      stripe::Index& index = *block.find_index(name);
      const int64_t size = sizes[name];
      if (index.range % size == 0) continue;
      block.constraints.push_back(Affine(index.range - 1) - Affine::of(name));
      index.range = ceil_div(index.range, size) * size;
    }
    split_block(block, sizes);
    if (block.stmts.size() != 1 || !block.stmts[0].block()) return;
    Block& inner = *block.stmts[0].block();
    for (const auto& [name, role] :
         {std::pair(form.row, "m"), std::pair(form.column, "n"), std::pair(form.depth, "k")})
      inner.find_index(name)->tags.set(stripe::tag::kStencilIndex + std::string(role));
    block.tags.set_all(options_.outer_set);
    block.tags.set(stripe::tag::kGroupLanes, choice.tile.group_lanes);
    inner.tags.set_all(options_.inner_set);
    inner.tags.set(stripe::tag::kFragments, choice.instruction->name);
    inner.tags.set(stripe::tag::kRowSubgroups, choice.tile.row_subgroups);
  }

  const stripe::Program& program_;
  const MatrixGroupsOptions& options_;
  PassContext& context_;
  std::optional<cost::GroupRates> rates_;
  std::map<std::string, MatrixDims> results_;
};

// Tags the elementwise kernels of `section` that may follow a product in its kernel.
void tag_tails(Block& section, std::map<std::string, MatrixDims> known,
               const MatrixGroupsOptions& options, PassContext& context) {
  for (stripe::Statement& stmt : section.stmts) {
    Block* kernel = stmt.block();
    if (!kernel || !kernel->tags.has(stripe::tag::kEltwise)) continue;
    for (const Refinement& ref : kernel->refs) {
      const auto at = known.find(ref.from);
      if (ref.dir != RefDir::in || at == known.end()) continue;
      std::map<std::string, MatrixDims> written;
      if (why_no_tail(*kernel, ref, at->second, written)) continue;
      known.insert(written.begin(), written.end());
      kernel->tags.set_all(options.tail_set);
      context.count("tails");
      break;
    }
  }
}

}  // namespace

void describe(MatrixGroupsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("exclude", options.exclude, "tags that a block must not have");
  fields.unit("unit", options.unit, "execution unit whose instructions multiply matrices");
  fields.unit("group", options.group, "execution unit of a group");
  fields.unit("local", options.local, "memory unit that the lanes of a group share");
  fields.unit("registers", options.registers, "memory unit that each lane has of its own");
  fields.add("pipeline_depth", options.pipeline_depth,
             "of the same product without matrix units: steps whose operands are in local memory",
             {1, 64});
  fields.add("parts", options.parts,
             "without matrix units, lanes may share out a step's reduction");
  fields.add("direct", options.direct,
             "without matrix units, lanes may fetch from main memory what they multiply");
  fields.set_tags("outer_set", options.outer_set, "tags added to the outer block");
  fields.set_tags("inner_set", options.inner_set, "tags of the inner block");
  fields.set_tags("tail_set", options.tail_set,
                  "tags of elementwise kernels that may follow in a product's kernel");
  fields.add("measure_top", options.measure_top,
             "so many of the best tiles are timed on the device, and one that is clearly faster is "
             "preferred to those of lower cost; 0 = none",
             {0, 1000});
  fields.add(
      "measure_margin_ns", options.measure_margin_ns,
      "ns by which it must be faster, besides 2%: two builds of one kernel may differ by this",
      {0, 1000000});
}

Status matrix_groups(stripe::Program& program, const MatrixGroupsOptions& options,
                     PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_not_excluded("/reqs", options.reqs, options.exclude));
  const HardwareModel& model = context.model();
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/group", options.group));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/local", options.local));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/registers", options.registers));
  if (options.measure_top > 0 && !context.measure())
    return unsupported("/measure_top: needs a device that times candidates; there is none here");
  MatrixGroups groups(program, options, context);
  STRIA_RETURN_IF_ERROR(for_each_selected_below_sections(
      program, options.reqs, context,
      [&](Block& block, const TensorNames& around) { return groups.tile(block, around); }));
  for (Block* section : {program.prologue(), program.main()})
    if (section) tag_tails(*section, groups.results(), options, context);
  return {};
}

}  // namespace stria::passes
