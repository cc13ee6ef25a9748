// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/pipeline.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/rewrite/kernel_memo.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// What is done to a loop.
struct LoopFate {
  std::vector<size_t> path;           // positions from the kernel to it
  Refusal refusal = Refusal::none();  // why it stays unchanged
  int64_t depth = 0;
  bool drops_barrier = false;  // the barrier at its end is removed
};

void drop_last(Block& block) {
  std::vector<bool> stays(block.stmts.size(), true);
  stays.back() = false;
  erase_statements(block, stays);
}

// Decides on a copy of the kernel. The fates say what it did to its loops, in order.
class LoopPipeliner {
 public:
  LoopPipeliner(const Block& kernel, KernelProbe& probe, const PipelineLoopOptions& options,
                const HardwareModel& model)
      : kernel_(kernel), probe_(probe), options_(options), model_(model) {
    asked_.pipelines = asked_.barriers = true;
  }

  std::vector<LoopFate> fates() {
    visit(kernel_, "", {});
    return std::move(fates_);
  }

 private:
  // `unit`: the unit at which the block runs by the locations around it.
  void visit(Block& block, std::string unit, const std::vector<size_t>& path) {
    if (!block.location.empty()) unit = block.location.path.back().name;
    if (&block != &kernel_ && block.tags.has_all(options_.reqs)) {
      LoopFate fate{path};
      fate.refusal = tag(block, unit, fate);
      fates_.push_back(std::move(fate));
      return;
    }
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (Block* inner = block.stmts[i].block()) {
        std::vector<size_t> at = path;
        at.push_back(i);
        visit(*inner, unit, at);
      }
  }

  Refusal tag(Block& block, const std::string& unit, LoopFate& fate) {
    if (block.tags.has(stripe::tag::kPipeline)) return "it is #pipeline already";
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
    const MemoryUnit* memory = model_.find_memory(options_.memory);
    const int64_t copies = options_.one_copy ? 1 : std::min(depth, points);
    bytes = cost::saturating_product(bytes, copies);
    if (memory && memory->size_bytes > 0 && bytes > memory->size_bytes)
      return fmt::format("{} copies take {} bytes, {} holds {}", copies, bytes, options_.memory,
                         memory->size_bytes);
    const std::optional<size_t> before = probe_.undecided(kernel_, asked_);
    if (!before) return "its kernel alone is not legal";
    const Block plain = block;
    block.tags.set(stripe::tag::kPipeline, depth);
    if (options_.one_copy) block.tags.set(stripe::tag::kOneCopy);
    if (!stands(*before)) {
      block = plain;
      return "its points need what others write";
    }
    fate.depth = depth;
    if (!block.stmts.empty() && is_barrier(block.stmts.back())) {
      const Block with_barrier = block;
      drop_last(block);
      fate.drops_barrier = stands(*before);
      if (!fate.drops_barrier) block = with_barrier;
    }
    return Refusal::none();
  }

  bool stands(size_t undecided) {
    const std::optional<size_t> now = probe_.undecided(kernel_, asked_);
    return now && *now <= undecided;
  }

  Block kernel_;
  KernelProbe& probe_;
  const PipelineLoopOptions& options_;
  const HardwareModel& model_;
  stripe::AccessRules asked_ = stripe::AccessRules::none();  // rules that the loop can break
  std::vector<LoopFate> fates_;
};

void apply(const LoopFate& fate, bool one_copy, Block& kernel, PassContext& context) {
  Block* loop = &kernel;
  for (size_t position : fate.path) loop = loop->stmts[position].block();
  context.matched();
  if (fate.refusal)
    return context.skipped(fmt::format("{}: {}", kernel.name, loop->name), fate.refusal.reason());
  loop->tags.set(stripe::tag::kPipeline, fate.depth);
  if (one_copy) loop->tags.set(stripe::tag::kOneCopy);
  context.count("loops_pipelined");
  if (fate.drops_barrier) {
    drop_last(*loop);
    context.count("barriers_removed");
  }
  context.changed();
}

}  // namespace

void describe(PipelineLoopOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a loop inside a kernel must have");
  fields.add("depth", options.depth,
             "points under way at once; 0 = the pipeline_depth of the unit around it, or 2",
             {0, 1024});
  fields.unit("memory", options.memory, "memory unit that must hold all copies; \"\" = not checked",
              WhenEmpty::none);
  fields.add("one_copy", options.one_copy,
             "lanes hold what they fetch until the point before is done: one copy of the "
             "allocations is enough; for depth 2");
}

Status pipeline(stripe::Program& program, const PipelineLoopOptions& options,
                PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  if (options.one_copy && options.depth != 2)
    return invalid_argument("/one_copy: lanes hold what they fetch for one point; /depth is {}",
                            options.depth);
  KernelMemo<std::vector<LoopFate>> memo;
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    STRIA_ASSIGN(KernelProbe probe, KernelProbe::of(program, *section, context.model()));
    for (Statement& stmt : section->stmts)
      if (Block* kernel = stmt.block())
        for (const LoopFate& fate : memo.of(probe.form(*kernel), [&] {
               return LoopPipeliner(*kernel, probe, options, context.model()).fates();
             }))
          apply(fate, options.one_copy, *kernel, context);
  }
  return Status();
}

}  // namespace stria::passes
