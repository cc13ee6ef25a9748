// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/reorder_blocks.h"

#include <algorithm>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/statement_conflicts.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Statement;

struct Uses {
  std::set<std::string> reads, writes;  // names of refinements, and of scalars as "$x"
};

Uses uses_of(const Statement& stmt) {
  Uses uses;
  if (auto* load = std::get_if<stripe::Load>(&stmt.op)) uses.reads.insert(load->from);
  if (auto* store = std::get_if<stripe::Store>(&stmt.op)) uses.writes.insert(store->into);
  for (const std::string& name : scalar_inputs(stmt)) uses.reads.insert("$" + name);
  for (const std::string& name : scalar_outputs(stmt)) uses.writes.insert("$" + name);
  if (auto* special = stmt.special()) {
    uses.reads.insert(special->inputs.begin(), special->inputs.end());
    uses.writes.insert(special->outputs.begin(), special->outputs.end());
  }
  if (const Block* inner = stmt.block())
    for (const stripe::Refinement& ref : inner->refs) {
      if (ref.dir == RefDir::in || ref.dir == RefDir::inout) uses.reads.insert(ref.from);
      if (is_written(ref)) uses.writes.insert(ref.from);
    }
  return uses;
}

// Finds the new order, as a list of old positions.
class Ordering {
 public:
  explicit Ordering(const stripe::Place& place) {
    const Block& block = *place.block;
    const size_t count = block.stmts.size();
    stripe::StatementConflicts conflicts(place);
    after_.resize(count);
    waits_.resize(count);
    consumers_.resize(count);
    std::map<std::string, size_t> writer, first_writer;
    for (size_t b = 0; b < count; ++b) {
      // Given dependencies stay, even those that no conflict asks for.
      std::set<size_t> before(block.stmts[b].deps.begin(), block.stmts[b].deps.end());
      for (size_t a : conflicts.candidates(b))
        if (!before.count(a) && conflicts.must_wait(b, a)) before.insert(a);
      const Uses uses = uses_of(block.stmts[b]);
      // A read needs a write of the tensor before it, even if of other elements.
      for (const std::string& name : uses.reads)
        if (auto at = first_writer.find(name); at != first_writer.end()) before.insert(at->second);
      for (size_t a : before) after_[a].push_back(b);
      waits_[b] = before.size();
      for (const std::string& name : uses.reads)
        if (auto at = writer.find(name); at != writer.end()) consumers_[at->second].insert(b);
      for (const std::string& name : uses.writes) {
        writer[name] = b;
        first_writer.emplace(name, b);
      }
      if (waits_[b] == 0) ready_.insert(b);
    }
  }

  std::vector<size_t> run() {
    std::vector<size_t> order;
    std::vector<size_t> producers;  // done, with consumers that are not; the latest at the end
    while (!ready_.empty()) {
      const size_t next = choose(producers);
      ready_.erase(next);
      order.push_back(next);
      for (size_t b : after_[next])
        if (--waits_[b] == 0) ready_.insert(b);
      done_.insert(next);
      producers.push_back(next);
    }
    return order;
  }

 private:
  // The first ready consumer of the latest statement that has one; else the first ready statement.
  size_t choose(std::vector<size_t>& producers) {
    for (size_t p = producers.size(); p-- > 0;) {
      std::set<size_t>& consumers = consumers_[producers[p]];
      std::erase_if(consumers, [&](size_t b) { return done_.count(b) > 0; });
      for (size_t b : consumers)
        if (ready_.count(b)) return b;
      if (consumers.empty()) producers.erase(producers.begin() + static_cast<ptrdiff_t>(p));
    }
    return *ready_.begin();
  }

  std::vector<std::vector<size_t>> after_;   // statement -> those that wait for it
  std::vector<size_t> waits_;                // statement -> how many it still waits for
  std::vector<std::set<size_t>> consumers_;  // statement -> those that read what it wrote last
  std::set<size_t> ready_, done_;
};

}  // namespace

void describe(ReorderBlocksOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the blocks whose statements move");
}

Status reorder_blocks(stripe::Program& program, const ReorderBlocksOptions& options,
                      PassContext& context) {
  for_each_selected_place(program, options.reqs, [&](Block& block, const stripe::Place& place) {
    context.matched();
    // The prologue must stay before #main.
    if (block.tags.has(stripe::tag::kProgram))
      return context.skipped(block.name, "its blocks have their order");
    const std::vector<size_t> order = Ordering(place).run();
    int64_t moved = 0;
    for (size_t i = 0; i < order.size(); ++i) moved += order[i] != i;
    if (moved == 0) return;
    reorder_statements(block, order);
    context.count("statements_moved", moved);
    context.changed();
  });
  return {};
}

}  // namespace stria::passes
