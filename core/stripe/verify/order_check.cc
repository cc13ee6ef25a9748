// SPDX-License-Identifier: Apache-2.0
// The verifier's rules about what runs before what: enough dependencies in #deps blocks. Also what
// the hardware model says of units: their counts, which needs the ranges of indices, the points
// that a pipeline may have under way, the names of stencils.
#include <algorithm>
#include <deque>
#include <functional>

#include "stria/base/text.h"
#include "stria/stripe/block_points.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/statement_conflicts.h"
#include "stria/stripe/statement_order.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {
namespace {

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

// A barrier has its place among all that touches memory.
void check_barrier_order(const Place& place, const StatementOrder& order, Findings& findings) {
  const auto& stmts = place.block->stmts;
  for (size_t b = 0; b < stmts.size(); ++b) {
    if (!is_barrier(stmts[b])) continue;
    for (size_t i = 0; i < stmts.size(); ++i) {
      if (i == b || !stmts[i].block()) continue;
      const size_t first = std::min(i, b), second = std::max(i, b);
      if (!order.runs_before(first, second))
        findings.add(
            place, second,
            fmt::format("it does not wait for statement {}, and one of the two is a barrier",
                        first));
    }
  }
}

void check_deps(const Place& place, Findings& findings) {
  const Block& block = *place.block;
  StatementOrder order(block);
  check_barrier_order(place, order, findings);
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

// The values of the form at the points that the block runs: its own constraints and those around
// count. The box where that is not known.
Interval values_at(const Place& place, const Affine& form) {
  std::vector<const Block*> blocks;
  for (const Place* at = &place; at; at = at->parent) blocks.push_back(at->block);
  std::deque<BlockPoints> points;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
    points.push_back(points_of(**block, points.empty() ? nullptr : &points.back(),
                               static_cast<int64_t>(points.size())));
  const Interval box = interval_of(form, place.box);
  const BlockPoints& own = points.back();
  if (!own.runs || !own.exact) return box;
  const IntegerSet set = own.set();
  if (auto empty = set.is_empty(); empty.ok() && *empty) return Interval();
  auto bounds = set.bounds(form.substitute(own.forms));
  if (!bounds.ok() || !bounds->lower || !bounds->upper) return box;
  return {*bounds->lower, *bounds->upper};
}

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
      auto fits = [&] {
        return range.empty() || (range.lower >= 0 && range.upper < known->second);
      };
      if (!fits()) range = values_at(place, form);
      if (!fits())
        report(fmt::format("'{}[{}]' is unit {} to {}, the hardware model has {}", unit.name,
                           form.to_string(), range.lower, range.upper, known->second));
    }
  }
}

// Not in an index of no values, its own or one around it: what starts at such an index has no
// values either, though its interval may look as if it had.
bool runs(const Place& place) {
  for (const Place* at = &place; at; at = at->parent)
    for (const auto& [name, range] : at->box)
      if (range.empty()) return false;
  return true;
}

// The unit is that of the nearest location. Without a number, each point takes any instance.
void check_pipeline(const Place& place, const VerifyOptions& options, Findings& findings) {
  const int64_t points = place.block->tags.integer(tag::kPipeline).value_or(1);
  if (points < 2 || !options.pipeline_depths) return;
  const Place* at = &place;
  while (at && at->block->location.empty()) at = at->parent;
  if (!at) return;
  const LocationUnit& unit = at->block->location.path.back();
  const auto depth = options.pipeline_depths->find(unit.name);
  if (depth == options.pipeline_depths->end()) return;
  int64_t instances = 1;
  if (unit.units.empty() && options.units)
    if (const auto count = options.units->find(unit.name); count != options.units->end())
      instances = std::max<int64_t>(1, count->second);
  if (points > depth->second * instances)
    findings.add(place, fmt::format("#pipeline={}: '{}' has at most {} points under way", points,
                                    unit.name, depth->second * instances));
}

void check_stencil_name(const Place& place, const VerifyOptions& options, Findings& findings) {
  const TagValue* tag = place.block->tags.find(tag::kStencil);
  if (!tag) return;
  const auto* name = std::get_if<std::string>(tag);
  if (!name || name->empty())
    return findings.add(place, "#stencil needs the name of an instruction, as #stencil=\"mma\"");
  // What works on matrices element by element needs no instruction of its own (S15).
  if (!options.stencils || *name == "elements") return;
  std::vector<std::string> known;
  for (const Stencil& stencil : *options.stencils) {
    if (stencil.name == *name) return;
    known.push_back(stencil.name);
  }
  findings.add(place, fmt::format("the hardware model has no stencil '{}'{}", *name,
                                  did_you_mean(*name, known)));
}

}  // namespace

void check_order(const Program& program, const VerifyOptions& options, Findings& findings) {
  visit_blocks(program.entry, [&](const Place& place) {
    if (findings.full()) return;
    if (place.block->tags.has(tag::kDeps)) check_deps(place, findings);
    check_pipeline(place, options, findings);
    check_stencil_name(place, options, findings);
    if (place.block->tags.has(tag::kMicroKernel)) check_micro_kernel(place, options, findings);
    if (!options.units || !runs(place)) return;
    check_units(place, place.block->location, true, options,
                [&](const std::string& m) { findings.add(place, m); });
    for (const Refinement& ref : place.block->refs)
      check_units(place, ref.location, false, options,
                  [&](const std::string& m) { findings.add(place, ref, m); });
  });
}

}  // namespace stria::stripe
