// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/choose_layouts.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/passes/layout/layout_plan.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// A removed copy leaves one tensor for two. Moves the kernel's views of the one that is gone to the
// other.
void view_others(Block& section, Block& kernel, const LayoutPlan& plan,
                 const std::map<std::string, LayoutPlan::Layout>& layouts) {
  for (bool again = true; again;) {
    again = false;
    for (const Refinement& ref : kernel.refs) {
      auto at = ref.dir == RefDir::none ? layouts.end() : layouts.find(ref.from);
      if (at == layouts.end() || at->second.copy < 0) continue;
      const WholeCopy& copy = plan.copies().at(at->second.copy);
      if (copy.target == at->first)
        view_source(kernel, copy, section.find_ref(copy.source)->shape);
      else
        view_target(kernel, copy, section.find_ref(copy.target)->shape);
      again = true;
      break;  // the list has changed
    }
  }
}

// How many tensors have a new layout, and how many copies were removed.
struct Changes {
  int64_t layouts = 0, copies = 0;
};

Changes apply(Block& section, const LayoutPlan& plan) {
  Changes changes;
  const std::map<std::string, LayoutPlan::Layout> layouts = plan.layouts();
  std::set<int> removed;
  const StatementUsers users(section);
  for (Refinement& ref : section.refs) {
    auto at = layouts.find(ref.into);
    if (at == layouts.end()) continue;
    if (at->second.copy >= 0) {
      removed.insert(at->second.copy);
      continue;
    }
    std::vector<Dim> dims = ref.shape.dims;
    for (size_t d = 0; d < dims.size(); ++d) dims[d].stride = at->second.strides[d];
    if (dims == ref.shape.dims) continue;
    ref.shape.dims = dims;
    for (const size_t user : users.of(ref.into))
      restride_views(section.stmts[user], ref.into, dims);
    ++changes.layouts;
  }
  changes.copies = static_cast<int64_t>(removed.size());
  if (removed.empty()) return changes;
  std::vector<bool> stays(section.stmts.size(), true);
  for (size_t s = 0; s < section.stmts.size(); ++s) {
    stays[s] = removed.count(static_cast<int>(s)) == 0;
    if (Block* kernel = section.stmts[s].block(); kernel && stays[s])
      view_others(section, *kernel, plan, layouts);
  }
  erase_statements(section, stays);
  std::erase_if(section.refs, [&](const Refinement& ref) {
    auto at = layouts.find(ref.into);
    return at != layouts.end() && at->second.copy >= 0;
  });
  return changes;
}

}  // namespace

void describe(ChooseLayoutsOptions& options, OptionFields& fields) {
  fields.unit("memory", options.memory,
              "memory unit of the model whose lines are counted; \"\": lines as the calibration of "
              "the model says",
              WhenEmpty::none);
}

Status choose_layouts(stripe::Program& program, const ChooseLayoutsOptions& options,
                      PassContext& context) {
  int64_t line_bytes = static_cast<int64_t>(context.model().core_facts().cache_line_bytes);
  if (!options.memory.empty()) {
    STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
    const MemoryUnit* memory = context.model().find_memory(options.memory);
    if (memory && memory->line_bytes > 0) line_bytes = memory->line_bytes;
  }
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    if (section->tags.has(stripe::tag::kDeps)) {
      context.note("the statements are ordered by dependencies");
      continue;
    }
    context.matched();
    LayoutPlan plan(*section, line_bytes);
    const LayoutPlan::Bytes bytes = plan.choose();
    if (context.explaining())
      context.note(fmt::format("{:.0f} bytes move, of {:.0f} before; {} copies could go",
                               bytes.after, bytes.before, plan.copies().size()));
    const Changes changes = apply(*section, plan);
    if (changes.layouts > 0) context.count("layouts_changed", changes.layouts);
    if (changes.copies > 0) context.count("copies_removed", changes.copies);
    if (changes.layouts + changes.copies > 0) context.changed();
  }
  return Status();
}

}  // namespace stria::passes
