// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/delay_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "stria/rewrite/index_role.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// A value that the store reads may be copied if at least so many elements are stored for each of
// its elements.
constexpr double kStoredPerCopied = 16;

// The block's only index that is no outer value; null if there are several.
const Index* own_index(const Block& block) {
  const Index* own = nullptr;
  for (const Index& index : block.idxs) {
    if (index.affine && index.range == 1) continue;
    if (index.affine || own) return nullptr;
    own = &index;
  }
  return own;
}

// Is the block just loops around blocks, without constraints, a location, or tags that change how
// it runs?
bool is_plain_loop(const Block& block) {
  return !block.idxs.empty() &&
         std::all_of(block.idxs.begin(), block.idxs.end(),
                     [](const Index& index) { return !index.affine && index.range > 1; }) &&
         block.constraints.empty() && block.location.empty() &&
         !block.tags.has(stripe::tag::kUnroll) && !block.tags.has(stripe::tag::kDeps) &&
         !is_leaf(block);
}

// Do all stores of the block to `name`, a refinement around it, bypass the caches?
bool streams(const Block& block, const std::string& name) {
  for (const Refinement& ref : block.refs) {
    if (ref.from != name || !is_written(ref)) continue;
    if (ref.tags.has(stripe::tag::kStream)) continue;
    if (is_leaf(block)) return false;
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block(); inner && !streams(*inner, ref.into)) return false;
  }
  return true;
}

// The number of elements that one run of the block stores. Constraints are ignored.
double stores_of(const Block& block) {
  double stores = 0;
  for (const Statement& stmt : block.stmts) {
    if (const Block* inner = stmt.block()) stores += stores_of(*inner);
    if (std::holds_alternative<stripe::Store>(stmt.op)) ++stores;
    if (const stripe::Special* special = stmt.special())
      for (const std::string& name : special->outputs)
        stores += static_cast<double>(block.find_ref(name)->shape.element_count());
  }
  for (const Index& index : block.idxs) stores *= static_cast<double>(index.range);
  return stores;
}

class DelayPlanner {
 public:
  DelayPlanner(const Block& around, const Block& loop, const TensorNames& names,
               const DelayRules& rules, DelayPlan& plan)
      : around_(around), loop_(loop), names_(names), rules_(rules), plan_(plan) {}

  Refusal run() {
    STRIA_RETURN_IF_REFUSED(find_rows());
    STRIA_RETURN_IF_REFUSED(find_store());
    STRIA_RETURN_IF_REFUSED(why_tensors_meet());
    return find_host();
  }

 private:
  const Block& statement(size_t i) const { return *loop_.stmts[i].block(); }
  bool is_handed_over(const std::string& name) const { return plan_.handed_over.count(name) > 0; }

  Refusal find_rows() {
    const Index* row = own_index(loop_);
    if (!row || row->range < 2) return "its rows are not one loop";
    plan_.row = row->name;
    plan_.rows = row->range;
    if (!loop_.location.empty() || loop_.tags.has(stripe::tag::kParallel) ||
        loop_.tags.has(stripe::tag::kDeps) || loop_.tags.has(stripe::tag::kPipeline) ||
        loop_.tags.has(stripe::tag::kUnroll) || around_.tags.has(stripe::tag::kDeps))
      return "its rows are no plain loop";
    for (const Affine& constraint : loop_.constraints)
      if (constraint.coefficient(plan_.row) > 0) return "its rows do not begin with the first";
    for (const Statement& stmt : loop_.stmts)
      if (!stmt.block() || !stmt.deps.empty()) return "a row is not a list of blocks";
    for (const Refinement& ref : loop_.refs)
      if (ref.dir == RefDir::inout || ref.agg || ref.swizzle) return "rows add up";
    return Refusal::none();
  }

  // Checks the last statement, which must be the only one that touches what it stores. Finds the
  // allocations that it reads.
  Refusal find_store() {
    plan_.store = loop_.stmts.size() - 1;
    std::set<std::string> stored;
    for (const Refinement& view : statement(plan_.store).refs) {
      const Refinement* ref = view.dir == RefDir::none ? nullptr : loop_.find_ref(view.from);
      if (!ref) continue;
      if (is_written(view) != (ref->dir == RefDir::out))
        return "what it stores last is not all that it does last with a row";
      if (ref->dir == RefDir::out) stored.insert(ref->into);
      if (ref->dir == RefDir::none) plan_.handed_over.insert(ref->into);
    }
    if (stored.empty()) return "what it does last with a row goes nowhere";
    for (size_t i = 0; i < plan_.store; ++i)
      for (const Refinement& view : statement(i).refs)
        if (view.dir != RefDir::none && stored.count(view.from))
          return "a row is stored in several places";
    for (const std::string& name : stored)
      if (rules_.stream && !streams(loop_, loop_.find_ref(name)->from))
        return "nothing goes past the caches";
    if (!is_plain_loop(statement(plan_.store))) return "its store is no plain loop";
    return Refusal::none();
  }

  // Refuses tensors that meet: a row is stored while the next row is read and its other results are
  // written.
  Refusal why_tensors_meet() const {
    for (const Refinement& out : loop_.refs)
      for (const Refinement& other : loop_.refs) {
        if (out.dir != RefDir::out || other.dir == RefDir::none || &out == &other ||
            names_.of(out.from) != names_.of(other.from))
          continue;
        return other.dir == RefDir::in ? "rows are read where they are stored"
                                       : "a row is stored in several places";
      }
    return Refusal::none();
  }

  // Finds the host: of the statements beside which the store can run, the one that computes most.
  // If there is none, gives the reason against the first candidate.
  Refusal find_host() {
    const double stored = stores_of(statement(plan_.store));
    const double enough = static_cast<double>(rules_.min_instructions) * stored;
    std::vector<std::pair<double, size_t>> hosts;
    for (size_t i = 0; i < plan_.store; ++i)
      if (const double work = instructions_of(statement(i)); work >= enough)
        hosts.emplace_back(work, i);
    if (hosts.empty()) return "no statement of a row computes much";
    std::sort(hosts.begin(), hosts.end(), std::greater<>());  // of equals, the last one first
    Refusal first = Refusal::none();
    for (const auto& [work, i] : hosts) {
      plan_.host = i;
      Refusal refusal = find_pieces();
      if (!refusal) refusal = find_copies(stored);
      if (!refusal) return refusal;
      if (!first) first = refusal;
    }
    return first;
  }

  Refusal find_pieces() {
    const Block& host = statement(plan_.host);
    const Block& store = statement(plan_.store);
    if (!is_plain_loop(host)) return "what computes most is no plain loop";
    if (host.idxs.size() != store.idxs.size()) return "the store has other loops";
    plan_.pieces.clear();
    for (size_t n = 0; n < host.idxs.size(); ++n) {
      const Index &step = host.idxs[n], &stored = store.idxs[n];
      const int64_t count = ceil_div(stored.range, step.range);
      if (ceil_div(stored.range, count) != step.range) return "the store has fewer pieces";
      plan_.pieces.push_back({step.name, stored.name, count});
    }
    return Refusal::none();
  }

  // Finds what the next row writes before the store has read it. `stored` is the number of elements
  // that are stored.
  Refusal find_copies(double stored) {
    plan_.copied.clear();
    for (size_t i = 0; i <= plan_.host; ++i)
      for (const Refinement& view : statement(i).refs) {
        if (!is_written(view) || !is_handed_over(view.from)) continue;
        if (i == plan_.host && in_same_pieces(view)) continue;
        const Refinement& value = *loop_.find_ref(view.from);
        const int64_t elements = value.shape.element_count();
        // A loop cannot index registers, so only a single value there can be copied.
        const bool small = static_cast<double>(elements) * kStoredPerCopied <= stored &&
                           (elements == 1 || value.location.empty());
        if (!small)
          return i == plan_.host ? "what the store reads is not written piece by piece"
                                 : "what the store reads is written too early";
        plan_.copied.insert(view.from);
      }
    return Refusal::none();
  }

  // Are the pieces that the host writes disjoint, and does the store read the same pieces?
  bool in_same_pieces(const Refinement& written) const {
    const Block& host = statement(plan_.host);
    const Block& store = statement(plan_.store);
    for (const Refinement& read : store.refs) {
      if (read.dir == RefDir::none || read.from != written.from) continue;
      const std::vector<Interval> here = stripe::reach_of_view(host, written, host.index_box());
      const std::vector<Interval> there = stripe::reach_of_view(store, read, store.index_box());
      const auto is_apart = [&](const DelayPlan::Piece& piece) {
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
      };
      if (!std::all_of(plan_.pieces.begin(), plan_.pieces.end(), is_apart)) return false;
    }
    return true;
  }

  const Block& around_;
  const Block& loop_;
  const TensorNames& names_;
  const DelayRules& rules_;
  DelayPlan& plan_;
};

}  // namespace

Refusal plan_delay(const Block& around, const Block& loop, const TensorNames& names,
                   const DelayRules& rules, DelayPlan& plan) {
  return DelayPlanner(around, loop, names, rules, plan).run();
}

}  // namespace stria::passes
