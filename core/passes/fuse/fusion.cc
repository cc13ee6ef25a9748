// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/fusion.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_set>

#include "stria/base/refusal.h"
#include "stria/base/text.h"
#include "stria/cost/block/machine_balance.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/fuse/apart_cost.h"
#include "stria/passes/fuse/fuse_blocks.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/nesting.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/text/parser.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool has_blocks(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(),
                     [](const Statement& stmt) { return stmt.block(); });
}

int64_t view_count(const Block& block) {
  return std::count_if(block.refs.begin(), block.refs.end(),
                       [](const Refinement& ref) { return ref.dir != RefDir::none; });
}

size_t own_indices(const Block& block) {
  return static_cast<size_t>(
      std::count_if(block.idxs.begin(), block.idxs.end(),
                    [](const Index& index) { return !index.affine && index.range > 1; }));
}

class ParentFuser {
 public:
  // `depth`: how many blocks are nested around the parent's statements, the parent included.
  // `apart` null: no cost is asked.
  ParentFuser(Block& parent, int depth, const TensorNames& around, const FusionOptions& options,
              PassContext& context, ApartCost* apart)
      : parent_(parent),
        depth_(depth),
        of_(parent, around),
        options_(options),
        context_(context),
        apart_(apart) {}

  void run() {
    for (const Statement& stmt : parent_.stmts)
      if (!stmt.deps.empty() || parent_.tags.has(stripe::tag::kDeps))
        return context_.skipped(parent_.name, "its statements are ordered by dependencies");
    // A fused block is tried again as the second one of a pair.
    std::vector<Entry> done;
    for (Statement& stmt : parent_.stmts) {
      Entry next(std::move(stmt));
      while (!done.empty() && try_pair(done.back(), next)) {
        done.pop_back();
        context_.changed();
      }
      done.push_back(std::move(next));
    }
    parent_.stmts.clear();
    for (Entry& entry : done) parent_.stmts.push_back(std::move(entry.stmt));
    std::erase_if(parent_.refs, [&](const Refinement& ref) { return inside_.count(ref.into) > 0; });
  }

 private:
  // A statement of the parent, and what its block is like.
  struct Entry {
    explicit Entry(Statement statement) : stmt(std::move(statement)) { measure(); }
    void measure() {
      const Block* block = stmt.block();
      statements = block ? statements_in(*block) : 1;
      depth = block ? stripe::depth_of(*block) : 0;
    }
    Statement stmt;
    int64_t statements = 0;  // all inside, without blocks
    int depth = 0;           // of nested blocks, this one included
  };

  static int64_t statements_in(const Block& block) {
    int64_t count = 0;
    for (const Statement& stmt : block.stmts)
      count += stmt.block() ? statements_in(*stmt.block()) : 1;
    return count;
  }

  bool may(const Block& block, const std::vector<std::string>& reqs) const {
    return block.tags.has_all(reqs) &&
           std::none_of(options_.exclude.begin(), options_.exclude.end(),
                        [&](const std::string& tag) { return block.tags.has(tag); });
  }

  // The fused block has the location of one of them. Loads of the other one would then stand beside
  // its lane blocks, which S11 forbids.
  bool would_stand_beside_lanes(const Block& a, const Block& b) const {
    const bool located = !parent_.location.empty() || !a.location.empty() || !b.location.empty();
    return located && (holds_numbered_blocks(a) || holds_numbered_blocks(b));
  }

  // Fuses the blocks if it may, and puts the fused block into `second`.
  bool try_pair(Entry& first, Entry& second) {
    Block* a = first.stmt.block();
    Block* b = second.stmt.block();
    if (!a || !b || !may(*a, options_.a_reqs) || !may(*b, options_.b_reqs)) return false;
    FusionPlan plan = plan_fusion(*a, *b, of_, {options_.reductions});
    if (plan.tensor.empty() && !plan.refusal) return false;  // no tensor goes from one to the other
    context_.matched();
    const std::string pair = fmt::format("{} and {}", a->name, b->name);
    if (!plan.refusal && would_stand_beside_lanes(*a, *b))
      plan.refusal = "it would stand beside the lane blocks of the other";
    if (!plan.refusal) plan.refusal = against(*a, *b, plan);
    if (!plan.refusal) plan.refusal = too_long(first, second);
    if (plan.refusal) {
      context_.skipped(pair, plan.refusal.reason());
      return false;
    }
    FusionShape shape;
    shape.local = plan.needs_local || (options_.local && plan.may_be_local);
    for (SharedTensor& other : plan.others) other.local = options_.local && other.may_be_local;
    shape.location = options_.loc;
    shape.a_inner_set = options_.a_inner_set;
    shape.b_inner_set = options_.b_inner_set;
    shape.inner_remove_set = options_.inner_remove_set;
    shape.first_order = options_.order == "first";
    Refusal refusal = beyond_limits(*a, *b, plan, shape);
    // What follows a kernel that is fused already makes little difference.
    if (!refusal && apart_ && !has_blocks(*a))
      refusal = apart_->against(parent_, *a, *b, fuse_blocks(*a, *b, of_, plan, shape).block);
    if (refusal) {
      context_.skipped(pair, refusal.reason());
      return false;
    }
    std::vector<std::string> over;
    for (const FusedIndex& index : plan.indices)
      over.push_back(index.b_points == 1
                         ? fmt::format("{} {}", index.name, index.range)
                         : fmt::format("{} {} by {}", index.name, index.range, index.b_points));
    context_.note(fmt::format(
        "{}: fused over {}; '{}' of {:.0f} bytes {}{}", pair, join(over, ", "), plan.tensor,
        plan.bytes, shape.local ? "lives inside" : "stays",
        plan.recompute > 1 ? fmt::format(", {:.3g} times the work of {}", plan.recompute, a->name)
                           : ""));
    of_.fusing(*a, *b);
    FusedBlock fused = fuse_blocks(std::move(*a), std::move(*b), of_, plan, shape);
    fused.block.tags.set_all(options_.fused_set);
    inside_.insert(fused.inside.begin(), fused.inside.end());
    second = Entry(Statement(std::move(fused.block)));
    context_.count("pairs_fused");
    return true;
  }

  // Refuses a fused block with too many statements or too deep a nest.
  Refusal too_long(const Entry& first, const Entry& second) const {
    if (first.statements + second.statements > options_.max_statements)
      return fmt::format("it would have more than {} statements", options_.max_statements);
    // Each of them may become a block around a part of it, which adds a level.
    if (depth_ + std::max(first.depth, second.depth) + 1 > stripe::kMaxDepth)
      return fmt::format("blocks would be nested deeper than the limit of {}", stripe::kMaxDepth);
    return Refusal::none();
  }

  // Refuses a pair that the options exclude, or whose fusion costs more than it saves.
  Refusal against(const Block& a, const Block& b, const FusionPlan& plan) const {
    for (const Block* block : {&a, &b}) {
      if (options_.no_inner && has_blocks(*block)) return "one of them holds blocks";
      if (options_.no_constraints && !block->constraints.empty())
        return "one of them has constraints";
    }
    if (const int64_t views = view_count(a) + view_count(b); views > options_.max_refs)
      return fmt::format("it would have {} refinements, {} are allowed", views, options_.max_refs);
    if (options_.perfect && (own_indices(a) != plan.indices.size() ||
                             own_indices(b) != plan.indices.size() || plan.recompute > 1))
      return "not every index of both would be one of the fused block";
    if (options_.perfect_first && own_indices(a) != plan.indices.size())
      return "not every index of the first one would be one of the fused block";
    if (options_.output_match && !writes_as_it_reads(b, plan.tensor))
      return "the second one does not write as it reads";
    if (options_.keep_rows && parts_rows(a, b, plan))
      return "neighbours of the largest tensor would be in different points";
    if (plan.recompute <= 1 || options_.recompute == "always") return Refusal::none();
    if (options_.recompute == "never") return "parts of the first one would be made again";
    const double balance = cost::operations_per_byte(context_.model());
    if (balance <= 0)
      return fmt::format(
          "{:.3g} times the work of the first one, and the model does not say what "
          "its memory does",
          plan.recompute);
    // Fusion saves one write and one read of the tensor.
    const double more = plan.work * (plan.recompute - 1), worth = 2 * plan.bytes * balance;
    if (more <= worth) return Refusal::none();
    return fmt::format(
        "{:.3g} times the work of the first one: {:.3g} operations more, {:.0f} bytes less are "
        "worth {:.3g}",
        plan.recompute, more, 2 * plan.bytes, worth);
  }

  // Refuses a fused block whose allocations do not fit into `loc` or are over the limit.
  Refusal beyond_limits(const Block& a, const Block& b, const FusionPlan& plan,
                        const FusionShape& shape) const {
    const MemoryUnit* memory = shape.location.empty()
                                   ? nullptr
                                   : context_.model().find_memory(shape.location.path.back().name);
    if (memory && memory->size_bytes <= 0) memory = nullptr;
    if (!memory && options_.max_local_bytes == 0) return Refusal::none();
    const Block trial = fuse_blocks(a, b, of_, plan, shape).block;
    int64_t bytes = 0, in_memory = 0;
    for (const Refinement& ref : trial.refs)
      if (memory && ref.dir == RefDir::none && ref.location == shape.location &&
          __builtin_add_overflow(in_memory, ref.shape.span_bytes(), &in_memory))
        return fmt::format("it would keep 2^63 bytes or more in '{}'", memory->name);
    if (!add_local_bytes(trial, bytes)) return "it would keep 2^63 bytes or more";
    const int64_t room = memory ? cost::saturating_product(memory->size_bytes, options_.spread) : 0;
    if (memory && in_memory > room)
      return fmt::format("it would keep {} bytes in '{}', which has {}", in_memory, memory->name,
                         room);
    if (options_.max_local_bytes > 0 && bytes > options_.max_local_bytes)
      return fmt::format("it would keep {} bytes inside, {} are allowed", bytes,
                         options_.max_local_bytes);
    return Refusal::none();
  }

  // Adds the bytes that the block and those inside allocate; false if that overflows.
  static bool add_local_bytes(const Block& block, int64_t& bytes) {
    for (const Refinement& ref : block.refs)
      if (ref.dir == RefDir::none && __builtin_add_overflow(bytes, ref.shape.span_bytes(), &bytes))
        return false;
    return std::all_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
      return !stmt.block() || add_local_bytes(*stmt.block(), bytes);
    });
  }

  // Does an index of the fused block walk through the largest tensor with stride 1? Neighbours in a
  // row would then be in different points.
  static bool parts_rows(const Block& a, const Block& b, const FusionPlan& plan) {
    double largest = 0;
    bool parts = false;
    for (const Block* block : {&a, &b}) {
      std::map<std::string, Interval> box;
      for (const Index& index : block->idxs) box[index.name] = {0, index.range - 1};
      for (const Refinement& ref : block->refs) {
        if (ref.dir == RefDir::none) continue;
        double elements = 1;
        for (size_t d = 0; d < ref.access.size(); ++d) {
          const Interval reach = interval_of(ref.access[d], box);
          elements *= static_cast<double>(reach.upper - reach.lower + ref.shape.dims[d].size);
        }
        if (elements < largest) continue;
        const Affine flat = ref.flat_access();
        const bool here =
            std::any_of(plan.indices.begin(), plan.indices.end(), [&](const FusedIndex& index) {
              const std::string& name = block == &a ? index.a_index : index.name;
              return std::abs(flat.coefficient(name)) == 1;
            });
        parts = elements > largest ? here : parts || here;
        largest = elements;
      }
    }
    return parts;
  }

  static bool writes_as_it_reads(const Block& b, const std::string& tensor) {
    const Refinement* read = find_view(b, tensor);
    return std::all_of(b.refs.begin(), b.refs.end(), [&](const Refinement& ref) {
      return ref.dir == RefDir::in || ref.dir == RefDir::none || ref.access == read->access;
    });
  }

  Block& parent_;
  const int depth_;
  FusionParent of_;
  // The parent's tensors that have become allocations of fused blocks.
  std::unordered_set<std::string> inside_;
  const FusionOptions& options_;
  PassContext& context_;
  ApartCost* const apart_;
};

}  // namespace

void describe(FusionOptions& options, OptionFields& fields) {
  fields.tags("parent_reqs", options.parent_reqs, "tags of the block around both");
  fields.tags("a_reqs", options.a_reqs, "tags of the first block, the producer");
  fields.tags("b_reqs", options.b_reqs, "tags of the second block, the consumer");
  fields.tags("exclude", options.exclude, "tags that neither block may have");
  fields.set_tags("fused_set", options.fused_set, "tags of the fused block");
  fields.set_tags("a_inner_set", options.a_inner_set,
                  "tags of the part of the first block in the fused one");
  fields.set_tags("b_inner_set", options.b_inner_set,
                  "tags of the part of the second block in the fused one");
  fields.set_tags("inner_remove_set", options.inner_remove_set, "tags that both parts lose");
  fields.add("perfect", options.perfect,
             "only if every index of both becomes one of the fused block");
  fields.add("perfect_first", options.perfect_first,
             "only if every index of the first block becomes one of the fused block");
  fields.add("output_match", options.output_match,
             "only if the second block writes with the accesses that it reads with");
  fields.add("keep_rows", options.keep_rows,
             "only if each point of the fused block has whole rows of the largest tensor that the "
             "blocks touch");
  fields.add("no_inner", options.no_inner, "only blocks without blocks inside");
  fields.add("no_constraints", options.no_constraints, "only blocks without constraints");
  fields.add("max_refs", options.max_refs, "views of tensors that the fused block has, at most",
             {1});
  fields.add("max_statements", options.max_statements,
             "statements of the fused block, at most: the time to compile a kernel grows faster "
             "than the number of its statements",
             {1});
  fields.add("max_local_bytes", options.max_local_bytes,
             "bytes that it allocates for one of its points, at most; 0 = no limit");
  fields.add("reductions", options.reductions,
             "also over indices that the second block reduces: its results then accumulate in the "
             "tensors that it writes");
  fields.add(
      "recompute", options.recompute,
      "whether the first block may compute the borders of overlapping parts again: if that takes "
      "less time than the transfer of the tensor to memory and back (`cost`), `never` or `always`",
      std::vector<std::string>{"cost", "never", "always"});
  fields.add("order", options.order, "the loops are ordered as in the first or the second block",
             std::vector<std::string>{"first", "second"});
  fields.add("local", options.local,
             "the tensor becomes an allocation of the fused block wherever it can, not only where "
             "it must");
  fields.add("loc", options.loc,
             "memory unit of such an allocation; none = the one where the tensor is");
  fields.add("spread", options.spread,
             "instances of that memory which share it: for registers, the lanes of a group",
             {1, 1 << 20});
  OptionFields& apart = fields.group(
      "apart", "with a `memory`, blocks stay apart if the best tiles of both cost less so");
  apart.unit("memory", options.apart.memory,
             "memory unit that tiles are in; \"\" = fusion asks no cost", WhenEmpty::none);
  options.apart.cost.describe("cost", "the cost of a tile", apart);
}

Status fusion(stripe::Program& program, const FusionOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  STRIA_RETURN_IF_ERROR(check_not_excluded("/a_reqs", options.a_reqs, options.exclude));
  STRIA_RETURN_IF_ERROR(check_not_excluded("/b_reqs", options.b_reqs, options.exclude));
  std::optional<ApartCost> apart;
  if (const auto& [memory, cost] = options.apart; !memory.empty()) {
    STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/apart/memory", memory));
    if (const Status status = cost.cost().check(context.model(), memory); !status.ok())
      return status.with_context("/apart");
    apart.emplace(cost, memory, context.model());
  }
  PlaceNames names;
  for_each_selected_place(program, options.parent_reqs,
                          [&](Block& parent, const stripe::Place& at) {
                            ParentFuser(parent, at.depth + 1, names.around(at), options, context,
                                        apart ? &*apart : nullptr)
                                .run();
                          });
  return Status();
}

}  // namespace stria::passes
