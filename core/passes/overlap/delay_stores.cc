// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/delay_stores.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/overlap/delay_plan.h"
#include "stria/rewrite/joined_name.h"
#include "stria/rewrite/plain_blocks.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// How the statements use `name`, a refinement of the block around them: `in`, `out`, `inout`, or
// `none`.
RefDir direction_of(const std::vector<Statement>& stmts, const std::string& name) {
  bool touched = false, reads_first = false, written = false;
  for (const Statement& stmt : stmts) {
    const bool is_first = !touched;
    for (const Refinement& view : stmt.block()->refs) {
      if (view.dir == RefDir::none || view.from != name) continue;
      touched = true;
      written |= is_written(view);
      reads_first |= is_first && view.dir != RefDir::out;
    }
  }
  if (!touched) return RefDir::none;
  return !written ? RefDir::in : reads_first ? RefDir::inout : RefDir::out;
}

// Makes a block inside `around` of the statements. It runs where the constraints, which are over
// the indices of `around`, hold. Allocations of `around` in `own` move into it.
Block guarded(Block& around, std::vector<Statement> stmts, std::vector<Affine> constraints,
              const std::set<std::string>& own = {}) {
  Block out;
  const auto uses = [&](const std::string& name) {
    if (std::any_of(constraints.begin(), constraints.end(),
                    [&](const Affine& form) { return form.uses(name); }))
      return true;
    return std::any_of(stmts.begin(), stmts.end(), [&](const Statement& stmt) {
      return std::any_of(
          stmt.block()->idxs.begin(), stmt.block()->idxs.end(),
          [&](const Index& index) { return index.affine && index.affine->uses(name); });
    });
  };
  for (const Index& index : around.idxs)
    if (uses(index.name)) out.idxs.push_back({index.name, 1, Affine::of(index.name), {}});
  for (Refinement& ref : around.refs) {
    if (own.count(ref.into)) {
      out.refs.push_back(ref);
      continue;
    }
    Refinement view = ref;
    view.dir = direction_of(stmts, ref.into);
    if (view.dir == RefDir::none) continue;
    view.from = ref.into;
    view.access.assign(ref.access.size(), Affine());
    view.tags = {};
    out.refs.push_back(std::move(view));
  }
  std::erase_if(around.refs, [&](const Refinement& ref) { return own.count(ref.into) > 0; });
  out.constraints = std::move(constraints);
  out.stmts = std::move(stmts);
  return out;
}

// A block that copies all of `value` to `copy`, an allocation of the same shape.
Block copy_of(const Refinement& value, const Refinement& copy) {
  Block out;
  out.refs = {value, copy};
  for (Refinement& view : out.refs) {
    view.from = view.into;
    view.tags = {};
    view.access.assign(view.access.size(), Affine());
    for (Dim& dim : view.shape.dims) dim.size = 1;
  }
  out.refs[0].dir = RefDir::in;
  out.refs[1].dir = RefDir::out;
  for (size_t d = 0; d < value.shape.dims.size(); ++d) {
    if (value.shape.dims[d].size == 1) continue;
    const std::string index = out.fresh_name(fmt::format("i{}", d));
    out.idxs.push_back({index, value.shape.dims[d].size, {}, {}});
    for (Refinement& view : out.refs) view.access[d] = Affine::of(index);
  }
  const std::string scalar = out.fresh_name("value");
  out.stmts.emplace_back(stripe::Load{value.into, scalar});
  out.stmts.emplace_back(stripe::Store{scalar, copy.into});
  return out;
}

class Delay {
 public:
  Delay(Block& around, const DelayPlan& plan)
      : around_(around), loop_(*around.stmts[0].block()), plan_(plan) {}

  void run() {
    Block first_row = row_alone();
    Block store = std::move(statement(plan_.store));
    // All statements except the store now work on the row after this one.
    const std::map<std::string, Affine> after = {{plan_.row, Affine::of(plan_.row) + Affine(1)}};
    std::vector<Affine> is_row = {Affine(plan_.rows - 2) - Affine::of(plan_.row)};
    for (const Affine& constraint : loop_.constraints)
      is_row.push_back(constraint.substitute(after));
    view_row_after(store, after);
    hand_over_around(first_row);
    std::vector<Statement> all = copies(store);

    const std::map<int, std::set<std::string>> own = own_allocations();
    std::vector<Statement> before_host, after_host;
    for (size_t i = 0; i < plan_.store; ++i)
      if (i != plan_.host)
        (i < plan_.host ? before_host : after_host).push_back(std::move(loop_.stmts[i]));
    Block host = std::move(statement(plan_.host));
    if (!before_host.empty())
      all.emplace_back(guarded(loop_, std::move(before_host), is_row, own.at(0)));
    all.emplace_back(joined(std::move(host), std::move(store), is_row));
    if (!after_host.empty())
      all.emplace_back(guarded(loop_, std::move(after_host), is_row, own.at(2)));
    loop_.stmts = std::move(all);
    around_.stmts.insert(around_.stmts.begin(), Statement(std::move(first_row)));
  }

 private:
  Block& statement(size_t i) { return *loop_.stmts[i].block(); }

  // The part to which a statement belongs: 0 before the host, 1 the host, 2 after it.
  int part_of(size_t statement) const {
    return statement < plan_.host ? 0 : statement == plan_.host ? 1 : 2;
  }
  std::set<int> parts_using(const std::string& name) {
    std::set<int> parts;
    for (size_t i = 0; i < plan_.store; ++i)
      for (const Refinement& view : statement(i).refs)
        if (view.dir != RefDir::none && view.from == name) parts.insert(part_of(i));
    return parts;
  }
  // For the parts before and after the host: the allocations that only this part uses.
  std::map<int, std::set<std::string>> own_allocations() {
    std::map<int, std::set<std::string>> own = {{0, {}}, {2, {}}};
    for (const Refinement& ref : loop_.refs) {
      const std::set<int> parts = ref.dir == RefDir::none ? parts_using(ref.into) : std::set<int>();
      if (parts.size() == 1 && *parts.begin() != 1) own[*parts.begin()].insert(ref.into);
    }
    return own;
  }

  // A block with all statements of the first row except the store.
  Block row_alone() const {
    Block out = loop_;
    out.name.clear();
    out.comments.clear();
    out.tags = {};
    const Block& store = *out.stmts.back().block();
    std::erase_if(out.refs, [&](const Refinement& ref) {
      return std::any_of(store.refs.begin(), store.refs.end(), [&](const Refinement& view) {
        return is_written(view) && view.from == ref.into;
      });
    });
    out.stmts.pop_back();
    substitute_indices(out, {{plan_.row, Affine(0)}});
    std::erase_if(out.idxs, [&](const Index& index) { return index.name == plan_.row; });
    return out;
  }

  // Moves the views of the other statements to the next row. The store keeps views of this row.
  void view_row_after(Block& store, const std::map<std::string, Affine>& after) {
    std::vector<Refinement> refs;
    for (const Refinement& ref : loop_.refs) {
      Refinement moved = ref;
      for (Affine& access : moved.access) access = access.substitute(after);
      if (ref.dir == RefDir::none || moved.access == ref.access || parts_using(ref.into).empty()) {
        refs.push_back(ref);
        continue;
      }
      Refinement stored = ref;
      stored.into = loop_.fresh_name(ref.into + "_stored");
      if (view_as(store, ref.into, stored.into)) refs.push_back(std::move(stored));
      refs.push_back(std::move(moved));
    }
    loop_.refs = std::move(refs);
  }

  // Makes the block's views of `before` views of `now`. True if it has any.
  static bool view_as(Block& block, const std::string& before, const std::string& now) {
    bool did = false;
    for (Refinement& view : block.refs) {
      if (view.dir == RefDir::none || view.from != before) continue;
      view.from = now;
      did = true;
    }
    return did;
  }

  // Moves the allocations that the store reads out of the loop, so that they live from row to row.
  void hand_over_around(Block& first_row) {
    for (Refinement& ref : loop_.refs) {
      if (ref.dir != RefDir::none || !plan_.handed_over.count(ref.into)) continue;
      Refinement made = ref;
      made.into = around_.fresh_name(ref.into);
      Refinement& first = *first_row.find_ref(ref.into);
      ref.from = first.from = made.into;
      ref.dir = RefDir::inout;
      first.dir = RefDir::out;
      ref.offset_bytes = first.offset_bytes = 0;
      around_.refs.push_back(std::move(made));
    }
  }

  // Statements that copy the values which the next row would overwrite before the store reads them.
  // The store then reads the copies, which live for one row.
  std::vector<Statement> copies(Block& store) {
    std::vector<Statement> all;
    for (const std::string& name : plan_.copied) {
      Refinement copy = *loop_.find_ref(name);
      copy.dir = RefDir::none;
      copy.from.clear();
      copy.into = loop_.fresh_name(name + "_stored");
      all.emplace_back(copy_of(*loop_.find_ref(name), copy));
      view_as(store, name, copy.into);
      loop_.refs.push_back(std::move(copy));
    }
    return all;
  }

  Block joined(Block host, Block store, const std::vector<Affine>& is_row) {
    std::map<std::string, int64_t> host_tile, store_tile;
    std::map<std::string, Affine> steps;
    for (const DelayPlan::Piece& piece : plan_.pieces) {
      host_tile[piece.host] = 1;
      store_tile[piece.store] = piece.count;
      steps[piece.store] = Affine::of(piece.host);
    }
    split_block(host, host_tile);
    split_block(store, store_tile);
    if (!store.stmts[0].block()->idxs.empty() && store.stmts[0].block()->constraints.empty())
      store.stmts[0].block()->tags.set(stripe::tag::kUnroll);
    host.tags = {};
    host.name = host.name.empty()    ? store.name
                : store.name.empty() ? host.name
                                     : joined_name(host.name, store.name);
    host.comments = joined_comments(std::move(host.comments), std::move(store.comments));

    // The loop over the store's pieces becomes that of the host.
    Block& piece_of_store = *store.stmts[0].block();
    substitute_indices(store, steps);
    for (Refinement& ref : store.refs) {
      const std::string known = ref.into;
      ref.into = host.fresh_name(known);
      for (Refinement& view : piece_of_store.refs)
        if (view.from == known && view.dir != RefDir::none) view.from = ref.into;
      host.refs.push_back(std::move(ref));
    }
    std::vector<Statement> calculates = std::move(host.stmts);

    std::map<std::string, Affine> here;
    for (const Affine& form : is_row)
      for (const Affine::Term& term : form.terms())
        here[term.first] = Affine::of(bring_in(host, term.first));
    std::vector<Affine> is_row_here;
    for (const Affine& form : is_row) is_row_here.push_back(form.substitute(here));
    Block calculated = guarded(host, std::move(calculates), is_row_here);
    host.stmts.clear();
    host.stmts.emplace_back(std::move(piece_of_store));
    host.stmts.emplace_back(std::move(calculated));
    return host;
  }

  Block& around_;
  Block& loop_;
  const DelayPlan& plan_;
};

// Finds the kernel's only loop over several statements, and returns the block around it; null if
// there is none. If the kernel itself is that loop, it becomes a block around it. `names` are first
// the tensors around the kernel, and afterwards those of the returned block.
Block* around_rows(Block& kernel, TensorNames& names) {
  const bool holds_blocks = std::all_of(kernel.stmts.begin(), kernel.stmts.end(),
                                        [](const Statement& stmt) { return stmt.block(); });
  if (kernel.stmts.size() > 1 && holds_blocks && !runs_in_its_own_way(kernel))
    split_block(kernel, {});
  for (Block* around = &kernel; around && around->stmts.size() == 1;) {
    names = names.inside(*around);
    Block* inner = around->stmts[0].block();
    if (inner && inner->stmts.size() > 1) return around;
    around = inner;
  }
  return nullptr;
}

Refusal delay_rows(Block& kernel, TensorNames names, const DelayRules& rules) {
  Block* around = around_rows(kernel, names);
  if (!around) return "it is no loop over rows inside a kernel";
  Block& loop = *around->stmts[0].block();
  open_plain_blocks(loop);
  DelayPlan plan;
  STRIA_RETURN_IF_REFUSED(plan_delay(*around, loop, names, rules, plan));
  Delay(*around, plan).run();
  return Refusal::none();
}

}  // namespace

void describe(DelayStoresOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("stream", options.stream, "only stores that bypass the caches");
  fields.add(
      "min_instructions", options.min_instructions,
      "instructions of the next row's statement beside which the store runs, for each element that "
      "is stored, at least; by the records of the functions; -1 = the calibration of the model "
      "says",
      {-1, 1 << 20});
  fields.retired("functions", "the functions' records say how much a statement computes");
}

Status delay_stores(stripe::Program& program, const DelayStoresOptions& given,
                    PassContext& context) {
  DelayStoresOptions options = given;
  options.min_instructions =
      or_machines(given.min_instructions, context.model().core_facts().hiding_instructions, -1);
  const DelayRules rules = {options.stream, options.min_instructions};
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    Block changed = kernel;
    if (const Refusal refusal = delay_rows(changed, around, rules)) {
      context.skipped(kernel.name, refusal.reason());
      return Status();
    }
    kernel = std::move(changed);
    context.count("kernels_changed");
    context.changed();
    return Status();
  });
}

}  // namespace stria::passes
