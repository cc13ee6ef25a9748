// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/locate_memory.h"

#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/passes/located_unit.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Refinement;

class MemoryLocator {
 public:
  MemoryLocator(const LocateMemoryOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  void run(Block& block) {
    for (Refinement& ref : block.refs) {
      if (!ref.tags.has_all(options_.ref_reqs) || done_.count(&ref)) continue;
      context_.matched();
      if (!ref.location.empty() && !options_.append) continue;
      locate(block, ref);
      context_.changed();
    }
    if (!options_.inside) return;
    for (stripe::Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) run(*inner);
  }

 private:
  // The refinement and the views of it in the blocks inside.
  void locate(Block& block, Refinement& ref) {
    ref.location = placed(ref.location, options_.loc, options_.append);
    done_.insert(&ref);
    for (stripe::Statement& stmt : block.stmts) {
      Block* inner = stmt.block();
      if (!inner) continue;
      for (Refinement& view : inner->refs)
        if (view.from == ref.into && view.dir != stripe::RefDir::none) locate(*inner, view);
    }
  }

  const LocateMemoryOptions& options_;
  PassContext& context_;
  std::set<const Refinement*> done_;
};

}  // namespace

void describe(LocateMemoryOptions& options, OptionFields& fields) {
  fields.add("reqs", options.reqs, "tags that a block must have");
  fields.add("ref_reqs", options.ref_reqs, "tags that a refinement must have");
  fields.add("loc", options.loc, "memory units of the hardware model, outermost first");
  fields.add("append", options.append,
             "add them to the location that a refinement has, instead of leaving that as it is");
  fields.add("inside", options.inside, "the refinements of the blocks inside as well");
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
