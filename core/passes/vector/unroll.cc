// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/vector/unroll.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/index_option.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/unit_numbers.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Points of the block, or with `with_inner` of the block and those inside it; at most `most` + 1.
int64_t points_of(const Block& block, bool with_inner, int64_t most) {
  int64_t points = 0;
  for (const Statement& stmt : block.stmts)
    if (with_inner && stmt.block())
      points = std::min(most + 1, points + points_of(*stmt.block(), with_inner, most));
  points = std::max<int64_t>(1, points);
  for (const Index& index : block.idxs)
    if (__builtin_mul_overflow(points, index.range, &points) || points > most) return most + 1;
  return points;
}

Status mark(stripe::Program& program, const UnrollOptions& options, PassContext& context) {
  const char* tag = options.hint ? stripe::tag::kUnrollHint : stripe::tag::kUnroll;
  return for_each_selected_below_sections(
      program, options.reqs, context, [&](Block& block, const TensorNames&) {
        context.matched();
        if (block.tags.has(stripe::tag::kUnroll) || block.tags.has(tag)) return Status();
        if (points_of(block, options.hint, options.max_points) > options.max_points) {
          context.skipped(block.name, "it has too many points");
        } else {
          block.tags.set(tag);
          context.changed();
        }
        return Status();
      });
}

// Do different values of the index write different elements through the refinement?
bool writes_apart(const Block& block, const Refinement& ref, const std::string& index) {
  Block probe;
  probe.idxs = block.idxs;
  probe.refs = {ref};
  probe.refs[0].dir = RefDir::out;
  for (const IndexRole& role : index_roles(probe))
    if (role.name == index) return role.kind == IndexKind::output;
  return false;
}

bool is_parallel(const Block& block, const std::string& index) {
  if (block.tags.has(stripe::tag::kParallel)) return true;
  return std::any_of(block.location.path.begin(), block.location.path.end(),
                     [&](const stripe::LocationUnit& unit) {
                       return std::any_of(unit.units.begin(), unit.units.end(),
                                          [&](const Affine& form) { return form.uses(index); });
                     });
}

// May several units, which the block's location numbers, write one element through the refinement?
bool units_meet(const Block& block, const Refinement& ref) {
  for (const stripe::LocationUnit& unit : block.location.path)
    for (const Affine& form : unit.units)
      for (const auto& [name, coefficient] : form.terms())
        if (block.find_index(name)->range != 1 && !writes_apart(block, ref, name)) return true;
  return false;
}

bool is_outermost(const Block& block, const std::string& index) {
  for (const Index& each : block.idxs) {
    if (each.name == index) return true;
    if (each.range != 1) return false;
  }
  return false;
}

class Expander {
 public:
  Expander(const UnrollOptions& options, PassContext& context)
      : options_(options), context_(context) {}

  // `in_group`: a block around the parent has a location.
  void run(Block& parent, const TensorNames& around, bool in_group) {
    const TensorNames names = around.inside(parent);
    in_group |= !parent.location.empty();
    std::vector<std::vector<Statement>> parts(parent.stmts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      Block* block = parent.stmts[i].block();
      if (block && is_selected(*block)) {
        context_.matched();
        if (const Refusal refusal = why_not(parent, *block, names, in_group)) {
          context_.skipped(block->name, refusal.reason());
        } else {
          for (Block& copy : expand(*block)) parts[i].emplace_back(std::move(copy));
          context_.changed();
          continue;
        }
      } else if (block) {
        run(*block, names, in_group);
      }
      Statement& same = parts[i].emplace_back();
      same.op = std::move(parent.stmts[i].op);
      same.tags = std::move(parent.stmts[i].tags);
    }
    replace_statements(parent, std::move(parts));
  }

 private:
  bool is_selected(const Block& block) const {
    return block.tags.has_all(options_.reqs) && !block.tags.has(stripe::tag::kMain) &&
           !block.tags.has(stripe::tag::kPrologue);
  }

  const Index* find(const Block& block) const {
    for (const Index& index : block.idxs)
      if (!index.affine && names_index(options_.expand_idx, index)) return &index;
    return nullptr;
  }

  Refusal why_not(const Block& parent, const Block& block, const TensorNames& names,
                  bool in_group) const {
    const Index* index = find(block);
    if (!index) return "it has no such index";
    if (block.tags.has(stripe::tag::kVector) || block.tags.has(stripe::tag::kStencil))
      return "it is one operation";
    if (index->range < 1) return "it never runs";
    if (index->range > options_.max_points) return "the index has too many values";
    if (!is_outermost(block, index->name) && !is_parallel(block, index->name)) {
      if (why_points_do_not_commute(block, names)) return "its points do not commute";
      if (multiplies_floats(block)) return "it is a product of floats";
    }
    for (const Refinement& ref : block.refs) {
      if (options_.make_views && names_index(ref.location))
        return "a view's location names an index";
      if (ref.dir == RefDir::none || !ref.agg) continue;
      if (opens_aggregation(parent, ref)) {
        if (!writes_apart(block, ref, index->name))
          return "each copy would start its aggregation again";
        // Each copy rounds its result to storage, and the next one could load that.
        if (meets_other_view(block, names))
          return "a copy could read what the one before it has written";
      }
      // Without a barrier, only lanes of the same block may aggregate into one element (S11).
      if (in_group && units_meet(block, ref) && !writes_apart(block, ref, index->name))
        return "lanes of several copies would meet without a barrier";
    }
    return Refusal::none();
  }

  std::vector<Block> expand(Block& block) const {
    const std::string index = find(block)->name;
    const int64_t range = find(block)->range;
    context_.count("copies", range);
    if (options_.make_views) return {with_views(std::move(block), index, range)};
    std::vector<Block> copies;
    for (int64_t value = 0; value < range; ++value) {
      Block copy = block;
      insert_value(copy, index, value);
      if (!copy.name.empty()) copy.name += fmt::format("_{}", value);
      copies.push_back(std::move(copy));
    }
    return copies;
  }

  // Replaces the index by this value.
  void insert_value(Block& block, const std::string& index, int64_t value) const {
    substitute_indices(block, {{index, Affine(value)}});
    std::erase_if(block.idxs, [&](const Index& each) { return each.name == index; });
    std::erase_if(block.constraints, [](const Affine& constraint) {
      return constraint.is_constant() && constraint.constant() >= 0;
    });
    fold_unit_numbers(block, context_.model());
    set_part(block, value);
  }

  void set_part(Block& block, int64_t value) const {
    if (!options_.part_name.empty()) block.tags.set(options_.part_name, value);
  }

  // Brings the outer indices that the inner block's location uses into the inner block.
  static void bring_in_location(const Block& outer, Block& inner, stripe::Location& location) {
    for (stripe::LocationUnit& unit : location.path)
      for (Affine& form : unit.units) {
        std::map<std::string, Affine> forms;
        for (const auto& [name, coefficient] : form.terms())
          if (outer.find_index(name)) forms[name] = Affine::of(bring_in(inner, name));
        form = form.substitute(forms);
      }
  }

  // A block of one point with the copies in it; each copy has its own views.
  Block with_views(Block block, const std::string& index, int64_t range) const {
    split_block(block, {{index, 1}});
    Block inner = std::move(*block.stmts[0].block());
    inner.location = std::move(block.location);
    block.location = {};
    block.stmts.clear();
    // Constraints on the index stand in the outer block after the split. They go to the copies.
    std::erase_if(block.constraints, [&](const Affine& constraint) {
      if (!constraint.uses(index)) return false;
      std::map<std::string, Affine> forms;
      for (const auto& [name, coefficient] : constraint.terms())
        forms[name] = Affine::of(bring_in(inner, name));
      inner.constraints.push_back(constraint.substitute(forms));
      return true;
    });
    bring_in_location(block, inner, inner.location);
    for (Refinement& ref : inner.refs) bring_in_location(block, inner, ref.location);
    if (block.tags.has(stripe::tag::kDeps)) {  // the statements are in the copies now
      inner.tags.set(stripe::tag::kDeps);
      block.tags.remove(stripe::tag::kDeps);
    }
    const std::vector<Refinement> views = std::move(block.refs);
    block.refs.clear();
    for (int64_t value = 0; value < range; ++value) {
      Block copy = inner;
      const std::map<std::string, Affine> at = {{index, Affine(value)}};
      std::map<std::string, std::string> own_view;
      for (const Refinement& view : views) {
        Refinement own = view;
        own.into = block.fresh_name(fmt::format("{}_{}", view.into, value));
        own_view[view.into] = own.into;
        for (Affine& access : own.access) access = access.substitute(at);
        for (stripe::LocationUnit& unit : own.location.path)
          for (Affine& form : unit.units) form = form.substitute(at);
        block.refs.push_back(std::move(own));
      }
      for (Refinement& ref : copy.refs)
        if (ref.dir != RefDir::none) ref.from = own_view.at(ref.from);
      std::map<std::string, Affine> values;  // of outer values that are numbers now
      for (Index& each : copy.idxs) {
        if (!each.affine) continue;
        each.affine = each.affine->substitute(at);
        if (each.range == 1 && each.affine->is_constant()) values[each.name] = *each.affine;
      }
      substitute_indices(copy, values);
      std::erase_if(copy.idxs, [&](const Index& each) { return values.count(each.name) > 0; });
      std::erase_if(copy.constraints, [](const Affine& constraint) {
        return constraint.is_constant() && constraint.constant() >= 0;
      });
      fold_unit_numbers(copy, context_.model());
      set_part(copy, value);
      block.stmts.emplace_back(std::move(copy));
    }
    std::erase_if(block.idxs, [&](const Index& each) { return each.name == index; });
    return block;
  }

  const UnrollOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(UnrollOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add(
      "max_points", options.max_points,
      "larger blocks stay loops: points of the block; with expand_idx: values of the index; with "
      "hint: points of the block and of the blocks inside it",
      {1, 1 << 16});
  fields.add("hint", options.hint,
             "mark loops with #unroll_hint, a request to the compiler to unroll them");
  fields.index(
      "expand_idx", options.expand_idx,
      "the index to write out, with a copy of the block for each value: its name, or `#tag` "
      "for the first one with that tag; none = mark the block only");
  fields.add("make_views", options.make_views,
             "keep the copies inside a block of their own, which has separate views for each");
  fields.set_tag("part_name", options.part_name,
                 "tag that each copy gets, with the index's value; none = no tag");
}

Status unroll(stripe::Program& program, const UnrollOptions& options, PassContext& context) {
  if (options.hint && !options.expand_idx.empty())
    return invalid_argument(
        "/hint: it marks loops, and /expand_idx '{}' writes one out; give one of them",
        options.expand_idx);
  if (options.expand_idx.empty()) return mark(program, options, context);
  Expander(options, context).run(program.entry, {}, false);
  return {};
}

}  // namespace stria::passes
