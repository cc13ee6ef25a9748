// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/thread.h"

#include <algorithm>

#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/parallel/work_partition.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;

// Does the kernel hold located blocks? They would become lane blocks inside the new one (S11).
bool holds_located(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const stripe::Statement& stmt) {
    return stmt.block() && (!stmt.block()->location.empty() || holds_located(*stmt.block()));
  });
}

std::map<std::string, int64_t> single_points(const Block& kernel) {
  std::map<std::string, int64_t> tile;
  for (const IndexRole& role : index_roles(kernel))
    if (role.kind == IndexKind::output) tile[role.name] = 1;
  return tile;
}

// The largest number of points that a pipeline inside has under way.
int64_t points_under_way(const Block& block) {
  int64_t most = block.tags.integer(stripe::tag::kPipeline).value_or(1);
  for (const stripe::Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block()) most = std::max(most, points_under_way(*inner));
  return most;
}

void thread_kernel(Block& kernel, const TensorNames& around, const ThreadOptions& options,
                   PassContext& context) {
  if (kernel.tags.has(stripe::tag::kParallel))
    return context.skipped(kernel.name, "it is parallel already");
  if (holds_located(kernel)) return context.skipped(kernel.name, "blocks inside have their units");
  if (kernel.tags.has(stripe::tag::kVector))
    return context.skipped(kernel.name, "its points are lanes");
  if (const Refusal refusal = why_points_do_not_commute(kernel, around))
    return context.skipped(kernel.name, refusal.reason());
  const ExecutionUnit* unit_of_model = context.model().find_executor(options.unit);
  if (unit_of_model &&
      points_under_way(kernel) > std::max<int64_t>(1, unit_of_model->pipeline_depth))
    return context.skipped(kernel.name, "it has more points under way than the unit takes");
  if (work_of(kernel) < static_cast<double>(options.min_work))
    return context.skipped(kernel.name, "it has too little work");
  const std::map<std::string, int64_t> tile =
      options.points_per_core == 0
          ? single_points(kernel)
          : work_partition(kernel, context.model(), {options.unit, options.points_per_core});
  if (tile.empty()) return context.skipped(kernel.name, "it has no output index to spread");
  // Indices that are not chosen stay inside, whole. The outer block is made even if no index is
  // left inside: the inner block is then the loop of one core, and later passes may change it
  // without making a second kernel.
  split_block(kernel, tile);
  kernel.tags.set(stripe::tag::kParallel);
  stripe::LocationUnit unit;
  unit.name = options.unit;
  kernel.location.path = {unit};
  context.count("kernels_threaded");
  context.changed();
}

}  // namespace

void describe(ThreadOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("unit", options.unit,
              "execution unit of the model; its count is the number of cores");
  fields.add("points_per_core", options.points_per_core,
             "parts for each core, at most; 0 = every point of the output indices is a part",
             {0, 1 << 20});
  fields.add("min_work", options.min_work,
             "statements that run; a kernel with fewer stays on one core; -1 = the calibration of "
             "`unit` says",
             {-1});
}

Status thread(stripe::Program& program, const ThreadOptions& given, PassContext& context) {
  ThreadOptions options = given;
  options.min_work =
      or_machines(given.min_work, context.model().core_facts(given.unit).worth_statements, -1);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    thread_kernel(kernel, around, options, context);
    return Status();
  });
}

}  // namespace stria::passes
