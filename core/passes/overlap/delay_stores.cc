// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/delay_stores.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/joined_name.h"
#include "stria/rewrite/plain_blocks.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// The block's only index of its own, if the others bring one value in.
const Index* own_index(const Block& block) {
  const Index* own = nullptr;
  for (const Index& index : block.idxs) {
    if (index.affine && index.range == 1) continue;
    if (index.affine || own) return nullptr;
    own = &index;
  }
  return own;
}

// Nothing but loops around blocks?
bool is_plain_loop(const Block& block) {
  return !block.idxs.empty() &&
         std::all_of(block.idxs.begin(), block.idxs.end(),
                     [](const Index& index) { return !index.affine && index.range > 1; }) &&
         block.constraints.empty() && block.location.empty() && !block.tags.has("unroll") &&
         !block.tags.has("deps") && !is_leaf(block);
}

// Are all stores to the block's view `name` of the block around it past the caches?
bool streams(const Block& block, const std::string& name) {
  for (const Refinement& ref : block.refs) {
    if (ref.from != name || !is_written(ref)) continue;
    if (ref.tags.has("stream")) continue;
    if (is_leaf(block)) return false;
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block(); inner && !streams(*inner, ref.into)) return false;
  }
  return true;
}

// The statements as a block of their own in `around`, run where the constraints, over around's
// indices, hold. Allocations of `around` in `own` move in.
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
    bool seen = false, written = false;
    for (const Statement& stmt : stmts)
      for (const Refinement& view : stmt.block()->refs) {
        if (view.dir == RefDir::none || view.from != ref.into) continue;
        seen = true;
        written |= is_written(view);
      }
    if (!seen) continue;
    Refinement view = ref;
    view.dir = written ? RefDir::out : RefDir::in;
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

class Delay {
 public:
  Delay(Block& around, const DelayStoresOptions& options)
      : around_(around), loop_(*around.stmts[0].block()), options_(options) {}

  // "" or why the loop stays; then it may be flatter than it was.
  std::string run() {
    open_plain_blocks(loop_);
    if (std::string reason = find_parts(); !reason.empty()) return reason;
    if (std::string reason = find_pieces(); !reason.empty()) return reason;
    rebuild();
    return "";
  }

 private:
  // A loop of the host, the one of the store that goes with it, and how many of its turns in each.
  struct Piece {
    std::string host, store;
    int64_t count = 1;
  };

  Block& statement(size_t i) { return *loop_.stmts[i].block(); }
  bool is_handed_over(const std::string& name) const { return handed_over_.count(name) > 0; }

  std::string find_parts() {
    const Index* row = own_index(loop_);
    if (!row || row->range < 2) return "its rows are not one loop";
    row_ = row->name;
    rows_ = row->range;
    if (!loop_.location.empty() || loop_.tags.has("parallel") || loop_.tags.has("deps") ||
        loop_.tags.has("pipeline") || loop_.tags.has("unroll") || around_.tags.has("deps"))
      return "its rows are no plain loop";
    for (const Affine& constraint : loop_.constraints)
      if (constraint.coefficient(row_) > 0) return "its rows do not begin with the first";
    for (const Statement& stmt : loop_.stmts)
      if (!stmt.block() || !stmt.deps.empty()) return "a row is not a list of blocks";
    store_ = loop_.stmts.size() - 1;
    for (const Refinement& ref : loop_.refs) {
      if (ref.dir == RefDir::inout || ref.agg || ref.swizzle) return "rows add up";
      if (ref.dir == RefDir::in && writes_to(ref.from))
        return "rows are read where they are stored";
      if (options_.stream && ref.dir == RefDir::out && !streams(loop_, ref.from))
        return "nothing goes past the caches";
    }
    bool stored = false;
    for (const Refinement& view : statement(store_).refs) {
      const Refinement* ref = view.dir == RefDir::none ? nullptr : loop_.find_ref(view.from);
      if (!ref) continue;
      stored |= is_written(view) && ref->dir == RefDir::out;
      if (is_written(view) != (ref->dir == RefDir::out))
        return "what it stores last is not all that a row gives";
      if (ref->dir == RefDir::none) handed_over_.insert(ref->into);
    }
    if (!stored) return "what it does last with a row goes nowhere";
    for (size_t i = 0; i < store_; ++i)
      for (const Refinement& view : statement(i).refs)
        if (view.dir != RefDir::none && loop_.find_ref(view.from)->dir == RefDir::out)
          return "a row is stored in several places";
    return "";
  }

  bool writes_to(const std::string& name) const {
    return std::any_of(loop_.refs.begin(), loop_.refs.end(), [&](const Refinement& ref) {
      return ref.dir == RefDir::out && ref.from == name;
    });
  }

  // Which statement the store goes with, and in which pieces.
  std::string find_pieces() {
    if (!is_plain_loop(statement(store_))) return "its store is no plain loop";
    for (size_t i = store_; i-- > 0;)
      if (computes_one_of(statement(i), options_.functions)) {
        host_ = i;
        return why_not_beside();
      }
    return "no statement of a row computes much";
  }

  std::string why_not_beside() {
    const Block& host = statement(host_);
    const Block& store = statement(store_);
    if (!is_plain_loop(host)) return "what computes most is no plain loop";
    if (host.idxs.size() != store.idxs.size()) return "the store has other loops";
    pieces_.clear();
    for (size_t n = 0; n < host.idxs.size(); ++n) {
      const Index &step = host.idxs[n], &stored = store.idxs[n];
      const int64_t count = ceil_div(stored.range, step.range);
      if (ceil_div(stored.range, count) != step.range) return "the store has fewer pieces";
      pieces_.push_back({step.name, stored.name, count});
    }
    for (const Refinement& ref : host.refs)
      if (ref.agg) return "what computes most adds up";
    for (size_t i = 0; i < host_; ++i)
      for (const Refinement& view : statement(i).refs)
        if (is_written(view) && is_handed_over(view.from))
          return "what the store reads is written too early";
    for (const Refinement& view : host.refs)
      if (is_written(view) && is_handed_over(view.from) && !in_same_pieces(view))
        return "what the store reads is not written piece by piece";
    for (const Refinement& ref : loop_.refs)
      if (ref.dir == RefDir::none && adds_up_in_parts(ref.into))
        return "running values last over several parts of a row";
    return "";
  }

  // Do the pieces that the host writes lie beside each other, and does the store read the same
  // ones?
  bool in_same_pieces(const Refinement& written) {
    const Block& host = statement(host_);
    const Block& store = statement(store_);
    for (const Refinement& read : store.refs) {
      if (read.dir == RefDir::none || read.from != written.from) continue;
      const std::vector<Interval> here = stripe::reach_of_view(host, written, host.index_box());
      const std::vector<Interval> there = stripe::reach_of_view(store, read, store.index_box());
      const bool apart = std::all_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
        for (size_t d = 0; d < written.access.size(); ++d) {
          const int64_t step = written.access[d].coefficient(piece.host);
          const int64_t stored = read.access[d].coefficient(piece.store);
          if (step > 0 && written.access[d] == Affine::of(piece.host, step) &&
              read.access[d] == Affine::of(piece.store, stored) && stored * piece.count == step &&
              here[d].lower >= 0 && here[d].upper < step && there[d].lower >= 0 &&
              there[d].upper < stored)
            return true;
        }
        return false;
      });
      if (!apart) return false;
    }
    return true;
  }

  // The part of a row that a statement belongs to: before the host, the host, after it.
  int part_of(size_t statement) const { return statement < host_ ? 0 : statement == host_ ? 1 : 2; }
  std::set<int> parts_using(const std::string& name) {
    std::set<int> parts;
    for (size_t i = 0; i < store_; ++i)
      for (const Refinement& view : statement(i).refs)
        if (view.dir != RefDir::none && view.from == name) parts.insert(part_of(i));
    return parts;
  }
  bool adds_up_in_parts(const std::string& name) {
    if (parts_using(name).size() < 2) return false;
    for (size_t i = 0; i < store_; ++i)
      for (const Refinement& view : statement(i).refs)
        if (view.from == name && view.dir == RefDir::inout) return true;
    return false;
  }

  void rebuild() {
    Block first_row = row_alone();
    Block store = std::move(statement(store_));
    // The row after this one, which all but the store is about.
    const std::map<std::string, Affine> after = {{row_, Affine::of(row_) + Affine(1)}};
    std::vector<Affine> is_row = {Affine(rows_ - 2) - Affine::of(row_)};
    for (const Affine& constraint : loop_.constraints)
      is_row.push_back(constraint.substitute(after));
    view_row_after(store, after);
    hand_over_around(first_row);

    std::map<int, std::set<std::string>> own;  // allocations that one part alone uses
    for (const Refinement& ref : loop_.refs) {
      const std::set<int> parts = ref.dir == RefDir::none ? parts_using(ref.into) : std::set<int>();
      if (parts.size() == 1 && *parts.begin() != 1) own[*parts.begin()].insert(ref.into);
    }
    std::vector<Statement> before_host, after_host, all;
    for (size_t i = 0; i < store_; ++i)
      if (i != host_) (i < host_ ? before_host : after_host).push_back(std::move(loop_.stmts[i]));
    Block host = std::move(statement(host_));
    if (!before_host.empty())
      all.emplace_back(guarded(loop_, std::move(before_host), is_row, own[0]));
    all.emplace_back(joined(std::move(host), std::move(store), is_row));
    if (!after_host.empty())
      all.emplace_back(guarded(loop_, std::move(after_host), is_row, own[2]));
    loop_.stmts = std::move(all);
    around_.stmts.insert(around_.stmts.begin(), Statement(std::move(first_row)));
  }

  // All but the store of the first row.
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
    substitute_indices(out, {{row_, Affine(0)}});
    std::erase_if(out.idxs, [&](const Index& index) { return index.name == row_; });
    return out;
  }

  void view_row_after(Block& store, const std::map<std::string, Affine>& after) {
    std::vector<Refinement> refs;
    for (Refinement& ref : loop_.refs) {
      if (ref.dir != RefDir::in) {
        refs.push_back(std::move(ref));
        continue;
      }
      Refinement moved = ref;
      for (Affine& access : moved.access) access = access.substitute(after);
      const bool differs = moved.access != ref.access;
      const bool calculated_from = !parts_using(ref.into).empty();
      if (differs && calculated_from) {
        ref.into = loop_.fresh_name(moved.into + "_stored");
        if (view_as(store, moved.into, ref.into)) refs.push_back(std::move(ref));
        refs.push_back(std::move(moved));
      } else {
        refs.push_back(std::move(ref));
      }
    }
    loop_.refs = std::move(refs);
  }

  // The block views `now` where it viewed `before`. True if it did.
  static bool view_as(Block& block, const std::string& before, const std::string& now) {
    bool did = false;
    for (Refinement& view : block.refs) {
      if (view.dir == RefDir::none || view.from != before) continue;
      view.from = now;
      did = true;
    }
    return did;
  }

  // What is handed over lives as long as the loop.
  void hand_over_around(Block& first_row) {
    for (Refinement& ref : loop_.refs) {
      if (ref.dir != RefDir::none || !is_handed_over(ref.into)) continue;
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

  Block joined(Block host, Block store, const std::vector<Affine>& is_row) {
    std::map<std::string, int64_t> host_tile, store_tile;
    std::map<std::string, Affine> steps;
    for (const Piece& piece : pieces_) {
      host_tile[piece.host] = 1;
      store_tile[piece.store] = piece.count;
      steps[piece.store] = Affine::of(piece.host);
    }
    split_block(host, host_tile);
    split_block(store, store_tile);
    if (!store.stmts[0].block()->idxs.empty() && store.stmts[0].block()->constraints.empty())
      store.stmts[0].block()->tags.set("unroll");
    host.tags = {};
    host.name = host.name.empty()    ? store.name
                : store.name.empty() ? host.name
                                     : joined_name(host.name, store.name);
    host.comments = joined_comments(std::move(host.comments), std::move(store.comments));

    // The store's loop becomes the host's.
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
  const DelayStoresOptions& options_;
  std::string row_;
  int64_t rows_ = 0;
  size_t store_ = 0, host_ = 0;        // statements of the loop
  std::set<std::string> handed_over_;  // allocations of the loop that the store reads
  std::vector<Piece> pieces_;          // of the host, one for each of its loops
};

// The block around the kernel's only loop over several statements; null if there is none.
Block* around_rows(Block& kernel) {
  Block* around = &kernel;
  while (around->stmts.size() == 1) {
    Block* inner = around->stmts[0].block();
    if (!inner) return nullptr;
    if (inner->stmts.size() > 1) return around;
    around = inner;
  }
  return nullptr;
}

}  // namespace

void describe(DelayStoresOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("stream", options.stream, "only stores past the caches");
  fields.add("functions", options.functions,
             "of which the next row's statement that the store goes with computes one");
}

Status delay_stores(stripe::Program& program, const DelayStoresOptions& options,
                    PassContext& context) {
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames&) {
    context.matched();
    Block changed = kernel;
    Block* around = around_rows(changed);
    const std::string reason =
        around ? Delay(*around, options).run() : "it is no loop over rows inside a kernel";
    if (!reason.empty()) {
      context.skipped(kernel.name, reason);
      return Status();
    }
    kernel = std::move(changed);
    context.count("kernels_changed");
    context.changed();
    return Status();
  });
}

}  // namespace stria::passes
