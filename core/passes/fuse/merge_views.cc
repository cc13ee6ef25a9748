// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/merge_views.h"

#include <map>

#include "stria/base/refusal.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Makes the block's views of `part` views of `whole`. `part` is a view of the kernel, and `whole`
// is its view of the whole tensor.
void view_whole(Block& block, const Refinement& part, const std::string& whole) {
  for (Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none || ref.from != part.into) continue;
    ref.from = whole;
    for (size_t d = 0; d < ref.access.size(); ++d) {
      Affine at(part.access[d].constant());
      for (const auto& [index, step] : part.access[d].terms())
        at.add_term(bring_in(block, index), step);
      ref.access[d] += at;
    }
  }
}

// Refuses views that cannot be merged.
Refusal why_not(const Block& kernel, const std::vector<size_t>& views) {
  for (const size_t r : views) {
    const Refinement& ref = kernel.refs[r];
    for (const Statement& stmt : kernel.stmts)
      if (uses_itself(stmt, ref.into)) return "statements of its own use a view";
    if (ref.dir != RefDir::out || ref.agg) return "it does more than write a tensor";
    if (!ref.tags.empty() || !(ref.location == kernel.refs[views[0]].location))
      return "its views differ in more than their place";
  }
  return Refusal::none();
}

void merge(Block& kernel, const Refinement& tensor, const std::vector<size_t>& views) {
  Refinement whole = kernel.refs[views[0]];
  whole.access.assign(whole.access.size(), Affine());
  for (size_t d = 0; d < whole.shape.dims.size(); ++d)
    whole.shape.dims[d].size = tensor.shape.dims[d].size;
  // The whole view gets the name of the first part. That part comes first, before others move to
  // this name.
  for (const size_t r : views)
    for (Statement& stmt : kernel.stmts)
      if (Block* inner = stmt.block()) view_whole(*inner, kernel.refs[r], whole.into);
  kernel.refs[views[0]] = std::move(whole);
  for (auto r = views.rbegin(); *r != views[0]; ++r)
    kernel.refs.erase(kernel.refs.begin() + static_cast<std::ptrdiff_t>(*r));
}

// The views of the first tensor that the kernel writes through several of them.
std::vector<size_t> several_views(const Block& kernel) {
  std::map<std::string, std::vector<size_t>> views;
  for (size_t r = 0; r < kernel.refs.size(); ++r)
    if (kernel.refs[r].dir == RefDir::out || kernel.refs[r].dir == RefDir::inout)
      views[kernel.refs[r].from].push_back(r);
  for (auto& [tensor, list] : views)
    if (list.size() > 1) return list;
  return {};
}

void merge_all(Block& kernel, const Block& section, PassContext& context) {
  std::vector<size_t> views = several_views(kernel);
  if (!views.empty()) context.matched();
  for (; !views.empty(); views = several_views(kernel)) {
    const Refinement* tensor = section.find_ref(kernel.refs[views[0]].from);
    const Refusal refusal = tensor ? why_not(kernel, views) : "it views nothing";
    if (refusal) return context.skipped(kernel.name, refusal.reason());
    context.count("views_merged", static_cast<int64_t>(views.size()) - 1);
    context.changed();
    merge(kernel, *tensor, views);
  }
}

}  // namespace

void describe(MergeViewsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
}

Status merge_views(stripe::Program& program, const MergeViewsOptions& options,
                   PassContext& context) {
  for (Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    for (Statement& stmt : section->stmts) {
      Block* kernel = stmt.block();
      if (kernel && kernel->tags.has_all(options.reqs)) merge_all(*kernel, *section, context);
    }
  }
  return {};
}

}  // namespace stria::passes
