// SPDX-License-Identifier: Apache-2.0
// Walks the program with every executed load and store in hand: each lies, under all enclosing
// constraints, inside its allocation. The other rules about accesses (access_rules.h) are asked on
// the way: about one access where it stands, about several at the end of the block that they
// concern. Intervals decide first, integer sets what they leave open.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "stria/stripe/lane_blocks.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/access_rules.h"

namespace stria::stripe {
namespace {

bool has_clamp(const Block& block) {
  return std::any_of(block.refs.begin(), block.refs.end(),
                     [](const Refinement& ref) { return ref.tags.has(tag::kClamp); }) ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return stmt.block() && has_clamp(*stmt.block());
         });
}

class AccessCheck {
 public:
  AccessCheck(Verdicts& verdicts, bool clamps)
      : verdicts_(verdicts), asked_(verdicts.options.accesses), clamps_(clamps) {}

  void block(const Place& place, const LevelPtr& outer,
             const std::map<std::string, View>& outer_views, const Ranges& outer_box) {
    if (verdicts_.findings.full()) return;
    const Block& block = *place.block;
    if (std::any_of(block.idxs.begin(), block.idxs.end(),
                    [](const Index& i) { return i.range == 0; }))
      return;
    Ranges box = outer_box;
    const LevelPtr level = make_level(place, outer, box);
    std::map<std::string, View> views;
    for (const Refinement& ref : block.refs) {
      views[ref.into] = make_view(ref, *level, outer_views);
      if (asked_.inside && is_argument(ref, place.depth)) argument(place, ref, views[ref.into]);
      if (asked_.owners && ref.dir == RefDir::none && is_distributed(ref))
        check_owner_map(place, ref, verdicts_);
    }
    const Rules rules = rules_of(place, *level);
    if (rules.any()) open_.emplace_back();
    accesses(place, level, views, box);
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (const Block* inner = block.stmts[i].block())
        this->block({&place, inner, i, place.depth + 1, {}}, level, views, box);
    if (!rules.any()) return;
    std::vector<Access> inside = std::move(open_.back());
    open_.pop_back();
    if (rules.races) check_races(place, *level, inside, verdicts_);
    if (rules.barriers) check_barriers(place, *level, inside, verdicts_);
    if (rules.poison) check_poison(place, *level, inside, verdicts_);
    if (rules.stencil) check_stencil(place, inside, verdicts_);
    if (!open_.empty()) std::move(inside.begin(), inside.end(), std::back_inserter(open_.back()));
  }

 private:
  // Which rules look at all accesses inside a block.
  struct Rules {
    bool races = false, barriers = false, poison = false, stencil = false;
    bool any() const { return races || barriers || poison || stencil; }
  };

  Rules rules_of(const Place& place, const Level& level) const {
    const Block& block = *place.block;
    Rules rules;
    rules.races = !level.variables.empty() &&
                  ((asked_.races && (block.tags.has(tag::kParallel) ||
                                     block.tags.has(tag::kVector) || !block.location.empty())) ||
                   (asked_.pipelines && block.tags.integer(tag::kPipeline).value_or(1) > 1));
    rules.barriers = asked_.barriers && holds_lane_blocks(block);
    // The program's tensors never hold poison.
    rules.poison = asked_.poison && clamps_ && place.depth > 0 &&
                   std::any_of(block.refs.begin(), block.refs.end(),
                               [](const Refinement& ref) { return ref.dir == RefDir::none; });
    rules.stencil = asked_.stencils && verdicts_.options.stencils && block.tags.has(tag::kStencil);
    return rules;
  }

  // Such a view lies inside its tensor, touched or not.
  void argument(const Place& place, const Refinement& ref, const View& view) {
    for (size_t i = 0; view.start && i < view.start->size(); ++i) {
      const Affine& start = (*view.start)[i];
      const int64_t size = view.allocation->shape.dims[i].size, own = ref.shape.dims[i].size;
      if (own == 0 || (start.constant() >= 0 && start.constant() <= size - own)) continue;
      verdicts_.findings.add(
          place, ref,
          fmt::format("it runs over {} to {}, outside of dimension {} of '{}', 0 to {}",
                      start.constant(), start.constant() + (own - 1), i, view.allocation->into,
                      size - 1));
      return;
    }
  }

  void accesses(const Place& place, const LevelPtr& level, const std::map<std::string, View>& views,
                const Ranges& box) {
    std::vector<Access> own = own_accesses(level, views);
    bool clamped = false;
    for (const Access& access : own) {
      if (asked_.inside && access.view.beyond == View::Beyond::refused) inside(place, access, box);
      if (asked_.owners && is_distributed(*access.view.allocation))
        check_owner(place, access, verdicts_);
      clamped |= asked_.poison && access.view.beyond == View::Beyond::poison;
    }
    if (clamped) check_clamped_loads(place, own, verdicts_);
    if (!open_.empty()) std::move(own.begin(), own.end(), std::back_inserter(open_.back()));
  }

  void inside(const Place& place, const Access& access, const Ranges& box) {
    const View& view = access.view;
    ++verdicts_.report.accesses;
    auto unknown = [&](const Status& why) {
      verdicts_.undecided(place, *access.ref, "it stays inside its allocation", why);
    };
    if (!view.start || !view.bounds_start) return unknown(too_large());
    const auto& dims = view.bounds->shape.dims;
    std::optional<IntegerSet> points;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Affine start = (*view.start)[i] - (*view.bounds_start)[i];
      int64_t last = dims[i].size - access.extent[i];  // of `start`
      Interval range = interval_of(start, box);
      if (range.lower >= 0 && range.upper <= last) continue;
      if (!access.level->exact || last <= -kLargestNumber || last >= kLargestNumber)
        return unknown(too_large());
      if (!points) points = access.level->set();
      Result<bool> low = points->implies(start);
      if (!low.ok()) return unknown(low.status());
      Result<bool> high = points->implies(Affine(last) - start);
      if (!high.ok()) return unknown(high.status());
      if (*low && *high) continue;
      return outside(place, access, i, start, *points);
    }
    if (!points) ++verdicts_.report.proved_by_box;
  }

  void outside(const Place& place, const Access& access, size_t dim, const Affine& start,
               const IntegerSet& points) {
    Result<Bounds> bounds = points.bounds(start);
    std::string reach = "leaves";
    if (bounds.ok() && bounds->lower && bounds->upper)
      reach = fmt::format("runs over {} to {}, outside of", *bounds->lower,
                          *bounds->upper + access.extent[dim] - 1);
    verdicts_.findings.add(
        place, *access.ref,
        fmt::format("an executed {} {} dimension {} of '{}', 0 to {}",
                    access.writes ? "store" : "load", reach, dim, access.view.bounds->into,
                    access.view.bounds->shape.dims[dim].size - 1));
  }

  Verdicts& verdicts_;
  const AccessRules asked_;
  const bool clamps_;
  // Accesses inside each enclosing block that a rule looks at as a whole.
  std::vector<std::vector<Access>> open_;
};

}  // namespace

Status too_large() { return Status(StatusCode::unknown, "its numbers are too large"); }

void Verdicts::undecided(const Place& place, const std::string& question, const Status& why) {
  ++report.unknown_accesses;
  report.warnings.push_back(
      fmt::format("{}: undecided whether {} ({})", place.path(), question, why.message()));
}

void Verdicts::undecided(const Place& place, const Refinement& ref, const std::string& question,
                         const Status& why) {
  ++report.unknown_accesses;
  report.warnings.push_back(fmt::format("{}: refinement `{}`: undecided whether {} ({})",
                                        place.path(), print_line(ref), question, why.message()));
}

void check_accesses(const Program& program, const VerifyOptions& options, Findings& findings,
                    VerifyReport& report) {
  Place place;
  place.block = &program.entry;
  Verdicts verdicts{options, findings, report};
  AccessCheck(verdicts, has_clamp(program.entry)).block(place, nullptr, {}, {});
}

namespace {

std::vector<Access> accesses_of_kernel(const Block& main, const Block& kernel) {
  // Programs of many steps have thousands of tensors, of which a kernel sees a few.
  std::set<std::string_view> seen;
  for (const Refinement& ref : kernel.refs) seen.insert(ref.from);
  const auto tensor_of = [](const Refinement& ref) -> const std::string& {
    return ref.from.empty() ? ref.into : ref.from;
  };
  std::set<std::string_view> touched;
  for (const Refinement& ref : main.refs)
    if (seen.contains(ref.into)) touched.insert(tensor_of(ref));
  std::map<std::string, View> views;
  std::map<std::string, const Refinement*> tensors;
  for (const Refinement& ref : main.refs) {
    // Views of one tensor count as one allocation.
    const std::string& tensor = tensor_of(ref);
    if (!touched.contains(tensor)) continue;
    View& view = views[ref.into];
    view.allocation = view.bounds = tensors.emplace(tensor, &ref).first->second;
    view.depth = 1;
    view.start = ref.access;
    if (ref.agg) view.chain = &ref;
    view.chain_depth = 1;
  }
  const Place outer{nullptr, &main, 0, 1, {}};
  std::vector<Access> all;
  collect_accesses({&outer, &kernel, 0, 2, {}}, nullptr, views, all);
  return all;
}

}  // namespace

bool combines_across_points(const Block& main, const Block& kernel,
                            const std::vector<std::string>& indices) {
  std::vector<std::string> variables;
  for (const std::string& index : indices) variables.push_back(fmt::format("{}@{}", index, 2));
  return combines_across(accesses_of_kernel(main, kernel), variables, 2);
}

bool combines_across_lanes(const Block& main, const Block& kernel) {
  if (!holds_lane_blocks(kernel)) return false;
  const std::vector<Access> all = accesses_of_kernel(main, kernel);
  if (all.empty()) return false;
  const Level* level = all[0].level.get();
  while (level->around) level = level->around.get();
  return lanes_combine(*level, all);
}

}  // namespace stria::stripe
