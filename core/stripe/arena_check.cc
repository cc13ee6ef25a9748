// SPDX-License-Identifier: Apache-2.0
// In a #placed program the bytes of allocations that are alive together are disjoint, and none
// reaches beyond its memory. An allocation is alive from its first to its last user; inside a
// pipelined block with N points under way it has N places in a row, and what one point has finished
// with another may still use, so that everything there counts as alive together.
#include <algorithm>

#include "stria/stripe/findings.h"
#include "stria/stripe/printer.h"
#include "stria/stripe/statement_order.h"

namespace stria::stripe {
namespace {

struct Arena {
  const Refinement* ref = nullptr;
  const Block* owner = nullptr;
  std::vector<std::vector<Interval>>
      units;                   // of each step of its location, the numbers it may have
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

// Whether both may lie in one memory. A step without numbers may be any of the unit's.
bool may_be_one_memory(const Arena& a, const Arena& b) {
  const auto& path_a = a.ref->location.path;
  const auto& path_b = b.ref->location.path;
  if (path_a.size() != path_b.size()) return false;
  for (size_t i = 0; i < path_a.size(); ++i) {
    if (path_a[i].name != path_b[i].name) return false;
    for (size_t n = 0; n < std::min(a.units[i].size(), b.units[i].size()); ++n) {
      const Interval &x = a.units[i][n], &y = b.units[i][n];
      if (std::max(x.lower, y.lower) > std::min(x.upper, y.upper)) return false;
      if (a.owner != b.owner) continue;
      const Affine distance = path_a[i].units[n] - path_b[i].units[n];
      if (distance.is_constant() && distance.constant() != 0) return false;
    }
  }
  return true;
}

class ArenaCheck {
 public:
  ArenaCheck(const VerifyOptions& options, Findings& findings)
      : options_(options), findings_(findings) {}

  // `copies`: points of the pipelined blocks around that may be under way together.
  void block(const Place& place, int64_t copies) {
    const Block& block = *place.block;
    const StatementOrder order(block);
    const size_t outer = live_.size();
    const int64_t points = std::max<int64_t>(1, block.tags.integer("pipeline").value_or(1));
    if (__builtin_mul_overflow(copies, points, &copies))
      return findings_.add(place, "more than 2^63 points may be under way together");
    const bool together = copies > 1 || place.depth == 0;
    for (const Refinement& ref : block.refs) {
      if (ref.dir != RefDir::none) continue;
      Arena arena = arena_of(place, ref);
      int64_t bytes = 0;
      if (__builtin_mul_overflow(ref.shape.span_bytes(), copies, &bytes) ||
          __builtin_add_overflow(arena.begin, bytes, &arena.end)) {
        findings_.add(place, ref, "its arena ends beyond 2^63 bytes");
        return;
      }
      fits(place, arena);
      // What encloses is alive if the statement that this block is lies in its lifetime; the
      // entry's tensors always are.
      for (size_t i = 0; i < live_.size(); ++i) {
        const Arena& other = live_[i];
        if (i >= outer && !together && !alive_together(order, arena, other)) continue;
        if (arena.begin >= other.end || other.begin >= arena.end) continue;
        if (!may_be_one_memory(arena, other)) continue;
        findings_.add(
            place, ref,
            fmt::format(
                "its bytes {} to {} of '{}' are also those of '{}' ({} to {}), which is alive then",
                arena.begin, arena.end - 1, to_string(ref.location), other.ref->into, other.begin,
                other.end - 1));
      }
      live_.push_back(std::move(arena));
    }
    const std::vector<Arena> saved = live_;
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Block* inner = block.stmts[i].block();
      if (!inner) continue;
      if (!together)
        std::erase_if(live_, [&](const Arena& arena) {
          return arena.owner == &block && !alive_at(order, arena, i);
        });
      this->block({&place, inner, i, place.depth + 1, inner->index_box(place.box)}, copies);
      if (copies == 1) live_ = saved;
    }
    // The owners' places end here.
    if (points > 1 || copies == 1) live_.resize(outer);
  }

 private:
  static Arena arena_of(const Place& place, const Refinement& ref) {
    Arena arena{&ref, place.block, {}, ref.offset_bytes, 0, users_of(*place.block, ref.into)};
    for (const LocationUnit& unit : ref.location.path) {
      arena.units.emplace_back();
      for (const Affine& form : unit.units)
        arena.units.back().push_back(interval_of(form, place.box));
    }
    return arena;
  }

  void fits(const Place& place, const Arena& arena) {
    const Location& location = arena.ref->location;
    if (!options_.memory_bytes || location.empty() || !location.path.back().owners.empty()) return;
    auto size = options_.memory_bytes->find(location.path.back().name);
    if (size != options_.memory_bytes->end() && arena.end > size->second)
      findings_.add(place, *arena.ref,
                    fmt::format("its bytes {} to {} do not fit into '{}', which has {} bytes",
                                arena.begin, arena.end - 1, to_string(location), size->second));
  }

  // Alive from the first to the last user: dead at statement i only if all users run before or
  // after it.
  static bool alive_at(const StatementOrder& order, const Arena& arena, size_t i) {
    auto before = [&](size_t u) { return u != i && order.runs_before(u, i); };
    auto after = [&](size_t u) { return u != i && order.runs_before(i, u); };
    return !std::all_of(arena.users.begin(), arena.users.end(), before) &&
           !std::all_of(arena.users.begin(), arena.users.end(), after);
  }

  static bool alive_together(const StatementOrder& order, const Arena& a, const Arena& b) {
    auto all_before = [&](const Arena& x, const Arena& y) {
      for (size_t u : x.users)
        for (size_t v : y.users)
          if (!order.runs_before(u, v)) return false;
      return true;
    };
    return !all_before(a, b) && !all_before(b, a);
  }

  const VerifyOptions& options_;
  Findings& findings_;
  std::vector<Arena> live_;  // of the enclosing blocks and this one
};

}  // namespace

void check_arenas(const Program& program, const VerifyOptions& options, Findings& findings) {
  if (!program.entry.tags.has("placed")) return;
  Place place;
  place.block = &program.entry;
  place.box = program.entry.index_box();
  ArenaCheck(options, findings).block(place, 1);
}

}  // namespace stria::stripe
