// SPDX-License-Identifier: Apache-2.0
// Lane blocks (S11): where barriers may stand, what may stand beside lane blocks, and that what one
// lane stores another sees only after a barrier.
//
// The second part follows the statements of a located block in order, with the accesses that no
// barrier has closed yet; at a loop the last ones of a pass meet the first ones of the next. Two
// accesses that meet in one element need a barrier unless the lanes are the same.
#include <algorithm>
#include <map>
#include <set>

#include "stria/base/text.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/lane_blocks.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/access_rules.h"
#include "stria/stripe/verify/owner_forms.h"

namespace stria::stripe {
namespace {

// --- where things stand -------------------------------------------------------------------------

class Standing {
 public:
  explicit Standing(Findings& findings) : findings_(findings) {}

  // What is around the block's statements.
  struct Around {
    bool located = false;   // a block with a location
    bool lanes = false;     // a lane block: one with numbered units inside a located one
    bool beside = false;    // lane blocks stand in the innermost located block
    bool parallel = false;  // between it and here a loop whose points have no order
  };

  void block(const Place& place, const Around& outer) {
    if (findings_.full()) return;
    const Block& block = *place.block;
    Around around = outer;
    if (block.tags.has(tag::kAsync) || block.tags.has(tag::kRoles)) {
      around.beside = false;
    } else if (place.parent && place.parent->block->tags.has(tag::kRoles)) {
      around = {false, false, holds_lane_blocks(block), false};
    } else if (numbers_units(block)) {
      around.lanes |= outer.located;
      around.beside = holds_lane_blocks(block);
      around.parallel = false;
    } else if (!block.location.empty() && !outer.located) {
      around.beside = holds_lane_blocks(block);
    } else if (block.tags.has(tag::kStencil)) {
      around.beside = false;
    } else if (block.tags.has(tag::kParallel)) {
      around.parallel = true;
    }
    around.located |= !block.location.empty();
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Statement& stmt = block.stmts[i];
      if (const Block* inner = stmt.block())
        this->block({&place, inner, i, place.depth + 1, {}}, around);
      else if (is_barrier(stmt))
        barrier(place, i, around);
      else if (is_wait(stmt) || is_arrive(stmt))
        for_all_lanes(place, i, around);
      else if (around.beside)
        findings_.add(place, i,
                      "beside lane blocks stand only lane blocks, loops of them, #stencil blocks "
                      "and barriers: it is open which lane does this");
    }
  }

 private:
  void barrier(const Place& place, size_t i, const Around& around) {
    const Special& special = *place.block->stmts[i].special();
    if (!special.inputs.empty() || !special.outputs.empty() || !special.params.empty())
      findings_.add(place, i, "a barrier has no operands and no parameters");
    if (!around.located)
      findings_.add(place, i, "a barrier stands in a block that has a location");
    else if (around.lanes)
      for_all_lanes(place, i, around);
    else if (around.parallel)
      findings_.add(place, i, "a barrier cannot stand in a loop whose points run in any order");
  }

  void for_all_lanes(const Place& place, size_t i, const Around& around) {
    if (around.lanes)
      findings_.add(place, i,
                    fmt::format("{} is for all lanes and cannot stand inside a lane block",
                                is_barrier(place.block->stmts[i]) ? "a barrier" : "it"));
  }

  Findings& findings_;
};

// --- what barriers order ------------------------------------------------------------------------

// An access. `at` gives values of variables of loops around it: if each pass of a loop has a
// barrier, only one pass can meet accesses outside.
struct Reached {
  const Access* access = nullptr;
  std::vector<std::pair<std::string, int64_t>> at;  // variable, value
};

// The accesses in a part of the block that reach its beginning, or its end, without a barrier
// between.
struct Reach {
  std::vector<Reached> first, last;
  bool open = true;  // there is a way from its beginning to its end without a barrier
};

class BarrierCheck {
 public:
  BarrierCheck(const Level& root, const std::vector<Access>& inside, Verdicts& verdicts)
      : verdicts_(verdicts), root_(root) {
    for (const Access& access : inside) {
      // The lane block, or the stencil, that the access is in.
      const Level* leaf = nullptr;
      for (const Level* at = access.level.get(); at != &root; at = at->around.get()) {
        levels_[at->block] = at;
        if (!is_between(*at->block)) leaf = at;
      }
      // What is asynchronous is ordered by waits (S19).
      if (!leaf || access.view.depth >= leaf->depth || leaf->block->tags.has(tag::kAsync)) continue;
      if (!is_distributed(*access.view.allocation)) leaves_[leaf->block].push_back(&access);
    }
    levels_[root.block] = &root;
  }

  // Whether different lanes may combine into one element at once.
  bool lanes_combine() const {
    for (const auto& [leaf, accesses] : leaves_) {
      const Level& level = *levels_.at(leaf);
      const Place around{nullptr, level.around->block, 0, level.depth - 1, {}};
      for (size_t a = 0; a < accesses.size(); ++a)
        for (size_t b = a; b < accesses.size(); ++b) {
          if (!run_in_one_aggregation(*accesses[a], *accesses[b], level.depth)) continue;
          const Result<bool> apart =
              no_other_lane(around, {accesses[a], {}}, {accesses[b], {}}, Order::same_pass);
          if (!apart.ok() || !*apart) return true;
        }
    }
    return false;
  }

  Reach sequence(const Place& place) {
    const Block& block = *place.block;
    Reach all;
    std::vector<Reached> live;
    for (size_t i = 0; i < block.stmts.size(); ++i) {
      const Statement& stmt = block.stmts[i];
      Reach part;
      if (const Block* inner = stmt.block()) {
        part = is_between(*inner) ? loop({&place, inner, i, place.depth + 1, {}}) : leaf(*inner);
      } else if (is_barrier(stmt)) {
        part.open = false;
      }
      meet(place, live, part.first, Order::same_pass);
      if (all.open) add(all.first, part.first);
      if (!part.open) live.clear();
      add(live, part.last);
      all.open &= part.open;
    }
    all.last = std::move(live);
    return all;
  }

  // A block whose points run one after the other, each of them on all lanes.
  Reach loop(const Place& place) {
    const Block& block = *place.block;
    Reach part = sequence(place);
    if (!sequential(block).empty()) {
      if (block.tags.integer(tag::kPipeline).value_or(1) > 1) {
        pipeline(place, part);
      } else {
        const bool next_only = !part.open && block.constraints.empty();
        meet(place, part.last, part.first, next_only ? Order::next_pass : Order::later_pass);
        if (next_only) only_ends(block, part);
      }
    }
    part.open |= !block.constraints.empty() ||
                 std::any_of(block.idxs.begin(), block.idxs.end(),
                             [](const Index& index) { return index.range < 1; });
    return part;
  }

 private:
  // How the second of two accesses follows the first.
  enum class Order { same_pass, next_pass, later_pass, under_way };

  // Points are under way at once: a barrier of one point does not separate what another one does. A
  // point's own allocations lie where those of a finished point lay; if each point meets a barrier,
  // all lanes have met one since. A point that constraints leave out meets none.
  void pipeline(const Place& place, const Reach& point) {
    const auto is_own = [&](const Reached& reached) {
      return reached.access->view.depth >= place.depth;
    };
    std::vector<Reached> others;
    add_inside(*place.block, others);
    std::erase_if(others, is_own);
    meet(place, others, others, Order::under_way);
    if (!point.open) return;
    std::vector<Reached> last, first;
    std::copy_if(point.last.begin(), point.last.end(), std::back_inserter(last), is_own);
    std::copy_if(point.first.begin(), point.first.end(), std::back_inserter(first), is_own);
    meet(place, last, first, Order::later_pass);
  }

  void add_inside(const Block& block, std::vector<Reached>& all) const {
    for (const Statement& stmt : block.stmts)
      if (const Block* inner = stmt.block()) {
        if (is_between(*inner))
          add_inside(*inner, all);
        else
          add(all, leaf(*inner).first);
      }
  }

  // There is a barrier in each pass. What comes before the loop meets the first pass only, what
  // comes after it the last pass only.
  void only_ends(const Block& block, Reach& part) const {
    const std::vector<std::string> names = sequential(block);
    for (const auto& [name, range] : levels_.at(&block)->variables) {
      if (!std::count(names.begin(), names.end(), name)) continue;
      for (Reached& reached : part.first) reached.at.emplace_back(name, 0);
      for (Reached& reached : part.last) reached.at.emplace_back(name, range.upper);
    }
  }

  static void add(std::vector<Reached>& to, const std::vector<Reached>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  Reach leaf(const Block& block) const {
    Reach part;
    if (auto at = leaves_.find(&block); at != leaves_.end())
      for (const Access* access : at->second) part.first.push_back({access, {}});
    part.last = part.first;
    return part;
  }

  // Variables of the block over which it is a loop, outermost first.
  std::vector<std::string> sequential(const Block& block) const {
    auto at = levels_.find(&block);
    if (at == levels_.end()) return {};  // nothing inside is accessed
    const std::vector<std::string> located = located_variables(*at->second);
    std::vector<std::string> names;
    for (const auto& variable : at->second->variables)
      if (!std::count(located.begin(), located.end(), variable.first))
        names.push_back(variable.first);
    return names;
  }

  void meet(const Place& place, const std::vector<Reached>& before,
            const std::vector<Reached>& after, Order order) {
    std::set<std::pair<const Refinement*, size_t>> told;
    for (const Reached& first : before)
      for (const Reached& second : after) {
        const Access &a = *first.access, &b = *second.access;
        if (a.view.allocation != b.view.allocation || (!a.writes && !b.writes)) continue;
        const size_t from = position_in(place, a), to = position_in(place, b);
        if (told.count({a.view.allocation, to})) continue;
        const std::string what = fmt::format("it {} '{}', which other lanes {} in statement {}{}",
                                             b.writes ? "writes" : "reads", b.view.allocation->into,
                                             a.writes ? "write" : "read", from, where(order));
        Result<bool> apart = no_other_lane(place, first, second, order);
        if (apart.ok() && *apart) continue;
        told.insert({a.view.allocation, to});
        if (apart.ok())
          verdicts_.findings.add(place, to, what);
        else
          verdicts_.undecided(place, fmt::format("statement {}: {}", to, what), apart.status());
      }
  }

  static std::string_view where(Order order) {
    if (order == Order::same_pass) return ", without a barrier between";
    if (order == Order::under_way)
      return " of another point under way, and no barrier parts points of a pipeline";
    return " of the pass before, without a barrier between";
  }

  // The statement of the block that the access is in.
  static size_t position_in(const Place& place, const Access& access) {
    const Level* at = access.level.get();
    while (at->depth > place.depth + 1) at = at->around.get();
    return at->position;
  }

  // The numbers of the units below the root on the way to the access: they say which lane it is.
  std::optional<std::vector<std::pair<std::string, Affine>>> lane_of(const Access& access) const {
    std::vector<std::pair<std::string, Affine>> out;
    std::set<std::string> known;  // the innermost number of a unit counts
    for (const Level* at = access.level.get(); at != &root_; at = at->around.get()) {
      const auto& path = at->block->location.path;
      for (auto unit = path.rbegin(); unit != path.rend(); ++unit) {
        if (!known.insert(unit->name).second) continue;
        for (const Affine& form : unit->units) {
          auto number = compose(form, at->forms);
          if (!number) return std::nullopt;
          out.emplace_back(unit->name, std::move(*number));
        }
      }
    }
    return out;
  }

  // Do the accesses never meet in an element unless the same lane does both?
  Result<bool> no_other_lane(const Place& place, const Reached& first, const Reached& second,
                             Order order) const {
    const bool around = order != Order::same_pass;
    const Access &a = *first.access, &b = *second.access;
    const Level* common = levels_.at(place.block);
    const AccessPair pair(a, b, around ? common->around.get() : common);
    const auto lane_a = lane_of(a), lane_b = lane_of(b);
    if (!pair.exact() || !lane_a || !lane_b) return too_large();
    std::vector<Affine> lanes;  // different lanes: one of these is not 0
    bool comparable = !lane_a->empty() && lane_a->size() == lane_b->size();
    for (size_t i = 0; comparable && i < lane_a->size(); ++i) {
      comparable = (*lane_a)[i].first == (*lane_b)[i].first;
      lanes.push_back(pair.of_b((*lane_b)[i].second) - pair.of_a((*lane_a)[i].second));
    }
    IntegerSet meeting = pair.meeting();
    for (const auto& [name, value] : first.at) meeting.add_eq(pair.of_a(Affine::of(name)) - value);
    for (const auto& [name, value] : second.at) meeting.add_eq(pair.of_b(Affine::of(name)) - value);
    for (const IntegerSet& passes :
         around ? later(*common, pair, meeting, order) : std::vector<IntegerSet>{meeting}) {
      if (!comparable) {
        STRIA_ASSIGN(bool empty, passes.is_empty());
        if (!empty) return false;
        continue;
      }
      for (const Affine& lane : lanes)
        for (const Affine& apart : {lane - 1, Affine(-1) - lane}) {
          IntegerSet set = passes;
          set.add_ge(apart);
          STRIA_ASSIGN(bool empty, set.is_empty());
          if (!empty) return false;
        }
    }
    return true;
  }

  // The parts of `meeting` in which the second access is in a later pass: one of the loop's
  // variables is the first in which the pass differs.
  std::vector<IntegerSet> later(const Level& loop, const AccessPair& pair,
                                const IntegerSet& meeting, Order order) const {
    const std::vector<std::string> names = sequential(*loop.block);
    auto step = [&](const std::string& name) {
      return pair.of_b(Affine::of(name)) - pair.of_a(Affine::of(name));
    };
    IntegerSet same = meeting;
    for (const auto& [name, range] : loop.variables)
      if (!std::count(names.begin(), names.end(), name)) same.add_eq(step(name));
    std::vector<IntegerSet> parts;
    for (size_t i = 0; i < names.size(); ++i) {
      IntegerSet part = same;
      part.add_ge(step(names[i]) - 1);
      if (order == Order::next_pass) {
        part.add_ge(Affine(1) - step(names[i]));
        for (size_t j = i + 1; j < names.size(); ++j)
          for (const auto& [name, range] : loop.variables)
            if (name == names[j]) {
              part.add_eq(pair.of_a(Affine::of(name)) - range.upper);
              part.add_eq(pair.of_b(Affine::of(name)));
            }
      }
      parts.push_back(std::move(part));
      same.add_eq(step(names[i]));
    }
    return parts;
  }

  Verdicts& verdicts_;
  const Level& root_;
  std::map<const Block*, const Level*> levels_;  // of the blocks below that something accesses
  std::map<const Block*, std::vector<const Access*>> leaves_;
};

}  // namespace

void check_barriers(const Place& place, const Level& level, const std::vector<Access>& inside,
                    Verdicts& verdicts) {
  BarrierCheck(level, inside, verdicts).loop(place);
}

bool lanes_combine(const Level& level, const std::vector<Access>& inside) {
  const VerifyOptions options;
  Findings findings;
  VerifyReport report;
  Verdicts verdicts{options, findings, report};
  return BarrierCheck(level, inside, verdicts).lanes_combine();
}

void check_standing(const Program& program, Findings& findings) {
  Place place;
  place.block = &program.entry;
  Standing(findings).block(place, {});
}

}  // namespace stria::stripe
