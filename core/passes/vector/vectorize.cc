// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/vector/vectorize.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;

const Refinement* written_ref(const Block& block) {
  for (const Refinement& ref : block.refs)
    if (is_written(ref)) return &ref;
  return nullptr;
}

bool loops_over(const Block& block, IndexKind kind) {
  std::vector<IndexRole> roles = index_roles(block);
  return std::any_of(roles.begin(), roles.end(),
                     [&](const IndexRole& role) { return role.kind == kind; });
}

// Splits the block so that output indices run outside of reductions. If an output index becomes
// lanes, the lanes stay inside.
void outputs_outside(Block& block, const VectorChoice& vector) {
  std::map<std::string, int64_t> tile;
  for (const IndexRole& role : index_roles(block))
    if (role.kind == IndexKind::output)
      tile[role.name] = role.name == vector.index ? vector.lanes : 1;
  split_block(block, tile);
}

// Splits the lanes off the innermost block and returns their block. That may be the block itself,
// unless it is a kernel, whose points are never lanes.
Block& lanes_inside(Block& block, const VectorChoice& vector) {
  std::map<std::string, int64_t> tile;
  bool others = block.tags.has(stripe::tag::kKernel);
  for (const Index& index : block.idxs) {
    if (index.affine) continue;
    tile[index.name] = index.name == vector.index ? vector.lanes : 1;
    others = others || index.name != vector.index || index.range > vector.lanes;
  }
  if (!others && block.idxs.size() == 1) return block;
  split_block(block, tile);
  Block& lanes = *block.stmts[0].block();
  drop_single_values(lanes, vector.index);
  return lanes;
}

class Vectorizer {
 public:
  // Works on a copy of the kernel, since a refusal may come when it is half changed.
  Vectorizer(Block kernel, const TensorNames& around, const VectorizeOptions& options,
             PassContext& context)
      : kernel_(std::move(kernel)), around_(around), options_(options), context_(context) {}

  Block& kernel() { return kernel_; }

  // Vectorises the kernel, or refuses.
  Refusal run() {
    for (Block* block : single_chain(kernel_)) start_indices_at_zero(*block);
    Block& leaf = *single_chain(kernel_).back();
    if (!is_leaf(leaf)) return "it holds several blocks or a special";
    if (leaf.tags.has(stripe::tag::kVector)) return "it has lanes already";
    VectorChoice vector = choose_vector(leaf, context_.model(), options_.min_range);
    if (vector.lanes <= 1) return "the model gives no vectors";
    if (vector.index.empty()) return "no index has stride 1 or 0 everywhere";
    hardware_lanes_ = vector.lanes;
    if (vector.reduction)
      vector.lanes *=
          std::max<int64_t>(1, std::min(vector.range, options_.reduction_lanes) / vector.lanes);
    else if (computes_function(leaf))
      vector.lanes *= whole_vectors(vector, options_.function_vectors);
    TensorNames outside = around_;
    for (const Block* block : single_chain(kernel_)) {
      STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(*block, outside));
      outside = outside.inside(*block);
    }

    const Refinement* out = written_ref(leaf);
    if (!out) return "it writes nothing";
    bool aggregates = out->agg.has_value();
    size_t writes = 0;
    for (const Refinement& ref : leaf.refs) writes += is_written(ref);
    if (aggregates && writes > 1) return "it aggregates into one of several tensors";
    for (const stripe::Statement& stmt : leaf.stmts)
      if (auto* load = std::get_if<stripe::Load>(&stmt.op);
          load && aggregates && load->from == out->into)
        return "it loads the tensor that it aggregates into";
    std::string name = kernel_output(out->into);
    bool overlaps = false;
    for (const Block* block : single_chain(kernel_))
      overlaps = overlaps || loops_over(*block, IndexKind::overlapping);
    if (overlaps && (vector.reduction || (aggregates && out->agg->type != out->shape.type)))
      return "different points of an output index write the same element";

    // It is not known beforehand which elements a scalar chooses.
    const bool chosen = stores_where_chosen(leaf);
    if (chosen && (vector.reduction || (aggregates && out->agg->type != out->shape.type)))
      return "a scalar chooses the element that it writes";

    // The last lanes of a row that they do not divide reach into the row behind it, where rows lie
    // close together. They write nothing there, but the rows would no longer be told apart.
    if (!aggregates && vector.range % vector.lanes != 0 && !lanes_keep_order(vector)) {
      vector.lanes = hardware_lanes_;
      if (!lanes_keep_order(vector)) vector.lanes = std::gcd(vector.range, vector.lanes);
      if (vector.lanes == 1) return "the last lanes of a row reach into another row";
    }
    const bool in_memory = overlaps || chosen;  // running values stay in the tensor
    if (aggregates && !in_memory) separate_reductions(leaf, vector);
    Block& inner = *single_chain(kernel_).back();
    // separate_reductions keeps names, so the choice still holds for the innermost block.
    Block& lanes = lanes_inside(inner, vector);
    lanes.tags.set(stripe::tag::kVector);
    if (aggregates && !in_memory) return accumulate(name, vector);
    context_.count("kernels_vectorized");
    return Refusal::none();
  }

 private:
  // Do points commute in all blocks once the index has become lanes?
  bool lanes_keep_order(const VectorChoice& vector) const {
    Block changed = kernel_;
    lanes_inside(*single_chain(changed).back(), vector);
    TensorNames outside = around_;
    for (const Block* block : single_chain(changed)) {
      if (why_points_do_not_commute(*block, outside)) return false;
      outside = outside.inside(*block);
    }
    return true;
  }

  bool computes_function(const Block& leaf) const {
    const bool reduces = std::any_of(leaf.refs.begin(), leaf.refs.end(),
                                     [](const Refinement& ref) { return ref.agg.has_value(); });
    const auto is_named = [&](const stripe::Statement& stmt) {
      const auto* op = std::get_if<stripe::Intrinsic>(&stmt.op);
      const std::vector<std::string>& names = options_.functions;
      return op && std::find(names.begin(), names.end(), op->name) != names.end();
    };
    return !reduces && std::any_of(leaf.stmts.begin(), leaf.stmts.end(), is_named);
  }

  // The largest number of vectors, up to `most`, that divides the range; 1 if there is none.
  static int64_t whole_vectors(const VectorChoice& vector, int64_t most) {
    for (int64_t count = most; count > 1; --count)
      if (vector.range % (count * vector.lanes) == 0) return count;
    return 1;
  }

  // The kernel's name for the refinement that the innermost block calls `view`.
  std::string kernel_output(std::string view) {
    std::vector<Block*> chain = single_chain(kernel_);
    for (size_t level = chain.size() - 1; level > 0; --level)
      view = chain[level]->find_ref(view)->from;
    return chain[0]->find_ref(view)->into;
  }

  // The first block of the chain whose reduction gets an accumulator.
  size_t first_reducing() {
    std::vector<Block*> chain = single_chain(kernel_);
    const Refinement& out = *written_ref(*chain.back());
    if (options_.reduction_inside.empty() || !out.agg || out.agg->type != out.shape.type) return 0;
    for (size_t level = 0; level < chain.size(); ++level)
      if (chain[level]->tags.has(options_.reduction_inside)) return level;
    return 0;
  }

  // Makes the chain outputs -> reductions -> (outputs) -> innermost, so that an accumulator can
  // live between the first two.
  void separate_reductions(Block& leaf, const VectorChoice& vector) {
    bool whole_in_lanes = vector.reduction && vector.range <= vector.lanes;
    bool leaf_reduces = false;
    for (const IndexRole& role : index_roles(leaf))
      leaf_reduces = leaf_reduces || (role.kind == IndexKind::reduction &&
                                      !(whole_in_lanes && role.name == vector.index));
    if (leaf_reduces && loops_over(leaf, IndexKind::output)) outputs_outside(leaf, vector);
    std::vector<Block*> chain = single_chain(kernel_);
    for (size_t level = first_reducing(); level < chain.size(); ++level) {
      Block* block = chain[level];
      if (!loops_over(*block, IndexKind::reduction)) continue;
      bool outputs = loops_over(*block, IndexKind::output);
      if (outputs && !is_leaf(*block)) {
        outputs_outside(*block, VectorChoice());
      } else if (!outputs && level == first_reducing()) {
        split_block(*block, {});  // adds an outer block without indices, for the accumulator
      }
      return;
    }
  }

  Refusal accumulate(const std::string& name, const VectorChoice& vector) {
    std::vector<Block*> chain = single_chain(kernel_);
    size_t top = chain.size();
    for (size_t level = first_reducing(); level < chain.size() && top == chain.size(); ++level)
      if (loops_over(*chain[level], IndexKind::reduction)) top = level;
    if (top == chain.size()) {
      // The aggregation has no reduction: each element is written once.
      std::vector<const Block*> all(chain.begin(), chain.end());
      std::string leaf_name = written_ref(*chain.back())->into;
      if (writes_each_element_once(all, leaf_name)) drop_aggregation(chain, leaf_name);
      context_.count("kernels_vectorized");
      return Refusal::none();
    }
    STRIA_CHECK(top > 0, "the reduction of '{}' has no block around it", kernel_.name);
    Block& host = *chain[top - 1];
    std::vector<Block*> path(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(top));
    std::vector<const Block*> const_path(path.begin(), path.end());
    std::vector<const Block*> below(chain.begin() + static_cast<std::ptrdiff_t>(top), chain.end());
    AccumulatorPlan plan;
    plan.name = name;
    for (size_t level = 1; level < top; ++level)
      for (const Refinement& ref : chain[level]->refs)
        if (ref.from == plan.name) {
          plan.name = ref.into;
          break;
        }
    WriteDomain nest = write_domain(const_path, below, plan.name);
    const bool is_placed = std::any_of(
        path.begin(), path.end(), [](const Block* block) { return !block->location.path.empty(); });
    if (!nest.refusal && is_placed && holds_numbered_blocks(host))
      nest.refusal = "running values would be set up beside lane blocks";
    if (nest.refusal) {
      // Lanes of an output may add to memory if it holds the aggregation type. Lanes of a reduction
      // need an accumulator.
      const Refinement& view = *host.find_ref(plan.name);
      if (vector.reduction || view.agg->type != view.shape.type) return nest.refusal;
      context_.note(fmt::format("{}: no accumulators: {}", kernel_.name, nest.refusal.reason()));
      context_.count("kernels_vectorized");
      return Refusal::none();
    }
    plan.nests = {std::move(nest)};
    plan.reduction_lanes = vector.reduction ? lane_range(*chain.back()) : 0;
    plan.plain_output = writes_each_element_once(const_path, plan.name);
    plan.tile_set = options_.tile_set;
    place(plan);
    for (size_t level = top; level + 1 < chain.size(); ++level)
      if (!loops_over(*chain[level], IndexKind::reduction))
        chain[level]->tags.set_all(options_.tile_set);
    add_accumulator(host, plan);
    if (plan.plain_output) drop_aggregation(path, plan.name);
    context_.count(vector.reduction ? "reductions_vectorized" : "kernels_vectorized");
    return Refusal::none();
  }

  static int64_t lane_range(const Block& lanes) {
    for (const Index& index : lanes.idxs)
      if (!index.affine) return index.range;
    return 1;
  }

  // Places the accumulator in registers only if they hold all of it.
  void place(AccumulatorPlan& plan) {
    if (options_.accumulator.empty()) return;
    int64_t vectors = 1;
    const WriteDomain& nest = plan.nests[0];
    for (const Index& index : nest.indices)
      if (index.name != nest.lane) vectors *= index.range;
    if (plan.reduction_lanes > 0) vectors *= ceil_div(plan.reduction_lanes, hardware_lanes_);
    int64_t registers = 0;
    for (const ExecutionUnit& unit : context_.model().executors)
      registers = std::max(registers, unit.vector_registers);
    if (registers > 0 && vectors >= registers) {
      context_.count("accumulators_beyond_registers");
      return;
    }
    stripe::LocationUnit unit;
    unit.name = options_.accumulator;
    plan.location.path.push_back(std::move(unit));
  }

  Block kernel_;
  int64_t hardware_lanes_ = 1;
  const TensorNames& around_;
  const VectorizeOptions& options_;
  PassContext& context_;
};

}  // namespace

void describe(VectorizeOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("min_range", options.min_range,
             "an index with fewer points gets no lanes; 0 = the calibration of the model says");
  fields.add("reduction_lanes", options.reduction_lanes,
             "lanes of a vectorised reduction, at most, in whole vectors of the hardware; 0 = one "
             "vector",
             {0, 1 << 16});
  fields.add("functions", options.functions,
             "functions that the code generator writes out as a chain of operations; kernels that "
             "compute one of them and reduce nothing get lanes of `function_vectors`");
  fields.add("function_vectors", options.function_vectors,
             "vectors of the hardware that are the lanes of such kernels, at most", {1, 64});
  fields.unit("accumulator", options.accumulator, "memory unit of accumulators; \"\" = none",
              WhenEmpty::none);
  fields.tag("reduction_inside", options.reduction_inside,
             "tag of the block inside which accumulators live; reductions around it add to memory; "
             "\"\" = around the whole reduction",
             WhenEmpty::none);
  fields.set_tags("tile_set", options.tile_set,
                  "tags for the blocks around lanes that do not loop over a reduction");
}

Status vectorize(stripe::Program& program, const VectorizeOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(
      check_unit(context.model(), UnitUse::hold, "/accumulator", options.accumulator));
  if (options.function_vectors > 1 && options.functions.empty())
    return invalid_argument("/function_vectors: needs 'functions' that get so many");
  for (size_t i = 0; i < options.functions.size(); ++i)
    if (const std::string& name = options.functions[i]; !find_builtin(name))
      return invalid_argument("/functions/{}: there is no function '{}'{}", i, name,
                              did_you_mean(name, builtin_names()));
  // Tensors of aggregations that run around the kernels.
  std::set<std::string> running;
  for (const Block* section : {program.main(), program.prologue()})
    for (size_t r = 0; section && r < section->refs.size(); ++r)
      if (section->refs[r].agg) running.insert(section->refs[r].into);
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    for (const Refinement& ref : kernel.refs)
      if (ref.agg && running.count(ref.from)) {
        context.skipped(kernel.name, "it is part of an aggregation that others take part in");
        return Status();
      }
    Vectorizer vectorizer(kernel, around, options, context);
    if (const Refusal refusal = vectorizer.run()) {
      context.skipped(kernel.name, refusal.reason());
    } else {
      kernel = std::move(vectorizer.kernel());
      context.changed();
    }
    return Status();
  });
}

}  // namespace stria::passes
