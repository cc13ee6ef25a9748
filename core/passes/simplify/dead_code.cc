// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/simplify/dead_code.h"

#include <map>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/allocations.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_interface(const Block& block) {
  return block.tags.has(stripe::tag::kProgram) || block.tags.has(stripe::tag::kMain) ||
         block.tags.has(stripe::tag::kPrologue);
}

// Which statements are live: a graph of statements and allocations, and of what each needs.
class Liveness {
 public:
  // Statements outside the blocks with `reqs` are live, and so is what they need. A view counts as
  // a read or write, even if no statement uses it, outside of those blocks; with `views` inside,
  // too.
  Liveness(const Block& entry, const std::vector<std::string>& reqs, bool views)
      : reqs_(reqs), views_(views), names_(entry), allocations_(names_.all().size()) {
    scan(entry, -1, entry.tags.has_all(reqs));
    while (!open_.empty()) {
      const size_t node = open_.back();
      open_.pop_back();
      follow(node);
    }
  }

  // For each statement of the block, whether it stays.
  std::vector<bool> stays(const Block& block) const {
    std::vector<bool> list;
    for (size_t node : nodes_of_.at(&block)) list.push_back(nodes_[node].live);
    return list;
  }

 private:
  struct Node {
    const Statement* stmt = nullptr;
    int parent = -1;            // the block statement around it
    std::vector<size_t> needs;  // statements that define its scalars
    std::vector<size_t> reads;  // allocations
    bool live = false;
  };
  struct Allocation {
    std::vector<size_t> writers;  // statements
    bool live = false;
  };

  void scan(const Block& block, int parent, bool searched) {
    for (const Refinement& ref : block.refs)
      if (is_written(ref) && is_interface(block))
        allocations_[names_.of(block, ref.into)].live = true;
    std::map<std::string, size_t> defined;
    std::vector<size_t>& own = nodes_of_[&block];
    own.reserve(block.stmts.size());
    for (const Statement& stmt : block.stmts) {
      const size_t id = nodes_.size();
      own.push_back(id);
      nodes_.push_back({&stmt, parent, {}, {}, false});
      touch(id, block, stmt, searched, defined);
      if (!searched) mark(id);
      const Block* inner = stmt.block();
      if (!inner) continue;
      scan(*inner, static_cast<int>(id), searched || inner->tags.has_all(reqs_));
      if (is_interface(*inner)) mark(id);
    }
  }

  void touch(size_t id, const Block& block, const Statement& stmt, bool searched,
             std::map<std::string, size_t>& defined) {
    Node& node = nodes_[id];
    auto need = [&](const std::string& scalar) {
      auto at = defined.find(scalar);
      if (at != defined.end()) node.needs.push_back(at->second);
    };
    auto write = [&](const std::string& name) {
      Allocation& allocation = allocations_[names_.of(block, name)];
      allocation.writers.push_back(id);
      if (allocation.live) mark(id);
    };
    for (const std::string& scalar : scalar_inputs(stmt)) need(scalar);
    for (const std::string& scalar : scalar_outputs(stmt)) defined[scalar] = id;
    if (auto* s = std::get_if<stripe::Load>(&stmt.op))
      node.reads.push_back(names_.of(block, s->from));
    if (auto* s = std::get_if<stripe::Store>(&stmt.op)) write(s->into);
    if (const Block* inner = stmt.block(); inner && (views_ || !searched))
      for (const Refinement& ref : inner->refs) {
        if (ref.dir == RefDir::in || ref.dir == RefDir::inout)
          node.reads.push_back(names_.of(block, ref.from));
        // A read needs a writer before it. A block whose view says that it writes counts as one.
        if (is_written(ref)) write(ref.from);
      }
    if (auto* s = stmt.special()) {
      for (const std::string& name : s->inputs) node.reads.push_back(names_.of(block, name));
      for (const std::string& name : s->outputs) {
        node.reads.push_back(names_.of(block, name));  // it may continue from the old content
        write(name);
      }
      if (s->outputs.empty() && !is_barrier(stmt)) mark(id);
    }
  }

  void mark(size_t node) {
    if (nodes_[node].live) return;
    nodes_[node].live = true;
    open_.push_back(node);
  }

  void follow(size_t id) {
    const Node node = nodes_[id];
    if (node.parent >= 0) mark(static_cast<size_t>(node.parent));
    for (size_t other : node.needs) mark(other);
    for (size_t read : node.reads) {
      Allocation& allocation = allocations_[read];
      if (allocation.live) continue;
      allocation.live = true;
      for (size_t writer : allocation.writers) mark(writer);
    }
    if (const Block* block = node.stmt->block())
      mark_inside(*block, block->tags.has(stripe::tag::kStencil));
  }

  // Marks what stays if its block stays: barriers, and everything in the body of a #stencil block.
  void mark_inside(const Block& block, bool all) {
    for (size_t node : nodes_of_.at(&block)) {
      const Statement& stmt = *nodes_[node].stmt;
      if (all || is_barrier(stmt)) mark(node);
      if (all && stmt.block()) mark_inside(*stmt.block(), true);
    }
  }

  const std::vector<std::string>& reqs_;
  const bool views_;
  Allocations names_;
  std::vector<Allocation> allocations_;
  std::vector<Node> nodes_;
  std::map<const Block*, std::vector<size_t>> nodes_of_;
  std::vector<size_t> open_;
};

class DeadCode {
 public:
  DeadCode(const DeadCodeOptions& options, const Liveness& liveness, PassContext& context)
      : options_(options), liveness_(liveness), context_(context) {}

  // Works from the inside out: an outer block drops what its inner blocks no longer view. True if
  // something was removed. This block is statement `position` of `around`.
  bool run(Block& block, const Block* around, size_t position) {
    std::vector<bool> stays = liveness_.stays(block);
    bool changed = false;
    auto enter = [&](size_t i) {
      Block* inner = block.stmts[i].block();
      if (inner) changed = run(*inner, &block, i) || changed;
    };
    for (size_t i = 0; i < stays.size(); ++i)
      if (stays[i]) enter(i);
    // A block that stores nothing may still have the only view that says "written".
    const std::vector<bool> live = stays;
    if (options_.refinements) keep_only_writers(block, stays);
    for (size_t i = 0; i < stays.size(); ++i) {
      if (stays[i] && !live[i]) enter(i);
      if (!stays[i]) context_.count("statements_removed");
      changed = changed || !stays[i];
    }
    erase_statements(block, stays);
    if (!options_.refinements || block.tags.has(stripe::tag::kProgram) ||
        block.tags.has(stripe::tag::kStencil))
      return changed;
    const std::set<std::string> needed = needed_refinements(block, around, position);
    const auto removed = std::erase_if(block.refs, [&](const Refinement& ref) {
      return !needed.count(ref.into) && (ref.dir == RefDir::none || !is_interface(block));
    });
    if (removed > 0) context_.count("refinements_removed", static_cast<int64_t>(removed));
    return changed || removed > 0;
  }

 private:
  const DeadCodeOptions& options_;
  const Liveness& liveness_;
  PassContext& context_;
};

}  // namespace

void describe(DeadCodeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs,
              "tags of the blocks that are searched; their insides too; none = the whole program");
  fields.add("refinements", options.refinements, "remove refinements that nothing uses");
}

Status dead_code(stripe::Program& program, const DeadCodeOptions& options, PassContext& context) {
  const Liveness liveness(program.entry, options.reqs, !options.refinements);
  DeadCode sweep(options, liveness, context);
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    context.matched();
    if (sweep.run(block, place.parent ? place.parent->block : nullptr, place.position))
      context.changed();
  });
  return {};
}

}  // namespace stria::passes
