// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/split_interior.h"

#include <algorithm>
#include <functional>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Statement;

using Box = std::map<std::string, Interval>;
using Forms = std::map<std::string, Affine>;

// A visitor of the constraints in those blocks inside the loop in which tests are expensive.
// `worst` is a form over the loop's indices: if it is >= 0, the constraint holds for all values of
// the indices inside. If the visitor returns true, the constraint is removed.
using Visit = std::function<bool(const Affine& worst)>;

bool has_one(const stripe::Tags& tags, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return tags.has(name); });
}

void visit_constraints(Block& block, const Forms& outer, const Box& box, int& fresh, bool expensive,
                       const std::vector<std::string>& expensive_tags, const Visit& visit) {
  for (Statement& stmt : block.stmts) {
    Block* inner = stmt.block();
    if (!inner) continue;
    bool inner_expensive = expensive || has_one(inner->tags, expensive_tags);
    Forms forms;
    // The ranges of the indices between the loop and here, under names that are unique.
    Box inner_box = box;
    for (const Index& index : inner->idxs) {
      Affine form = index.affine ? index.affine->substitute(outer) : Affine();
      if (index.range > 1) {
        std::string name = fmt::format("{}'{}", index.name, fresh++);
        inner_box[name] = {0, index.range - 1};
        form += Affine::of(name);
      }
      forms[index.name] = form;
    }
    if (inner_expensive) {
      std::erase_if(inner->constraints, [&](const Affine& constraint) {
        Affine whole = constraint.substitute(forms);
        Affine worst(whole.constant());
        for (const auto& [name, coefficient] : whole.terms()) {
          auto range = inner_box.find(name);
          if (range == inner_box.end())
            worst.add_term(name, coefficient);
          else
            worst += coefficient > 0 ? coefficient * range->second.lower
                                     : coefficient * range->second.upper;
        }
        return visit(worst);
      });
    }
    visit_constraints(*inner, forms, inner_box, fresh, inner_expensive, expensive_tags, visit);
  }
}

// Does the index have several values in one run of its block?
bool moves(const Index& index) { return !index.affine || index.range > 1; }

// Does the block's location use the index?
bool is_lane(const Block& block, const Index& index) {
  return std::any_of(block.location.path.begin(), block.location.path.end(),
                     [&](const stripe::LocationUnit& unit) {
                       return std::any_of(
                           unit.units.begin(), unit.units.end(),
                           [&](const Affine& form) { return form.uses(index.name); });
                     });
}

void visit_constraints(Block& loop, const Box& box, const std::vector<std::string>& expensive_tags,
                       const Visit& visit) {
  Forms own;
  Box lanes;
  for (const Index& index : loop.idxs) {
    Interval range = box.at(index.name);
    own[index.name] = range.lower == range.upper ? Affine(range.lower) : Affine::of(index.name);
    if (is_lane(loop, index)) lanes[index.name] = range;
  }
  int fresh = 0;
  visit_constraints(loop, own, lanes, fresh, expensive_tags.empty(), expensive_tags, visit);
}

// Some of the loop's points, and what holds there.
struct Part {
  Box box;                          // new ranges of the indices that are cut
  std::vector<Affine> constraints;  // to be added to the part
  std::vector<Affine> ensured;      // forms that are >= 0 at every point
};

class InteriorSplitter {
 public:
  InteriorSplitter(const SplitInteriorOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  bool split_inside(Block& parent, const TensorNames& around, const Box& outer, int depth) {
    const TensorNames names = around.inside(parent);
    Box box = parent.index_box(outer);
    bool ordered_by_deps = parent.tags.has(stripe::tag::kDeps);
    for (const Statement& stmt : parent.stmts)
      ordered_by_deps = ordered_by_deps || !stmt.deps.empty();
    bool changed = false;
    std::vector<Statement> stmts;
    for (Statement& stmt : parent.stmts) {
      Block* loop = stmt.block();
      if (!loop || loop->tags.has(stripe::tag::kUnroll) || loop->tags.has(stripe::tag::kVector)) {
        stmts.push_back(std::move(stmt));
        continue;
      }
      std::vector<Block> parts;
      if (!ordered_by_deps && loop->tags.has_all(options_.loop_reqs))
        parts = split(parent, names, *loop, loop->index_box(box), depth == 0);
      if (parts.empty()) {
        changed = split_inside(*loop, names, box, depth + 1) || changed;
        stmts.push_back(std::move(stmt));
        continue;
      }
      changed = true;
      context_.count("loops_split");
      // Constraints of the border may allow a loop further inside to be split.
      for (Block& part : parts) {
        split_inside(part, names, box, depth + 1);
        stmts.emplace_back(std::move(part));
      }
    }
    parent.stmts = std::move(stmts);
    return changed;
  }

 private:
  // The forms whose signs separate the interior of the loop from its border.
  std::vector<Affine> guards(Block& loop, const Box& box, bool below_kernel) {
    std::vector<Affine> guards;
    visit_constraints(loop, box, options_.expensive, [&](const Affine& worst) {
      if (worst.is_constant()) return false;
      Interval range = interval_of(worst, box);
      if (range.lower >= 0 || range.upper < 0) return false;
      bool own = false;
      for (const auto& [name, coefficient] : worst.terms())
        own = own || moves(*loop.find_index(name));
      // A constraint that depends on outer indices alone splits the outer loop instead, unless that
      // is the kernel. A block over lanes has no other way to be split.
      if (!own && !below_kernel && !names_index(loop.location)) return false;
      if (std::find(guards.begin(), guards.end(), worst) == guards.end()) guards.push_back(worst);
      return false;
    });
    return guards;
  }

  // The one index of the loop on which the guard depends; null if there are several.
  static const Index* single_index(const Block& loop, const Affine& guard) {
    if (guard.terms().size() != 1) return nullptr;
    const Index* index = loop.find_index(guard.terms()[0].first);
    return index->affine ? nullptr : index;
  }

  // The parts in the order in which they run; none if the loop stays whole.
  std::vector<Block> split(const Block& parent, const TensorNames& names, Block& loop,
                           const Box& box, bool below_kernel) {
    std::vector<Affine> all = guards(loop, box, below_kernel);
    if (all.empty()) return {};
    // If outer values alone separate the parts, one part runs with all points, in their old order.
    const bool reorders = std::any_of(all.begin(), all.end(), [&](const Affine& guard) {
      return std::any_of(guard.terms().begin(), guard.terms().end(),
                         [&](const auto& term) { return moves(*loop.find_index(term.first)); });
    });
    if (const Refusal refusal =
            reorders ? why_points_do_not_commute(loop, names) : Refusal::none()) {
      context_.skipped(loop.name, "its points do not commute: " + refusal.reason());
      return {};
    }
    if (std::any_of(loop.refs.begin(), loop.refs.end(), [&](const stripe::Refinement& ref) {
          return opens_aggregation(parent, ref);
        })) {
      context_.skipped(loop.name, "each part would start its aggregation again");
      return {};
    }
    std::vector<Part> before, after;
    Part inside;
    for (const Index& index : loop.idxs) {
      if (index.affine) continue;
      Interval range{0, index.range - 1};
      std::vector<Affine> ensured;
      for (const Affine& guard : all) {
        if (single_index(loop, guard) != &index) continue;
        int64_t coefficient = guard.terms()[0].second;
        if (coefficient > 0)
          range.lower = std::max(range.lower, ceil_div(-guard.constant(), coefficient));
        else
          range.upper = std::min(range.upper, floor_div(guard.constant(), -coefficient));
        ensured.push_back(guard);
      }
      if (ensured.empty() || range.empty()) continue;
      cut(inside, before, index.name, {0, range.lower - 1});
      cut(inside, after, index.name, {range.upper + 1, index.range - 1});
      inside.box[index.name] = range;
      inside.ensured.insert(inside.ensured.end(), ensured.begin(), ensured.end());
    }
    for (const Affine& guard : all) {
      if (single_index(loop, guard)) continue;
      Part border = inside;
      border.constraints.push_back(Affine(-1) - guard);
      after.push_back(border);
      inside.constraints.push_back(guard);
      inside.ensured.push_back(guard);
    }
    if (inside.ensured.empty()) return {};
    if (static_cast<int64_t>(before.size() + 1 + after.size()) > options_.max_parts) {
      context_.skipped(loop.name, "it would fall into too many parts");
      return {};
    }
    std::vector<Block> parts;
    for (const Part& part : before) parts.push_back(make(loop, box, part, false));
    parts.push_back(make(loop, box, inside, true));
    for (const Part& part : after) parts.push_back(make(loop, box, part, false));
    return parts;
  }

  static void cut(const Part& inside, std::vector<Part>& list, const std::string& name,
                  Interval range) {
    if (range.empty()) return;
    Part border = inside;
    border.box[name] = range;
    list.push_back(std::move(border));
  }

  Block make(const Block& loop, const Box& box, const Part& part, bool interior) {
    Block block = loop;
    visit_constraints(block, box, options_.expensive, [&](const Affine& worst) {
      return std::find(part.ensured.begin(), part.ensured.end(), worst) != part.ensured.end();
    });
    for (const std::string& tag : interior ? options_.interior_set : options_.border_set)
      block.tags.set(tag);
    for (const Affine& constraint : part.constraints) block.constraints.push_back(constraint);
    Forms forms;
    for (const auto& [name, range] : part.box) {
      block.find_index(name)->range = range.upper - range.lower + 1;
      if (range.lower != 0) forms[name] = Affine::of(name) + range.lower;
    }
    if (!forms.empty()) substitute_indices(block, forms);
    return block;
  }

  const SplitInteriorOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(SplitInteriorOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags of the kernels whose loops are split");
  fields.tags("loop_reqs", options.loop_reqs, "tags that a loop must have to be split");
  fields.add("max_parts", options.max_parts,
             "a loop that would be split into more parts stays whole", {2, 1000});
  fields.tags(
      "expensive", options.expensive,
      "tags of blocks in which a test of each point is expensive: constraints in them, and in "
      "blocks inside them, decide; none = every block");
  fields.formerly("dear");
  fields.set_tags("interior_set", options.interior_set, "tags that the part without tests gets");
  fields.set_tags("border_set", options.border_set, "tags that the other parts get");
}

Status split_interior(stripe::Program& program, const SplitInteriorOptions& options,
                      PassContext& context) {
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    if (InteriorSplitter(options, context).split_inside(kernel, around, {}, 0)) context.changed();
    return Status();
  });
}

}  // namespace stria::passes
