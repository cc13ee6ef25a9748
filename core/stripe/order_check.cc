// SPDX-License-Identifier: Apache-2.0
// The verifier's rules about what runs before what: enough dependencies in #deps blocks, and in a
// #placed program disjoint arena ranges for allocations that are alive together. Also units inside
// the counts of the hardware model, which needs the ranges of indices.
#include <algorithm>
#include <functional>

#include "stria/stripe/findings.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/printer.h"
#include "stria/stripe/statement_conflicts.h"

namespace stria::stripe {
namespace {

// Which statements of a block certainly run before which: by position, in a #deps block by the
// paths of its dependencies.
class Order {
 public:
  explicit Order(const Block& block) : by_deps_(block.tags.has("deps")) {
    if (!by_deps_) return;
    size_t count = block.stmts.size();
    words_ = (count + 63) / 64;
    before_.assign(count * words_, 0);
    for (size_t i = 0; i < count; ++i) {
      for (int64_t dep : block.stmts[i].deps) {
        size_t d = static_cast<size_t>(dep);
        for (size_t w = 0; w < words_; ++w) before_[i * words_ + w] |= before_[d * words_ + w];
        before_[i * words_ + d / 64] |= uint64_t{1} << (d % 64);
      }
    }
  }
  bool runs_before(size_t a, size_t b) const {
    if (!by_deps_) return a < b;
    return before_[b * words_ + a / 64] >> (a % 64) & 1;
  }

 private:
  bool by_deps_;
  size_t words_ = 0;
  std::vector<uint64_t> before_;  // row i: bit set of the statements that run before i
};

// A statement's touch of one of its block's refinements.
struct Touch {
  size_t statement = 0;
  const Refinement* ref = nullptr;  // the block's
  std::vector<Interval> part;       // of the refinement's view
  bool writes = false;
  bool reads = false;  // also, or something inside does
};

std::vector<Interval> whole(const Refinement& ref) {
  std::vector<Interval> part;
  for (const Dim& dim : ref.shape.dims) part.push_back({0, dim.size - 1});
  return part;
}

std::vector<Touch> touches(const Place& place) {
  const Block& block = *place.block;
  std::vector<Touch> all;
  auto add = [&](size_t i, const std::string& name, bool writes, bool reads) {
    const Refinement* ref = block.find_ref(name);
    all.push_back({i, ref, whole(*ref), writes, reads});
  };
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Statement& stmt = block.stmts[i];
    if (auto* s = std::get_if<Load>(&stmt.op)) add(i, s->from, false, true);
    if (auto* s = std::get_if<Store>(&stmt.op)) add(i, s->into, true, false);
    if (auto* s = stmt.special()) {
      for (const std::string& name : s->inputs) add(i, name, false, true);
      // A special does not say that it combines only.
      for (const std::string& name : s->outputs) add(i, name, true, true);
    }
    if (const Block* inner = stmt.block()) {
      auto box = inner->index_box(place.box);
      for (const Refinement& ref : inner->refs)
        if (ref.dir != RefDir::none)
          all.push_back({i, block.find_ref(ref.from), reach(*inner, ref, box),
                         ref.dir != RefDir::in, is_loaded(*inner, ref)});
    }
  }
  return all;
}

// The refinement's allocation: the depth of the block that makes it, and its name there. Structure
// has been checked: the names are found.
std::pair<int, std::string> allocation_of(const Place& place, const Refinement& ref) {
  const Place* at = &place;
  const Refinement* view = &ref;
  for (; view->dir != RefDir::none; at = at->parent) view = at->parent->block->find_ref(view->from);
  return {at->depth, view->into};
}

bool parts_meet(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::max(a[i].lower, b[i].lower) > std::min(a[i].upper, b[i].upper)) return false;
  return true;
}

bool conflict(const Touch& a, const Touch& b) {
  if (!a.writes && !b.writes) return false;
  // Two views of one tensor may overlap.
  if (a.ref != b.ref) return true;
  // Into one running aggregation, the block's own, values go in any order; one that opens inside
  // starts again, and a load inside sees which have gone before.
  if (a.ref->agg && !a.reads && !b.reads) return false;
  return parts_meet(a.part, b.part);
}

void check_deps(const Place& place, Findings& findings) {
  const Block& block = *place.block;
  Order order(block);
  std::map<std::string, size_t> defined;
  auto use = [&](size_t i, const std::string& name) {
    auto at = defined.find(name);
    if (at != defined.end() && !order.runs_before(at->second, i))
      findings.add(
          place, i,
          fmt::format("it uses ${} of statement {} without waiting for it", name, at->second));
  };
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Operation& op = block.stmts[i].op;
    if (auto* s = std::get_if<Load>(&op)) {
      for (const std::string& name : s->at) use(i, name);
      defined[s->into] = i;
    }
    if (auto* s = std::get_if<LoadIndex>(&op)) defined[s->into] = i;
    if (auto* s = std::get_if<Constant>(&op)) defined[s->into] = i;
    if (auto* s = std::get_if<Store>(&op)) {
      for (const std::string& name : s->at) use(i, name);
      use(i, s->from);
    }
    if (auto* s = std::get_if<Intrinsic>(&op)) {
      for (const std::string& name : s->inputs) use(i, name);
      for (const std::string& name : s->outputs) defined[name] = i;
    }
  }
  std::optional<StatementConflicts> exact;  // asked only where boxes meet
  // Only touches of one allocation can conflict.
  std::map<std::pair<int, std::string>, std::vector<Touch>> by_tensor;
  for (Touch& touch : touches(place))
    by_tensor[allocation_of(place, *touch.ref)].push_back(std::move(touch));
  for (const auto& [tensor, list] : by_tensor)
    for (size_t b = 0; b < list.size(); ++b)
      for (size_t a = 0; a < b; ++a) {
        if (list[a].statement == list[b].statement ||
            order.runs_before(list[a].statement, list[b].statement))
          continue;
        if (!conflict(list[a], list[b])) continue;
        if (!exact) exact.emplace(place);
        if (!exact->must_wait(list[b].statement, list[a].statement)) continue;
        findings.add(place, list[b].statement,
                     fmt::format("it {} '{}', which statement {} {}, without waiting for it",
                                 list[b].writes ? "writes" : "reads", list[b].ref->into,
                                 list[a].statement, list[a].writes ? "writes" : "reads"));
        if (findings.full()) return;
      }
}

// --- arenas
// -------------------------------------------------------------------------------------------

struct Arena {
  const Refinement* ref = nullptr;
  const Place* owner = nullptr;
  std::string location;
  int64_t begin = 0, end = 0;  // bytes
  std::vector<size_t> users;   // statements of the owner that touch it
};

std::vector<size_t> users_of(const Block& block, const std::string& name) {
  std::vector<size_t> users;
  auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    const Statement& stmt = block.stmts[i];
    bool used = false;
    if (auto* s = std::get_if<Load>(&stmt.op)) used = s->from == name;
    if (auto* s = std::get_if<Store>(&stmt.op)) used = s->into == name;
    if (auto* s = stmt.special()) used = has(s->inputs) || has(s->outputs);
    if (const Block* inner = stmt.block())
      used = std::any_of(inner->refs.begin(), inner->refs.end(),
                         [&](const Refinement& r) { return r.from == name; });
    if (used) users.push_back(i);
  }
  return users;
}

class ArenaCheck {
 public:
  explicit ArenaCheck(Findings& findings) : findings_(findings) {}

  void block(const Place& place) {
    const Block& block = *place.block;
    Order order(block);
    size_t outer = live_.size();
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none) continue;
      Arena arena{
          &ref, &place, to_string(ref.location), ref.offset_bytes, 0, users_of(block, ref.into)};
      int64_t copies = std::max<int64_t>(1, block.tags.integer("pipeline").value_or(1));
      int64_t bytes = 0;
      if (__builtin_mul_overflow(ref.shape.span_bytes(), copies, &bytes) ||
          __builtin_add_overflow(arena.begin, bytes, &arena.end)) {
        findings_.add(place, ref, "its arena ends beyond 2^63 bytes");
        return;
      }
      // What encloses is alive if the statement that this block is lies in its lifetime; the
      // entry's tensors always are.
      for (size_t i = 0; i < live_.size(); ++i) {
        const Arena& other = live_[i];
        bool together = i < outer ? true : alive_together(order, arena, other, place.depth == 0);
        if (!together || other.location != arena.location) continue;
        if (arena.begin >= other.end || other.begin >= arena.end) continue;
        findings_.add(
            place, ref,
            fmt::format(
                "its bytes {} to {} of '{}' are also those of '{}' ({} to {}), which is alive then",
                arena.begin, arena.end - 1, arena.location, other.ref->into, other.begin,
                other.end - 1));
      }
      live_.push_back(std::move(arena));
    }
    std::vector<Arena> saved = live_;
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Block* inner = block.stmts[i].block();
      if (!inner) continue;
      std::erase_if(live_, [&](const Arena& arena) {
        return arena.owner == &place && place.depth > 0 && !alive_at(order, arena, i);
      });
      this->block({&place, inner, i, place.depth + 1, inner->index_box(place.box)});
      live_ = saved;
    }
    live_.resize(outer);
  }

 private:
  // Alive from the first to the last user: dead at statement i only if all users run before or
  // after it.
  static bool alive_at(const Order& order, const Arena& arena, size_t i) {
    auto before = [&](size_t u) { return u != i && order.runs_before(u, i); };
    auto after = [&](size_t u) { return u != i && order.runs_before(i, u); };
    return !std::all_of(arena.users.begin(), arena.users.end(), before) &&
           !std::all_of(arena.users.begin(), arena.users.end(), after);
  }

  static bool alive_together(const Order& order, const Arena& a, const Arena& b, bool always) {
    if (always) return true;
    auto all_before = [&](const Arena& x, const Arena& y) {
      for (size_t u : x.users)
        for (size_t v : y.users)
          if (!order.runs_before(u, v)) return false;
      return true;
    };
    return !all_before(a, b) && !all_before(b, a);
  }

  Findings& findings_;
  std::vector<Arena> live_;  // of the enclosing blocks and this one
};

// A block's points queue for the units that its location names, so that an index there may have
// more values than there are units; a number or a memory's unit must exist.
void check_units(const Place& place, const Location& location, bool queues,
                 const VerifyOptions& options,
                 const std::function<void(const std::string&)>& report) {
  for (const LocationUnit& unit : location.path) {
    auto known = options.units->find(unit.name);
    if (known == options.units->end()) continue;  // reported before
    for (const Affine& form : unit.units) {
      if (queues && !form.is_constant()) continue;
      Interval range = interval_of(form, place.box);
      if (range.lower < 0 || range.upper >= known->second)
        report(fmt::format("'{}[{}]' is unit {} to {}, the hardware model has {}", unit.name,
                           form.to_string(), range.lower, range.upper, known->second));
    }
  }
}

// Not in an index of no values, its own or one around it: what starts at such an index has no values
// either, though its interval may look as if it had.
bool runs(const Place& place) {
  for (const Place* at = &place; at; at = at->parent)
    for (const auto& [name, range] : at->box)
      if (range.empty()) return false;
  return true;
}

}  // namespace

void check_order(const Program& program, const VerifyOptions& options, Findings& findings) {
  visit_blocks(program.entry, [&](const Place& place) {
    if (findings.full()) return;
    if (place.block->tags.has("deps")) check_deps(place, findings);
    if (!options.units || !runs(place)) return;
    check_units(place, place.block->location, true, options,
                [&](const std::string& m) { findings.add(place, m); });
    for (const Refinement& ref : place.block->refs)
      check_units(place, ref.location, false, options,
                  [&](const std::string& m) { findings.add(place, ref, m); });
  });
  if (!program.entry.tags.has("placed") || !findings.empty()) return;
  Place place;
  place.block = &program.entry;
  ArenaCheck(findings).block(place);
}

}  // namespace stria::stripe
