// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/barrier.h"

#include <algorithm>

#include "stria/rewrite/kernel_memo.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/rewrite/statement_list.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Statement;

// A path from the kernel to a statement: the position in each block on the way.
using Position = std::vector<size_t>;

void find_barriers(const Block& block, const Position& path, std::vector<Position>& barriers) {
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    Position at = path;
    at.push_back(i);
    if (is_barrier(block.stmts[i])) barriers.push_back(at);
    if (const Block* inner = block.stmts[i].block()) find_barriers(*inner, at, barriers);
  }
}

void remove(Block& kernel, const Position& barrier) {
  Block* block = &kernel;
  for (size_t level = 0; level + 1 < barrier.size(); ++level)
    block = block->stmts[barrier[level]].block();
  std::vector<bool> stays(block->stmts.size(), true);
  stays[barrier.back()] = false;
  erase_statements(*block, stays);
}

// Corrects the path after the statement at `gone` has been removed.
void close_gap(Position& path, const Position& gone) {
  const size_t last = gone.size() - 1;
  if (path.size() <= last || !std::equal(gone.begin(), gone.end() - 1, path.begin())) return;
  if (path[last] > gone[last]) --path[last];
}

// Which of a kernel's barriers are needed.
struct Barriers {
  bool legal = false;  // the kernel alone is a legal program
  size_t count = 0;
  std::vector<Position> needless;  // in the order of removal; positions are those at that time
};

Barriers judge(Block kernel, KernelProbe& probe) {
  // Removing a barrier can break no other rule.
  stripe::AccessRules asked = stripe::AccessRules::none();
  asked.barriers = true;
  std::vector<Position> barriers;
  find_barriers(kernel, {}, barriers);
  Barriers out;
  out.count = barriers.size();
  if (barriers.empty()) return out;
  std::stable_sort(barriers.begin(), barriers.end(),
                   [](const Position& a, const Position& b) { return a.size() > b.size(); });
  const std::optional<size_t> before = probe.undecided(kernel, asked);
  if (!before) return out;
  out.legal = true;
  for (size_t i = 0; i < barriers.size(); ++i) {
    Block fewer = kernel;
    remove(fewer, barriers[i]);
    const std::optional<size_t> after = probe.undecided(fewer, asked);
    if (!after || *after > *before) continue;
    kernel = std::move(fewer);
    out.needless.push_back(barriers[i]);
    for (size_t j = i + 1; j < barriers.size(); ++j) close_gap(barriers[j], barriers[i]);
  }
  return out;
}

}  // namespace

void describe(BarrierOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
}

Status barrier(stripe::Program& program, const BarrierOptions& options, PassContext& context) {
  KernelMemo<Barriers> memo;
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    STRIA_ASSIGN(KernelProbe probe, KernelProbe::of(program, *section, context.model()));
    for (Statement& stmt : section->stmts) {
      Block* kernel = stmt.block();
      if (!kernel || !kernel->tags.has_all(options.reqs)) continue;
      context.matched();
      const Barriers& found = memo.of(probe.form(*kernel), [&] { return judge(*kernel, probe); });
      if (found.count == 0) continue;
      if (!found.legal) {
        context.skipped(kernel->name, "alone it is not legal");
        continue;
      }
      for (const Position& path : found.needless) remove(*kernel, path);
      const size_t gone = found.needless.size();
      context.note(fmt::format("{}: {} of {} barriers are needed", kernel->name, found.count - gone,
                               found.count));
      if (gone == 0) continue;
      context.count("barriers_removed", static_cast<int64_t>(gone));
      context.changed();
    }
  }
  return Status();
}

}  // namespace stria::passes
