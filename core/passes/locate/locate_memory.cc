// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate/locate_memory.h"

#include <map>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/statement_list.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Refinement;

class MemoryLocator {
 public:
  MemoryLocator(const LocateMemoryOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  void run(Block& block) {
    const StatementUsers& users = names_of(block).users;
    for (Refinement& ref : block.refs) {
      if (!ref.tags.has_all(options_.ref_reqs) || done_.count(&ref)) continue;
      context_.matched();
      if (!ref.location.empty() && !options_.append) continue;
      if (options_.append && !ref.location.empty() && !ref.location.path.back().owners.empty()) {
        context_.skipped(ref.into, "lanes hold it");
        continue;
      }
      locate(ref);
      for (size_t user : users.of(ref.into)) locate_views(block.stmts[user], ref.into);
      context_.changed();
    }
    if (!options_.inside) return;
    for (stripe::Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) run(*inner);
  }

 private:
  void locate(Refinement& ref) {
    ref.location = placed(ref.location, options_.loc, options_.append);
    done_.insert(&ref);
  }

  // Which statements use a block's refinements, and which of these view which outer refinement.
  struct Names {
    explicit Names(const Block& block) : users(block) {
      for (size_t i = 0; i < block.refs.size(); ++i)
        if (block.refs[i].dir != stripe::RefDir::none) views[block.refs[i].from].push_back(i);
    }
    StatementUsers users;
    std::map<std::string, std::vector<size_t>> views;
  };

  const Names& names_of(const Block& block) {
    auto at = names_.find(&block);
    return at != names_.end() ? at->second : names_.emplace(&block, block).first->second;
  }

  // Sets the location of the statement's views of `name`, a refinement around it, and of the views
  // of these further inside.
  void locate_views(stripe::Statement& stmt, const std::string& name) {
    Block* inner = stmt.block();
    if (!inner) return;
    const Names& names = names_of(*inner);
    auto views = names.views.find(name);
    if (views == names.views.end()) return;
    for (size_t position : views->second) {
      Refinement& view = inner->refs[position];
      locate(view);
      for (size_t user : names.users.of(view.into)) locate_views(inner->stmts[user], view.into);
    }
  }

  const LocateMemoryOptions& options_;
  PassContext& context_;
  std::set<const Refinement*> done_;
  std::map<const Block*, Names> names_;
};

}  // namespace

void describe(LocateMemoryOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("ref_reqs", options.ref_reqs, "tags that a refinement must have");
  fields.add("loc", options.loc, "memory units of the hardware model, outermost first");
  fields.add(
      "append", options.append,
      "add the units to the location that a refinement has; false = such a refinement stays");
  fields.add("inside", options.inside, "also the refinements of the blocks inside");
}

Status locate_memory(stripe::Program& program, const LocateMemoryOptions& options,
                     PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  return for_each_selected(program, options.reqs, [&](Block& block, const TensorNames&) {
    MemoryLocator(options, context).run(block);
    return Status();
  });
}

}  // namespace stria::passes
