// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/inline_blocks.h"

#include <map>
#include <string_view>
#include <unordered_map>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/fresh_names.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The values of the indices of a block of one point, as forms over the indices of the block around.
std::map<std::string, Affine> values_of(const Block& inner) {
  std::map<std::string, Affine> values;
  for (const Index& index : inner.idxs) values[index.name] = index.affine.value_or(Affine());
  return values;
}

// Refuses a view that is not the same element as the one around it, combined in the same way.
Refusal why_view_differs(const Refinement& view, const Refinement& around,
                         const std::map<std::string, Affine>& values) {
  if (view.shape.element_count() != 1 || around.shape.element_count() != 1)
    return "it works on several elements";
  for (const Affine& form : view.access)
    if (form.substitute(values) != Affine()) return "it moves within what is around it";
  if (view.dir != RefDir::in && view.agg != around.agg) return "it starts an aggregation";
  if (!view.location.empty() && view.location != around.location)
    return "a view of it is somewhere else";
  if (view.tags.has(stripe::tag::kClamp) || view.tags.has(stripe::tag::kZeroFill))
    return "it reads beyond a tensor";
  return Refusal::none();
}

using RefByName = std::unordered_map<std::string_view, const Refinement*>;

Refusal why_not(const Block& inner, const RefByName& around) {
  for (const char* tag : {stripe::tag::kParallel, stripe::tag::kVector, stripe::tag::kUnroll,
                          stripe::tag::kPipeline, stripe::tag::kStencil, stripe::tag::kDeps})
    if (inner.tags.has(tag)) return fmt::format("it is #{}", tag);
  if (!inner.constraints.empty()) return "it has constraints";
  if (!inner.location.empty()) return "it has a unit of its own";
  for (const Index& index : inner.idxs)
    if (index.range != 1) return "it has several points";
  if (!is_leaf(inner)) return "it holds blocks or a special";
  const std::map<std::string, Affine> values = values_of(inner);
  for (const Refinement& view : inner.refs) {
    if (view.dir == RefDir::none) continue;  // as an allocation of the outer block it lives as long
    const auto outer = around.find(view.from);
    if (outer == around.end()) return "a view of it is of nothing";
    STRIA_RETURN_IF_REFUSED(why_view_differs(view, *outer->second, values));
  }
  return Refusal::none();
}

class Inliner {
 public:
  explicit Inliner(PassContext& context) : context_(context) {}

  // Works from the inside out: a block whose inner blocks are inlined may be inlined itself.
  void run(Block& block) {
    bool holds_blocks = false;
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) {
        run(*inner);
        holds_blocks = true;
      }
    // Sections hold kernels, and a kernel is always a block.
    for (const char* section : {stripe::tag::kProgram, stripe::tag::kMain, stripe::tag::kPrologue})
      if (block.tags.has(section)) return;
    if (!holds_blocks) return;
    context_.matched();
    if (const Refusal refusal = why_block_stays(block))
      return context_.skipped(block.name, refusal.reason());
    write_in(block);
    context_.changed();
  }

 private:
  static Refusal why_block_stays(const Block& block) {
    if (block.tags.has(stripe::tag::kDeps)) return "its statements are ordered by dependencies";
    RefByName refs;
    for (const Refinement& ref : block.refs) refs.emplace(ref.into, &ref);
    for (const Statement& stmt : block.stmts) {
      if (!stmt.deps.empty()) return "its statements are ordered by dependencies";
      if (stmt.special()) return "it holds a special";
      if (const Block* inner = stmt.block())
        if (Refusal refusal = why_not(*inner, refs))
          return inner->name.empty() ? refusal
                                     : fmt::format("{}: {}", inner->name, refusal.reason());
    }
    return Refusal::none();
  }

  void write_in(Block& block) {
    FreshNames refs, scalars;
    for (const Refinement& ref : block.refs) refs.take(ref.into);
    for (const Index& index : block.idxs) refs.take(index.name);
    for (const Statement& stmt : block.stmts)
      for (const std::string& name : scalar_outputs(stmt)) scalars.take(name);
    std::vector<Statement> all;
    for (Statement& stmt : block.stmts) {
      if (Block* inner = stmt.block()) {
        for (const stripe::Tag& tag : inner->tags.all())
          if (tag.name != stripe::tag::kKernel && !block.tags.has(tag.name))
            block.tags.set(tag.name, tag.value);
        substitute_indices(*inner, values_of(*inner));
        std::map<std::string, std::string> names;  // scalars of the inner block
        const std::map<std::string, std::string> views = outer_views(*inner, block, refs);
        for (Statement& one : inner->stmts) {
          view_outer(one, views);
          rename_inputs(one, names);
          rename_outputs(one, names, scalars);
          all.push_back(std::move(one));
        }
        context_.count("blocks_inlined");
      } else {
        all.push_back(std::move(stmt));
      }
    }
    block.stmts = std::move(all);
  }

  // The outer block's name for each refinement of the inner one. Moves the inner block's
  // allocations to the outer block.
  static std::map<std::string, std::string> outer_views(Block& inner, Block& block,
                                                        FreshNames& taken) {
    std::map<std::string, std::string> views;
    for (Refinement& ref : inner.refs) {
      views[ref.into] = ref.from;
      if (ref.dir != RefDir::none) continue;
      ref.into = views[ref.into] = taken.fresh(ref.into);
      block.refs.push_back(std::move(ref));
    }
    return views;
  }

  static void view_outer(Statement& stmt, const std::map<std::string, std::string>& views) {
    if (auto* load = std::get_if<stripe::Load>(&stmt.op)) load->from = views.at(load->from);
    if (auto* store = std::get_if<stripe::Store>(&stmt.op)) store->into = views.at(store->into);
  }

  // Gives the scalars that the statement defines fresh names.
  static void rename_outputs(Statement& stmt, std::map<std::string, std::string>& names,
                             FreshNames& taken) {
    auto define = [&](std::string& name) {
      const std::string free = taken.fresh(name);
      names[name] = free;
      name = free;
    };
    if (auto* load = std::get_if<stripe::Load>(&stmt.op)) define(load->into);
    if (auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) define(index->into);
    if (auto* constant = std::get_if<stripe::Constant>(&stmt.op)) define(constant->into);
    if (auto* intrinsic = std::get_if<stripe::Intrinsic>(&stmt.op))
      for (std::string& name : intrinsic->outputs) define(name);
  }

  PassContext& context_;
};

}  // namespace

void describe(InlineBlocksOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks that are searched; their insides too");
}

Status inline_blocks(stripe::Program& program, const InlineBlocksOptions& options,
                     PassContext& context) {
  Inliner inliner(context);
  return for_each_selected_inside(program, options.reqs, context,
                                  [&](Block& block) { inliner.run(block); });
}

}  // namespace stria::passes
