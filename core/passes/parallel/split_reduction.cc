// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/split_reduction.h"

#include <algorithm>
#include <limits>

#include "stria/base/refusal.h"
#include "stria/pass/machine_option.h"
#include "stria/passes/tile/matrix_product.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/aggregation.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

class ReductionSplitter {
 public:
  // `around`: the tensors of the section.
  ReductionSplitter(Block& section, TensorNames around, const SplitReductionOptions& options,
                    PassContext& context)
      : section_(section), around_(std::move(around)), options_(options), context_(context) {}

  void run() {
    std::vector<Statement> stmts;
    std::swap(stmts, section_.stmts);
    bool changed = false;
    for (Statement& stmt : stmts) {
      Block* kernel = stmt.block();
      if (!kernel || !kernel->tags.has_all(options_.reqs)) {
        section_.stmts.push_back(std::move(stmt));
        continue;
      }
      context_.matched();
      std::vector<Block> made;
      if (const Refusal refusal = split(*kernel, made)) {
        context_.skipped(kernel->name, refusal.reason());
        section_.stmts.push_back(std::move(stmt));
        continue;
      }
      for (Block& block : made) section_.stmts.emplace_back(std::move(block));
      context_.count("reductions_split");
      context_.changed();
      changed = true;
    }
    if (changed) run_in_order(section_);
  }

 private:
  // Sets `made` to the kernels that replace this one, or refuses.
  Refusal split(const Block& kernel, std::vector<Block>& made) {
    if (!is_leaf(kernel)) return "it holds blocks or a special";
    if (kernel.tags.has(stripe::tag::kParallel) || kernel.tags.has(stripe::tag::kVector) ||
        has_index_locations(kernel))
      return "its points have their places already";
    STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(kernel, around_));
    if (stores_where_chosen(kernel)) return "a scalar chooses where it stores";
    const Refinement* out = nullptr;
    for (const Refinement& ref : kernel.refs) {
      if (ref.dir == RefDir::none) return "it has buffers of its own";
      if (ref.dir == RefDir::in) continue;
      if (out) return "it writes several tensors";
      out = &ref;
    }
    if (!out || !out->agg) return "it has no reduction";
    // Only sums may be reordered (M10).
    if (out->agg->op == stripe::AggOp::mul && is_float(out->agg->type))
      return "it is a product of floats";
    int64_t outputs = 1;
    const IndexRole* longest = nullptr;
    const std::vector<IndexRole> roles = index_roles(kernel);
    for (const IndexRole& role : roles) {
      if (role.kind == IndexKind::overlapping)
        return "different points of an output index write the same element";
      const Index& index = *kernel.find_index(role.name);
      if (role.kind == IndexKind::output)
        outputs *= role.range;
      else if (!index.affine && (!longest || role.range > longest->range))
        longest = &role;
    }
    if (!longest) return "it has no reduction";
    int64_t steps = steps_of_a_part(outputs, longest->range);
    if (steps >= longest->range)
      return options_.parts > 0 ? "its reduction is too short" : "it has outputs or steps enough";

    Block whole = kernel;
    start_indices_at_zero(whole);
    const WriteDomain nest = write_domain({&section_}, {&whole}, out->from);
    STRIA_RETURN_IF_REFUSED(nest.refusal);
    const bool every_part_writes =
        std::none_of(whole.constraints.begin(), whole.constraints.end(), [&](const Affine& form) {
          return std::any_of(whole.idxs.begin(), whole.idxs.end(), [&](const Index& of) {
            return form.uses(of.name) && !is_output(nest, of.name);
          });
        });
    if (!every_part_writes && !options_.clear) return "parts may leave an element without points";
    if (options_.parts == 0 && !options_.tile.cost.empty()) {
      const std::optional<cost::GroupRates> rates = options_.tile.groups.rates(context_.model());
      if (!rates) return "the model does not say what a unit of work groups can do";
      if (context_.model().clock_mhz <= 0) return "the model does not say how fast its clock is";
      steps = fastest_steps(kernel, whole, *out, *longest, nest, outputs, steps, every_part_writes,
                            *rates);
      if (steps >= longest->range) return "its parts would take longer";
    }
    Parts parts = make(std::move(whole), *out, *longest, steps, nest, every_part_writes);
    section_.refs.push_back(std::move(parts.buffer));
    made = std::move(parts.kernels);
    return Refusal::none();
  }

  // What replaces the kernel: a buffer for the sums of the parts, and kernels. The one at `sums`
  // computes these sums.
  struct Parts {
    Refinement buffer;
    std::vector<Block> kernels;
    size_t sums = 0;
  };

  // The number of reduction steps in a part, `fewest` or more, with which all kernels take the
  // shortest time. It is the whole range if one kernel is the fastest.
  int64_t fastest_steps(const Block& kernel, const Block& whole, const Refinement& out,
                        const IndexRole& reduction, const WriteDomain& nest, int64_t outputs,
                        int64_t fewest, bool every_part_writes,
                        const cost::GroupRates& rates) const {
    const HardwareModel& model = context_.model();
    int64_t best_steps = reduction.range;
    const auto us = [&](double cycles) { return cycles / model.clock_mhz; };
    const auto time_of = [&](const Block& block) {
      const auto tile = cost::shortest_tile(
          cost::tiled_block(block), options_.tile.groups.form(options_.tile.pipeline_depth), rates);
      double cycles = tile ? tile->time.cycles : std::numeric_limits<double>::infinity();
      if (!options_.matrix_unit.empty()) {
        Refusal why_none = Refusal::none();
        if (const auto matrices = fastest_matrix_tile(block, model, options_.matrix_unit,
                                                      options_.tile.groups.unit, rates, why_none))
          cycles = std::min(cycles, matrices->tile.cycles);
      }
      return us(cycles);
    };
    double best = std::max(model.launch_us, time_of(whole));
    std::string text = fmt::format("{}: {:.1f} us as one kernel", kernel.name, best);
    // A lower bound: the host starts a kernel while the one before runs, and no unit is faster than
    // its multiply-adds.
    const int kernels = every_part_writes ? 2 : 3;
    const double launches_us = kernels * model.launch_us;
    const double drains_us = (kernels - 1) * model.drain_us;
    double points = 1;
    for (const Index& index : whole.idxs) points *= static_cast<double>(index.range);
    // Matrix units are faster than that: of them only launches are known.
    const double least =
        options_.matrix_unit.empty()
            ? std::max(launches_us, drains_us + us(points / (rates.units * rates.multiply_adds)))
            : std::max(launches_us, drains_us);
    for (int64_t steps = reduction.range; best > least && steps > fewest;) {
      steps = std::max(fewest, ceil_div(steps, 2));
      const int64_t parts = ceil_div(reduction.range, steps);
      const Parts trial = make(whole, out, reduction, steps, nest, every_part_writes);
      // The last kernel reads all sums of the parts once. A kernel that clears them writes as much.
      const double sums = static_cast<double>(outputs) * static_cast<double>(parts) *
                          static_cast<double>(byte_size(out.agg->type));
      const double once = rates.global_bytes > 0 ? sums / (rates.global_bytes * rates.units) : 0;
      const double total = 2 * rates.global_latency + once;
      const double clear = every_part_writes ? 0 : rates.global_latency + once;
      const double time =
          std::max(launches_us, drains_us + time_of(trial.kernels[trial.sums]) + us(total + clear));
      text += fmt::format(", {:.1f} in {} parts", time, parts);
      if (time >= best) continue;
      best = time;
      best_steps = steps;
    }
    if (context_.explaining()) context_.note(std::move(text));
    return best_steps;
  }

  int64_t steps_of_a_part(int64_t outputs, int64_t range) const {
    int64_t parts = options_.parts;
    if (parts == 0) {
      const ExecutionUnit* unit = context_.model().find_executor(options_.unit);
      const int64_t wanted =
          (unit ? std::max<int64_t>(unit->count, 1) : 1) * options_.groups_per_unit;
      parts = wanted / std::max<int64_t>(1, ceil_div(outputs, options_.outputs));
    }
    parts = std::min(parts, range / options_.min_steps);
    return parts <= 1 ? range : ceil_div(range, parts);
  }

  Parts make(Block kernel, const Refinement& out, const IndexRole& reduction, int64_t steps,
             const WriteDomain& nest, bool every_part_writes) const {
    Parts made;
    const int64_t parts = ceil_div(reduction.range, steps);
    const stripe::Aggregation agg = *out.agg;
    // The buffer of the parts: a dimension for the parts, then as large as what is written.
    Refinement buffer;
    buffer.into = section_.fresh_name(out.from + "_parts");
    buffer.shape.type = agg.type;
    std::map<std::string, Interval> box;
    for (const Index& index : nest.indices) box[index.name] = {0, index.range - 1};
    std::vector<int64_t> sizes = {parts}, lowest;
    for (const Affine& form : nest.access) {
      const Interval range = interval_of(form, box);
      lowest.push_back(range.lower);
      sizes.push_back(range.upper - range.lower + 1);
    }
    buffer.shape.dims = dense_shape(agg.type, sizes).dims;
    buffer.access.resize(sizes.size());
    const auto view = [&](RefDir dir, const std::string& part, const std::vector<Affine>& at) {
      Refinement ref = buffer;
      ref.dir = dir;
      ref.from = ref.into = buffer.into;
      ref.access[0] = Affine::of(part);
      for (size_t d = 0; d < at.size(); ++d) ref.access[d + 1] = at[d] - lowest[d];
      for (Dim& dim : ref.shape.dims) dim.size = 1;
      return ref;
    };

    const std::string part = kernel.fresh_name("part");
    Block sums = kernel;
    Index index;
    index.name = part;
    index.range = parts;
    sums.idxs.push_back(index);
    sums.find_index(reduction.name)->range = steps;
    substitute_indices(sums,
                       {{reduction.name, Affine::of(reduction.name) + Affine::of(part) * steps}});
    if (reduction.range % steps != 0)
      sums.constraints.push_back(Affine(reduction.range - 1) - Affine::of(reduction.name) -
                                 Affine::of(part) * steps);
    Refinement& written = *sums.find_ref(out.into);
    const std::string into = written.into;
    Refinement to = view(every_part_writes ? RefDir::out : RefDir::inout, part, written.access);
    to.into = into;
    to.agg = agg;
    written = std::move(to);

    Block total;
    total.name = kernel.name + "_total";
    for (const stripe::Tag& tag : kernel.tags.all())
      if (tag.name.starts_with(stripe::tag::kAggOp)) total.tags.set(tag.name, tag.value);
    for (const char* tag : {stripe::tag::kContraction, stripe::tag::kKernel}) total.tags.set(tag);
    total.idxs = nest.indices;
    total.constraints = nest.constraints;
    const std::string all = total.fresh_name("part");
    index.name = all;
    total.idxs.push_back(index);
    Refinement sum = out;
    sum.access = nest.access;
    total.refs = {view(RefDir::in, all, nest.access), std::move(sum)};
    total.stmts.emplace_back(stripe::Load{buffer.into, "part_sum"});
    total.stmts.emplace_back(stripe::Store{"part_sum", out.into});

    if (!every_part_writes) {
      Block clear;
      clear.name = kernel.name + "_clear";
      clear.tags = {stripe::tag::kKernel};
      Refinement ref = buffer;
      ref.dir = RefDir::out;
      ref.from = ref.into;
      for (size_t d = 0; d < sizes.size(); ++d) {
        ref.shape.dims[d].size = 1;
        if (sizes[d] == 1) continue;
        Index at;
        at.name = fmt::format("i{}", d);
        at.range = sizes[d];
        ref.access[d] = Affine::of(at.name);
        clear.idxs.push_back(std::move(at));
      }
      clear.refs.push_back(std::move(ref));
      clear.stmts.emplace_back(stripe::Constant{"identity", identity_of(agg)});
      clear.stmts.emplace_back(stripe::Store{"identity", buffer.into});
      made.kernels.push_back(std::move(clear));
    }
    made.buffer = std::move(buffer);
    made.sums = made.kernels.size();
    made.kernels.push_back(std::move(sums));
    made.kernels.push_back(std::move(total));
    return made;
  }

  static bool is_output(const WriteDomain& nest, const std::string& name) {
    return std::any_of(nest.indices.begin(), nest.indices.end(),
                       [&](const Index& index) { return index.name == name; });
  }

  Block& section_;
  const TensorNames around_;
  const SplitReductionOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(SplitReductionOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("parts", options.parts,
             "parts of the reduction; 0 = as many as give every unit `groups_per_unit` groups",
             {0, 1 << 20});
  fields.unit("unit", options.unit, "execution unit of the model that runs one group");
  fields.add("groups_per_unit", options.groups_per_unit,
             "groups that each unit should have at once", {1, 1 << 20});
  fields.add("outputs", options.outputs,
             "outputs of one group; 0 = the calibration of `unit` says");
  fields.add("min_steps", options.min_steps, "steps of the reduction in a part, at least", {1});
  fields.add("clear", options.clear,
             "also split kernels whose parts must be set to the identity first, by another kernel");
  fields.unit("matrix_unit", options.matrix_unit,
              "execution unit whose instructions may compute the kernels, too (matrix_groups)",
              WhenEmpty::none);
  OptionFields& tile =
      fields.group("tile",
                   "what groups of a tile may be like: the number of parts is the one with the "
                   "shortest time, each kernel with its best tile");
  tile.add("cost", options.tile.cost, "the cost that gives the times of groups; none = no times",
           std::vector<std::string>{"group_time"});
  tile.add("pipeline_depth", options.tile.pipeline_depth, "steps staged at once", {1, 1 << 20});
  options.tile.groups.describe(tile);
}

Status split_reduction(stripe::Program& program, const SplitReductionOptions& given,
                       PassContext& context) {
  SplitReductionOptions options = given;
  options.outputs =
      or_machines(given.outputs, context.model().group_facts(given.unit).group_outputs);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(
      check_unit(context.model(), UnitUse::run, "/matrix_unit", options.matrix_unit));
  if (options.tile != SplitReductionOptions().tile) {
    if (options.tile.cost.empty())
      return invalid_argument(
          "/tile: it needs the cost 'group_time', which says how long parts take; without /tile "
          "they are counted by /unit");
    if (options.parts > 0)
      return invalid_argument(
          "/tile: it is to say how many parts take the shortest time, and /parts says {} already",
          options.parts);
    const Status choice = options.tile.groups.check(context.model());
    if (!choice.ok()) return choice.with_context("/tile");
  }
  const TensorNames outside = TensorNames().inside(program.entry);
  for (Block* section : {program.prologue(), program.main()})
    if (section) ReductionSplitter(*section, outside.inside(*section), options, context).run();
  return Status();
}

}  // namespace stria::passes
