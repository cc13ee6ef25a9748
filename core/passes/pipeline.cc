// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/pipeline.h"

#include <algorithm>

#include "stria/cost/group_plan.h"
#include "stria/passes/kernel_probe.h"
#include "stria/passes/located_unit.h"
#include "stria/passes/statement_list.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_barrier(const Statement& stmt) {
  return stmt.special() && stmt.special()->name == "barrier";
}

class LoopPipeliner {
 public:
  LoopPipeliner(Block& kernel, KernelProbe& probe, const PipelineLoopOptions& options,
                PassContext& context)
      : kernel_(kernel), probe_(probe), options_(options), context_(context) {}

  // `unit`: of the location around the block.
  void visit(Block& block, std::string unit) {
    if (!block.location.empty()) unit = block.location.path.back().name;
    if (&block != &kernel_ && block.tags.has_all(options_.reqs)) {
      context_.matched();
      if (std::string reason = tag(block, unit); !reason.empty())
        context_.skipped(fmt::format("{}: {}", kernel_.name, block.name), reason);
      else
        context_.changed();
      return;
    }
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) visit(*inner, unit);
  }

 private:
  std::string tag(Block& block, const std::string& unit) {
    if (block.tags.has("pipeline")) return "it is #pipeline already";
    const int64_t limit = probe_.pipeline_depth(unit);
    const int64_t depth = options_.depth > 0 ? options_.depth : limit > 0 ? limit : 2;
    if (depth < 2) return fmt::format("{} works on one point at a time", unit);
    if (limit > 0 && depth > limit)
      return fmt::format("{} has no more than {} points under way", unit, limit);
    int64_t points = 1;
    for (const stripe::Index& index : block.idxs)
      points = cost::saturating_product(points, index.range);
    if (points < 2) return "it has one point";
    int64_t bytes = 0;
    bool allocates = false;
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none) continue;
      allocates = true;
      if (!ref.location.empty() && ref.location.path.back().name == options_.memory)
        bytes += ref.shape.span_bytes();
    }
    if (!allocates) return "it has no allocations of its own";
    const MemoryUnit* memory = context_.model().find_memory(options_.memory);
    bytes = cost::saturating_product(bytes, std::min(depth, points));
    if (memory && memory->size_bytes > 0 && bytes > memory->size_bytes)
      return fmt::format("{} copies take {} bytes, {} holds {}", std::min(depth, points), bytes,
                         options_.memory, memory->size_bytes);
    const std::optional<size_t> before = probe_.undecided(kernel_);
    if (!before) return "its kernel alone is not legal";
    const Block plain = block;
    block.tags.set("pipeline", depth);
    if (!stands(*before)) {
      block = plain;
      return "its points need what others write";
    }
    context_.count("loops_pipelined");
    if (!block.stmts.empty() && is_barrier(block.stmts.back())) {
      const Block with_barrier = block;
      std::vector<bool> stays(block.stmts.size(), true);
      stays.back() = false;
      erase_statements(block, stays);
      if (stands(*before))
        context_.count("barriers_removed");
      else
        block = with_barrier;
    }
    return "";
  }

  bool stands(size_t undecided) {
    const std::optional<size_t> now = probe_.undecided(kernel_);
    return now && *now <= undecided;
  }

  Block& kernel_;
  KernelProbe& probe_;
  const PipelineLoopOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(PipelineLoopOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a loop inside a kernel must have");
  fields.add("depth", options.depth,
             "points under way at once; 0 = the pipeline_depth of the unit around it, or 2",
             {0, 1024});
  fields.add("memory", options.memory,
             "memory unit that has to hold all copies; \"\" = not checked");
}

Status pipeline(stripe::Program& program, const PipelineLoopOptions& options,
                PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  if (program.entry.tags.has("placed")) {
    context.note("the program is placed: copies would have no place");
    return Status();
  }
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    STRIA_ASSIGN(KernelProbe probe, KernelProbe::of(program, *section, context.model()));
    for (Statement& stmt : section->stmts)
      if (Block* kernel = stmt.block())
        LoopPipeliner(*kernel, probe, options, context).visit(*kernel, "");
  }
  return Status();
}

}  // namespace stria::passes
